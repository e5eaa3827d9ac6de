// Package history returns what changed between the revisions of a DaemonSet,
// which nodes run which revision, and what the numbers and times of
// ControllerRevisions do not show. It contains no prose.
package history

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Kind and ListKind are the kinds of the documents of this package.
const (
	Kind     = "RevisionHistory"
	ListKind = "RevisionHistoryList"
)

// History is the answer for one DaemonSet. It is a stable JSON document:
// docs/output.md documents every field.
type History struct {
	daemonset.Header `json:",inline"`

	// the ControllerRevisions that the controller counts as this DaemonSet's, the highest number first; then
	// the hashes of pods that have no ControllerRevision, the newest first. The nodes of all rows add up to
	// the nodes with pods
	Revisions []Revision `json:"revisions"`

	// when the controller created or restored the current revision; nil if there is not exactly one. Also nil
	// if the time is unknown, because a lower number is missing and there are no managed fields
	CurrentSince *time.Time `json:"currentSince"`

	Rollout Rollout `json:"rollout"` // the progress of the rollout of the current revision

	// the numbers that revisions had before a rollback renumbered them, the highest first. The list has only
	// numbers that are certain
	Renumbered []Renumbered `json:"renumbered"`

	Limit int `json:"revisionHistoryLimit"` // how many old revisions are kept

	Next daemonset.StepRevisions `json:"next"` // the actions of the controller's next sync on the revisions

	// the difference between the newest revision and the live template, if no revision holds the live
	// template; otherwise nil
	Uncut *Diff `json:"uncut"`

	// the field managers that wrote a part of the DaemonSet other than its status, the latest first; empty if
	// there are no managed fields
	Managers []Manager `json:"managers"`

	// facts that numbers and times do not show, in the order of the table of [notes](#notes), then of the
	// rows
	Notes []Note `json:"notes"`

	Diff *Diff `json:"diff"` // the difference that `--diff` asked for; otherwise nil
}

// List holds several Histories.
type List struct {
	APIVersion string `json:"apiVersion"` // `kubectl-ds/v1alpha1`
	Kind       string `json:"kind"`       // of the document

	// one for each DaemonSet: in the order of the given names, otherwise by
	// namespace and name
	Items []*History `json:"items"`
}

// Revision is one row: a ControllerRevision with the pods that have its hash,
// or pods whose hash has no ControllerRevision.
type Revision struct {
	Revision int64  `json:"revision"` // its number; 0 without a ControllerRevision
	Name     string `json:"name"`     // the name of the ControllerRevision; empty without one

	// the `controller-revision-hash` of its pods; empty if they have none
	Hash  string          `json:"hash"`
	Claim daemonset.Claim `json:"claim"` // `Owned` or `Adopt`; empty without a ControllerRevision

	// when the ControllerRevision was created. This is the first rollout of its template, not the last one;
	// nil if unknown
	CreatedAt *time.Time `json:"createdAt"`

	// when the controller gave it its current number; nil if that is its first
	// number, or if it is unknown
	TakenUpAt *time.Time `json:"takenUpAt"`

	// it holds the live template, in the form that the controller writes
	Current bool `json:"current"`

	// `current`, `images` and `change` were inferred from pods alone, because the revisions could not be read
	Inferred bool `json:"inferred"`

	// its annotation `kubernetes.io/change-cause`; for a restored revision, the annotation from its first
	// rollout. Without `--show-values`, it is `<hidden>` for a command that sets values, such as `kubectl set
	// env`
	ChangeCause string  `json:"changeCause"`
	Images      []Image `json:"images"` // the images of its containers, then of its init containers

	// how many nodes run it. A node counts for the revision of its oldest pod, as in the status; nil if the
	// pods could not be read
	Nodes *int `json:"nodes"`

	// how many of these nodes have a pod that counts as updated: by its hash, or by the label
	// `pod-template-generation`; nil if `nodes` is
	Updated   *int     `json:"updated"`
	Pods      *int     `json:"pods"`      // how many pods run it; nil if the pods could not be read
	Available *int     `json:"available"` // how many of these nodes have an available pod; nil if `nodes` is
	OnNodes   []string `json:"onNodes"`   // the names of the nodes, sorted

	OldestPodAt *time.Time `json:"oldestPodAt"` // when its oldest pod was created; nil without pods
	NewestPodAt *time.Time `json:"newestPodAt"` // when its newest pod was created; nil without pods

	// the number of the revision that `change` compares with: the next lower number that is kept or in
	// `renumbered`; 0 if there is none
	From   int64         `json:"from"`
	Kind   ChangeKind    `json:"changeKind"` // what kind of change it is
	Change []FieldChange `json:"change"`     // the fields that differ, sorted by path

	Notes []NoteCode `json:"notes"` // the entries of `notes` about this row
}

