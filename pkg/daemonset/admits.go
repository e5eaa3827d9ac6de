package daemonset

// Admits reports whether the Batch allows a sync to do exactly what is taken:
// every certain Item and, of each Choice, exactly Count items and at most
// PerNode of one node. A delete is identified by its pod and a create by its
// node; order and reasons are ignored.
//
// Admits accepts some combinations that the controller never takes: see Choice.
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

// take removes the members of the choice from left, and reports whether their
// number is what the choice requires.
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

// target returns a key for what the item acts on: the pod to delete, or the
// node that gets a pod.
func (i Item) target() string {
	if i.Pod != "" {
		return "pod/" + i.Pod
	}
	return "node/" + i.Node
}
