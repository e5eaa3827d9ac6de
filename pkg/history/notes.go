package history

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// notes finds the traps, in the order of NoteCodes.
func (b *builder) notes() {
	b.numbers, b.controllers = b.numbersOf(), controllers(b.s.DaemonSet)
	b.notePassedOver()
	b.noteCut()
	b.noteNumberRaised()
	b.noteDuplicates()
	b.noteSharedNumbers()
	taken := b.noteTakenUp()
	b.changes() // from the numbers of that moment
	b.noteSameContent()
	b.noteMissing(taken)
	b.noteHashes()
	b.noteRemovals()
	b.noteRestarts()
	b.noteOwners()
	b.noteBroken()
	b.h.CurrentSince = b.currentSince()
}

// note adds a Note, to its rows too.
func (b *builder) note(code NoteCode, facts daemonset.Facts, names ...string) {
	if names == nil {
		names = []string{}
	}
	b.h.Notes = append(b.h.Notes, Note{code, names, facts})
	for i := range b.h.Revisions {
		if row := &b.h.Revisions[i]; slices.Contains(names, row.Name) {
			row.Notes = append(row.Notes, code)
		}
	}
}

// kept returns the rows that are ControllerRevisions, newest first.
func (b *builder) kept() []Revision { return b.h.Revisions[:len(b.st.History.Revisions)] }

// notePassedOver is for DaemonSets of which the controller does nothing.
func (b *builder) notePassedOver() {
	switch {
	case daemonset.SelectsAll(b.s.DaemonSet):
		b.note(SelectsAll, daemonset.Facts{})
	case b.s.DaemonSet.DeletionTimestamp != nil:
		b.note(BeingDeleted, daemonset.Facts{})
	}
}

// noteCut tells a change that has no revision yet from a revision that is made
// although nothing changed.
func (b *builder) noteCut() {
	if !b.h.Next.Cut {
		return
	}
	live := b.live.Key()
	for _, row := range b.kept() {
		if b.keys[row.Name] == live {
			b.note(CutThoughUnchanged, daemonset.Facts{"number": int(b.h.Next.Number), "like": int(row.Revision), "outdated": b.outdated()}, row.Name)
			return
		}
	}
	b.note(NotCut, daemonset.Facts{"number": int(b.h.Next.Number)})
}

// outdated counts the pods that are not up to date.
func (b *builder) outdated() int {
	n := 0
	for i := range b.st.Nodes {
		for j := range b.st.Nodes[i].Pods {
			n += b2i(!b.st.Nodes[i].Pods[j].Updated)
		}
	}
	return n
}

// Grouped returns the Notes, of which those that say the same of several revisions
// are one.
func (h *History) Grouped() []Note {
	var out []Note
	for _, n := range h.Notes {
		last := len(out) - 1
		if last >= 0 && out[last].Code == n.Code && slices.Contains([]NoteCode{RemovedNext, RemovedByNextChange, WillAdopt}, n.Code) {
			out[last].Revisions = slices.Concat(out[last].Revisions, n.Revisions)
			continue
		}
		out = append(out, n)
	}
	return out
}

// noted reports whether there is a Note of a code already.
func (b *builder) noted(code NoteCode) bool {
	return slices.ContainsFunc(b.h.Notes, func(n Note) bool { return n.Code == code })
}

func (b *builder) noteNumberRaised() {
	for _, row := range b.kept() {
		if row.Current && row.Revision < b.h.Next.Number {
			b.note(NumberRaised, daemonset.Facts{"from": int(row.Revision), "to": int(b.h.Next.Number)}, row.Name)
		}
	}
}

