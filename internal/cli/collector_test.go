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

// TestWaitForRecorded: the collector waits until what a recorded snapshot takes is there, however large the file is only so
// long, and not at all unless it would run before or where somebody else says when it runs.
func TestWaitForRecorded(t *testing.T) {
	const mega = 1 << 20
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() {
		tuned.Store(false)
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	})
	for _, tt := range []struct {
		why         string
		tuned       bool
		bytes       int64
		least, most int64 // of the limit, beyond what is taken; 0: it is as before
	}{
		{"GOGC or GOMEMLIMIT is set", false, 500 * mega, 0, 0},
		{"a large one", true, 500 * mega, 1500 * mega, 1600 * mega},
		{"a small one, which is read before the collector runs", true, 1, 0, 0},
		{"one of many gigabytes", true, 1 << 40, 2048 * mega, 2148 * mega},
	} {
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(100)
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		tuned.Store(tt.tuned)
		read := waitForRecorded(tt.bytes)
		limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(-1)
		debug.SetGCPercent(percent)
		read()
		after := debug.SetMemoryLimit(-1)
		if tt.least == 0 {
			if limit != math.MaxInt64 || percent != 100 || after != limit {
				t.Errorf("%s: a limit of %d, and %d %%; %d once it is read", tt.why, limit, percent, after)
			}
			continue
		}
		if beyond := after - int64(before.Sys-before.HeapReleased); beyond <= 0 || beyond > firstCollection+8*mega {
			t.Errorf("%s: once it is read, %d bytes beyond what is taken", tt.why, beyond)
		}
		if beyond := limit - int64(before.Sys-before.HeapReleased); beyond < tt.least-100*mega || beyond > tt.most || percent != -1 {
			t.Errorf("%s: %d bytes beyond what is taken, and %d %%", tt.why, beyond, percent)
		}
	}
}
