package daemonset

import (
	"strings"
	"testing"
)

// items parses "n0 n1/p1": a create on n0 and the delete of p1 on n1.
func items(text string) []Item {
	var list []Item
	for _, field := range strings.Fields(text) {
		node, pod, _ := strings.Cut(field, "/")
		list = append(list, Item{Node: node, Pod: pod})
	}
	return list
}

func TestAdmits(t *testing.T) {
	certain := func(text string) Batch { return Batch{Certain: items(text)} }
	anyOf := func(count, perNode int, from string) Batch {
		return Batch{Choices: []Choice{{Count: count, PerNode: perNode, From: items(from), Reason: WithinBudget}}}
	}
	join := func(batches ...Batch) Batch {
		var all Batch
		for _, b := range batches {
			all.Certain = append(all.Certain, b.Certain...)
			all.Choices = append(all.Choices, b.Choices...)
		}
		return all
	}
	reasons := certain("n0/p0")
	reasons.Certain[0].Reason = Forced
	deferred := anyOf(2, 0, "n0 n1 n2")
	deferred.Deferred = 1

	whys := whys{}
	for _, tt := range []struct {
		batch Batch
		taken string
		want  bool
		why   string
	}{
		{Batch{}, "", true, "nothing to do, nothing done"},
		{Batch{}, "n0", false, "nothing to do, and a pod created"},
		{certain("n0 n1"), "n1 n0", true, "all that is certain, in any order"},
		{certain("n0 n1"), "n0", false, "one that is certain is missing"},
		{certain("n0"), "n0 n1", false, "one too many"},
		{certain("n0"), "n1", false, "another node"},
		{certain("n0"), "n0 n0", false, "one node twice"},
		{certain("n0 n1"), "n0 n0", false, "one node twice instead of two"},
		{certain("n0/p0"), "n0/p0", true, "a pod that is certain"},
		{certain("n0/p0"), "n0/p1", false, "another pod of the node"},
		{certain("n0/p0"), "n0", false, "a create on the node of a delete"},
		{certain("n0"), "n0/p0", false, "a delete on the node of a create"},
		{certain("n0/p0"), "n9/p0", true, "a pod is told by its name alone"},
		{reasons, "n0/p0", true, "the reason does not matter"},
		{anyOf(1, 0, "n0/p0 n1/p1"), "n0/p0", true, "any one of two: the first"},
		{anyOf(1, 0, "n0/p0 n1/p1"), "n1/p1", true, "any one of two: the second"},
		{anyOf(1, 0, "n0/p0 n1/p1"), "", false, "any one of two, and none taken"},
		{anyOf(1, 0, "n0/p0 n1/p1"), "n0/p0 n1/p1", false, "any one of two, and both taken"},
		{anyOf(1, 0, "n0/p0 n1/p1"), "n2/p2", false, "any one of two, and a third taken"},
		{anyOf(1, 0, "n0/p0 n1/p1"), "n0/p0 n2/p2", false, "any one of two, and a third with it"},
		{anyOf(2, 0, "n0/p0 n0/p1 n1/p2"), "n0/p0 n0/p1", true, "two of one node, where nothing limits it"},
		{anyOf(2, 1, "n0/p0 n0/p1 n1/p2"), "n0/p0 n0/p1", false, "two of one node, where one is allowed"},
		{anyOf(2, 1, "n0/p0 n0/p1 n1/p2"), "n0/p1 n1/p2", true, "one each of two nodes"},
		{anyOf(3, 2, "n0/p0 n0/p1 n0/p2 n1/p3"), "n0/p0 n0/p1 n1/p3", true, "as many of a node as are allowed"},
		{join(certain("n0/p0"), anyOf(1, 0, "n1/p1 n2/p2")), "n2/p2 n0/p0", true, "the certain one and one of the choice"},
		{join(certain("n0/p0"), anyOf(1, 0, "n1/p1 n2/p2")), "n1/p1 n2/p2", false, "two of the choice instead of the certain one"},
		{join(anyOf(1, 0, "n0 n1"), anyOf(1, 0, "n2 n3")), "n1 n2", true, "one of each choice"},
		{join(anyOf(1, 0, "n0 n1"), anyOf(1, 0, "n2 n3")), "n0 n1", false, "two of one choice and none of the other"},
		{join(certain("n0"), anyOf(1, 0, "n0 n1 n2")), "n0 n2", true, "what is certain is not taken again by a choice"},
		{join(anyOf(1, 0, "n0 n1"), anyOf(1, 0, "n0 n2")), "n0 n2", true, "nor what another choice took"},
		{deferred, "n0 n2", true, "what is left to later syncs is not waited for"},
		{deferred, "n0 n1 n2", false, "nor may it be done"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			if got := tt.batch.Admits(items(tt.taken)); got != tt.want {
				t.Errorf("%s admits %q: %t, want %t", batchText(tt.batch), tt.taken, got, tt.want)
			}
		})
	}
}

// TestBatchNumbers tests the number of pods in a batch and of its candidates.
func TestBatchNumbers(t *testing.T) {
	three := []Item{{Node: "a"}, {Node: "b"}, {Node: "c"}}
	for _, tt := range []struct {
		batch      Batch
		length, of int
		why        string
	}{
		{Batch{}, 0, 0, "nothing happens"},
		{Batch{Certain: three, Deferred: 2}, 3, 3, "all is certain, and what is deferred is none of it"},
		{Batch{Certain: three[:1], Choices: []Choice{{Count: 1, From: three[1:]}, {Count: 2, From: three}}}, 4, 6, "one is certain, and of two choices each counts"},
	} {
		if n, of := tt.batch.Len(), tt.batch.Candidates(); n != tt.length || of != tt.of {
			t.Errorf("%s: %d of %d, want %d of %d", tt.why, n, of, tt.length, tt.of)
		}
	}
}
