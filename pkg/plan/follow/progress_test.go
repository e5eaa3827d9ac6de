package follow

import (
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
)

// TestResume checks that nothing counts as owed while changes were missed, and that an End which appeared meanwhile
// must hold anew for the full time.
func TestResume(t *testing.T) {
	for _, tt := range []struct{ grid, why string }{{"N O O O", "the next step is due"}, {"N n O O", "a pod does not become Ready"}} {
		t.Run(tt.why, func(t *testing.T) {
			f := follow(t, tt.grid)
			if _, err := f.Progress(f.at); err != nil {
				t.Fatal(err)
			}
			f.at = f.at.Add(time.Hour)
			f.Resume(f.at)
			p, err := f.Progress(f.at.Add(time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if p.Owed > time.Second || p.Idle != 0 || p.End != "" {
				t.Errorf("owed %s, idle %s, end %q", p.Owed, p.Idle, p.End)
			}
		})
	}
}

// TestDue checks when time alone changes the Progress.
func TestDue(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		script  string
		want    time.Duration // since the start; 0: nothing is due
		why     string
	}{
		{"N N N", nil, "", stuckAfter, "that all is done has to hold for half a minute"},
		{"N W N O", []dstest.Option{dstest.MinReadySeconds(20)}, "", 19 * time.Second, "a new pod that is Ready becomes available"},
		{"N V O O", []dstest.Option{dstest.MinReadySeconds(20)}, "", 19 * time.Second, "an old one as well"},
		{"N O O O", nil, "", overdueAfter, "the next deletion is owed"},
		{"O O O O", []dstest.Option{dstest.MaxUnavailable("2")}, "delete p0", batchGap, "one of two deletions has come, and the other may"},
	} {
		f := follow(t, tt.grid, tt.options...)
		f.run(tt.script)
		p, err := f.Progress(f.at)
		if err != nil {
			t.Fatal(err)
		}
		due := time.Duration(0)
		if !p.Due.IsZero() {
			due = p.Due.Sub(f.at)
		}
		if due != tt.want {
			t.Errorf("%s: due after %s, want %s", tt.why, due, tt.want)
		}
	}
}
