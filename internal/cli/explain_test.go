package cli

import (
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func TestStatusOfGaps(t *testing.T) {
	for _, tt := range []struct {
		what snapshot.What
		why  snapshot.Why
		part bool
	}{
		{snapshot.Nodes, snapshot.Forbidden, true},
		{snapshot.Pods, snapshot.Failed, true},
		{snapshot.Revisions, snapshot.NotGiven, true},
		{snapshot.Pods, snapshot.Partial, true},
		{snapshot.DaemonSets, snapshot.Partial, true},
		{snapshot.Events, snapshot.Partial, false},
		{snapshot.Pods, snapshot.Moved, false},
		{snapshot.Events, snapshot.Forbidden, false},
		{snapshot.PodDisruptionBudgets, snapshot.Forbidden, false},
		{snapshot.Version, snapshot.Failed, false},
		{snapshot.Clock, snapshot.NotGiven, false},
	} {
		e := &explain.Explanation{Verdict: explain.Verdict{Code: explain.Healthy}}
		e.Snapshot.Gaps = []daemonset.Gap{{Gap: snapshot.Gap{What: tt.what, Why: tt.why}}}
		err := (&explainOptions{queryFlags: queryFlags{exitCode: true}}).status([]*explain.Explanation{e})
		if got := err == error(statusPartial); got != tt.part {
			t.Errorf("%s %s: status %v, an answer in part: want %v", tt.what, tt.why, err, tt.part)
		}
	}
}
