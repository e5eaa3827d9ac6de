package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// History writes one DaemonSet's revisions: which is current and on how many
// nodes, each with its age and what changed, what the table alone would hide,
// who wrote the DaemonSet, and one command to go on with. again is the command
// that asked, to which flags can be added; empty where there is none to paste.
func History(w io.Writer, h *history.History, again string, style Style) error {
	s := &lineScreen{Style: style, now: h.Snapshot.TakenAt}
	code, words := historyVerdict(h)
	s.line("%s  %s/%s: %s", s.historyPaint(h)(code), clean(h.DaemonSet.Namespace), clean(h.DaemonSet.Name), s.historyDetail(h, words))
	if inferred(h) && len(h.Revisions) > 0 {
		s.line("  Without ControllerRevisions the rows are pods by their hash; what changed, and which is current, is inferred from them.")
	}
	s.gap()
	s.revisionTable(h)
	s.historyNotes(h)
	s.writtenBy(h)
	if c := goOn(h, again); c != "" {
		s.gap()
		s.whole(s.title("To go on:") + " " + c)
	}
	return s.writeTo(w)
}

// historyVerdict is what the first line begins with, and what it says before
// it counts nodes.
func historyVerdict(h *history.History) (code, words string) {
	current := currentRows(h)
	switch {
	case noted(h, history.BeingDeleted):
		return "BEING DELETED", "nothing comes after these revisions"
	case noted(h, history.SelectsAll):
		return "PASSED OVER", "the selector is empty, so the controller does nothing"
	case len(h.Revisions) == 0 && lacks(h, snapshot.Revisions):
		return "NOT KNOWN", "the revisions could not be read, and no pod tells of one"
	case inferred(h) && len(current) == 0:
		return "INFERRED", "no pod tells which revision is current"
	case inferred(h):
		return "INFERRED", "hash " + hashWords(current[0].Hash) + " is taken for current"
	case cutThoughUnchanged(h) != nil:
		f := cutThoughUnchanged(h).Facts
		return "NOT CUT YET", fmt.Sprintf("the next sync makes revision %s, though revision %s holds the same template", fact(f, "number"), fact(f, "like"))
	case h.Next.Cut:
		return "NOT CUT YET", fmt.Sprintf("the next sync makes revision %d of the live template", h.Next.Number)
	case len(current) == 0:
		return "NONE CURRENT", "no revision holds the live template"
	case len(current) > 1:
		var numbers []string
		for _, r := range current {
			numbers = append(numbers, revisionNumber(h, r.Name))
		}
		return "REVISIONS " + strings.Join(numbers, " AND "), "hold the live template"
	}
	return "REVISION " + revisionNumber(h, current[0].Name), "current"
}

// historyDetail counts the nodes that are on what is current, and those that
// are not.
func (s *lineScreen) historyDetail(h *history.History, words string) string {
	if noted(h, history.BeingDeleted) || noted(h, history.SelectsAll) {
		return words
	}
	current := currentRows(h)
	older, olderOnes := "is on an older one", "are on older ones"
	if noted(h, history.SeveralHashes) && !h.Next.Cut {
		older, olderOnes = "is on another hash", "are on other hashes"
	}
	if others := !inferred(h) && slices.ContainsFunc(h.Revisions, func(r history.Revision) bool { return r.Name == "" && r.Nodes != nil && *r.Nodes > 0 }); others {
		older, olderOnes = "is on another", "are on others" // how old theirs is, nothing tells
	}
	if !inferred(h) && !h.Next.Cut && len(current) == 1 {
		switch since := h.CurrentSince; {
		case h.Next.Number > current[0].Revision:
			words += fmt.Sprintf(" again (revision %d with the next sync)", h.Next.Number)
			older, olderOnes = "is on another", "are on others"
		case since != nil:
			words += " for " + age(s.now, since)
		}
	}
	all, on, known := nodeCounts(h)
	switch {
	case len(h.Revisions) == 0:
		return words
	case !known && lacks(h, snapshot.Pods):
		return words + "; on which nodes is not known, as the pods could not be read"
	case !known:
		return words
	case all == 0:
		return words + "; no node has a pod"
	case on == all && all == 1:
		return words + ", on the only node with a pod"
	case on == all:
		return fmt.Sprintf("%s, on all %s with a pod", words, plural(all, "node"))
	case cutThoughUnchanged(h) != nil:
		return words
	case len(current) == 0 && inferred(h):
		return fmt.Sprintf("%s; %s", words, pluralVerb(all, "node has a pod", "nodes have a pod"))
	case on == 0 && (h.Next.Cut || len(current) == 0):
		return fmt.Sprintf("%s; %s", words, pluralVerb(all, "node "+older, "nodes "+olderOnes)) + updatedWords(h, all)
	}
	words = fmt.Sprintf("%s, on %d of %s; %s", words, on, plural(all, "node"), pluralVerb(all-on, older, olderOnes)) + updatedWords(h, all-on)
	if h.DaemonSet.Strategy != "RollingUpdate" && h.DaemonSet.Strategy != "" {
		words += ", until somebody deletes the pods (" + strategy(&h.Header) + ")"
	}
	return words
}

