// Package wire is what the oracle's driver and its programs say to each other,
// as JSON lines: a Request on the program's stdin gets an Answer on its stdout.
// It holds no Kubernetes types, so the two may be built with different ones.
package wire

import (
	"encoding/json"
	"time"
)

// Request asks what the real controller does with one state.
type Request struct {
	// State is a Snapshot as pkg/snapshot encodes it. The program reads it with
	// the API types of its own version.
	State json.RawMessage `json:"state"`

	// Runs is how often to sync the state, each time afresh: what the
	// controller picks is random. None: only the placement is asked for.
	Runs int `json:"runs"`

	// Seed decides the order in which the stores are filled.
	Seed int64 `json:"seed"`

	// Burst replaces the controller's 250 where it is not 0.
	Burst int `json:"burst,omitempty"`

	// Refuse lets the API server refuse every pod that is created or deleted.
	Refuse bool `json:"refuse,omitempty"`

	// NoPods has pods created and deleted by a stand-in that does nothing: a benchmark is about the rest.
	NoPods bool `json:"noPods,omitempty"`

	// Trace asks for one sync of a controller that lives on, instead of Runs.
	Trace Trace `json:"trace,omitempty"`
}

// Trace says how one sync of a trace follows the one before.
type Trace string

const (
	TraceFirst Trace = "first" // a new controller, which replaces the one of an earlier trace
	TraceNext  Trace = "next"  // it is told what has changed
	TraceStale Trace = "stale" // it is told nothing: the watch lags behind
	TraceTell  Trace = "tell"  // it is told what has changed, and does not sync: no runs
)

// TooSlow is how a trace fails whose controller reads the real clock, on a
// machine that is busy. It can be begun again.
const TooSlow = "the sync took longer than the clock allows"

// Answer is what the real controller did.
type Answer struct {
	Failed    string               `json:"failed,omitempty"` // the request could not be read, or the program is at fault
	Placement map[string]Placement `json:"placement"`        // by node
	Runs      []Run                `json:"runs"`
}

// Placement is the result of NodeShouldRunDaemonPod.
type Placement struct {
	ShouldRun bool `json:"shouldRun"`
	MayStay   bool `json:"mayStay"`
}

// Run is what one sync wrote. Lists are in no order.
type Run struct {
	Error   string   `json:"error,omitempty"` // what the sync returned
	Status  *Status  `json:"status"`          // nil where none was written
	Creates []Create `json:"creates"`
	Deletes []string `json:"deletes"` // pods

	AdoptedPods  []string          `json:"adoptedPods"`
	ReleasedPods []string          `json:"releasedPods"`
	RelabelledTo map[string]string `json:"relabelledTo"` // pod: hash
	NewRevisions []Revision        `json:"newRevisions"`
	SetRevisions []Revision        `json:"setRevisions"` // updates, as they were written
	Removed      []string          `json:"removed"`      // revisions
	AdoptedRevs  []string          `json:"adoptedRevs"`
	ReleasedRevs []string          `json:"releasedRevs"`
	Unforeseen   []string          `json:"unforeseen"` // requests that the program does not know

	Took   time.Duration `json:"took"`   // by the sync
	Allocs uint64        `json:"allocs"` // of the sync

	// In a trace only.
	Waiting bool     `json:"waiting,omitempty"` // it still expected creates or deletes when the sync began
	Written *Written `json:"written,omitempty"`
}

// Written are the objects that a sync left behind, as the controller's own
// version encodes them. Pods may hold times of another clock.
type Written struct {
	NewPods     []json.RawMessage `json:"newPods"`
	ChangedPods []json.RawMessage `json:"changedPods"` // adopted, released or relabeled
	Revisions   []json.RawMessage `json:"revisions"`   // new or changed, in the order in which they were written
}

// Create is a pod that the controller created.
type Create struct {
	Node       string `json:"node"` // of its node affinity
	Hash       string `json:"hash"`
	Generation string `json:"generation"`
}

// Revision is a ControllerRevision as the controller wrote it.
type Revision struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Number int64  `json:"number"`
}

// Status is the seven numbers, and the generation that was observed.
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
