// Package wire defines the JSON lines between the oracle's driver and its programs: for a Request
// on stdin, the program writes an Answer to stdout. It uses no Kubernetes types, so both sides can
// be built with different versions of them.
package wire

import (
	"encoding/json"
	"time"
)

// Request asks what the real controller does with one state.
type Request struct {
	// State is a Snapshot in the encoding of pkg/snapshot. The program decodes it with the API
	// types of its version.
	State json.RawMessage `json:"state"`

	// Runs is the number of syncs, each on a new controller, because the controller picks at
	// random. 0 requests only the placement.
	Runs int `json:"runs"`

	// Seed determines the order in which the stores are filled.
	Seed int64 `json:"seed"`

	// Burst, if not 0, replaces the controller's burst limit of 250.
	Burst int `json:"burst,omitempty"`

	// Refuse makes the API server reject every create and delete of a pod.
	Refuse bool `json:"refuse,omitempty"`

	// NoPods replaces the PodControl by one that does nothing, for benchmarks.
	NoPods bool `json:"noPods,omitempty"`

	// Trace, if not empty, requests one sync of a trace instead of Runs.
	Trace Trace `json:"trace,omitempty"`
}

// Trace says how a sync of a trace follows the previous one.
type Trace string

const (
	TraceFirst Trace = "first" // a new controller, which replaces that of an earlier trace
	TraceNext  Trace = "next"  // changes are delivered before the sync
	TraceStale Trace = "stale" // changes are not delivered: the watch lags behind
	TraceTell  Trace = "tell"  // changes are delivered without a sync
)

// TooSlow is the failure of a trace whose controller reads the real clock, on a busy machine. The
// trace can be repeated.
const TooSlow = "the sync took longer than the clock allows"

// Answer is what the real controller did.
type Answer struct {
	Failed    string               `json:"failed,omitempty"` // the request could not be read, or the program failed
	Placement map[string]Placement `json:"placement"`        // by node
	Runs      []Run                `json:"runs"`
}

// Placement is the result of NodeShouldRunDaemonPod.
type Placement struct {
	ShouldRun bool `json:"shouldRun"`
	MayStay   bool `json:"mayStay"`
}

// Run is what one sync wrote. Lists are not ordered.
type Run struct {
	Error   string   `json:"error,omitempty"` // returned by the sync
	Status  *Status  `json:"status"`          // nil if not written
	Creates []Create `json:"creates"`
	Deletes []string `json:"deletes"` // pods

	AdoptedPods  []string          `json:"adoptedPods"`
	ReleasedPods []string          `json:"releasedPods"`
	RelabelledTo map[string]string `json:"relabelledTo"` // pod: hash
	NewRevisions []Revision        `json:"newRevisions"`
	SetRevisions []Revision        `json:"setRevisions"` // updates as they were written
	Removed      []string          `json:"removed"`      // revisions
	AdoptedRevs  []string          `json:"adoptedRevs"`
	ReleasedRevs []string          `json:"releasedRevs"`
	Unforeseen   []string          `json:"unforeseen"` // requests unknown to the program

	Took   time.Duration `json:"took"`   // time of the sync
	Allocs uint64        `json:"allocs"` // allocations of the sync

	// The following fields are set only in a trace.
	Waiting bool     `json:"waiting,omitempty"` // creates or deletes were expected when the sync began
	Written *Written `json:"written,omitempty"`
}

// Written holds the objects that a sync wrote, encoded with the types of the controller's version.
// Times of pods may be shifted.
type Written struct {
	NewPods     []json.RawMessage `json:"newPods"`
	ChangedPods []json.RawMessage `json:"changedPods"` // adopted, released or relabeled
	Revisions   []json.RawMessage `json:"revisions"`   // new or changed, in the order of writes
}

// Create is a pod that the controller created.
type Create struct {
	Node       string `json:"node"` // from its node affinity
	Hash       string `json:"hash"`
	Generation string `json:"generation"`
}

// Revision is a ControllerRevision as the controller wrote it.
type Revision struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Number int64  `json:"number"`
}

// Status holds the seven numbers and the observed generation.
type Status struct {
	Desired            int   `json:"desired"`
	Current            int   `json:"current"`
	Misscheduled       int   `json:"misscheduled"`
	Ready              int   `json:"ready"`
	Updated            int   `json:"updated"`
	Available          int   `json:"available"`
	Unavailable        int   `json:"unavailable"`
	ObservedGeneration int64 `json:"observedGeneration"`
}
