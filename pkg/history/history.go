// Package history says what changed from one revision of a DaemonSet to the
// next, which nodes run which, and what the numbers and times of
// ControllerRevisions hide. It holds no prose.
package history

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Kind and ListKind are the kinds of the documents of this package.
const (
	Kind     = "RevisionHistory"
	ListKind = "RevisionHistoryList"
)

// History is the answer for one DaemonSet. It is the JSON contract:
// docs/output.md documents every field.
type History struct {
	daemonset.Header `json:",inline"`

	// Revisions are the rows: the ControllerRevisions that the controller takes
	// for this DaemonSet's, the highest number first, then pods whose hash no
	// revision has, the newest first.
	Revisions []Revision `json:"revisions"`

	// CurrentSince is when the current revision became that: when it was made, or
	// taken up again. Nil where nothing tells, and where there is not one.
	CurrentSince *time.Time `json:"currentSince"`

	// Limit is spec.revisionHistoryLimit: how many old revisions are kept.
	Limit int `json:"revisionHistoryLimit"`

	// Next is what the controller's next sync does to the revisions.
	Next daemonset.StepRevisions `json:"next"`

	// Uncut is the difference from the newest revision to the live template,
	// where no revision holds that; else nil.
	Uncut *Diff `json:"uncut"`

	// Managers are who wrote the DaemonSet, but for its status, by its managed
	// fields: the last first. Empty where they do not tell.
	Managers []Manager `json:"managers"`

	Notes []Note `json:"notes"` // in the order of NoteCodes, then of the rows

	// Diff is the difference that was asked for; else nil.
	Diff *Diff `json:"diff"`
}

// List is several Histories.
type List struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Items      []*History `json:"items"`
}

// Revision is one row: a ControllerRevision with the pods of its hash, or pods
// whose hash no revision has.
type Revision struct {
	Revision int64           `json:"revision"` // 0: no ControllerRevision
	Name     string          `json:"name"`     // empty: no ControllerRevision
	Hash     string          `json:"hash"`     // the pods' label; empty where they have none
	Claim    daemonset.Claim `json:"claim"`    // Owned or Adopt; empty: no ControllerRevision

	// CreatedAt is the ControllerRevision's. It is when the template was first
	// rolled out, not when it was last: see TakenUpAt.
	CreatedAt *time.Time `json:"createdAt"`

	// TakenUpAt is when the controller gave an existing revision its number of
	// now; nil where it has its first, and where nothing tells when.
	TakenUpAt *time.Time `json:"takenUpAt"`

	Current     bool    `json:"current"`     // it holds the live template, in the form that the controller writes
	Inferred    bool    `json:"inferred"`    // Current, Images and Change were told by pods alone
	ChangeCause string  `json:"changeCause"` // "<hidden>" for a command that sets variables, unless values are shown
	Images      []Image `json:"images"`      // of the containers, then of the init containers

	// Nodes, Updated, Pods and Available are nil where the pods could not be read. A
	// node counts for its oldest pod, as in the status, and is available or updated
	// if that is: by its hash, or by its template generation, whatever the revision.
	Nodes     *int     `json:"nodes"`
	Updated   *int     `json:"updated"` // of Nodes
	Pods      *int     `json:"pods"`
	Available *int     `json:"available"` // of Nodes
	OnNodes   []string `json:"onNodes"`   // by name

	// OldestPodAt and NewestPodAt are when the pods were created; nil without any.
	OldestPodAt *time.Time `json:"oldestPodAt"`
	NewestPodAt *time.Time `json:"newestPodAt"`

	// From is the number of the row that Change is against: the next lower
	// revision that is kept. 0 where there is none.
	From   int64      `json:"from"`
	Kind   ChangeKind `json:"changeKind"`
	Change []Change   `json:"change"` // in the order of the paths

	Notes []NoteCode `json:"notes"` // of the Notes those that are about this row
}

// Image is what a container runs.
type Image struct {
	Container string `json:"container"`
	Image     string `json:"image"`
}

// ChangeKind sums up what changed.
type ChangeKind string

const (
	ChangeFirst    ChangeKind = "First"       // nothing earlier is kept to compare with
	ChangeTemplate ChangeKind = "Template"    // somebody changed the template
	ChangeRestart  ChangeKind = "Restart"     // the restart annotation alone, as kubectl rollout restart sets it
	ChangeDefaults ChangeKind = "Defaults"    // fields came or went whose values are the API's own defaults, and no other
	ChangeNone     ChangeKind = "SameContent" // stored differently at most
	ChangeUnknown  ChangeKind = "Unknown"     // one of the two could not be read
)

// ChangeKinds lists every ChangeKind.
var ChangeKinds = []ChangeKind{ChangeFirst, ChangeTemplate, ChangeRestart, ChangeDefaults, ChangeNone, ChangeUnknown}

// Change is a field that differs.
type Change struct {
	template.Difference `json:",inline"`
	Kind                FieldKind `json:"kind"`

	// Managers are the field managers that own the field in the live template,
	// by name. Empty where they do not tell, for a field that is gone, and for a
	// change that leads to another template than the live one.
	Managers []string `json:"managers"`
}

// FieldKind says what kind of field differs.
type FieldKind string

const (
	FieldSet     FieldKind = "Set"
	FieldRestart FieldKind = "Restart" // the annotation of kubectl rollout restart came, or got later as a time
	FieldDefault FieldKind = "Default" // one side lacks it, and the other has the API's default
)

