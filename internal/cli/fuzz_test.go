package cli

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// FuzzFlags parses any text as the value of several flags: label selectors, taints and labels of
// nodes, tolerations and node selectors. If a value is accepted, its normal form must be accepted
// with the same meaning. An error must have one line, unless the text has several.
func FuzzFlags(f *testing.F) {
	for _, seed := range []string{
		"app=agent", "app in (a,b),!x", "a!=b", "", "worker-*:dedicated=gpu:NoSchedule", "pool=gpu:dedicated-", "n1:a=b", "n1:a:NoExecute-", "dedicated=gpu:NoSchedule", "*", "*:NoExecute", "pool=gpu", "pool-", ":", "a=b=c", "x>1", "n1,n2:a=b:NoSchedule", "a:b:c:d",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one := func(err error) {
			if err != nil && strings.ContainsAny(err.Error(), "\n\r") && !strings.ContainsAny(text, "\n\r") {
				t.Errorf("%q", err)
			}
		}
		selector, err := labels.Parse(text)
		one(err)
		if err == nil {
			if again, err := labels.Parse(selector.String()); err != nil || again.String() != selector.String() {
				t.Errorf("%q is %q, which is %v, %v", text, selector, again, err)
			}
		}
		toleration, err := parseToleration(text)
		one(err)
		if err == nil && toleration.Key == "" && toleration.Value != "" {
			t.Errorf("%q tolerates %+v", text, toleration)
		}
		add, drop, err := parseNodeSelector([]string{text})
		one(err)
		if err == nil && len(add)+len(drop) != 1 {
			t.Errorf("--node-selector %q: %v, %v", text, add, drop)
		}
		for key, value := range add {
			if again, _, err := parseNodeSelector([]string{key + "=" + value}); err != nil || again[key] != value {
				t.Errorf("--node-selector %q: %v, %v", text, again, err)
			}
		}
		for _, kind := range []whatif.NodeChangeKind{whatif.NodeTaint, whatif.NodeLabel, whatif.NodeCordon} {
			edits, err := nodeFlag{name: "x", kind: kind, text: text}.edits()
			one(err)
			if err == nil && len(edits) == 0 {
				t.Errorf("%v %q: neither a change nor an error", kind, text)
			}
			for _, e := range edits {
				if e.Which == "" || strings.TrimSpace(e.Which) != e.Which || kind == whatif.NodeTaint && e.Taint == nil {
					t.Errorf("%v %q: %+v", kind, text, e)
				}
			}
		}
		for _, name := range nodesOf(text) {
			if strings.Contains(name, ",") && !strings.ContainsAny(text, "=()!") {
				t.Errorf("%q has the node %q", text, name)
			}
		}
	})
}
