package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// TestPullAddsNothing checks for how many images of the template the pull was not measured; 0 if the assumption is
// absent.
func TestPullAddsNothing(t *testing.T) {
	const (
		now    = "spec: {containers: [{name: agent, image: a:2}]}"
		before = "spec: {initContainers: null, containers: [{name: agent, image: a:1}]}"
	)
	for _, tt := range []struct {
		why         string
		now, before string // the template, and the template of revision 7
		pods        string
		o           plan.Options
		want        string
	}{
		{"a new image", now, before, `"n[1-4] 7": {}`, plan.Options{}, "1"},
		{"the same image with another setting", before, "spec: {containers: [{name: agent, image: a:1, args: [x]}]}", `"n[1-4] 7": {}`, plan.Options{}, ""},
		{"two are new, and one of them twice", "spec: {initContainers: [{name: i, image: i:2}], containers: [{name: agent, image: a:2}, {name: b, image: a:2}]}", before, `"n[1-4] 7": {}`, plan.Options{}, "2"},
		{"only the init container's is", "spec: {initContainers: [{name: i, image: i:2}], containers: [{name: agent, image: a:1}]}", before, `"n[1-4] 7": {}`, plan.Options{}, "1"},
		{"a Ready pod runs it already", now, before, `"n[1-3] 7": {}, "n4 8": {}`, plan.Options{}, ""},
		{"a new pod that is not Ready tells nothing of it", now, before, `"n[1-3] 7": {}, "n4 8": {status: {conditions: [{type: Ready, status: "False", lastTransitionTime: -1m}]}}`, plan.Options{}, "1"},
		{"the start is said", now, before, `"n[1-4] 7": {}`, plan.Options{Starts: []time.Duration{time.Minute}}, ""},
		{"no start is known", now, before, `"n[1-2] 7": {}`, plan.Options{}, ""},
		{"a webhook gives pods another registry, and the image is not new", before, before + ", metadata: {labels: {x: z}}", `"n[1-4] 7": {spec: {containers: [{name: agent, image: mirror/a:1}]}}`, plan.Options{}, ""},
		{"and it is new", now, before, `"n[1-4] 7": {spec: {containers: [{name: agent, image: mirror/a:1}]}}`, plan.Options{}, "1"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := world.Parse(t, fmt.Sprintf("daemonset: {spec: {template: {%s}}}\ntemplates: {7: {%s}}\nnodes: {\"n[1-4]\": {}}\npods: {%s}\n", tt.now, tt.before, tt.pods))
			p, err := world.Plan(s, nil, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if i := slices.IndexFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == plan.AssumePull }); i >= 0 {
				got = p.Assumptions[i].Value
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
