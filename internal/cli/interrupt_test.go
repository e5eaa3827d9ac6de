package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// stuckWriter simulates work that ignores the context, such as a computation or a pipe that nobody
// reads. It signals the start of the work.
type stuckWriter struct {
	reached func()
	release chan struct{}
}

func (w stuckWriter) Write(p []byte) (int, error) {
	w.reached()
	<-w.release
	return len(p), nil
}

// TestInterruptedWork checks that Ctrl-C ends a command that ignores the context, after the grace
// period.
func TestInterruptedWork(t *testing.T) {
	for _, tt := range []struct{ args, why string }{
		{"plan-rollout agent -n moving --from testdata/cluster.yaml -o json", "a plan"},
		{"explain -A --from testdata/cluster.yaml", "an answer"},
		{"version", "what needs no input"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			out := stuckWriter{interrupt, make(chan struct{})}
			defer close(out.release)
			var errs bytes.Buffer
			ended := make(chan int, 1)
			go func() {
				ended <- mainUntil(ctx, append([]string{"kubectl-ds"}, strings.Fields(tt.args)...), strings.NewReader(""), out, &errs)
			}()
			select {
			case status := <-ended:
				if status != statusInterrupted || strings.Contains(errs.String(), "error") {
					t.Errorf("status %d, %s", status, &errs)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it goes on")
			}
		})
	}
}

// TestInterruptedInTime checks that a command that ends within the grace period sets the exit
// status.
func TestInterruptedInTime(t *testing.T) {
	for _, tt := range []struct {
		args string
		want int
		why  string
	}{
		{"version", 0, "no wait in it"},
		{"explain -A --from testdata/cluster.yaml", statusInterrupted, "a file is not read any more"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			var out, errs bytes.Buffer
			if status := mainUntil(ctx, append([]string{"kubectl-ds"}, strings.Fields(tt.args)...), strings.NewReader(""), &out, &errs); status != tt.want {
				t.Errorf("status %d, want %d: %s%s", status, tt.want, &out, &errs)
			}
		})
	}
}
