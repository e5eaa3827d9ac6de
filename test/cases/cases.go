// Package cases returns the number of cases that a randomized test tries. It takes the usual number
// and applies -short and $LAW_CASES.
package cases

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// Of returns the number of cases for a test that usually tries n: n, n/10 with go test -short, or n
// multiplied by $LAW_CASES if it is set, such as "20" or "0.5". It returns at least 1.
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

// Some returns Of(n) elements of a list, evenly distributed.
func Some[E any](all []E, n int) []E {
	n = min(Of(n), len(all))
	some := make([]E, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some
}

// Least returns the minimum number of occurrences of something that must occur n times in the usual
// number of cases. With fewer cases it returns 0, because rare things may not occur.
func Least(n int) int {
	if Of(1000) < 1000 {
		return 0
	}
	return n
}

// Rare returns the minimum number of occurrences of something too rare for the usual number of cases:
// n if the law tries ten times as many, as make check LAW_CASES=10 does, and otherwise 0.
func Rare(n int) int {
	if Of(1000) < 10_000 {
		return 0
	}
	return n
}

// These tests allocate much short-lived memory and end within seconds. Less frequent garbage
// collection saves a fifth of the time.
func init() { debug.SetGCPercent(400) }
