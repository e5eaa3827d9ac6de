package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// When the garbage collector runs: docs/performance.md says what was measured.
const (
	firstCollection = 36 << 20 // bytes: most commands end sooner

	// By how many percent of what is alive the heap grows until it runs again. The smallest share is for
	// what 15,000 nodes take, so that they fit into some 200 MB; with still more, time is dearer than memory.
	growth, growthOfMany, growthOfMost = 65, 30, 100
	many, most                         = 88 << 20, 160 << 20 // bytes that are alive

	growthOfWatch = 100 // of what runs for hours: it is not to keep a processor busy

	ofRecorded = 3       // bytes that are taken while a byte of a recorded snapshot is read
	mostWait   = 2 << 30 // bytes that are taken without a look at what is alive: something else may be in its file, too
)

// ours says that the process is the program, tuned that nobody else said when the collector runs, and resting that rest
// was called.
var ours, tuned, resting atomic.Bool

// SetCollector has the garbage collector run when the program has taken so much memory that most
// commands never do, and from there on at first more often than by Go's own setting, with which the
// program would take twice what it holds. It changes nothing where GOGC or GOMEMLIMIT is set.
func SetCollector() {
	ours.Store(true)
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	tuned.Store(true)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstCollection)
	afterEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetGCPercent(growthOf(live[0].Value.Uint64(), resting.Load()))
		debug.SetMemoryLimit(math.MaxInt64)
	})
}

// waitForRecorded postpones garbage collection while a recorded snapshot of that size is read. The caller calls read
// when that is done. Nearly all of the snapshot stays, so a collection meanwhile would free nothing.
func waitForRecorded(bytes int64) (read func()) {
	before := heapNow()
	more := min(bytes, mostWait/ofRecorded) * ofRecorded
	if !tuned.Load() || before.objects+more <= before.goal {
		return func() {}
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(before.taken + more)
	return func() {
		if after := heapNow(); after.collections == before.collections {
			debug.SetMemoryLimit(after.taken + after.objects*int64(growthOf(uint64(after.objects), false))/100)
		}
	}
}

// heap is what the runtime says of the memory that it has, in bytes but for the number of collections.
type heap struct{ goal, objects, taken, collections int64 }

func heapNow() heap {
	now := []metrics.Sample{
		{Name: "/gc/heap/goal:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(now)
	value := func(i int) int64 { return int64(min(now[i].Value.Uint64(), math.MaxInt64)) }
	return heap{goal: value(0), objects: value(1), taken: value(2) - value(3), collections: value(4)}
}

// rest lowers GOMAXPROCS to 1 for a program that has read its input and waits for changes: it wakes up some twenty
// times a second, and takes a sixth more of a processor where Go uses several. It changes nothing if GOMAXPROCS is set.
func rest() {
	if !ours.Load() {
		return
	}
	resting.Store(true)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// growthOf returns by how many percent a heap may grow of which so many bytes are alive.
func growthOf(live uint64, watches bool) int {
	switch {
	case watches:
		return growthOfWatch
	case live >= most:
		return growthOfMost
	case live >= many:
		return growthOfMany
	case live == 0:
		return growth
	}
	const first = firstCollection
	return max(growth, int((int64(first)-int64(live))*100/int64(live)))
}

// afterEachCollection calls f when the collector has run, each time.
func afterEachCollection(f func()) {
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) {
		f()
		afterEachCollection(f)
	})
}