// FieldKinds lists every FieldKind.
var FieldKinds = []FieldKind{FieldSet, FieldRestart, FieldDefault}

// Diff is the difference of two templates.
type Diff struct {
	From   Side       `json:"from"`
	To     Side       `json:"to"`
	Kind   ChangeKind `json:"changeKind"`
	Change []Change   `json:"change"`
}

// Side is one of the two: a revision, or the live template.
type Side struct {
	Revision int64  `json:"revision"` // 0 for the live template
	Name     string `json:"name"`     // empty for the live template
	Live     bool   `json:"live"`
}

// Manager is who wrote the DaemonSet.
type Manager struct {
	Manager   string     `json:"manager"`
	Operation string     `json:"operation"` // Apply, Update
	Time      *time.Time `json:"time"`      // of its last write that changed something
	Template  bool       `json:"template"`  // it owns fields of the template
}

// Note is something that the table alone would hide.
type Note struct {
	Code      NoteCode        `json:"code"`
	Revisions []string        `json:"revisions"` // the names of the ControllerRevisions that it is about; may be empty
	Facts     daemonset.Facts `json:"facts"`
}

// NoteCode names a trap.
type NoteCode string

const (
	// SelectsAll: the selector is empty, so the controller passes the DaemonSet over. No facts.
	SelectsAll NoteCode = "SelectsAll"
	// BeingDeleted: nothing comes after the revisions that there are. No facts.
	BeingDeleted NoteCode = "BeingDeleted"
	// NotCut: the live template has no revision yet; the next sync makes one. Facts: number.
	NotCut NoteCode = "NotCut"
	// CutThoughUnchanged: the next sync makes a new revision although one holds the same
	// template, in a form that this version of the controller does not write. Facts: number,
	// like (the number of that revision), outdated (pods that are not up to date then).
	CutThoughUnchanged NoteCode = "CutThoughUnchanged"
	// NumberRaised: the next sync takes an old revision up again: it holds the live template.
	// Facts: from, to.
	NumberRaised NoteCode = "NumberRaised"
	// Duplicates: several revisions hold the live template; the next sync keeps one, removes
	// the others and relabels every pod. Facts: keep (names, of which one at random), remove
	// (names), pods (how many are relabelled; absent where they could not be read).
	Duplicates NoteCode = "Duplicates"
	// SharedNumber: two revisions have one number; kubectl shows one of them. Facts: number.
	SharedNumber NoteCode = "SharedNumber"
	// TakenUpAgain: the revision is older than its number: a rollback took it up again. Its
	// creation time and its change-cause are those of the first time. Facts: was (its first
	// number, 0 where that is not certain), after (it was after that time; may be absent),
	// told ("ManagedFields" or "Order").
	TakenUpAgain NoteCode = "TakenUpAgain"
	// SameContent: the template is that of another revision, which the controller tells apart.
	// Facts: of (its number), name (of its ControllerRevision).
	SameContent NoteCode = "SameContent"
	// MissingNumbers: no revision has these numbers. Facts: numbers (such as "3", "5-7"), why
	// ("TakenUpAgain" where they are the first numbers of revisions that were taken up again;
	// else "Unknown": moved on from, cleaned up or deleted).
	MissingNumbers NoteCode = "MissingNumbers"
	// SeveralHashes: pods are up to date by their template generation though their hash is
	// another than the current revision's. Facts: hashes, pods.
	SeveralHashes NoteCode = "SeveralHashes"
	// NoRevision: pods carry a hash that no revision has. Facts: hashes, pods.
	NoRevision NoteCode = "NoRevision"
	// RemovedNext: the next sync's clean-up removes the revision. Facts: limit.
	RemovedNext NoteCode = "RemovedNext"
	// RemovedByNextChange: the next new revision pushes it out. Facts: limit.
	RemovedByNextChange NoteCode = "RemovedByNextChange"
	// MostlyRestarts: most kept revisions differ by a restart alone, and push the others out.
	// Facts: restarts, kept.
	MostlyRestarts NoteCode = "MostlyRestarts"
	// WillAdopt: the revision is an orphan that the next sync takes; kubectl does not list it.
	WillAdopt NoteCode = "WillAdopt"
	// WillRelease: the revision is the DaemonSet's but does not match its selector: the next
	// sync lets it go, and no row shows it. Facts: names.
	WillRelease NoteCode = "WillRelease"
	// ForeignRevisions: revisions match the selector and are somebody else's. Facts: names.
	ForeignRevisions NoteCode = "ForeignRevisions"
	// HashCollision: so many times a new revision's name was taken, and another hash had to
	// be made. Facts: count.
	HashCollision NoteCode = "HashCollision"
	// Unreadable: what the revision holds is no template. Facts: message.
	Unreadable NoteCode = "Unreadable"
)

// NoteCodes lists every NoteCode, in the order of Notes.
var NoteCodes = []NoteCode{
	SelectsAll, BeingDeleted, NotCut, CutThoughUnchanged, NumberRaised, Duplicates, SharedNumber, TakenUpAgain, SameContent, MissingNumbers, SeveralHashes, NoRevision,
	RemovedNext, RemovedByNextChange, MostlyRestarts, WillAdopt, WillRelease, ForeignRevisions, HashCollision, Unreadable,
}

// Options are what the person who asks wants to see.
type Options struct {
	ShowValues bool // literal values of environment variables, which may be secret
	Diff       *Between
}

// Between is two templates to compare. Without From it is the one before To.
type Between struct{ From, To *Which }
