// Package wire is what the judge and its programs say to each other, as JSON
// lines: a Request on the program's stdin gets an Answer on its stdout. It holds
// no Kubernetes types, so the two may be built with different ones.
package wire

import "encoding/json"

// Request asks what the real scheduler decides about one pod and one node.
type Request struct {
	// State is a State, with the API types of the one who asks. The program
	// reads it with those of its own version.
	State json.RawMessage `json:"state"`

	// Orders is how often victims are selected, each time with the pods of the
	// node and the PodDisruptionBudgets in another order.
	Orders int `json:"orders"`

	// Seed decides the orders.
	Seed int64 `json:"seed"`
}

// Answer is what the real scheduler decided.
type Answer struct {
	Failed string `json:"failed,omitempty"` // the request could not be read, or the program is at fault

	Fits    bool     `json:"fits"`
	Plugin  string   `json:"plugin"`  // the plugin that rejected the node
	Reasons []string `json:"reasons"` // its words, sorted

	// Resolvable says that the rejection is Unschedulable, not
	// UnschedulableAndUnresolvable.
	Resolvable bool `json:"resolvable"`

	// Nominated says that PostFilter nominated the node: preemption is
	// possible.
	Nominated bool `json:"nominated"`

	// PostFilter is what it said.
	PostFilter string `json:"postFilter"`

	// Victims is one selection for each order, if the pod may preempt and
	// removing pods can help.
	Victims []Victims `json:"victims"`
}

// Victims is a selection. No pods: none would help.
type Victims struct {
	Pods       []string `json:"pods"`       // namespace/name, sorted
	Violations int      `json:"violations"` // how many of them a PodDisruptionBudget protects
}
