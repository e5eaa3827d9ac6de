package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// tally counts things. It is safe for concurrent use.
type tally struct {
	lock sync.Mutex
	of   map[string]int
}

func (c *tally) add(name string, n int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[name] += n
}

func (c *tally) String() string {
	c.lock.Lock()
	defer c.lock.Unlock()
	names := slices.SortedFunc(maps.Keys(c.of), func(a, b string) int { return cmp.Or(c.of[b]-c.of[a], strings.Compare(a, b)) })
	parts := make([]string, 0, len(names))
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s %d", n, c.of[n]))
	}
	return strings.Join(parts, ", ")
}
