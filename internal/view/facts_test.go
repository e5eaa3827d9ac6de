package view

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestFactsHaveTheirTypes checks that each fact of a result has the type in FactKeys. Times are text.
func TestFactsHaveTheirTypes(t *testing.T) {
	types := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[daemonset.FactKeys]()) {
		types[f.Tag.Get("json")] = f.Type
	}
	seen, wrong := map[string]bool{}, map[string]bool{}
	look := func(f daemonset.Facts) {
		for k, v := range f {
			seen[k] = true
			want, got := types[k], reflect.TypeOf(v)
			text, _ := v.(string)
			_, noTime := time.Parse(time.RFC3339, text)
			if want != got && !(want == reflect.TypeFor[time.Time]() && noTime == nil) && !wrong[k] {
				wrong[k] = true
				t.Errorf("%s is %v (%T), but FactKeys has %v", k, v, v, want)
			}
		}
	}
	for seed := range cases.Of(int64(60)) {
		s := dstest.Random(seed)
		if seed%4 == 3 {
			s = dstest.OnOpenShift(s, seed)
		}
		h, err := history.Make(stateOf(t, s), history.Options{})
		check(t, err)
		eachFacts(reflect.ValueOf(explained(t, s, explain.Options{})), look)
		eachFacts(reflect.ValueOf(h), look)
		// otherwise there is no strategy
		if p, err := world.Plan(s, &whatif.Change{Restart: true}, plan.Options{}); err == nil {
			eachFacts(reflect.ValueOf(p), look)
		}
	}
	if len(seen) < cases.Least(40) {
		t.Errorf("only %d keys: %v", len(seen), fmt.Sprint(seen))
	}
}

// eachFacts calls look with all Facts that are reachable from v.
func eachFacts(v reflect.Value, look func(daemonset.Facts)) {
	if f, is := v.Interface().(daemonset.Facts); is {
		look(f)
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Elem().CanInterface() {
			eachFacts(v.Elem(), look)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachFacts(v.Index(i), look)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			eachFacts(v.MapIndex(k), look)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachFacts(v.Field(i), look)
			}
		}
	}
}
