package view

import (
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// notes adds what the table does not show. Without --all, it shows only the notes that decide something, except on a
// page.
func (p *historyScreen) notes() {
	for _, n := range p.h.Grouped() {
		label := screen.Notes
		if n.Decides() || p.Style.All || p.Style.Form == wording.InHTML {
			label = screen.Note
		}
		p.Screen.Add(label, p.sentence(&n))
	}
}

// sentence returns the sentence of a note. It returns nil if the headline or a row of the table covers the note.
func (p *historyScreen) sentence(n *history.Note) screen.Block {
	say := sentences[n.Code]
	if say == nil {
		return nil
	}
	t := remark{historyScreen: p, Note: n}
	for _, name := range n.Revisions {
		t.about = append(t.about, p.number(name))
	}
	return say(&t)
}

// sentences has the sentence of each note. The headline covers SelectsAll, BeingDeleted, NotCut and NumberRaised, and a
// row covers TakenUpAgain.
var sentences = map[history.NoteCode]func(*remark) screen.Block{
	history.CutThoughUnchanged: (*remark).otherForm,
	history.Duplicates:         (*remark).duplicates,
	history.SharedNumber:       (*remark).shared,
	history.SameContent:        (*remark).sameContent,
	history.MissingNumbers:     (*remark).missingNumbers,
	history.SeveralHashes:      (*remark).severalHashes,
	history.NoRevision:         (*remark).noRevision,
	history.RemovedNext: func(t *remark) screen.Block {
		return t.removed("the next sync removes ")
	},
	history.RemovedByNextChange: func(t *remark) screen.Block {
		return t.removed("the next new revision makes the controller remove ")
	},
	history.MostlyRestarts: (*remark).mostlyRestarts,
	history.WillAdopt:      (*remark).adopted,
	history.WillRelease: func(t *remark) screen.Block {
		return t.foreign(" no longer matches the selector: the next sync releases it",
			" no longer match the selector: the next sync releases them")
	},
	history.ForeignRevisions: func(t *remark) screen.Block {
		return t.foreign(" matches the selector but has another owner", " match the selector but have another owner")
	},
	history.HashCollision: (*remark).collision,
	history.Unreadable:    (*remark).unreadable,
}

// remark is a note with the numbers of its revisions.
type remark struct {
	*historyScreen
	*history.Note
	about []string
}

func (t *remark) count(key string) int { return wording.Number(t.Facts, key) }

func (t *remark) text(key string) string { return wording.Fact(t.Facts, key) }

// revisions lists the revisions of the note, such as "revisions 7, 6 …", between other words.
func (t *remark) revisions(before, one, many string) screen.Block {
	n := len(t.about)
	return listed(before+wording.PluralOf(n, "revision", "revisions"), t.about, wording.PluralOf(n, one, many))
}

// listed lists the names that fit into two lines, between other words.
func listed(before string, names []string, after string) screen.Block {
	return screen.Names{Before: before, Names: names, After: after, Short: true}
}

func (t *remark) otherForm() screen.Block {
	replaced := "no pod is replaced for it"
	if n := t.count("outdated"); n > 0 {
		replaced = wording.PluralVerb(n, "pod is replaced", "pods are replaced")
	}
	return screen.Text("revision " + t.text("like") + " is stored in a form that this version of the controller does " +
		"not write, so the controller treats its template as a new one; " + replaced)
}

func (t *remark) duplicates() screen.Block {
	keep, remove := t.Facts.List("keep"), t.Facts.List("remove")
	keeps, removes := "one of them, chosen at random,", "the others"
	if len(keep) == 1 {
		keeps = "revision " + t.number(keep[0])
	}
	if len(keep) == 1 && len(remove) == 1 {
		removes = "revision " + t.number(remove[0])
	}
	after := " hold the live template: the next sync keeps " + keeps + " and removes " + removes +
		wording.WithPrefix("; ", t.relabelled(len(keep) == 1))
	return t.revisions("", after, after)
}

// relabelled describes the pods that get the hash of the kept revision. It returns "" if there are none.
func (t *remark) relabelled(certain bool) string {
	if !certain || t.Facts["pods"] == nil {
		return "every pod with another hash gets its hash and then counts as updated, even if it runs an old template"
	}
	n := t.count("pods")
	if n == 0 {
		return ""
	}
	return wording.PluralVerb(n, "pod gets its hash and then counts as updated, even if it runs an old template",
		"pods get its hash and then count as updated, even if they run an old template")
}

func (t *remark) shared() screen.Block {
	same := wording.Plural(len(t.about), "revision") + " have the number " + t.text("number")
	return screen.Text(same + "; kubectl shows one of them")
}

func (t *remark) sameContent() screen.Block {
	after := " has the same content as revision " + t.number(t.text("name")) +
		", but the controller treats them as different"
	return t.revisions("", after, after)
}

// missingNumbers lists the numbers that no revision has, with --all. Without --all, each row names the revision that it
// is compared with.
func (t *remark) missingNumbers() screen.Block {
	if t.text("why") != "Unknown" || !t.Style.All {
		return nil
	}
	return listed("there is no revision", t.Facts.List("numbers"), ": renumbered by rollbacks, or removed")
}

func (t *remark) severalHashes() screen.Block {
	n := t.count("pods")
	return listed(wording.PluralVerb(n, "pod counts as updated by its label pod-template-generation, although its hash",
		"pods count as updated by their label pod-template-generation, although their hash")+
		" is not that of the live template:", t.Facts.List("hashes"), "")
}

func (t *remark) noRevision() screen.Block {
	n, hashes := t.count("pods"), t.Facts.List("hashes")
	none := "so no rollback can return to " + wording.PluralOf(n, "its", "their") + " template"
	if t.text("hashes") == "" {
		return screen.Text(wording.PluralVerb(n, "pod has no hash", "pods have no hash") + ", " + none)
	}
	return listed(wording.PluralVerb(n, "pod has a hash",
		"pods have a hash")+" that no revision has, "+none+":", hashes, "")
}

func (t *remark) removed(by string) screen.Block {
	limit := " (revisionHistoryLimit " + t.text("limit") + ")"
	return t.revisions(by, limit, limit)
}

func (t *remark) mostlyRestarts() screen.Block {
	return screen.Text(t.text("restarts") + " of " + wording.Plural(t.count("kept"), "revision") +
		" differ only by kubectl rollout restart; they push older templates out of the history")
}

func (t *remark) adopted() screen.Block {
	return t.revisions("", " has no owner: the next sync adopts it; kubectl does not list it until then",
		" have no owner: the next sync adopts them; kubectl does not list them until then")
}

// foreign names ControllerRevisions that do not belong to the DaemonSet.
func (t *remark) foreign(one, many string) screen.Block {
	names := t.Facts.List("names")
	n := len(names)
	return listed(wording.PluralOf(n, "ControllerRevision", "ControllerRevisions"), names,
		wording.PluralOf(n, one, many))
}

func (t *remark) collision() screen.Block {
	return screen.Text("the name of a new revision was taken " + wording.Plural(t.count("count"), "time") +
		", so the controller used another hash (status.collisionCount)")
}

func (t *remark) unreadable() screen.Block {
	after := " holds no pod template: " + t.Style.Brief(t.text("message"), 120)
	return t.revisions("", after, after)
}
