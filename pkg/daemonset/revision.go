package daemonset

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// hashOfNew stands for the hash of a revision that does not exist yet. The real
// hash depends on the controller's own types, so it is not computed here. No
// pod has this hash, because it is not a valid label value.
const hashOfNew = "(new)"

// Revision is a ControllerRevision that the controller treats as one of this
// DaemonSet.
type Revision struct {
	Name    string
	Hash    string // the value of its controller-revision-hash label, or its name if it has none
	Number  int64
	Created time.Time
	Claim   Claim
	Matches bool // its content is the live template
}

// History is the controller's view of the ControllerRevisions in a sync.
type History struct {
	Revisions []Revision // owned and to adopt, newest number first
	// names of the revisions that the next sync may choose; several if equal
	// ones share the highest number
	Current []string
	Cut     bool   // none matches, so the controller creates a revision
	Number  int64  // the number that the current revision has after the sync
	Hash    string // the current revision's hash; "(new)" if the controller creates the revision; see Inferred
	Merged  bool   // several match; every pod is relabeled to the one that is kept
	Adopt   []string
	Release []string
	Foreign []string // revisions that match the selector and have another owner; the controller ignores them
	Relabel []string // pods
	Remove  []Removal

	// PushedOut are the names of the revisions that clean-up deletes if the
	// template changes after the next sync while the pods stay as they are.
	PushedOut []string

	// Inferred says how Hash was inferred if the revisions could not be read:
	// "TemplateGeneration" or "Status", or "None" if it is unknown.
	Inferred string
}

// Removal is a revision that the next sync deletes.
type Removal struct {
	Name string `json:"name"` // the name of the ControllerRevision

	// why it is deleted
	// Codes: Revisions removed
	Reason Reason `json:"reason"`
}

// CurrentKnown reports whether a revision that holds the live template exists
// and is known.
func (h *History) CurrentKnown() bool { return h.Hash != hashOfNew }

// byNumber orders revisions as history clean-up does, oldest first.
func byNumber(a, b Revision) int {
	return cmp.Or(cmp.Compare(a.Number, b.Number), a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
}

// newHistory returns which revision is current and what the next sync does to
// the revisions.
//
// A revision is current if it holds the live template as this version of the
// controller encodes it. If several do, the one with the highest number is
// kept, the others are deleted, and all pods are relabeled. After a rollback,
// an old revision is current and gets the next number. A revision that is being
// deleted is used if it is owned; one that no longer matches the selector is
// released. Up to 1.22 the controller lists every namespace and adopts matching
// orphans, whose numbers count (#101250); here only revisions in the
// DaemonSet's namespace do.
func newHistory(s *snapshot.Snapshot, profile Profile, stored []template.Content, selector labels.Selector,
	pods []Pod) (*History, error) {
	if s.Lacks(snapshot.Revisions) {
		return inferHistory(s, pods), nil
	}
	live, err := storedLiveTemplate(s, profile, stored)
	if err != nil {
		return nil, err
	}
	h := &History{}
	for i := range s.Revisions {
		r := &s.Revisions[i]
		if r.Namespace != s.DaemonSet.Namespace {
			continue
		}
		claim := claimOf(r, s.DaemonSet, selector)
		switch claim {
		case Release:
			h.Release = append(h.Release, r.Name)
			continue
		case Adopt:
			h.Adopt = append(h.Adopt, r.Name)
		case Owned:
		case Foreign:
			h.Foreign = append(h.Foreign, r.Name)
			continue
		default:
			continue
		}
		h.Revisions = append(h.Revisions, Revision{
			Name: r.Name, Hash: revisionHash(r), Number: r.Revision,
			Created: r.CreationTimestamp.Time, Claim: claim, Matches: stored[i].Equal(live),
		})
	}
	slices.Sort(h.Adopt)
	slices.Sort(h.Release)
	slices.Sort(h.Foreign)
	slices.SortFunc(h.Revisions, func(a, b Revision) int { return byNumber(b, a) })
	h.choose(pods)
	h.cleanUp(s.DaemonSet, pods)
	return h, nil
}

func revisionHash(r *appsv1.ControllerRevision) string {
	if hash, ok := r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]; ok {
		return hash
	}
	return r.Name // the controller sets this label before it does anything else
}

