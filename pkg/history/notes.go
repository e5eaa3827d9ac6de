package history

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// notes returns the notes in the order of NoteCodes.
func (g *given) notes(h *History, ns *numbers, taken map[string]renumbering) []Note {
	cut := g.cut(h)
	return append([]Note{}, slices.Concat(
		g.passedOver(), cut, raised(h), g.duplicates(h), shared(ns), takenUp(ns, taken), g.sameContent(h, ns),
		ns.missing(h.Limit, taken),
		g.hashes(ns, len(cut) > 0 && cut[0].Code == NotCut), g.removals(h), mostlyRestarts(h, ns), g.claims(h, ns),
		g.broken(ns),
	)...)
}

func note(code NoteCode, facts daemonset.Facts, names ...string) Note {
	return Note{code, append([]string{}, names...), facts}
}

// notesAbout returns the codes of the notes that concern a row.
func notesAbout(row *Revision, notes []Note) []NoteCode {
	out := []NoteCode{}
	for _, n := range notes {
		if slices.Contains(n.Revisions, row.Name) || n.Code == NoRevision && row.Name == "" {
			out = append(out, n.Code)
		}
	}
	return out
}

// Grouped returns the Notes, merging those that say the same about several
// revisions.
func (h *History) Grouped() []Note {
	var out []Note
	for _, n := range h.Notes {
		last := len(out) - 1
		if last >= 0 && out[last].Code == n.Code &&
			slices.Contains([]NoteCode{RemovedNext, RemovedByNextChange, WillAdopt}, n.Code) {
			out[last].Revisions = slices.Concat(out[last].Revisions, n.Revisions)
			continue
		}
		out = append(out, n)
	}
	return out
}

// passedOver returns the note for a DaemonSet that the controller ignores.
func (g *given) passedOver() []Note {
	switch {
	case daemonset.SelectsAll(g.s.DaemonSet):
		return []Note{note(SelectsAll, daemonset.Facts{})}
	case g.s.DaemonSet.DeletionTimestamp != nil:
		return []Note{note(BeingDeleted, daemonset.Facts{})}
	}
	return nil
}

// cut returns the note for a new revision. It distinguishes a changed template
// from one that is unchanged but stored in another form.
func (g *given) cut(h *History) []Note {
	if !h.Next.Cut {
		return nil
	}
	live := g.live.Key()
	for _, row := range h.Revisions {
		if g.stored[row.Name].key == live {
			outdated := 0
			for i := range g.st.Nodes {
				for _, p := range g.st.Nodes[i].Pods {
					outdated += b2i(!p.Updated)
				}
			}
			return []Note{note(CutThoughUnchanged, daemonset.Facts{"number": int(h.Next.Number),
				"like": int(row.Revision), "outdated": outdated}, row.Name)}
		}
	}
	return []Note{note(NotCut, daemonset.Facts{"number": int(h.Next.Number)})}
}

func raised(h *History) (notes []Note) {
	for _, row := range h.Revisions {
		if row.Current && row.Name != "" && row.Revision < h.Next.Number {
			notes = append(notes, note(NumberRaised,
				daemonset.Facts{"from": int(row.Revision), "to": int(h.Next.Number)}, row.Name))
		}
	}
	return notes
}

// merged returns the revisions that hold the live template, and those of them
// that the next sync therefore deletes.
func (g *given) merged(h *History) (all, remove []string) {
	all, remove = slices.Clone(h.Next.Current), []string{}
	for _, r := range g.st.History.Remove {
		if r.Reason == daemonset.Duplicate {
			remove = append(remove, r.Name)
			if !slices.Contains(all, r.Name) {
				all = append(all, r.Name)
			}
		}
	}
	return all, remove
}

func (g *given) duplicates(h *History) []Note {
	all, remove := g.merged(h)
	if len(all) < 2 {
		return nil
	}
	facts := daemonset.Facts{"keep": h.Next.Current, "remove": remove}
	if g.st.PodsListed {
		facts["pods"] = len(h.Next.Relabel)
	}
	return []Note{note(Duplicates, facts, all...)}
}

func shared(ns *numbers) (notes []Note) {
	byNumber := map[int64][]string{}
	for _, row := range ns.rows {
		byNumber[row.number] = append(byNumber[row.number], row.Name)
	}
	for _, row := range ns.rows {
		if names := byNumber[row.number]; len(names) > 1 && names[0] == row.Name {
			notes = append(notes, note(SharedNumber, daemonset.Facts{"number": int(row.number)}, names...))
		}
	}
	return notes
}

