package view

import (
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// notes are what the table alone would hide, a sentence each. Those that say the
// same of several revisions are one.
func (p *past) notes() {
	var all []history.Note
	for _, n := range p.h.Notes {
		same := slices.Contains([]history.NoteCode{history.RemovedNext, history.RemovedByNextChange, history.WillAdopt}, n.Code)
		if last := len(all) - 1; same && last >= 0 && all[last].Code == n.Code {
			all[last].Revisions = slices.Concat(all[last].Revisions, n.Revisions)
			continue
		}
		if p.sentence(&n) != nil {
			all = append(all, n)
		}
	}
	const most = 3
	for i := range all {
		if i == most && !p.style.All && len(all) > most+1 {
			p.add(screen.Note, "%s with --all", plural(len(all)-most, "more note"))
			return
		}
		p.s.Add(screen.Note, p.sentence(&all[i]))
	}
}

// sentence says one note; nil where the headline or a row of the table says it.
func (p *past) sentence(n *history.Note) screen.Block {
	f := n.Facts
	var numbers []string
	for _, name := range n.Revisions {
		numbers = append(numbers, p.number(name))
	}
	about := func(before, after string) screen.Block {
		return screen.Names{Before: before + pluralOf(len(numbers), "revision", "revisions"), Names: numbers, After: after, Short: true}
	}
	of := func(before string, names []string, after string) screen.Block {
		return screen.Names{Before: before, Names: names, After: after, Short: true}
	}
	hashes, missing, foreign := listOf(f["hashes"]), listOf(f["numbers"]), listOf(f["names"])
	controllerRevisions := pluralOf(len(foreign), "ControllerRevision", "ControllerRevisions")
	limit := " (revisionHistoryLimit " + fact(f, "limit") + ")"
	switch n.Code {
	case history.CutThoughUnchanged:
		words := "no pod is replaced for it"
		if outdated := number(f, "outdated"); outdated > 0 {
			words = pluralVerb(outdated, "pod becomes outdated and is replaced", "pods become outdated and are replaced")
		}
		return screen.Text(fmt.Sprintf("revision %s is stored in a form that this version of the controller does not write, so the controller treats its template as a new one; %s", fact(f, "like"), words))
	case history.Duplicates:
		return about("", " hold the live template: the next sync "+p.kept(n))
	case history.SharedNumber:
		return screen.Text(fmt.Sprintf("%s have the number %s; kubectl shows one of them", plural(len(numbers), "revision"), fact(f, "number")))
	case history.SameContent:
		return about("", fmt.Sprintf(" has the same content as revision %s, but the controller treats them as different", p.number(fact(f, "name"))))
	case history.MissingNumbers:
		if fact(f, "why") == "TakenUpAgain" {
			return of("there is no revision", missing, ": renumbered by a rollback")
		}
		if p.style.All { // else the rows say what each is compared with
			return of("there is no revision", missing, ": renumbered by rollbacks, or removed")
		}
	case history.SeveralHashes:
		return of(pluralVerb(number(f, "pods"), "pod counts as updated by its label", "pods count as updated by their label")+" pod-template-generation, although their hash is not that of the live template:", hashes, "")
	case history.NoRevision:
		words := pluralVerb(number(f, "pods"), "pod has a hash", "pods have a hash")
		if slices.Equal(hashes, []string{""}) {
			return screen.Text(pluralVerb(number(f, "pods"), "pod has no hash", "pods have no hash") + ", so no rollback can return to " + pluralOf(number(f, "pods"), "its", "their") + " template")
		}
		return of(words+" that no revision has, so no rollback can return to "+pluralOf(number(f, "pods"), "its", "their")+" template:", hashes, "")
	case history.RemovedNext:
		return about("the next sync removes ", limit)
	case history.RemovedByNextChange:
		return about("the next new revision makes the controller remove ", limit)
	case history.MostlyRestarts:
		return screen.Text(fmt.Sprintf("%s of %s revisions differ only by kubectl rollout restart; they push older templates out of the history", fact(f, "restarts"), fact(f, "kept")))
	case history.WillAdopt:
		return about("", pluralOf(len(numbers), " has no owner: the next sync adopts it; kubectl does not list it until then", " have no owner: the next sync adopts them; kubectl does not list them until then"))
	case history.WillRelease:
		return of(controllerRevisions, foreign, pluralOf(len(foreign), " no longer matches the selector: the next sync releases it", " no longer match the selector: the next sync releases them"))
	case history.ForeignRevisions:
		return of(controllerRevisions, foreign, pluralOf(len(foreign), " matches the selector but has another owner", " match the selector but have another owner"))
	case history.HashCollision:
		return screen.Text(fmt.Sprintf("the name of a new revision was taken %s, so the controller used another hash (status.collisionCount)", plural(number(f, "count"), "time")))
	case history.Unreadable:
		return about("", " holds no pod template: "+p.style.brief(fact(f, "message"), 120))
	}
	return nil // SelectsAll, BeingDeleted, NotCut and NumberRaised stand in the headline, TakenUpAgain in a row
}

// kept says which copy of a revision is kept, and what becomes of the pods.
func (p *past) kept(n *history.Note) string {
	keep, remove := listOf(n.Facts["keep"]), listOf(n.Facts["remove"])
	words, its := "keeps one of them, chosen at random, and removes the others", "its"
	if len(keep) == 1 {
		words = "keeps revision " + p.number(keep[0]) + " and removes the others"
		if len(remove) == 1 {
			words = "keeps revision " + p.number(keep[0]) + " and removes revision " + p.number(remove[0])
		}
	}
	switch pods := number(n.Facts, "pods"); {
	case n.Facts["pods"] == nil, len(keep) > 1:
		return words + "; every pod with another hash gets " + its + " hash and then counts as updated, even if it runs an old template"
	case pods > 0:
		return words + "; " + pluralVerb(pods, "pod gets its hash and then counts as updated, even if it runs an old template", "pods get its hash and then count as updated, even if they run an old template")
	}
	return words
}

// listOf is a fact that is a list of names.
func listOf(v any) []string { names, _ := v.([]string); return names }
