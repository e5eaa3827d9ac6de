package cli

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestGrowthOf: after how much more memory the collector runs again.
func TestGrowthOf(t *testing.T) {
	for _, tt := range []struct {
		live  uint64 // MB
		watch bool
		want  int // percent
		why   string
	}{
		{0, false, 65, "nothing is alive"},
		{9, false, 300, "not before the first 36 megabytes"},
		{30, false, 65, "then by two thirds"},
		{50, false, 65, "of some thousand nodes"},
		{87, false, 65, "of ten thousand"}, {88, false, 30, "of fifteen thousand"},
		{159, false, 30, "of some more"}, {160, false, 100, "of very many"},
		{50, true, 100, "of --watch, which runs for hours"},
	} {
		if got := growthOf(tt.live<<20, tt.watch); got != tt.want {
			t.Errorf("%s: %d MB are alive: %d %%, want %d %%", tt.why, tt.live, got, tt.want)
		}
	}
}

// TestAfterEachCollection: it is called after one collection as after the next.
func TestAfterEachCollection(t *testing.T) {
	ran := make(chan struct{}, 1)
	afterEachCollection(func() {
		select {
		case ran <- struct{}{}:
		default:
		}
	})
	for range 3 {
		for waits := true; waits; { // one may already be under way that does not see it
			runtime.GC()
			select {
			case <-ran:
				waits = false
			case <-time.After(time.Second):
			}
		}
	}
}

// TestWaitForRecorded: the collector waits until what a recorded snapshot takes is there, unless somebody else says when it
// runs.
func TestWaitForRecorded(t *testing.T) {
	const bytes = 1 << 30
	limit, percent := debug.SetMemoryLimit(math.MaxInt64), debug.SetGCPercent(100)
	t.Cleanup(func() {
		tuned.Store(false)
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	})
	waitForRecorded(bytes)
	if now := debug.SetMemoryLimit(-1); now != math.MaxInt64 {
		t.Errorf("GOGC or GOMEMLIMIT is set: a limit of %d", now)
	}
	tuned.Store(true)
	waitForRecorded(bytes)
	if now := debug.SetMemoryLimit(-1); now < 3*bytes || now > 5*bytes {
		t.Errorf("%d bytes are to come: a limit of %d", bytes, now)
	}
	if now := debug.SetGCPercent(-1); now != -1 {
		t.Errorf("it runs again after %d %%", now)
	}
}