func takenUp(ns *numbers, taken map[string]renumbering) (notes []Note) {
	for _, row := range ns.rows {
		t, is := taken[row.Name]
		if !is {
			continue
		}
		facts := daemonset.Facts{"told": t.evidence, "was": int(t.firstWas)}
		if !t.after.IsZero() {
			facts["after"] = t.after.UTC().Format(time.RFC3339)
		}
		notes = append(notes, note(TakenUpAgain, facts, row.Name))
	}
	return notes
}

// sameContent returns the notes for revisions with the template of an earlier
// one, except those that the next sync merges.
func (g *given) sameContent(h *History, ns *numbers) (notes []Note) {
	merged, _ := g.merged(h)
	for i, row := range ns.rows {
		for _, other := range ns.rows[i+1:] {
			both := slices.Contains(merged, row.Name) && slices.Contains(merged, other.Name)
			if key := g.stored[row.Name].key; key != "" && key == g.stored[other.Name].key && !both {
				notes = append(notes, note(SameContent,
					daemonset.Facts{"of": other.number, "name": other.Name}, row.Name))
				break
			}
		}
	}
	return notes
}

// hashes returns the notes for pods that are updated although their hash is not
// current, and for pods without a revision.
func (g *given) hashes(ns *numbers, notCut bool) (notes []Note) {
	var current []string
	for _, row := range ns.rows {
		if row.Current {
			current = append(current, row.Name)
		}
	}
	if hashes, pods := g.podsWhere(func(p *daemonset.Pod) bool {
		return p.UpdatedBy == daemonset.ByGeneration && !slices.Contains(current, p.Revision)
	}); pods > 0 && (len(current) > 0 || notCut) {
		notes = append(notes, note(SeveralHashes, daemonset.Facts{"hashes": hashes, "pods": pods}, current...))
	}
	if hashes, pods := g.podsWhere(func(p *daemonset.Pod) bool { return p.Revision == "" }); pods > 0 &&
		g.st.History.Inferred == "" {
		notes = append(notes, note(NoRevision, daemonset.Facts{"hashes": hashes, "pods": pods}))
	}
	return notes
}

// podsWhere returns the number of matching pods, and their hashes, sorted and
// without duplicates.
func (g *given) podsWhere(is func(*daemonset.Pod) bool) (hashes []string, pods int) {
	hashes = []string{}
	for p := range g.pods() {
		if is(p) {
			pods, hashes = pods+1, append(hashes, p.Hash)
		}
	}
	slices.Sort(hashes)
	return slices.Compact(hashes), pods
}

func (g *given) removals(h *History) (notes []Note) {
	limit := daemonset.Facts{"limit": h.Limit}
	for _, r := range h.Next.Remove {
		if r.Reason == daemonset.CleanUp {
			notes = append(notes, note(RemovedNext, limit, r.Name))
		}
	}
	if g.st.PodsListed && h.Next.Number > 0 {
		for _, name := range g.st.History.PushedOut {
			notes = append(notes, note(RemovedByNextChange, limit, name))
		}
	}
	return notes
}

// mostlyRestarts returns the note for a history that consists mainly of
// restarts.
func mostlyRestarts(h *History, ns *numbers) []Note {
	restarts, kept := 0, len(ns.rows)
	for _, row := range h.Revisions {
		restarts += b2i(row.Kind == ChangeRestart && row.Name != "")
	}
	if kept <= h.Limit || restarts*2 <= kept {
		return nil
	}
	return []Note{note(MostlyRestarts, daemonset.Facts{"restarts": restarts, "kept": kept})}
}

// claims returns the notes for revisions that are adopted or released, or that
// have another owner.
func (g *given) claims(h *History, ns *numbers) (notes []Note) {
	for _, row := range ns.rows {
		if row.Claim == daemonset.Adopt {
			notes = append(notes, note(WillAdopt, daemonset.Facts{}, row.Name))
		}
	}
	if names := h.Next.Release; len(names) > 0 {
		notes = append(notes, note(WillRelease, daemonset.Facts{"names": names}))
	}
	if names := g.st.History.Foreign; len(names) > 0 {
		notes = append(notes, note(ForeignRevisions, daemonset.Facts{"names": names}))
	}
	if n := g.s.DaemonSet.Status.CollisionCount; n != nil && *n > 0 {
		notes = append(notes, note(HashCollision, daemonset.Facts{"count": int(*n)}))
	}
	return notes
}

func (g *given) broken(ns *numbers) (notes []Note) {
	for _, row := range ns.rows {
		if message := g.stored[row.Name].broken; message != "" {
			notes = append(notes, note(Unreadable, daemonset.Facts{"message": message}, row.Name))
		}
	}
	return notes
}
