package redact

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestRulesAreOfFields checks that every field in the list of rules exists.
func TestRulesAreOfFields(t *testing.T) {
	there := map[string]bool{}
	seen := map[reflect.Type]bool{}
	var see func(t reflect.Type)
	see = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] || hasOwnEncoding(t) {
			return
		}
		seen[t] = true
		for _, f := range fieldsOf(t) {
			there[t.Name()+"."+f.name], there[f.declared.Name()+"."+f.name] = true, true
			see(f.typ)
		}
	}
	see(reflect.TypeFor[snapshot.Snapshot]())
	see(reflect.TypeFor[appsv1.DaemonSet]()) // in the data of a revision
	twice := map[string]bool{}
	for _, r := range ruleList() {
		for _, name := range strings.Fields(r.fields) {
			if !there[name] {
				t.Errorf("%s: no type has it", name)
			}
			if twice[name] {
				t.Errorf("%s: has two rules", name)
			}
			twice[name] = true
		}
	}
	for name := range labelMaps {
		if !there[name] {
			t.Errorf("%s: no type has it", name)
		}
	}
}

// TestSlots checks that sentences use only known slots, and all of them.
func TestSlots(t *testing.T) {
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(sentenceList, -1) {
		if used[m[1]] = true; slots[m[1]].of == nil {
			t.Errorf("{%s} is no slot", m[1])
		}
	}
	for name := range slots {
		if !used[name] {
			t.Errorf("{%s} is in no sentence", name)
		}
	}
}

// TestBetween tests the shortest prefix that orders names.
func TestBetween(t *testing.T) {
	for _, tt := range []struct{ above, below, first, last, joint, want, why string }{
		{"", "", "key-1", "key-9", "-", "", "nothing stands beside it"},
		{"app", "zone", "key-1", "key-9", "-", "", "it is between the two"},
		{"", "app", "key-1", "key-9", "-", "a-", "before the first"},
		{"app", "beta", "key-1", "key-9", "-", "b-", "between two letters"},
		{"kubernetes.io/arch", "kubernetes.io/os", "key-1", "key-9", "-", "kubernetes.io/b-", "as much of them as they have in common"},
		{"topology/", "", "key-1", "key-9", "-", "u-", "behind the last"},
		{"a", "a-b", "key-1", "key-9", "-", "a--", "behind one that begins the other"},
		{"containerd", "docker", "wa", "wb", "", "c", "letters alone, where digits would be numbers"},
	} {
		if got := between(tt.above, tt.below, tt.first, tt.last, tt.joint); got != tt.want {
			t.Errorf("%s: between %q and %q: got %q, want %q", tt.why, tt.above, tt.below, got, tt.want)
		}
	}
}
