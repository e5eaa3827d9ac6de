package template

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/draw"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestPlainLaws checks that Plain changes only the form of a content and is
// idempotent, and that contents have the same Key if and only if they are
// Equal.
func TestPlainLaws(t *testing.T) {
	equal, pairs := 0, 0
	for seed := range cases.Of(uint64(300)) {
		d := drawn{draw.Draw{Rand: rand.New(rand.NewPCG(seed, 4))}}
		one := d.Template()
		other := one.DeepCopy()
		if d.OneIn(2) {
			d.Edit(other)
		}
		a, b := d.stored(t, one), d.stored(t, other)
		before := inJSON(a)
		plain := a.Plain()
		if want := bare(a).(map[string]any); !plain.Equal(want) {
			t.Fatalf("seed %d: (-want +got):\n%s", seed, cmp.Diff(want, map[string]any(plain)))
		}
		if again := plain.Plain(); !again.Equal(plain) || before != inJSON(a) {
			t.Fatalf("seed %d: %s became %s and %s", seed, before, inJSON(again), inJSON(a))
		}
		for _, pair := range [][2]Content{{a, b}, {a, plain}, {plain, b.Plain()}, {a, parsed(before).(map[string]any)}} {
			pairs++
			if shared := pair[0].Key() == pair[1].Key(); shared != pair[0].Equal(pair[1]) {
				t.Fatalf("seed %d: share a key: %t\n%s\n%s", seed, shared, inJSON(pair[0]), inJSON(pair[1]))
			} else if shared {
				equal++
			}
		}
	}
	if equal < cases.Least(pairs/4) || pairs-equal < cases.Least(pairs/4) {
		t.Errorf("%d of %d pairs are equal: the law looks at one side only", equal, pairs)
	}
}
