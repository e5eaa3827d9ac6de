// Command scene creates a scene on a stage, and then runs a command on it or waits for Ctrl-C. It
// shows situations to people and records the examples (make examples), to which test/age gives
// realistic times. Run it in test/e2e:
//
//	go run ./cmd/scene
//	go run ./cmd/scene stuck
//	go run ./cmd/scene stuck kubectl ds explain -n kube-system node-agent
//
// The command finds this tree's plugin and the stage's kubectl on its PATH.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/scene"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

// run returns the exit code of the command.
func run(ctx context.Context, args []string) (code int, err error) {
	var set scene.Setting
	for _, s := range scene.All {
		if len(args) > 0 && s.Name == args[0] {
			set = s.Set
		}
	}
	if set == nil {
		fmt.Fprintln(os.Stderr, "usage: scene NAME [COMMAND [ARGUMENT...]], with NAME one of")
		for _, s := range scene.All {
			fmt.Fprintln(os.Stderr, "  "+s.Name)
		}
		return 2, nil
	}
	plugin, err := stage.BuildPlugin(ctx)
	if err != nil {
		return 1, err
	}
	c, err := stage.Start(ctx, stage.Options{PluginDir: plugin})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	which, err := set(ctx, c)
	if err != nil {
		return 1, err
	}
	if len(args) == 1 {
		fmt.Printf("# daemonset %s/%s; Ctrl-C ends the stage\nexport KUBECONFIG=%s PATH=%s:%s:$PATH\n",
			which.Namespace, which.Name, c.Kubeconfig, plugin, c.BinDir)
		<-ctx.Done()
		return 0, nil
	}
	env := c.KubectlCommand(ctx, stage.Admin).Env
	// The command itself is on the stage's PATH, too.
	if args[1] == "kubectl" {
		args[1] = filepath.Join(c.BinDir, "kubectl")
	}
	cmd := exec.CommandContext(ctx, args[1], args[2:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	runErr := cmd.Run()
	var exit *exec.ExitError
	if runErr != nil && !errors.As(runErr, &exit) {
		return 1, runErr
	}
	return cmd.ProcessState.ExitCode(), nil
}
