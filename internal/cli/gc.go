package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// Settings of the garbage collector. The measurements are in docs/performance.md.
const (
	firstCollection = 36 << 20 // bytes; most commands end before they allocate this much
	growth          = 40       // how much the heap grows before the next collection, in percent of the live heap
)

// SetCollector configures the garbage collector. The first collection starts at a heap size that
// most commands never reach. Then collections start more often than by default, because Go's
// default would double the memory of the program. SetCollector changes nothing if GOGC or
// GOMEMLIMIT is set.
func SetCollector() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstCollection)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { // the first collection calls it
		debug.SetGCPercent(growth)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
