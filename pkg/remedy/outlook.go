package remedy

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Outlook is what becomes of a rollout, as a simulation to its end shows it.
// plan.Look makes it, and explain.Options takes it.
type Outlook struct {
	// Course is how what is under way ends; nil if nothing is, or that is not
	// known.
	Course *Course

	Remedies []Remedy // what a person can do, the best first; see plan.Remedies
	Stall    *Stall   // how the next rollout would stall; nil if it would complete, or one is under way

	// Lost are the nodes whose pod what is under way deletes and does not replace,
	// as they should not run one; by name.
	Lost []string
}

// Course is how a rollout, or the creation of missing pods, ends by itself.
type Course struct {
	Stalls   bool
	End      daemonset.Counts
	Duration *Duration // until then; nil if it is not known, or it stalls
	Next     *Batch    // what the controller does next, where it waits for a time that is known

	Otherwise *Otherwise // the end that comes if pods do otherwise than expected; nil where it is the same
}

// Otherwise is what becomes of a rollout if pods that are not ready do otherwise than
// expected.
type Otherwise struct {
	// the nodes whose pods do; sorted by name
	Nodes []string `json:"nodes"`

	// they become ready, although they are expected to stay as they are; false: they stay so, although they are
	// expected to become ready
	Ready    bool `json:"ready"`
	Stalls   bool `json:"stalls"`   // the rollout then stops before its end
	Updated  int  `json:"updated"`  // nodes whose pod is updated at the end
	Unserved int  `json:"unserved"` // nodes that stay without an available pod, or use up the limit

	// how long it takes from then on; nil if unknown, and where there is no end
	Duration *Duration `json:"duration"`
}

// Batch is how many pods the controller deletes and creates at a time that is
// known.
type Batch struct {
	At      time.Time `json:"at"`      // when
	Deletes int       `json:"deletes"` // how many pods it deletes; which ones is its random choice
	Creates int       `json:"creates"` // how many pods it creates
}

// Duration is a range, in seconds from now.
type Duration struct {
	// seconds: of twenty such rollouts about one is expected to take less. Where only the grace period of pods is
	// known, they end immediately
	Optimistic float64 `json:"optimistic"`
	Expected   float64 `json:"expected"` // seconds, if pods take the times that were measured

	// seconds: of twenty such rollouts about one is expected to take longer
	Pessimistic float64 `json:"pessimistic"`
}

// Stall is how a rollout stalls.
type Stall struct {
	Reason   daemonset.Reason
	Replaced int      // pods until then
	Of       int      // old pods in all
	AtWorst  bool     // Replaced is that of the worst order: the controller picks nodes at random
	Nodes    []string // that use up the budget, or stay without an available pod, by name
	Further  int      // nodes like these: which ones is the controller's random choice
	Working  bool     // some of the pods until then are available now
}
