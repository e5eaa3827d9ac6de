package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// When the garbage collector runs: docs/performance.md says what was measured.
const (
	firstCollection = 40 << 20 // bytes: most commands end sooner
	mostGrowth      = 45       // percent of what is alive, after that
)

// SetCollector has the garbage collector run when the program has taken so much memory that most
// commands never do, and from there on more often than by Go's own setting, with which the program
// would take twice what it holds. It changes nothing where GOGC or GOMEMLIMIT is set.
func SetCollector() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstCollection)
	afterEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetGCPercent(growthOf(live[0].Value.Uint64()))
		debug.SetMemoryLimit(math.MaxInt64)
	})
}

// growthOf returns by how many percent a heap may grow of which so much is alive.
func growthOf(live uint64) int {
	const first = firstCollection
	if live == 0 || live >= first {
		return mostGrowth
	}
	return max(mostGrowth, int(100*(first-live)/live))
}

// afterEachCollection calls f when the collector has run, each time.
func afterEachCollection(f func()) {
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) {
		f()
		afterEachCollection(f)
	})
}