// updatedWords says how many of the nodes that are not on the current revision
// count as updated; empty for none.
func updatedWords(h *history.History, elsewhere int) string {
	n := updatedElsewhere(h)
	if n == 0 {
		return ""
	}
	return inBrackets(countedUpdated(n, elsewhere))
}

// updatedElsewhere counts the nodes that are not on the current revision and
// whose pod counts as updated all the same.
func updatedElsewhere(h *history.History) int {
	n := 0
	for _, r := range h.Revisions {
		if !r.Current && r.Updated != nil {
			n += *r.Updated
		}
	}
	return n
}

// noted tells whether there is a note of a code.
func noted(h *history.History, code history.NoteCode) bool {
	return slices.ContainsFunc(h.Notes, func(n history.Note) bool { return n.Code == code })
}

// cutThoughUnchanged is the note of a revision that is about to be made of a
// template that one holds; nil where there is none.
func cutThoughUnchanged(h *history.History) *history.Note {
	for i := range h.Notes {
		if h.Notes[i].Code == history.CutThoughUnchanged {
			return &h.Notes[i]
		}
	}
	return nil
}

func (s *lineScreen) historyPaint(h *history.History) func(string) string {
	if all, on, known := nodeCounts(h); known && on == all && len(currentRows(h)) == 1 && !h.Next.Cut && !inferred(h) {
		return s.good
	}
	return s.warn
}

func currentRows(h *history.History) []*history.Revision {
	var out []*history.Revision
	for i := range h.Revisions {
		if h.Revisions[i].Current {
			out = append(out, &h.Revisions[i])
		}
	}
	return out
}

// nodeCounts is how many nodes have a pod, and how many of them have one of
// what is current. It is not known where the pods could not be read.
func nodeCounts(h *history.History) (all, on int, known bool) {
	for _, r := range h.Revisions {
		if r.Nodes == nil {
			return 0, 0, false
		}
		if all += *r.Nodes; r.Current {
			on += *r.Nodes
		}
	}
	return all, on, !lacks(h, snapshot.Pods)
}

// inferred tells whether there are no revisions to go by.
func inferred(h *history.History) bool { return lacks(h, snapshot.Revisions) }

func lacks(h *history.History, what snapshot.What) bool {
	return slices.ContainsFunc(h.Snapshot.Gaps, func(g daemonset.Gap) bool { return g.What == what && g.Why != snapshot.Moved })
}

// hashWords names a hash, which a pod may lack.
func hashWords(hash string) string {
	if hash == "" {
		return "(none)"
	}
	return clean(hash)
}

// mostRows are the revisions that are shown in any case.
const mostRows = 8

// revisionTable has a row for each revision, the newest first, with what
// changed beside it or below.
func (s *lineScreen) revisionTable(h *history.History) {
	if len(h.Revisions) == 0 {
		return
	}
	t := &table{head: []string{"REVISION", "AGE", " NODES"}}
	if inferred(h) {
		t.head[0] = "HASH"
	}
	pods := s.Wide || slices.ContainsFunc(h.Revisions, func(r history.Revision) bool { return r.Pods != nil && r.Nodes != nil && *r.Pods != *r.Nodes })
	if pods {
		t.head = append(t.head, " PODS")
	}
	if s.Wide {
		t.head = append(t.head, " AVAILABLE", "NAME", "HASH", "CREATED")
	}
	var texts [][]string
	digits := widestNumber(h)
	folded := 0
	fold := func() {
		if folded > 0 {
			t.add("…")
			texts = append(texts, []string{plural(folded, "revision") + " on no node, with --all"})
			folded = 0
		}
	}
	for i := range h.Revisions {
		r := &h.Revisions[i]
		if s.mayFold(h, i) {
			folded++
			continue
		}
		fold()
		cells := []string{s.revisionCell(h, r, digits), s.ageCell(h, r), count(r.Nodes)}
		if pods {
			cells = append(cells, count(r.Pods))
		}
		if s.Wide {
			created := "-"
			if r.CreatedAt != nil {
				created = r.CreatedAt.UTC().Format("2006-01-02T15:04:05Z")
			}
			cells = append(cells, count(r.Available), orDash(clean(r.Name)), orDash(clean(r.Hash)), created)
		}
		t.add(cells...)
		texts = append(texts, s.rowText(h, r))
	}
	fold()
	s.withTexts(t.lines(s.Style), "CHANGE", texts)
}

