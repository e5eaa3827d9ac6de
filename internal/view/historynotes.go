package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
)

// noteLines are the sentences of the notes, equal ones once.
func (s *lineScreen) noteLines(h *history.History) []string {
	var lines []string
	for _, n := range merged(h.Notes, !s.All) {
		if l := s.noteWords(h, n); !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines
}

// merged puts notes together that say the same of several revisions; and, where
// they are to be few, those of revisions that were taken up again.
func merged(notes []history.Note, few bool) []history.Note {
	var out []history.Note
	for _, n := range notes {
		i := slices.IndexFunc(out, func(o history.Note) bool { return o.Code == n.Code })
		same := slices.Contains([]history.NoteCode{history.RemovedNext, history.RemovedByNextChange, history.WillAdopt}, n.Code)
		if i >= 0 && (same || few && n.Code == history.TakenUpAgain) {
			out[i].Revisions = slices.Concat(out[i].Revisions, n.Revisions)
			continue
		}
		out = append(out, n)
	}
	return out
}

// noteWords says one note in a sentence.
func (s *lineScreen) noteWords(h *history.History, n history.Note) string {
	of, one := s.folded(h, n.Revisions), len(n.Revisions) == 1
	f := n.Facts
	switch n.Code {
	case history.SelectsAll:
		return "the selector is empty: the controller passes this DaemonSet over, and does nothing about its revisions"
	case history.BeingDeleted:
		return "the DaemonSet is being deleted: nothing comes after these revisions, and nothing can be rolled back"
	case history.NotCut:
		return s.notCutWords(h, f)
	case history.CutThoughUnchanged:
		return fmt.Sprintf("revision %s holds the same template, yet the next sync makes revision %s of it: it was stored in a form that this version of the controller does not write%s",
			fact(f, "like"), fact(f, "number"), outdatedWords(number(f, "outdated")))
	case history.NumberRaised:
		return fmt.Sprintf("revision %s holds the live template: the next sync takes it up again as revision %s", fact(f, "from"), fact(f, "to"))
	case history.Duplicates:
		words := of + " hold the live template: the next sync " + keptWords(h, f)
		if f["pods"] == nil {
			return words + ", and gives its hash to every pod"
		}
		if number(f, "pods") == 0 {
			return words
		}
		if len(listOf(f["keep"])) > 1 {
			return words + ", and gives its hash to every pod that has another, which then counts as up to date whatever it runs"
		}
		return words + ", and gives its hash to " +
			pluralVerb(number(f, "pods"), "pod, which then counts as up to date whatever it runs", "pods, which then count as up to date whatever they run")
	case history.SharedNumber:
		return fmt.Sprintf("%s share number %s: kubectl shows one of them", plural(len(n.Revisions), "revision"), fact(f, "number"))
	case history.TakenUpAgain:
		return s.takenUpWords(of, h, n)
	case history.SameContent:
		return fmt.Sprintf("%s has the content of revision %s, and is told from it by the controller", of, revisionNumber(h, fact(f, "name")))
	case history.MissingNumbers:
		return s.missingWords(f)
	case history.SeveralHashes:
		words := "though the hash is another than the current revision's"
		if h.Next.Cut {
			words = "though no revision holds the live template"
		}
		return fmt.Sprintf("%s updated by the label pod-template-generation, %s: hash %s", pluralVerb(number(f, "pods"), "pod counts as", "pods count as"), words, s.hashList(f))
	case history.NoRevision:
		carry, run := pluralVerb(number(f, "pods"), "pod carries", "pods carry"), "what they run"
		if number(f, "pods") == 1 {
			run = "what it runs"
		}
		hash := "a hash that no revision has: " + s.hashList(f)
		if slices.Equal(listOf(f["hashes"]), []string{""}) {
			hash = "no hash"
		}
		return fmt.Sprintf("%s %s; %s cannot be rolled back to", carry, hash, run)
	case history.RemovedNext:
		return fmt.Sprintf("the next sync removes %s (revisionHistoryLimit %s)", of, fact(f, "limit"))
	case history.RemovedByNextChange:
		return fmt.Sprintf("the next change removes %s (revisionHistoryLimit %s)", of, fact(f, "limit"))
	case history.MostlyRestarts:
		return fmt.Sprintf("%s of %s kept revisions are restarts alone: they push older templates out", fact(f, "restarts"), fact(f, "kept"))
	case history.WillAdopt:
		if one {
			return of + " has no owner: the next sync adopts it, and kubectl does not list it until then"
		}
		return of + " have no owner: the next sync adopts them, and kubectl does not list them until then"
	case history.WillRelease:
		return namesVerb(f, "does not match the selector any more, so the next sync lets it go", "do not match the selector any more, so the next sync lets them go")
	case history.ForeignRevisions:
		return namesVerb(f, "matches the selector, but belongs to somebody else", "match the selector, but belong to somebody else")
	case history.HashCollision:
		return fmt.Sprintf("%s the name of a new revision was taken, and another hash was made (status.collisionCount)", plural(number(f, "count"), "time"))
	case history.Unreadable:
		return fmt.Sprintf("what %s holds is no pod template: %s", of, s.brief(fact(f, "message"), 120))
	}
	return clean(string(n.Code))
}

func (s *lineScreen) notCutWords(h *history.History, f daemonset.Facts) string {
	words := fmt.Sprintf("the live template has no revision yet: the next sync makes revision %s", fact(f, "number"))
	if u := h.Uncut; u != nil && u.From.Revision > 0 && len(u.Change) > 0 {
		words += fmt.Sprintf(". Against revision %d: %s", u.From.Revision, strings.Join(fieldStyle{brief: true, cell: true, alone: !severalContainers(h), all: s.All}.changeLines(u.Change), "; "))
	}
	return words
}

// folded names revisions, of many ranges the first few.
func (s *lineScreen) folded(h *history.History, names []string) string {
	const most = 4
	parts := revisionRanges(h, names)
	if n := len(parts) - most; n > 1 && !s.All {
		return plural(len(names), "revision") + " (" + strings.Join(parts[:most], ", ") + ", more with --all)"
	}
	return revisionWords(h, names)
}

// severalContainers tells whether a field needs its container named.
func severalContainers(h *history.History) bool {
	return slices.ContainsFunc(h.Revisions, func(r history.Revision) bool { return len(r.Images) > 1 })
}

func outdatedWords(n int) string {
	if n == 0 {
		return "; no pod is replaced for it"
	}
	return "; then " + pluralVerb(n, "pod is not up to date", "pods are not up to date")
}

// takenUpWords says that a number is younger than its revision.
func (s *lineScreen) takenUpWords(of string, h *history.History, n history.Note) string {
	if len(n.Revisions) > 1 {
		return of + " are older than their numbers: rollbacks took them up again" + firstNumbers(h, n.Revisions) + ". Age and change-cause are of the first time"
	}
	words := of + " is older than its number: a rollback took it up again"
	for _, r := range h.Revisions {
		if slices.Contains(n.Revisions, r.Name) && r.Name != "" && r.TakenUpAt != nil {
			words += " " + age(s.now, r.TakenUpAt) + " ago"
		}
	}
	if at, found := factTime(n.Facts, "after"); found && fact(n.Facts, "told") != "ManagedFields" {
		words += ", less than " + age(s.now, &at) + " ago"
	}
	if was := number(n.Facts, "was"); was > 0 {
		words += fmt.Sprintf("; it was revision %d", was)
	}
	return words + ". Age and change-cause are of the first time"
}

// firstNumbers are those of a few revisions, where each is certain.
func firstNumbers(h *history.History, names []string) string {
	var numbers []string
	for _, name := range names {
		for _, n := range h.Notes {
			if was := number(n.Facts, "was"); n.Code == history.TakenUpAgain && slices.Contains(n.Revisions, name) && was > 0 {
				numbers = append(numbers, strconv.Itoa(was))
			}
		}
	}
	const most = 4
	if len(numbers) < len(names) || len(numbers) > most {
		return ""
	}
	return "; they were " + strings.Join(numbers[:len(numbers)-1], ", ") + " and " + numbers[len(numbers)-1]
}

// factTime is a fact that is a time, as the core or a document has it.
func factTime(f daemonset.Facts, key string) (time.Time, bool) {
	switch v := f[key].(type) {
	case time.Time:
		return v, true
	case *time.Time:
		if v != nil {
			return *v, true
		}
	case string:
		t, err := time.Parse(time.RFC3339, v)
		return t, err == nil
	}
	return time.Time{}, false
}

func (s *lineScreen) missingWords(f daemonset.Facts) string {
	numbers := listOf(f["numbers"])
	one := len(numbers) == 1 && !strings.Contains(numbers[0], "-")
	const most = 8
	if n := len(numbers) - most; n > 1 && !s.All {
		numbers = append(slices.Clone(numbers[:most]), "more with --all")
	}
	list := clean(strings.Join(numbers, ", "))
	again := fact(f, "why") == "TakenUpAgain"
	switch {
	case one && again:
		return "no revision has number " + list + ": a rollback took the old revision up again and gave it a new number"
	case again:
		return "no revision has the numbers " + list + ": rollbacks took the old revisions up again and gave them new numbers"
	case one:
		return "no revision has number " + list + ": taken up again under a new number, or removed"
	}
	return "no revision has the numbers " + list + ": taken up again under new numbers, or removed"
}

// hashList names hashes, of which one may be missing.
func (s *lineScreen) hashList(f daemonset.Facts) string {
	var hashes []string
	for _, hash := range listOf(f["hashes"]) {
		hashes = append(hashes, hashWords(hash))
	}
	return s.names(hashes)
}

// namesVerb says something of ControllerRevisions that no row shows.
func namesVerb(f daemonset.Facts, one, many string) string {
	names := listOf(f["names"])
	if len(names) == 1 {
		return "controllerrevision " + clean(names[0]) + " " + one
	}
	return "controllerrevisions " + Style{}.names(names) + " " + many
}

// listOf is a fact that is a list of names.
func listOf(v any) []string {
	switch v := v.(type) {
	case []string:
		return v
	case []any:
		var out []string
		for _, p := range v {
			out = append(out, fmt.Sprint(p))
		}
		return out
	}
	return nil
}

// revisionWords names revisions by their numbers, or by their names where they
// have none.
func revisionWords(h *history.History, names []string) string {
	parts := revisionRanges(h, names)
	switch {
	case len(parts) == 0:
		return "a revision"
	case len(names) == 1:
		return "revision " + parts[0]
	case len(parts) == 1:
		return "revisions " + parts[0]
	}
	return "revisions " + strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// revisionRanges are the numbers of revisions in the order given, three or more
// that follow each other, upwards or downwards, as one range.
func revisionRanges(h *history.History, names []string) []string {
	var parts []string
	for len(names) > 0 {
		n := max(runOf(h, names, 1), runOf(h, names, -1))
		first, last := revisionNumber(h, names[0]), revisionNumber(h, names[n-1])
		if n < 3 {
			parts, names = append(parts, first), names[1:]
			continue
		}
		if runOf(h, names, -1) == n {
			first, last = last, first
		}
		parts, names = append(parts, first+"-"+last), names[n:]
	}
	return parts
}

// runOf counts the names that begin the list and whose numbers go on by step. One
// that is not told by its number alone is in no run.
func runOf(h *history.History, names []string, step int64) int {
	n, before := 0, int64(0)
	for _, name := range names {
		number, err := strconv.ParseInt(revisionNumber(h, name), 10, 64)
		if err != nil || n > 0 && number != before+step {
			break
		}
		n, before = n+1, number
	}
	return max(n, 1)
}

// keptWords says which copy of a revision is kept.
func keptWords(h *history.History, f daemonset.Facts) string {
	keep := listOf(f["keep"])
	if len(keep) > 1 {
		return "keeps one of them, at random"
	}
	return "keeps " + revisionWords(h, keep) + " and removes " + revisionWords(h, listOf(f["remove"]))
}

// revisionNumber is the number of a revision by its name; the name too where
// several share the number.
func revisionNumber(h *history.History, name string) string {
	number, sharing := int64(0), 0
	for _, r := range h.Revisions {
		if r.Name == name {
			number = r.Revision
		}
	}
	for _, r := range h.Revisions {
		if r.Revision == number {
			sharing++
		}
	}
	switch {
	case number == 0:
		return clean(name)
	case sharing > 1:
		return strconv.FormatInt(number, 10) + " (" + clean(name) + ")"
	}
	return strconv.FormatInt(number, 10)
}
