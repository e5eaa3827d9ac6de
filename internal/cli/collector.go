package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// When the garbage collector runs: docs/performance.md says what was measured.
const (
	firstCollection = 36 << 20 // bytes: most commands end sooner
	growth          = 40       // percent of what is alive by which the heap grows until the next collection
)

// SetCollector postpones the first garbage collection until the program takes more memory than most commands need.
// From then on, the collector runs more often than by Go's own setting, with which the program would take twice what it
// holds. It changes nothing if GOGC or GOMEMLIMIT is set.
func SetCollector() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstCollection)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { // which the first collection calls
		debug.SetGCPercent(growth)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
