// Package cases says how many cases a law tries. It is for tests.
package cases

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// Of returns how many cases a law tries that usually tries n: n of them, a
// tenth with go test -short, and $LAW_CASES times as many where that is set,
// such as "20" or "0.5". It is one at least.
func Of[N int | int64 | uint64](n N) N {
	times := 1.0
	if text := os.Getenv("LAW_CASES"); text != "" {
		var err error
		if times, err = strconv.ParseFloat(text, 64); err != nil || !(times > 0) {
			panic(fmt.Sprintf("LAW_CASES is %q, not a number above 0 such as 0.5 or 20", text))
		}
	} else if testing.Short() {
		times = 0.1
	}
	return max(1, N(times*float64(n)))
}

// Some returns as many of a list as Of makes of n, from all parts of it.
func Some[E any](all []E, n int) []E {
	n = min(Of(n), len(all))
	some := make([]E, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some
}

// Least returns how often at least something must come up in a law that usually
// has it n times: n times, and with fewer cases than usual not at all, since what
// is rare may not be among them.
func Least(n int) int {
	if Of(1000) < 1000 {
		return 0
	}
	return n
}

// A law makes much that is soon of no use, and ends within seconds: to collect it
// less often saves a fifth of the time.
func init() { debug.SetGCPercent(400) }
