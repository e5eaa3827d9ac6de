package view

import (
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// notes are what the table alone would hide, a sentence each.
func (p *past) notes() {
	var all []screen.Block
	for _, n := range p.h.Grouped() {
		if words := p.sentence(&n); words != nil {
			all = append(all, words)
		}
	}
	const most = 3
	if more := len(all) - most; more > 1 && !p.style.All {
		all = append(all[:most], screen.Text(Plural(more, "more note")+" with --all"))
	}
	p.s.Add(screen.Note, all...)
}

// sentence says one note; nil where the headline or a row of the table says it.
func (p *past) sentence(n *history.Note) screen.Block {
	var about []string
	for _, name := range n.Revisions {
		about = append(about, p.number(name))
	}
	f := with(n.Facts, daemonset.Facts{"about": about, "same": p.number(fact(n.Facts, "name")), "message": p.style.brief(fact(n.Facts, "message"), 120), "all": p.style.All})
	keep, remove := f.List("keep"), f.List("remove")
	if len(keep) == 1 {
		f["keeps"] = p.number(keep[0])
		if len(remove) == 1 {
			f["removes"] = p.number(remove[0])
		}
	}
	f["certain"] = len(keep) == 1 && f["pods"] != nil
	for _, words := range notes[n.Code] {
		if before := fill(p.now, f, words.before); before != "" {
			return screen.Names{Before: before, Names: f.List(words.names), After: fill(p.now, f, words.after), Short: true}
		}
	}
	return nil
}

const (
	revisions       = "{about?revision|revisions}"
	foreignRevision = "{names?ControllerRevision|ControllerRevisions}"
	ofLimit         = " (revisionHistoryLimit {limit})"
)

// notes has the words of each note before and after the names in a fact. Beside
// the facts of the note there are: about, the numbers of its revisions; same, the
// number of the one with the same content; keeps and removes, the numbers of one
// revision; certain, where it is known which one the next sync keeps; all, with --all.
var notes = map[history.NoteCode][]struct{ before, names, after string }{
	history.CutThoughUnchanged: {{before: "revision {like} is stored in a form that this version of the controller does not write, so the controller treats its template as a new one; " +
		"[{outdated:pod is replaced|pods are replaced}][{outdated=0}no pod is replaced for it]"}},
	history.Duplicates: {{revisions, "about", " hold the live template: the next sync keeps [revision {keeps}][{keeps=}one of them, chosen at random,] and removes [revision {removes}][{removes=}the others]" +
		"[{certain=false}; every pod with another hash gets its hash and then counts as updated, even if it runs an old template]" +
		"[{certain=true}; {pods:pod gets its hash and then counts as updated, even if it runs an old template|pods get its hash and then count as updated, even if they run an old template}]"}},
	history.SharedNumber: {{before: "{about:revision} have the number {number}; kubectl shows one of them"}},
	history.SameContent:  {{revisions, "about", " has the same content as revision {same}, but the controller treats them as different"}},
	history.MissingNumbers: {
		{"{why=Unknown}{all=true}there is no revision", "numbers", ": renumbered by rollbacks, or removed"}, // else the rows say what each is compared with
	},
	history.SeveralHashes: {{"{pods:pod counts as updated by its|pods count as updated by their} label pod-template-generation, although {pods?its|their} hash is not that of the live template:", "hashes", ""}},
	history.NoRevision: {
		{before: "{hashes=}{pods:pod has no hash|pods have no hash}, so no rollback can return to {pods?its|their} template"},
		{"{pods:pod has a hash|pods have a hash} that no revision has, so no rollback can return to {pods?its|their} template:", "hashes", ""},
	},
	history.RemovedNext:         {{"the next sync removes " + revisions, "about", ofLimit}},
	history.RemovedByNextChange: {{"the next new revision makes the controller remove " + revisions, "about", ofLimit}},
	history.MostlyRestarts:      {{before: "{restarts} of {kept:revision} differ only by kubectl rollout restart; they push older templates out of the history"}},
	history.WillAdopt:           {{revisions, "about", " {about?has no owner: the next sync adopts it; kubectl does not list it until then|have no owner: the next sync adopts them; kubectl does not list them until then}"}},
	history.WillRelease:         {{foreignRevision, "names", " {names?no longer matches the selector: the next sync releases it|no longer match the selector: the next sync releases them}"}},
	history.ForeignRevisions:    {{foreignRevision, "names", " {names?matches the selector but has another owner|match the selector but have another owner}"}},
	history.HashCollision:       {{before: "the name of a new revision was taken {count:time}, so the controller used another hash (status.collisionCount)"}},
	history.Unreadable:          {{revisions, "about", " holds no pod template: {message}"}},
} // SelectsAll, BeingDeleted, NotCut and NumberRaised stand in the headline, TakenUpAgain in a row
