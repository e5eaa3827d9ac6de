package remedy

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Outlook is the future of a rollout according to a simulation. plan.Look makes
// it, and explain.Options takes it.
type Outlook struct {
	// Course is how what is in progress ends; nil if nothing is, or if that is
	// unknown.
	Course *Course

	Remedies []Remedy // what a person can do, the best first; see plan.Remedies
	Stall    *Stall   // how the next rollout would stall; nil if it would complete, or if one is in progress

	// Lost are the nodes, by name, whose pod is deleted without replacement by
	// what is in progress, because they are not eligible.
	Lost []string
}

// Course is how a rollout, or the creation of missing pods, ends if nobody
// acts.
type Course struct {
	Stalls   bool
	End      daemonset.Counts
	Duration *Duration // until then; nil if it is unknown, or if it stalls
	Next     *Batch    // what the controller does next if it waits until a known time

	Otherwise *Otherwise // the outcome if pods behave contrary to expectation; nil if it is the same
}

// Otherwise is the outcome of a rollout if pods that are not ready behave
// contrary to expectation.
type Otherwise struct {
	// the nodes of these pods, sorted by name
	Nodes []string `json:"nodes"`

	// true if they become ready, although they are expected to stay as they are; false if they stay as they
	// are, although they are expected to become ready
	Ready    bool `json:"ready"`
	Stalls   bool `json:"stalls"`   // the rollout then stops before its end
	Updated  int  `json:"updated"`  // nodes whose pod is updated at the end
	Unserved int  `json:"unserved"` // nodes that stay without an available pod, or use up the limit

	// how long it takes from then on; nil if unknown, or if it does not end
	Duration *Duration `json:"duration"`
}

// Batch is how many pods the controller deletes and creates at a known time.
type Batch struct {
	At      time.Time `json:"at"`      // when
	Deletes int       `json:"deletes"` // how many pods it deletes, chosen at random
	Creates int       `json:"creates"` // how many pods it creates
}

// Duration is a range, in seconds from now.
type Duration struct {
	// seconds. About one in twenty such rollouts is expected to take less time. If only the grace period of
	// pods is known, pods are assumed to terminate immediately
	Optimistic float64 `json:"optimistic"`
	Expected   float64 `json:"expected"` // seconds, if pods take as long as measured

	// seconds. About one in twenty such rollouts is expected to take longer
	Pessimistic float64 `json:"pessimistic"`
}

// Stall is how a rollout stalls.
type Stall struct {
	Reason   daemonset.Reason
	Replaced int      // pods replaced until then
	Of       int      // old pods in all
	AtWorst  bool     // Replaced is for the worst order of nodes, which the controller chooses at random
	Nodes    []string // those that use up the budget, or stay without an available pod, by name
	Further  int      // how many other nodes do; the controller chooses which at random
	Working  bool     // some of the pods replaced until then are available now
}
