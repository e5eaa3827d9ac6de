// Package intern stores equal values once. Most values in a list of 15,000 objects appear many times.
package intern

import (
	"sync"
	"unique"
)

// Text replaces a string by an equal one that all objects share.
func Text[S ~string](text *S) { *text = S(unique.Make(string(*text)).Value()) }

// A Cache maps encoded values to decoded ones. It is safe for concurrent use. Do not modify the values that it returns.
type Cache[V any] struct {
	mutex  sync.RWMutex
	values map[string]V
}

const (
	// Most is the maximum number of values in a Cache. Frequent values appear early.
	Most = 1000
	// Longest is the maximum length of a cached key in bytes. The object with a longer one may be dropped later.
	Longest = 32 << 10
)

// Of returns the value of a key. If the cache does not have it, Of decodes it.
func (c *Cache[V]) Of(key []byte, decode func() (V, error)) (V, error) {
	c.mutex.RLock()
	v, held := c.values[string(key)]
	c.mutex.RUnlock()
	if held {
		return v, nil
	}
	v, err := decode()
	if err != nil || len(key) > Longest {
		return v, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if first, held := c.values[string(key)]; held {
		return first, nil
	}
	if c.values == nil {
		c.values = map[string]V{}
	}
	if len(c.values) < Most {
		c.values[string(key)] = v
	}
	return v, nil
}

// Len returns the number of values in the cache.
func (c *Cache[V]) Len() int { return len(c.values) }