// storedLiveTemplate returns the live template as the controller would store it. If the
// controller's version is unknown, it uses the form of the newest revision that
// holds the template in either form; if two of them share a number, it prefers
// the form of the profile.
func storedLiveTemplate(s *snapshot.Snapshot, profile Profile, stored []template.Content) (template.Content, error) {
	form, err := template.Of(&s.DaemonSet.Spec.Template, !profile.TemplateWithoutNullTime)
	if err != nil || s.VersionSource != snapshot.VersionDefault && s.VersionSource != snapshot.VersionKubelet {
		return form, err
	}
	other, err := template.Of(&s.DaemonSet.Spec.Template, profile.TemplateWithoutNullTime)
	if err != nil {
		return nil, err
	}
	highest := func(of template.Content) int64 {
		number := int64(-1)
		for i := range s.Revisions {
			if stored[i].Equal(of) {
				number = max(number, s.Revisions[i].Revision)
			}
		}
		return number
	}
	if highest(other) > highest(form) {
		return other, nil
	}
	return form, nil
}

// storedTemplates returns the template of each revision, in a form that can be
// compared with the live one. An element is nil if the revision has another
// owner, or if its data is not a template: the controller compares such data
// byte by byte, so it is never equal.
func storedTemplates(s *snapshot.Snapshot, profile Profile, selector labels.Selector) []template.Content {
	out := make([]template.Content, len(s.Revisions))
	for i := range s.Revisions {
		r := &s.Revisions[i]
		if claim := claimOf(r, s.DaemonSet, selector); r.Namespace != s.DaemonSet.Namespace || claim != Owned &&
			claim != Adopt {
			continue
		}
		stored, err := template.Stored(r.Data.Raw)
		if err == nil && profile.Beyond {
			stored, err = stored.Known(!profile.TemplateWithoutNullTime)
		}
		if err == nil {
			out[i] = stored
		}
	}
	return out
}

// choose sets the current revision and its number, and what happens to the
// revisions equal to it.
func (h *History) choose(pods []Pod) {
	var highest int64
	var matching []Revision
	for _, r := range h.Revisions {
		if r.Matches {
			matching = append(matching, r)
		} else {
			highest = max(highest, r.Number)
		}
	}
	if len(matching) == 0 {
		h.Cut, h.Number, h.Hash = true, highest+1, hashOfNew
		return
	}
	keep := matching[0]
	h.Hash, h.Number = keep.Hash, max(keep.Number, highest+1)
	for _, r := range matching {
		if r.Number == keep.Number {
			h.Current = append(h.Current, r.Name)
		} else {
			h.Remove = append(h.Remove, Removal{Name: r.Name, Reason: Duplicate})
		}
	}
	slices.Sort(h.Current)
	if len(matching) == 1 {
		return
	}
	h.Merged = true
	for _, name := range h.Current {
		if name != keep.Name {
			h.Remove = append(h.Remove, Removal{Name: name, Reason: Duplicate})
		}
	}
	for i := range pods {
		if pods[i].Hash != h.Hash {
			h.Relabel = append(h.Relabel, pods[i].Name)
		}
	}
	slices.Sort(h.Relabel)
}

// cleanUp sets the revisions that history clean-up deletes in this sync, and
// those that it deletes after the next change to the template.
func (h *History) cleanUp(ds *appsv1.DaemonSet, pods []Pod) {
	limit := HistoryLimit(ds)
	inUse := map[string]bool{}
	for i := range pods {
		if hash := h.hashOf(&pods[i]); hash != "" && !inUse[hash] {
			_, inUse[hash] = TargetNode(pods[i].Object)
		}
	}
	isOld := func(r Revision) bool { return !r.Matches }
	for _, r := range beyondLimit(limit, h.Revisions, isOld, inUse) {
		h.Remove = append(h.Remove, Removal{Name: r.Name, Reason: CleanUp})
	}
	isKept := func(r Revision) bool {
		return !slices.ContainsFunc(h.Remove, func(gone Removal) bool { return gone.Name == r.Name })
	}
	if h.Cut {
		limit-- // by then the revision that the next sync creates is old too, and the last to be deleted
	}
	raised := slices.Clone(h.Revisions)
	for i := range raised {
		if slices.Contains(h.Current, raised[i].Name) {
			raised[i].Number = h.Number
		}
	}
	for _, r := range beyondLimit(limit, raised, isKept, inUse) {
		h.PushedOut = append(h.PushedOut, r.Name)
	}
}

// HistoryLimit returns how many old revisions the controller keeps.
func HistoryLimit(ds *appsv1.DaemonSet) int {
	if ds.Spec.RevisionHistoryLimit == nil {
		return 10 // the API's default
	}
	return int(*ds.Spec.RevisionHistoryLimit)
}

// beyondLimit returns the revisions that clean-up deletes among those that count:
// the ones beyond the limit, lowest number first, except those whose hash a pod
// with a target node still has. No pod uses an empty hash.
func beyondLimit(limit int, all []Revision, counts func(Revision) bool, inUse map[string]bool) []Revision {
	old := slices.Clone(all)
	old = slices.DeleteFunc(old, func(r Revision) bool { return !counts(r) })
	slices.SortFunc(old, byNumber)
	excess := len(old) - limit
	old = slices.DeleteFunc(old, func(r Revision) bool { return inUse[r.Hash] })
	return old[:max(0, min(excess, len(old)))]
}