// mayFold tells of a row that it is one of too many, and on no node.
func (s *lineScreen) mayFold(h *history.History, i int) bool {
	r := &h.Revisions[i]
	return !s.All && len(h.Revisions) > mostRows+1 && i >= mostRows && !r.Current && (r.Nodes == nil || *r.Nodes == 0)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func widestNumber(h *history.History) int {
	n := 1
	for _, r := range h.Revisions {
		n = max(n, len(strconv.FormatInt(r.Revision, 10)))
	}
	return n
}

// revisionCell is the number, set to the right, with a star behind the current
// one; without revisions the hash.
func (s *lineScreen) revisionCell(h *history.History, r *history.Revision, digits int) string {
	cell := fmt.Sprintf("%*d", digits, r.Revision)
	switch {
	case inferred(h):
		cell = hashWords(r.Hash)
	case r.Name == "":
		cell = fmt.Sprintf("%*s", digits, "-")
	}
	if r.Current {
		return s.title(cell + "*")
	}
	return cell
}

// ageCell is the age of a revision, and how long ago it was taken up again; of
// pods without a revision, theirs.
func (s *lineScreen) ageCell(h *history.History, r *history.Revision) string {
	switch {
	case r.CreatedAt == nil && r.OldestPodAt == nil:
		return "-"
	case inferred(h) && r.NewestPodAt != nil:
		return span(s.now, r.OldestPodAt, r.NewestPodAt)
	case r.Name == "" && r.NewestPodAt != nil:
		return "pods " + span(s.now, r.OldestPodAt, r.NewestPodAt)
	case r.TakenUpAt != nil:
		return age(s.now, r.CreatedAt) + ", up again " + age(s.now, r.TakenUpAt)
	case slices.Contains(r.Notes, history.TakenUpAgain):
		return age(s.now, r.CreatedAt) + ", up again"
	}
	return age(s.now, r.CreatedAt)
}

// rowText is what changed, folded, and the change-cause in a line of its own.
func (s *lineScreen) rowText(h *history.History, r *history.Revision) []string {
	words := s.changeWords(h, r)
	const most = 6
	if n := len(words) - most; n > 1 && !s.All {
		words = append(words[:most:most], fmt.Sprintf("%d more", n))
	}
	text := strings.Join(words, "; ")
	if r.Name == "" && !inferred(h) {
		of := "hash " + hashWords(r.Hash) + ", which no revision has: "
		if r.Hash == "" {
			of = "no hash: "
		}
		text = strings.TrimSuffix(of+text, ": not known")
	}
	out := []string{text}
	if cause := clean(r.ChangeCause); cause != "" {
		out = append(out, "change-cause: "+s.brief(cause, 120))
	}
	return out
}

// withTexts adds the rows of a table, its head first, with paragraphs in a last
// column, each broken to what is left of the line; or below the row, where too
// little is left.
func (s *lineScreen) withTexts(rows []string, title string, texts [][]string) {
	column := 0
	for _, r := range rows {
		column = max(column, width(r)+2)
	}
	const least = 30
	below := s.Width > 0 && s.Width-column < least
	inner := Style{}
	if s.Width > 0 {
		inner.Width = max(least, s.Width-column)
		if below {
			inner.Width = s.Width - 4
		}
	}
	for i, r := range rows {
		if i == 0 {
			if below {
				s.whole(r)
				continue
			}
			s.whole(r + strings.Repeat(" ", column-width(r)) + s.title(title))
			continue
		}
		indent := strings.Repeat(" ", column)
		if below {
			s.whole(r)
			indent = "    "
		}
		for n, paragraph := range texts[i-1] {
			for m, l := range inner.wrap(paragraph, 2) {
				if n+m == 0 && !below {
					s.whole(strings.TrimRight(r+strings.Repeat(" ", column-width(r))+l, " "))
					continue
				}
				s.whole(indent + l)
			}
		}
	}
}

// historyNotes are the traps, a sentence each.
func (s *lineScreen) historyNotes(h *history.History) {
	lines := s.noteLines(h)
	if len(lines) == 0 {
		return
	}
	s.gap()
	s.line("%s", s.title("NOTES"))
	const most = 6
	for i, l := range lines {
		if i == most && !s.All && len(lines) > most+1 {
			s.line("  and %s, with --all", plural(len(lines)-most, "more note"))
			return
		}
		s.line("  %s", l)
	}
}

// writtenBy is who wrote the DaemonSet, and when, by its managed fields: those
// who wrote the template first.
func (s *lineScreen) writtenBy(h *history.History) {
	all := slices.Clone(h.Managers)
	slices.SortStableFunc(all, func(a, b history.Manager) int {
		switch {
		case a.Template == b.Template:
			return 0
		case a.Template:
			return -1
		}
		return 1
	})
	var parts []string
	for i, m := range all {
		if i == 3 && !s.All && len(all) > 4 {
			parts = append(parts, fmt.Sprintf("+%d more", len(all)-i))
			break
		}
		var what []string
		if m.Time != nil {
			what = append(what, age(s.now, m.Time)+" ago")
		}
		if m.Operation == "Apply" {
			what = append(what, "applied")
		}
		if !m.Template {
			what = append(what, "not the template")
		}
		parts = append(parts, orDash(clean(m.Manager))+inBrackets(what...))
	}
	if len(parts) > 0 {
		s.gap()
		s.line("%s %s", s.title("WRITTEN BY"), strings.Join(parts, "; "))
	}
}

// goOn is the one command that shows more of what matters most: the next sync,
// where that changes which revision is current; what going back would do, while
// nodes are on another revision; else the last change whole.
func goOn(h *history.History, again string) string {
	if again == "" || inferred(h) || noted(h, history.BeingDeleted) || noted(h, history.SelectsAll) {
		return ""
	}
	current := currentRows(h)
	if len(current) != 1 || h.Next.Cut || h.Next.Number > current[0].Revision || len(h.Next.Relabel) > 0 {
		return pasted(strings.Replace(again, "kubectl ds history ", "kubectl ds plan-rollout ", 1))
	}
	c := current[0]
	if all, on, known := nodeCounts(h); known && on < all {
		if back := mostNodes(h); back != nil && byNumber(h, back) && back.Claim == daemonset.Owned {
			return added(again, fmt.Sprintf("--undo %d", back.Revision))
		}
	}
	switch from := rowBelow(h, c); {
	case !byNumber(h, c):
	case from != nil && byNumber(h, from):
		return added(again, fmt.Sprintf("--diff %d,%d", from.Revision, c.Revision))
	default:
		return added(again, fmt.Sprintf("--revision %d", c.Revision))
	}
	return ""
}

// byNumber tells whether a revision can be asked for by its number: no other has
// it, and the revision can be read.
func byNumber(h *history.History, r *history.Revision) bool {
	return r.Revision > 0 && !slices.Contains(r.Notes, history.Unreadable) && !slices.ContainsFunc(h.Revisions, func(o history.Revision) bool {
		return o.Name != r.Name && o.Revision == r.Revision
	})
}

// rowBelow is the revision that a row's change is against; nil for none.
func rowBelow(h *history.History, r *history.Revision) *history.Revision {
	for i := 1; i < len(h.Revisions); i++ {
		if below := &h.Revisions[i]; h.Revisions[i-1].Name == r.Name && below.Name != "" {
			return below
		}
	}
	return nil
}

// mostNodes is the revision, besides the current, that most nodes are on; nil
// for none.
func mostNodes(h *history.History) *history.Revision {
	var best *history.Revision
	for i := range h.Revisions {
		r := &h.Revisions[i]
		if r.Current || r.Name == "" || r.Nodes == nil || *r.Nodes == 0 {
			continue
		}
		if best == nil || *r.Nodes > *best.Nodes {
			best = r
		}
	}
	return best
}
