package intern

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// TestCache: equal keys share a value. The cache keeps no errors, no long keys and no more than Most values.
func TestCache(t *testing.T) {
	var c Cache[*int]
	decode := func() (*int, error) { return new(int), nil }
	first, _ := c.Of([]byte("a"), decode)
	for _, tt := range []struct {
		key  string
		want bool
	}{{"a", true}, {"b", false}, {strings.Repeat("a", Longest+1), false}} {
		if got, err := c.Of([]byte(tt.key), decode); err != nil || (got == first) != tt.want {
			t.Errorf("%.5s: the same is %t, %v", tt.key, got == first, err)
		}
	}
	failed := errors.New("no")
	if _, err := c.Of([]byte("c"), func() (*int, error) { return nil, failed }); err != failed || c.Len() != 2 {
		t.Errorf("%v, and %d are held", err, c.Len())
	}
	for i := range 2 * Most {
		_, _ = c.Of(fmt.Append(nil, i), decode)
	}
	if again, _ := c.Of([]byte("a"), decode); c.Len() != Most || again != first {
		t.Errorf("%d are held", c.Len())
	}
}

// TestCacheConcurrent: concurrent calls with equal keys get the same value, and do not wait for each other to decode.
func TestCacheConcurrent(t *testing.T) {
	var c Cache[*int]
	var wg, decoding sync.WaitGroup
	got := make([]*int, 2)
	decoding.Add(len(got))
	for i := range got {
		wg.Go(func() {
			got[i], _ = c.Of([]byte("a"), func() (*int, error) {
				decoding.Done()
				decoding.Wait() // until both decode
				return new(int), nil
			})
		})
	}
	wg.Wait()
	if got[0] != got[1] {
		t.Error("two values of one key")
	}
}

// TestText: equal strings share their memory.
func TestText(t *testing.T) {
	type kind string
	a, b := kind(fmt.Sprint("zone-", 1)), kind(fmt.Sprint("zone-", 1))
	Text(&a)
	Text(&b)
	if a != "zone-1" || unsafe.StringData(string(a)) != unsafe.StringData(string(b)) {
		t.Errorf("%s and %s are held twice", a, b)
	}
}
