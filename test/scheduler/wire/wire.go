// Package wire defines the JSON lines between the judge and its programs: for a Request on stdin,
// the program writes an Answer to stdout. It uses no Kubernetes types, so both sides can be built
// with different versions of them.
package wire

import "encoding/json"

// Request asks for the decision of the real scheduler about one pod and one node.
type Request struct {
	// State is a State, encoded with the API types of the caller. The program decodes it with the
	// types of its version.
	State json.RawMessage `json:"state"`

	// Orders is the number of selections of victims, each with another order of pods and
	// PodDisruptionBudgets.
	Orders int `json:"orders"`

	// Seed determines the orders.
	Seed int64 `json:"seed"`
}

// Answer is the decision of the real scheduler.
type Answer struct {
	Failed string `json:"failed,omitempty"` // the request could not be read, or the program failed

	Fits    bool     `json:"fits"`
	Plugin  string   `json:"plugin"`  // the plugin that rejected the node
	Reasons []string `json:"reasons"` // its messages, sorted

	// Resolvable is set if the node is Unschedulable and not UnschedulableAndUnresolvable.
	Resolvable bool `json:"resolvable"`

	// Nominated is set if PostFilter nominated the node, so that preemption is possible.
	Nominated bool `json:"nominated"`

	// PostFilter is the message of PostFilter.
	PostFilter string `json:"postFilter"`

	// Victims has one selection for each order, if the pod may preempt and removing pods can help.
	Victims []Victims `json:"victims"`
}

// Victims is a selection of victims. It is empty if no selection helps.
type Victims struct {
	Pods       []string `json:"pods"`       // namespace/name, sorted
	Violations int      `json:"violations"` // number of them that a PodDisruptionBudget protects
}
