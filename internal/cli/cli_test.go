package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// TestMain lets a story run the program as a separate process, under the names that kubectl uses.
func TestMain(m *testing.M) {
	run := func() { os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(m, map[string]func(){"kubectl-ds": run, "kubectl_complete-ds": run})
}

// TestStories runs the stories in testdata. Each story has a cluster.yaml and no kubeconfig.
// $CLOSED is an address that refuses connections. $SILENT is an address that accepts connections
// and never answers; "await" waits for the first connection. cluster.yaml contains JSON, which is
// valid YAML and faster to parse.
func TestStories(t *testing.T) {
	cluster, err := os.ReadFile(filepath.Join("testdata", "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if cluster, err = yaml.YAMLToJSON(cluster); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_STORIES") != "",
		Setup: func(e *testscript.Env) error {
			if err := os.WriteFile(filepath.Join(e.WorkDir, "cluster.yaml"), cluster, 0o600); err != nil {
				return err
			}
			e.Setenv("KUBECONFIG", filepath.Join(e.WorkDir, "none"))
			e.Setenv("GOGC", "off") // the processes end quickly
			e.Setenv("NOW", "--now=2026-11-20T12:00:00Z")
			e.Setenv("RULES", "--kubernetes-version=v1.37.1")
			return addresses(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"await": await},
	})
}

// addresses sets CLOSED and SILENT.
func addresses(e *testscript.Env) error {
	closed, free, err := nobodyListens()
	if err != nil {
		return err
	}
	e.Setenv("CLOSED", "http://"+closed)
	e.Defer(free)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e.Setenv("SILENT", "http://"+silent.Addr().String())
	e.Defer(func() { _ = silent.Close() })
	connected := make(chan struct{}, 100)
	e.Values["connected"] = connected
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			connected <- struct{}{}
		}
	}()
	return nil
}

// nobodyListens returns an address that refuses connections until free is called. It uses the port
// of an open connection, because the system may reuse the port of a closed listener.
func nobodyListens() (address string, free func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		_ = l.Close()
		return "", nil, err
	}
	return c.LocalAddr().String(), func() { _, _ = c.Close(), l.Close() }, nil
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: await")
	}
	select {
	case <-ts.Value("connected").(chan struct{}):
	case <-time.After(20 * time.Second):
		ts.Check(fmt.Errorf("nobody connected to $SILENT"))
	}
}