// Renumbered is a number that a revision had before a rollback renumbered it.
type Renumbered struct {
	Revision int64  `json:"revision"` // the number that it had
	Name     string `json:"name"`     // the name of the ControllerRevision
	Now      int64  `json:"now"`      // the number that it has now
	// the number that `change` compares with, as for a revision; 0 if there is none
	From   int64         `json:"from"`
	Kind   ChangeKind    `json:"changeKind"` // what kind of change it was
	Change []FieldChange `json:"change"`     // the fields that differ, sorted by path
}

// Image is the image of a container.
type Image struct {
	Container string `json:"container"` // its name
	Image     string `json:"image"`     // as the template has it
}

// ChangeKind sums up what changed.
type ChangeKind string

const (
	ChangeFirst    ChangeKind = "First"    // no earlier revision is kept to compare with
	ChangeTemplate ChangeKind = "Template" // somebody changed the template
	ChangeRestart  ChangeKind = "Restart"  // only the annotation of `kubectl rollout restart` changed
	// ChangeDefaults: only fields with the API's own defaults were added or
	// removed, as after an upgrade of Kubernetes
	ChangeDefaults ChangeKind = "Defaults"
	ChangeNone     ChangeKind = "SameContent" // nothing changed, but the two templates may be stored differently
	ChangeUnknown  ChangeKind = "Unknown"     // one of the two could not be read
)

// FieldChange is a field that differs.
type FieldChange struct {
	template.Difference `json:",inline"`
	Kind                FieldKind `json:"kind"` // what kind of field it is

	// the field managers that own the field in the live template, sorted; empty if unknown, or if the newer
	// side is not the live template
	Managers []string `json:"managers"`
}

// FieldKind says what kind of field differs.
type FieldKind string

const (
	FieldSet FieldKind = "Set" // somebody set it
	// FieldRestart: the annotation of `kubectl rollout restart` was added, or has a later time
	FieldRestart FieldKind = "Restart"
	// FieldDefault: one side lacks it, and the other has the API's default;
	// somebody may have set that explicitly
	FieldDefault FieldKind = "Default"
)

// Diff is the difference of two templates.
type Diff struct {
	From   Side          `json:"from"`       // the older side
	To     Side          `json:"to"`         // the newer side
	Kind   ChangeKind    `json:"changeKind"` // what kind of change it is
	Change []FieldChange `json:"change"`     // the fields that differ, sorted by path
}

