package plan

import (
	"testing"
	"time"
)

// TestResume: what could not be seen was not owed, and an end that showed meanwhile must
// show again for as long.
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