// inferHistory infers the current hash if the revisions are missing, as in most
// dumps. It takes the hash of the pods of the live template generation.
// Otherwise, if the status is of the live generation and counts all pods as
// updated, it takes their hash, provided that it is the only one.
func inferHistory(s *snapshot.Snapshot, pods []Pod) *History {
	h := &History{Hash: hashOfNew, Inferred: "None"}
	var newest *corev1.Pod
	hashes := map[string]int{}
	for i := range pods {
		p := &pods[i]
		if p.Hash == "" {
			continue
		}
		hashes[p.Hash]++
		if p.generation && (newest == nil || younger(p.Object, newest)) {
			newest = p.Object
		}
	}
	if newest != nil {
		h.Hash, h.Inferred = newest.Labels[appsv1.DefaultDaemonSetUniqueLabelKey], "TemplateGeneration"
		return h
	}
	observed := s.DaemonSet.Status.ObservedGeneration >= s.DaemonSet.Generation && !s.Lacks(snapshot.DaemonSetStatus)
	for hash, n := range hashes {
		if observed && len(hashes) == 1 && n == int(s.DaemonSet.Status.UpdatedNumberScheduled) {
			h.Hash, h.Inferred = hash, "Status"
		}
	}
	return h
}

// younger reports whether a was created after b, or comes first in the order of
// comparePods if both have the same creation time.
func younger(a, b *corev1.Pod) bool {
	return cmp.Or(b.CreationTimestamp.Time.Compare(a.CreationTimestamp.Time), comparePods(a, b)) < 0
}

const (
	templateGenerationLabel      = "pod-template-generation"
	templateGenerationAnnotation = appsv1.DeprecatedTemplateGeneration
)

// templateGeneration returns the generation of the live template as the label
// of a pod would hold it. It returns false if the annotation is missing or not
// a number.
func templateGeneration(ds *appsv1.DaemonSet) (string, bool) {
	n, err := strconv.ParseInt(ds.Annotations[templateGenerationAnnotation], 10, 64)
	if err != nil {
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}

// UpdatedBy says why a pod counts as updated.
type UpdatedBy string

const (
	ByHash UpdatedBy = "Hash" // its `controller-revision-hash` is that of the current revision
	// ByGeneration: its `pod-template-generation` is that of the live template, but its hash is different
	// (Kubernetes 1.24 and later)
	ByGeneration UpdatedBy = "Generation"
	NotUpdated   UpdatedBy = "" // it is not updated
)

// updatedBy returns why a pod counts as a pod of the live template: its hash,
// if it is not empty, or, since 1.24 (#107241), its template generation. The
// latter keeps pods that run a revision created although the template did not
// change.
func updatedBy(p *Pod, h *History, profile Profile) UpdatedBy {
	if h.Hash != "" && h.hashOf(p) == h.Hash {
		return ByHash
	}
	if profile.TemplateGenerationCounts && p.generation {
		return ByGeneration
	}
	return NotUpdated
}

// NewPod returns why a pod that the controller creates now counts as updated.
// It returns NotUpdated if such a pod does not, and is replaced again and
// again.
func (st *State) NewPod() UpdatedBy {
	_, hasGeneration := templateGeneration(st.DaemonSet)
	switch {
	case st.History.Hash != "":
		return ByHash
	case st.Profile.TemplateGenerationCounts && hasGeneration:
		return ByGeneration
	}
	return NotUpdated
}

// hashOf returns a pod's hash as the sync sees it: if the sync relabels every
// pod, the hash after that.
func (h *History) hashOf(p *Pod) string {
	if h.Merged {
		return h.Hash
	}
	return p.Hash
}

// TemplateOf returns the pod template that a ControllerRevision of the Snapshot
// holds, or nil if there is no such revision or its data cannot be decoded.
// This State and those that Changed returns share the template, which callers
// must not modify.
func (st *State) TemplateOf(revision string) *corev1.PodTemplateSpec {
	if t, known := st.typed.Load(revision); known {
		return t.(*corev1.PodTemplateSpec)
	}
	t := typedTemplate(st.Snapshot.RevisionData(revision))
	if t != nil {
		st.typed.Store(revision, t)
	}
	return t
}

// typedTemplate decodes the data of a ControllerRevision. It returns nil if that is not a template.
func typedTemplate(data []byte) *corev1.PodTemplateSpec {
	stored, err := template.Stored(data)
	if err != nil {
		return nil
	}
	t, err := stored.Typed()
	if err != nil {
		return nil
	}
	return t
}