// Managers returns the managers of the fields that differ, sorted, without
// duplicates.
func (d *Diff) Managers() (names []string) {
	for _, c := range d.Change {
		names = append(names, c.Managers...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Side is one side of a Diff: a revision, or the live template.
type Side struct {
	Revision int64  `json:"revision"` // its number; 0 for the live template
	Name     string `json:"name"`     // the name of the ControllerRevision; empty for the live template
	Live     bool   `json:"live"`     // it is the live template
}

// Manager is who wrote the DaemonSet.
type Manager struct {
	Manager   string `json:"manager"`   // the name of the field manager
	Operation string `json:"operation"` // `Apply` or `Update`

	// when it last changed something; nil if unknown
	Time     *time.Time `json:"time"`
	Template bool       `json:"template"` // it owns fields of the template
}

// Note is something that the table alone does not show.
type Note struct {
	Code NoteCode `json:"code"` // what the note says

	// the names of the ControllerRevisions that it is about; may be empty
	Revisions []string        `json:"revisions"`
	Facts     daemonset.Facts `json:"facts"` // the evidence for the note
}

// Decides reports whether a note affects the next sync, or the revision that a
// rollback goes to.
func (n *Note) Decides() bool {
	return slices.Contains([]NoteCode{CutThoughUnchanged, Duplicates, SharedNumber, SeveralHashes, RemovedNext,
		WillAdopt}, n.Code)
}

// NoteCode names what a note says.
type NoteCode string

const (
	SelectsAll   NoteCode = "SelectsAll"   // the selector is empty, so the controller ignores the DaemonSet
	BeingDeleted NoteCode = "BeingDeleted" // the DaemonSet is being deleted, so no revision follows
	// NotCut: no revision holds the live template: the next sync creates one
	// Facts: number
	NotCut NoteCode = "NotCut"
	// CutThoughUnchanged: the next sync creates a revision, although a revision holds the same template. That
	// revision has a form that this version of the controller does not write
	// Facts: number, like, outdated
	CutThoughUnchanged NoteCode = "CutThoughUnchanged"
	// NumberRaised: the next sync gives an old revision a new number because it holds the live template
	// Facts: from, to
	NumberRaised NoteCode = "NumberRaised"
	// Duplicates: several revisions hold the live template: the next sync keeps one, deletes the others and gives its
	// hash to every pod
	// Facts: keep, remove, pods
	Duplicates NoteCode = "Duplicates"
	// SharedNumber: several revisions have the same number: kubectl shows one of them
	// Facts: number
	SharedNumber NoteCode = "SharedNumber"
	// TakenUpAgain: the revision is older than its number, because a rollback restored it. Its creation time
	// and its change-cause are from its first rollout
	// Facts: was, after, told
	TakenUpAgain NoteCode = "TakenUpAgain"
	// SameContent: another revision has the same template, but a different form for the controller, or it is
	// no longer current
	// Facts: of, name
	SameContent NoteCode = "SameContent"
	// MissingNumbers: no revision has these numbers, and clean-up under `revisionHistoryLimit` does not explain it
	// Facts: numbers, why
	MissingNumbers NoteCode = "MissingNumbers"
	// SeveralHashes: pods count as updated by their template generation, although their hash is not that of the
	// current revision, or no revision holds the live template
	// Facts: hashes, pods
	SeveralHashes NoteCode = "SeveralHashes"
	// NoRevision: pods have a hash that no revision has
	// Facts: hashes, pods
	NoRevision NoteCode = "NoRevision"
	// RemovedNext: the next sync deletes the revision in its clean-up
	// Facts: limit
	RemovedNext NoteCode = "RemovedNext"
	// RemovedByNextChange: the next new revision pushes it out
	// Facts: limit
	RemovedByNextChange NoteCode = "RemovedByNextChange"
	// MostlyRestarts: most of the kept revisions differ by a restart alone, and
	// push the others out
	// Facts: restarts, kept
	MostlyRestarts NoteCode = "MostlyRestarts"
	// WillAdopt: the revision has no owner: the next sync adopts it; kubectl does not list it
	WillAdopt NoteCode = "WillAdopt"
	// WillRelease: revisions of the DaemonSet do not match its selector: the
	// next sync releases them, and they are in no row
	// Facts: names
	WillRelease NoteCode = "WillRelease"
	// ForeignRevisions: revisions match the selector but belong to another owner
	// Facts: names
	ForeignRevisions NoteCode = "ForeignRevisions"
	// HashCollision: the name of a new revision was in use, so the controller made another hash
	// Facts: count
	HashCollision NoteCode = "HashCollision"
	// Unreadable: the data of the revision is not a template
	// Facts: message
	Unreadable NoteCode = "Unreadable"
)

// NoteCodes lists every NoteCode, in the order of Notes.
var NoteCodes = []NoteCode{
	SelectsAll, BeingDeleted, NotCut, CutThoughUnchanged, NumberRaised, Duplicates, SharedNumber, TakenUpAgain,
	SameContent, MissingNumbers, SeveralHashes, NoRevision,
	RemovedNext, RemovedByNextChange, MostlyRestarts, WillAdopt, WillRelease, ForeignRevisions,
	HashCollision, Unreadable,
}

// Options select what a History contains.
type Options struct {
	ShowValues bool // include literal values of environment variables, which may be secret
	Diff       *Between
}

// Between selects two templates to compare. If From is nil, it is the one
// before To.
type Between struct{ From, To *Which }
