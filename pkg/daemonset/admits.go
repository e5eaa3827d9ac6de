package daemonset

// Admits reports whether taken is what a sync may do under the Batch: all that
// is certain, of each choice exactly Count and of one node at most PerNode,
// and nothing else. A delete is known by its pod and a create by its node;
// order and reasons do not matter.
//
// It cannot tell that a combination is never taken: see Choice.
func (b Batch) Admits(taken []Item) bool {
	left := make(map[string]int, len(taken))
	for _, i := range taken {
		left[i.target()]++
	}
	for _, i := range b.Certain {
		if left[i.target()] == 0 {
			return false
		}
		left[i.target()]--
	}
	for _, c := range b.Choices {
		if !c.take(left) {
			return false
		}
	}
	return len(taken) == b.Len()
}

// take takes the members of the choice out of left, and reports whether they
// were as many as it says.
func (c Choice) take(left map[string]int) bool {
	count, perNode := 0, map[string]int{}
	for _, i := range c.From {
		if left[i.target()] == 0 {
			continue
		}
		left[i.target()]--
		count++
		if perNode[i.Node]++; c.PerNode > 0 && perNode[i.Node] > c.PerNode {
			return false
		}
	}
	return count == c.Count
}

// target names what the item acts on: a pod to delete, or a node to create
// one on.
func (i Item) target() string {
	if i.Pod != "" {
		return "pod/" + i.Pod
	}
	return "node/" + i.Node
}
