package stage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

const modulePath = "github.com/kubectl-ds/kubectl-ds"

// Result is the output of a command and its exit code.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Kubectl runs the real kubectl as Admin. If Cluster.PluginDir is set, kubectl finds the plugin on
// the PATH. An exit code other than 0 is a Result and not an error.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (Result, error) {
	return c.KubectlAs(ctx, Admin, args...)
}

// KubectlAs runs kubectl as another user.
func (c *Cluster) KubectlAs(ctx context.Context, user string, args ...string) (Result, error) {
	var stdout, stderr bytes.Buffer
	cmd := c.KubectlCommand(ctx, user, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Result{}, fmt.Errorf("kubectl: %w", err)
	}
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, nil
}

// KubectlCommand returns a command that runs kubectl, for tests that need its streams or signals.
// It does not use the kubeconfig or the cache of the person who runs the test.
func (c *Cluster) KubectlCommand(ctx context.Context, user string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.BinDir, "kubectl"), args...)
	path := c.BinDir + string(os.PathListSeparator) + os.Getenv("PATH")
	if c.PluginDir != "" {
		path = c.PluginDir + string(os.PathListSeparator) + path
	}
	cmd.Env = []string{"PATH=" + path, "HOME=" + c.path("home"), "KUBECONFIG=" + c.KubeconfigFor(user)}
	return cmd
}

// BuildPlugin builds this tree's kubectl-ds, once per process, and returns its folder for
// Cluster.PluginDir.
func BuildPlugin(ctx context.Context) (string, error) {
	plugin.once.Do(func() { plugin.dir, plugin.err = buildPlugin(ctx) })
	return plugin.dir, plugin.err
}

var plugin struct {
	once sync.Once
	dir  string
	err  error
}

func buildPlugin(ctx context.Context) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	// One folder for each tree, replaced by each run. With the rename, another process that tests
	// the same tree can continue to run its file.
	dir := filepath.Join(cache, "kubectl-ds", fmt.Sprintf("plugin-%x", sha256.Sum256([]byte(root)))[:len("plugin-")+16])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.CreateTemp(dir, ".build-")
	if err != nil {
		return "", err
	}
	fresh.Close()
	defer os.Remove(fresh.Name())
	if err := Build(ctx, fresh.Name(), root, "./cmd/kubectl-ds"); err != nil {
		return "", fmt.Errorf("build the plugin: %w", err)
	}
	return dir, os.Rename(fresh.Name(), filepath.Join(dir, "kubectl-ds"))
}

// Build builds a program of the module with the settings of .goreleaser.yaml. With cgo, which is
// the default where a C compiler exists, it would differ from the released program and use 20 MB
// more memory.
func Build(ctx context.Context, into, folder, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", into, program)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// BuildControlPlane builds the programs of test/cluster unless they are built, and returns their
// folder.
func BuildControlPlane(ctx context.Context) (string, error) { return build(ctx, "build.sh") }

// BuildPlane does the same for the API server, controllers and scheduler of an older minor version,
// such as "v1.30".
func BuildPlane(ctx context.Context, version string) (string, error) {
	return build(ctx, "old.sh", version)
}

// build runs a script of test/cluster that prints a folder.
func build(ctx context.Context, script string, args ...string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(root, "test", "cluster", script), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build the control plane: %w\n%s", err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// moduleRoot returns the root of the main module above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		data, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && bytes.HasPrefix(data, []byte("module "+modulePath+"\n")) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no module %s above %s", modulePath, dir)
		}
	}
}