func (b *builder) noteDuplicates() {
	names, remove := slices.Clone(b.h.Next.Current), []string{}
	for _, r := range b.st.History.Remove {
		if r.Reason == daemonset.Duplicate {
			remove = append(remove, r.Name)
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	if len(names) < 2 {
		return
	}
	facts := daemonset.Facts{"keep": b.h.Next.Current, "remove": remove}
	if b.st.PodsListed {
		facts["pods"] = len(b.h.Next.Relabel)
	}
	b.note(Duplicates, facts, names...)
}

func (b *builder) noteSharedNumbers() {
	byNumber := map[int64][]string{}
	for _, row := range b.kept() {
		byNumber[row.Revision] = append(byNumber[row.Revision], row.Name)
	}
	for _, row := range b.kept() {
		if names := byNumber[row.Revision]; len(names) > 1 && names[0] == row.Name {
			b.note(SharedNumber, daemonset.Facts{"number": int(row.Revision)}, names...)
		}
	}
}

// controllerManager is who gives revisions their numbers, in managed fields. It
// is the name of the program: a distribution with all in one has its own.
const controllerManager = "kube-controller-manager"

// controllers returns the names that the controller has in managed fields: of
// whoever writes the DaemonSet's status, too. That is a subresource there since
// v1.22, and its fields are not in a Snapshot.
func controllers(ds *appsv1.DaemonSet) []string {
	out := []string{controllerManager}
	for _, m := range ds.ManagedFields {
		p := newPaths()
		if p.addAll(m.FieldsV1); m.Subresource == "status" || p.ways["status"] {
			out = append(out, m.Manager)
		}
	}
	return out
}

// noteTakenUp finds the revisions that are older than their number, and returns
// their first numbers as far as these are certain. Such a revision has left a
// number below, which is missing.
//
// The order tells: one with a lower number that was made later. So do the
// managed fields: the controller wrote the revision's number later than it made
// the revision. The time of that entry also moves when the controller adopts a
// revision: one that is older than the DaemonSet was adopted, and its time counts
// only if another was adopted before. A revision that somebody else wrote, such
// as a backup tool, has no creation time of the controller's: it tells nothing.
// Where no managed fields tell who wrote them, the order of revisions that are
// older than the DaemonSet tells nothing either: they may have been restored.
func (b *builder) noteTakenUp() []int64 {
	after, told := map[string]time.Time{}, map[string]string{}
	for i := range b.kept() {
		row := &b.h.Revisions[i]
		if row.CreatedAt == nil || b.restored(row) || !b.missingBelow(row.Revision) {
			continue
		}
		t := b.numberedAt(row.Name)
		later := t != nil && t.Sub(*row.CreatedAt) > second
		if last, ok := b.lastBelow(row); ok && (t == nil || later) {
			after[row.Name], told[row.Name] = last, "Order"
		}
		if later && b.raisedAt(row, *t) {
			row.TakenUpAt, told[row.Name] = t, "ManagedFields"
		}
	}
	var first []int64
	for _, row := range b.kept() {
		if told[row.Name] == "" {
			continue
		}
		was := b.firstNumber(&row)
		facts := daemonset.Facts{"told": told[row.Name], "was": int(was)}
		if last, ok := after[row.Name]; ok {
			facts["after"] = last.UTC().Format(time.RFC3339)
		}
		b.note(TakenUpAgain, facts, row.Name)
		first = append(first, was)
	}
	return first
}

// second is how exact the times of the API are.
const second = time.Second

// restored reports whether somebody else than the controller made the revision.
func (b *builder) restored(row *Revision) bool {
	return slices.ContainsFunc(b.numberedBy(row.Name), func(m metav1.ManagedFieldsEntry) bool {
		return !slices.Contains(b.controllers, m.Manager)
	})
}

// raisedAt reports whether a later time of the controller's entry can be that of a
// new number: not if the revision was adopted then, nor if it contradicts the
// order in which numbers are given.
func (b *builder) raisedAt(row *Revision, t time.Time) bool {
	adopted := b.olderThanDaemonSet(row)
	for _, other := range b.kept() {
		if other.CreatedAt == nil {
			continue
		}
		given := *other.CreatedAt
		if at := b.numberedAt(other.Name); at != nil {
			given = *at
		}
		if other.Revision > row.Revision && t.Sub(given) > second || other.Revision < row.Revision && other.CreatedAt.Sub(t) > second {
			return false
		}
		if adopted && b.olderThanDaemonSet(&other) && t.Sub(given) > second {
			adopted = false // the others were adopted before that
		}
	}
	return !adopted
}

func (b *builder) olderThanDaemonSet(row *Revision) bool {
	return row.CreatedAt.Before(b.s.DaemonSet.CreationTimestamp.Time)
}

// lastBelow returns when the last of the revisions with a lower number was
// made, if that is later than this one.
func (b *builder) lastBelow(row *Revision) (last time.Time, later bool) {
	for _, other := range b.kept() {
		if other.Revision >= row.Revision || other.CreatedAt == nil || !other.CreatedAt.After(*row.CreatedAt) || b.restored(&other) {
			continue
		}
		if b.numberedAt(row.Name) == nil && b.olderThanDaemonSet(&other) {
			continue
		}
		if other.CreatedAt.After(last) {
			last, later = *other.CreatedAt, true
		}
	}
	return last, later
}

// numberedBy returns who wrote the revision's number, by its managed fields, of
// which only those that own the number are in a Snapshot.
func (b *builder) numberedBy(name string) []metav1.ManagedFieldsEntry {
	for i := range b.s.Revisions {
		if r := &b.s.Revisions[i]; r.Name == name && r.Namespace == b.s.DaemonSet.Namespace {
			return r.ManagedFields
		}
	}
	return nil
}

// numberedAt returns when the controller last wrote the revision.
func (b *builder) numberedAt(name string) *time.Time {
	for _, m := range b.numberedBy(name) { // one manager has one entry for what it updates
		if slices.Contains(b.controllers, m.Manager) && m.Time != nil {
			t := m.Time.UTC()
			return &t
		}
	}
	return nil
}

// missingBelow reports whether a number below is no revision's.
func (b *builder) missingBelow(number int64) bool {
	below := int64(0)
	for n := range b.numbers {
		below += int64(b2i(n > 0 && n < number))
	}
	return below < number-1
}

// firstNumber returns the number that a revision was made with, 0 if that is
// not certain: it is above those that were made before and have theirs still,
// below those that were made after, and nobody's now.
//
// What was raised to a number came from one that is lower by two or more, so a
// revision has its first number still if none below that is missing.
func (b *builder) firstNumber(row *Revision) int64 {
	above, below := int64(0), row.Revision
	for _, other := range b.kept() {
		if other.CreatedAt == nil || b.restored(&other) {
			continue
		}
		at := b.numberedAt(other.Name)
		still := !b.missingBelow(other.Revision-1) || at != nil && at.Sub(*other.CreatedAt) <= second
		switch {
		case other.CreatedAt.Before(*row.CreatedAt) && still:
			above = max(above, other.Revision)
		case other.CreatedAt.After(*row.CreatedAt):
			below = min(below, other.Revision)
		}
	}
	was := int64(0)
	for n := above + 1; n < below; n++ {
		switch {
		case b.numbers[n]:
		case was != 0:
			return 0
		default:
			was = n
		}
	}
	return was
}

// noteSameContent names revisions with the template of an earlier one, but for
// those that the next sync merges.
func (b *builder) noteSameContent() {
	rows := b.kept()
	merged := func(name string) bool {
		return slices.Contains(b.h.Next.Current, name) || slices.ContainsFunc(b.st.History.Remove, func(r daemonset.Removal) bool {
			return r.Name == name && r.Reason == daemonset.Duplicate
		})
	}
	for i, row := range rows {
		for _, other := range rows[i+1:] {
			if key := b.keys[row.Name]; key != "" && key == b.keys[other.Name] && !(merged(row.Name) && merged(other.Name)) {
				b.note(SameContent, daemonset.Facts{"of": other.Revision, "name": other.Name}, row.Name)
				break
			}
		}
	}
}

// noteMissing names the numbers that no revision has, but for the oldest where
// history clean-up explains that.
func (b *builder) noteMissing(first []int64) {
	rows := b.kept()
	if len(rows) == 0 {
		return
	}
	old := 0
	for _, row := range rows {
		old += b2i(!row.Current)
	}
	lowest := rows[len(rows)-1].Revision
	const most = 10_000 // numbers that somebody made up
	var moved, unknown []int64
	for n := max(1, rows[0].Revision-most); n < rows[0].Revision; n++ {
		switch {
		case b.numbers[n]:
		case slices.Contains(first, n):
			moved = append(moved, n)
		case n > lowest || old < b.h.Limit: // else clean-up may have taken it
			unknown = append(unknown, n)
		}
	}
	if len(moved) > 0 {
		b.note(MissingNumbers, daemonset.Facts{"numbers": ranges(moved), "why": string(TakenUpAgain)})
	}
	if len(unknown) > 0 {
		b.note(MissingNumbers, daemonset.Facts{"numbers": ranges(unknown), "why": "Unknown"})
	}
}

// currentSince returns when the one current revision became that; nil if
// nothing tells. Without managed fields that say so, it may be older than its
// number whenever one below is missing: even if clean-up explains that.
func (b *builder) currentSince() *time.Time {
	i := slices.IndexFunc(b.kept(), func(r Revision) bool { return r.Current })
	if i < 0 || len(b.st.History.Current) > 1 {
		return nil
	}
	row := &b.h.Revisions[i]
	at := b.numberedAt(row.Name)
	switch {
	case row.TakenUpAt != nil:
		return row.TakenUpAt
	case row.CreatedAt == nil || slices.Contains(row.Notes, TakenUpAgain):
		return nil
	case at != nil && at.Sub(*row.CreatedAt) <= second:
		return row.CreatedAt
	case b.missingBelow(row.Revision):
		return nil
	}
	return row.CreatedAt
}

// numbersOf returns the numbers that revisions of the DaemonSet have, those that
// the next sync lets go among them.
func (b *builder) numbersOf() map[int64]bool {
	out := map[int64]bool{}
	for _, row := range b.kept() {
		out[row.Revision] = true
	}
	for i := range b.s.Revisions {
		if r := &b.s.Revisions[i]; r.Namespace == b.s.DaemonSet.Namespace && slices.Contains(b.h.Next.Release, r.Name) {
			out[r.Revision] = true
		}
	}
	return out
}

// ranges writes ascending numbers as "3", "5-7".
func ranges(numbers []int64) []string {
	out := []string{}
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		text := strconv.FormatInt(numbers[i], 10)
		if j > i {
			text = fmt.Sprintf("%d-%d", numbers[i], numbers[j])
		}
		out = append(out, text)
		i = j + 1
	}
	return out
}

// noteHashes finds pods that are up to date by another hash than the current
// one, and pods of no revision.
func (b *builder) noteHashes() {
	var current []string
	for _, row := range b.kept() {
		if row.Current {
			current = append(current, row.Name)
		}
	}
	if hashes, pods := b.podsWhere(func(p *daemonset.Pod) bool {
		return p.UpdatedBy == daemonset.ByGeneration && !slices.Contains(current, p.Revision)
	}); pods > 0 && (len(current) > 0 || b.noted(NotCut)) {
		b.note(SeveralHashes, daemonset.Facts{"hashes": hashes, "pods": pods}, current...)
	}
	if b.st.History.Inferred != "" {
		return
	}
	if hashes, pods := b.podsWhere(func(p *daemonset.Pod) bool { return p.Revision == "" }); pods > 0 {
		b.note(NoRevision, daemonset.Facts{"hashes": hashes, "pods": pods})
		for i := range b.h.Revisions {
			if row := &b.h.Revisions[i]; row.Name == "" {
				row.Notes = append(row.Notes, NoRevision)
			}
		}
	}
}

func (b *builder) podsWhere(is func(*daemonset.Pod) bool) (hashes []string, pods int) {
	hashes = []string{}
	seen := map[string]bool{}
	count := func(all []daemonset.Pod) {
		for i := range all {
			p := &all[i]
			if p.Claim == daemonset.Release || !is(p) {
				continue
			}
			pods++
			if !seen[p.Hash] {
				seen[p.Hash] = true
				hashes = append(hashes, p.Hash)
			}
		}
	}
	for i := range b.st.Nodes {
		count(b.st.Nodes[i].Pods)
		count(b.st.Nodes[i].Ignored)
	}
	count(b.st.Unmapped)
	slices.Sort(hashes)
	return hashes, pods
}

func (b *builder) noteRemovals() {
	limit := daemonset.Facts{"limit": b.h.Limit}
	for _, r := range b.h.Next.Remove {
		if r.Reason == daemonset.CleanUp {
			b.note(RemovedNext, limit, r.Name)
		}
	}
	if b.st.PodsListed && b.h.Next.Number > 0 {
		for _, name := range b.st.History.PushedOut {
			b.note(RemovedByNextChange, limit, name)
		}
	}
}

// noteRestarts is for histories that restarts have filled.
func (b *builder) noteRestarts() {
	restarts, kept := 0, b.kept()
	for _, row := range kept {
		restarts += b2i(row.Kind == ChangeRestart)
	}
	if len(kept) > b.h.Limit && restarts*2 > len(kept) {
		b.note(MostlyRestarts, daemonset.Facts{"restarts": restarts, "kept": len(kept)})
	}
}

func (b *builder) noteOwners() {
	for _, row := range b.kept() {
		if row.Claim == daemonset.Adopt {
			b.note(WillAdopt, daemonset.Facts{}, row.Name)
		}
	}
	if names := b.h.Next.Release; len(names) > 0 {
		b.note(WillRelease, daemonset.Facts{"names": names})
	}
	if names := b.st.History.Foreign; len(names) > 0 {
		b.note(ForeignRevisions, daemonset.Facts{"names": names})
	}
	if n := b.s.DaemonSet.Status.CollisionCount; n != nil && *n > 0 {
		b.note(HashCollision, daemonset.Facts{"count": int(*n)})
	}
}

func (b *builder) noteBroken() {
	for _, row := range b.kept() {
		if message := b.broken[row.Name]; message != "" {
			b.note(Unreadable, daemonset.Facts{"message": message}, row.Name)
		}
	}
}
