package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// History writes one DaemonSet's revisions: how many pods are on which, what each
// changed, whether a rollout is in progress, and what the table alone would hide.
func History(w io.Writer, h *history.History, asked Asked, style Style) error {
	p := newPast(h, asked, style)
	p.s.Headline.Verdict, p.s.Headline.Text = p.headline()
	p.rollout()
	p.uncut()
	p.revisions()
	p.notes()
	p.commands()
	return p.s.Text(w, style.terminal())
}

// past makes the screens of one History.
type past struct {
	*sheet
	h       *history.History
	current []*history.Revision
	pods    int  // of all revisions
	on      int  // of the current ones
	nodes   bool // some have several pods, or none
	known   bool // how many pods there are
}

func newPast(h *history.History, asked Asked, style Style) *past {
	p := &past{sheet: newSheet(&h.Header, asked, style), h: h, known: !lacks(h, snapshot.Pods)}
	p.s.Headline = screen.Headline{Subject: p.subject(), Tone: screen.Warn}
	for i := range h.Revisions {
		r := &h.Revisions[i]
		if r.Current {
			p.current = append(p.current, r)
		}
		if r.Pods == nil || r.Nodes == nil {
			p.known = false
			continue
		}
		if p.pods += *r.Pods; r.Current {
			p.on += *r.Pods
		}
		p.nodes = p.nodes || *r.Pods != *r.Nodes
	}
	return p
}

func (p *past) ago(t *time.Time) string {
	if t == nil {
		return "unknown"
	}
	return ago(p.now.Sub(*t)) + " ago"
}

func lacks(h *history.History, what snapshot.What) bool {
	return slices.ContainsFunc(h.Snapshot.Gaps, func(g daemonset.Gap) bool { return g.What == what && g.Why != snapshot.Moved })
}

// inferred reports whether there are no revisions to go by.
func (p *past) inferred() bool { return lacks(p.h, snapshot.Revisions) }

// noted is the note of a code; nil where there is none.
func (p *past) noted(code history.NoteCode) *history.Note {
	if i := slices.IndexFunc(p.h.Notes, func(n history.Note) bool { return n.Code == code }); i >= 0 {
		return &p.h.Notes[i]
	}
	return nil
}

// headline says how many pods are on which revision; before that, what keeps the
// newest one from being the current one.
func (p *past) headline() (verdict, text string) {
	next := &p.h.Next
	switch {
	case p.noted(history.BeingDeleted) != nil:
		return "BEING DELETED", "no revision follows these, and no rollback is possible"
	case p.noted(history.SelectsAll) != nil:
		return "IGNORED", "its selector is empty, so the controller ignores it"
	case len(p.h.Revisions) == 0 && p.inferred():
		return "UNKNOWN", "the revisions could not be read, and no pod tells of one"
	case p.inferred():
		return "INFERRED", "no ControllerRevisions in the input; " + p.counts()
	case p.noted(history.CutThoughUnchanged) != nil:
		return "NEW REVISION PENDING", fmt.Sprintf("the next sync creates revision %d, although revision %s holds the same template; %s", next.Number, fact(p.noted(history.CutThoughUnchanged).Facts, "like"), p.counts())
	case next.Cut:
		return "NEW REVISION PENDING", fmt.Sprintf("the next sync creates revision %d from the live template; %s", next.Number, p.counts())
	case next.RaisedFrom > 0:
		return "RENUMBERING PENDING", fmt.Sprintf("the next sync renumbers revision %d to %d, as it holds the live template; %s", next.RaisedFrom, next.Number, p.counts())
	case len(p.current) == 0:
		return "", "no revision holds the live template; " + p.counts()
	case len(p.current) > 1:
		return "", fmt.Sprintf("%d revisions hold the live template; %s", len(p.current), p.counts())
	}
	if p.on == p.pods && p.known {
		p.s.Headline.Tone = screen.Good
	}
	return "", p.counts()
}

// counts says how many pods are on which revision, the current ones first.
func (p *past) counts() string {
	latest := ""
	if len(p.current) == 1 {
		latest = p.name(p.current[0])
		switch c := p.current[0]; {
		case p.inferred():
			latest += " (assumed to be the latest)"
		case c == &p.h.Revisions[0]:
			latest += " (the latest)"
		case p.h.Next.RaisedFrom == 0:
			latest += " (which holds the live template)"
		}
	}
	switch {
	case !p.known && latest != "":
		return latest + "; unknown: how many pods are on it"
	case !p.known:
		return "unknown: how many pods are on which revision"
	case p.pods == 0 && latest != "":
		return "no pods; " + latest
	case p.pods == 0:
		return "no pods"
	case latest != "" && p.on == p.pods:
		return pluralOf(p.pods, "the only pod is on ", fmt.Sprintf("all %d pods on ", p.pods)) + latest
	}
	var parts []string
	if latest != "" {
		parts = append(parts, fmt.Sprintf("%d of %s on %s", p.on, plural(p.pods, "pod"), latest))
	}
	for i := range p.h.Revisions {
		r := &p.h.Revisions[i]
		if latest != "" && r.Current || *r.Pods == 0 {
			continue
		}
		what := strconv.Itoa(*r.Pods)
		if len(parts) == 0 {
			what = plural(*r.Pods, "pod")
		}
		if r.Name == "" && r.Hash == "" {
			parts = append(parts, what+" without a hash")
			continue
		}
		parts = append(parts, what+" on "+p.name(r))
	}
	const most = 3
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("the rest on %d more", more))
	}
	if updated, others := p.updatedElsewhere(); updated > 0 {
		parts[len(parts)-1] += inBrackets(countedUpdated(updated, others))
	}
	return strings.Join(parts, ", ")
}

// updatedElsewhere counts the nodes that are not on a current revision, and those
// of them whose pod counts as updated all the same.
func (p *past) updatedElsewhere() (updated, nodes int) {
	for _, r := range p.h.Revisions {
		if !r.Current && r.Updated != nil {
			updated, nodes = updated+*r.Updated, nodes+*r.Nodes
		}
	}
	return updated, nodes
}

// name is what a row is called: a revision, or a hash that none has.
func (p *past) name(r *history.Revision) string {
	if r.Name == "" {
		return "hash " + cmp.Or(r.Hash, "-")
	}
	return "revision " + p.number(r.Name)
}

// number is the number of a revision by its name; the name too where several
// share the number.
func (p *past) number(name string) string {
	number, sharing := int64(0), 0
	for _, r := range p.h.Revisions {
		if r.Name == name {
			number = r.Revision
		}
	}
	for _, r := range p.h.Revisions {
		if r.Revision == number {
			sharing++
		}
	}
	switch {
	case number == 0:
		return name
	case sharing > 1:
		return strconv.FormatInt(number, 10) + " (" + name + ")"
	}
	return strconv.FormatInt(number, 10)
}

// rollout says whether one is in progress, since when, and who wrote the template.
func (p *past) rollout() {
	if p.noted(history.BeingDeleted) != nil || p.noted(history.SelectsAll) != nil {
		return
	}
	strategy := p.h.DaemonSet.Strategy
	switch since := p.h.CurrentSince; {
	case p.inferred(), len(p.current) != 1, p.h.Next.Cut, p.h.Next.RaisedFrom > 0, !p.known:
	case p.on == p.pods && since != nil:
		p.add(screen.Rollout, "none in progress; the latest one started %s", p.ago(since))
	case p.on == p.pods:
		p.add(screen.Rollout, "none in progress")
	case strategy != "RollingUpdate" && strategy != "":
		p.add(screen.Rollout, "with %s, you delete the other %s", strategy, plural(p.pods-p.on, "pod"))
	default:
		words := "in progress"
		if since != nil {
			words = "started " + p.ago(since)
		}
		switch newest := p.current[0].NewestPodAt; {
		case newest != nil && (since == nil || !newest.Before(*since)):
			words += ", the last pod was created " + p.ago(newest)
		case since != nil:
			words += ", no pod was created since"
		}
		p.add(screen.Rollout, "%s", words)
	}
	p.writers()
}

// writers are who wrote the DaemonSet, by its managed fields: those who wrote
// the template, and with --all the others.
func (p *past) writers() {
	var names []string
	for _, m := range p.h.Managers {
		if !m.Template && !p.style.All {
			continue
		}
		var what []string
		if m.Time != nil {
			what = append(what, p.ago(m.Time))
		}
		if m.Operation == "Apply" {
			what = append(what, "server-side apply")
		}
		if !m.Template {
			what = append(what, "not the template")
		}
		names = append(names, m.Manager+inBrackets(what...))
	}
	if len(names) > 0 {
		p.s.Add(screen.Rollout, screen.Names{Before: "template written by", Names: names, Short: true})
	}
}

// uncut is what differs between the live template and the newest revision.
func (p *past) uncut() {
	u := p.h.Uncut
	if u == nil || u.From.Revision == 0 || p.noted(history.CutThoughUnchanged) != nil {
		return
	}
	for i, l := range few(p.fields(p.several()).changeLines(u.Change), 6, "more change", p.style) {
		if i == 0 {
			l = fmt.Sprintf("from revision %d to the live template: %s", u.From.Revision, l)
		}
		p.add(screen.Change, "%s", l)
	}
}

func (p *past) fields(several bool) fieldStyle {
	return fieldStyle{brief: true, cell: true, alone: !several, all: p.style.All}
}

// several reports whether a field needs its container named.
func (p *past) several() bool {
	return slices.ContainsFunc(p.h.Revisions, func(r history.Revision) bool { return len(r.Images) > 1 })
}

// revisions is the table: a row for each revision, the newest first.
func (p *past) revisions() {
	t := &screen.Table{Columns: []screen.Column{{Head: "REVISION"}, {Head: "SINCE"}, {Head: "PODS", Right: true}}}
	if p.inferred() {
		t.Columns[0].Head = "HASH"
	}
	if !p.style.Wide {
		t.Columns[1].Drop = 1
	}
	if p.nodes || p.style.Wide {
		t.Columns = append(t.Columns, screen.Column{Head: "NODES", Right: true})
	}
	if p.style.Wide {
		t.Columns = append(t.Columns, screen.Column{Head: "AVAILABLE", Right: true}, screen.Column{Head: "NAME"}, screen.Column{Head: "HASH"}, screen.Column{Head: "CREATED"})
	}
	t.Columns = append(t.Columns, screen.Column{Head: "CHANGE FROM THE REVISION BEFORE", Wrap: true, Least: 24})
	const most = 8
	folded := 0
	fold := func() {
		if folded > 0 {
			cells := make([]screen.Cell, len(t.Columns))
			cells[0].Lines, cells[len(cells)-1].Lines = []string{"…"}, []string{plural(folded, "revision") + " without pods, with --all"}
			t.Rows, folded = append(t.Rows, screen.Row{Cells: cells}), 0
		}
	}
	for i := range p.h.Revisions {
		r := &p.h.Revisions[i]
		if !p.style.All && len(p.h.Revisions) > most+1 && i >= most && !r.Current && (r.Pods == nil || *r.Pods == 0) {
			folded++
			continue
		}
		fold()
		first := screen.Cell{Lines: []string{strconv.FormatInt(r.Revision, 10)}}
		if r.Name == "" {
			first.Lines[0] = cmp.Or(r.Hash, "-")
		}
		if r.Current {
			first.Tone = screen.Title
		}
		cells := []screen.Cell{first, {Lines: []string{p.since(r)}}, {Lines: []string{count(r.Pods)}}}
		if p.nodes || p.style.Wide {
			cells = append(cells, screen.Cell{Lines: []string{count(r.Nodes)}})
		}
		if p.style.Wide {
			created := "-"
			if r.CreatedAt != nil {
				created = r.CreatedAt.UTC().Format(time.RFC3339)
			}
			cells = append(cells, screen.Cells(count(r.Available), cmp.Or(r.Name, "-"), cmp.Or(r.Hash, "-"), created)...)
		}
		t.Rows = append(t.Rows, screen.Row{Cells: append(cells, screen.Cell{Lines: p.changes(r, 6)})})
	}
	fold()
	p.s.Add(screen.Body, t)
}

// since is when a revision got its number; of pods without one when they were
// created.
func (p *past) since(r *history.Revision) string {
	switch {
	case r.Name == "" && r.OldestPodAt != nil:
		from, to := p.ago(r.OldestPodAt), p.ago(r.NewestPodAt)
		if from == to {
			return from
		}
		return from + " to " + to
	case r.TakenUpAt != nil, p.rolledBack(r) != nil:
		return cmp.Or(p.restored(r), "unknown")
	case r.CreatedAt == nil:
		return "-"
	}
	return p.ago(r.CreatedAt)
}

// restored is when a rollback gave a revision its number; empty where that is
// unknown.
func (p *past) restored(r *history.Revision) string {
	if r.TakenUpAt != nil {
		return p.ago(r.TakenUpAt)
	}
	if at, err := factTime(p.rolledBack(r).Facts, "after"); err == nil {
		return "less than " + p.ago(&at)
	}
	return ""
}

// about is the note of a code about a revision; nil where there is none.
func (p *past) about(code history.NoteCode, r *history.Revision) *history.Note {
	for i := range p.h.Notes {
		if n := &p.h.Notes[i]; n.Code == code && r.Name != "" && slices.Contains(n.Revisions, r.Name) {
			return n
		}
	}
	return nil
}

// rolledBack is the note that a revision got its number by a rollback; nil where
// it did not.
func (p *past) rolledBack(r *history.Revision) *history.Note { return p.about(history.TakenUpAgain, r) }

// factTime is a fact that is a time.
func factTime(f daemonset.Facts, key string) (time.Time, error) {
	return time.Parse(time.RFC3339, fact(f, key))
}

// changes says what a revision changed, how it came about, and its change-cause.
func (p *past) changes(r *history.Revision, most int) []string {
	var lines []string
	was, cause := "", "change-cause: "
	if back := p.rolledBack(r); back != nil {
		was = "an earlier revision"
		if n := number(back.Facts, "was"); n > 0 {
			was = fmt.Sprintf("revision %d", n)
			cause = "change-cause of " + was + ": "
		}
		if r.CreatedAt != nil {
			was += ", created " + p.ago(r.CreatedAt)
		}
		lines = append(lines, "rolled back to "+was)
	}
	words := few(p.changed(r), most, "more change", p.style)
	if r.From > 0 && r.From < r.Revision-1 && len(words) > 0 { // not all of it came with this one
		words[0] = fmt.Sprintf("from revision %d: %s", r.From, words[0])
	}
	lines = append(lines, words...)
	if r.ChangeCause != "" {
		lines = append(lines, cause+p.style.brief(clean(r.ChangeCause), 120))
	}
	return lines
}

func (p *past) changed(r *history.Revision) []string {
	images := ""
	for _, i := range r.Images {
		image := template.ParseImage(i.Image)
		if len(r.Images) > 1 { // their registries are left out
			image.Repository = image.Name()
		}
		images += ", " + imageWords(image)
	}
	if images != "" {
		images = pluralOf(len(r.Images), "image ", "images ") + images[2:]
	}
	switch {
	case r.Name == "" && !p.inferred() && r.Hash == "":
		return []string{"pods without a hash"}
	case r.Name == "" && !p.inferred():
		return []string{"pods whose hash no revision has"}
	case r.Kind == history.ChangeFirst && r.Name == "" && images != "":
		return []string{images}
	case r.Kind == history.ChangeFirst:
		words := "the oldest revision kept"
		if r.Revision == 1 && r.TakenUpAt == nil {
			words = "first revision"
		}
		if images == "" || len(r.Images) > 3 {
			return []string{words}
		}
		return []string{words + ", " + images}
	case r.Kind == history.ChangeNone:
		of := p.contentOf(r)
		if from := p.below(r); of == "" && from != nil {
			of = p.number(from.Name)
		}
		return []string{"same content as revision " + of}
	case slices.Contains(r.Notes, history.Unreadable):
		return []string{"unknown: it holds no pod template"}
	case r.Kind == history.ChangeUnknown && images != "":
		return []string{images}
	case r.Kind == history.ChangeUnknown && r.From > 0:
		return []string{fmt.Sprintf("unknown: revision %d could not be read", r.From)}
	case r.Kind == history.ChangeUnknown:
		return []string{"unknown"}
	}
	lines := p.fields(len(r.Images) > 1).changeLines(r.Change)
	if of := p.contentOf(r); of != "" {
		lines = append(lines, "the content of revision "+of+" again")
	}
	return lines
}

// contentOf is the number of the revision that has the same template, by the
// notes; empty for none.
func (p *past) contentOf(r *history.Revision) string {
	if n := p.about(history.SameContent, r); n != nil {
		return p.number(fact(n.Facts, "name"))
	}
	return ""
}

// below is the revision that a row's change is against; nil for none.
func (p *past) below(r *history.Revision) *history.Revision {
	for i := 1; i < len(p.h.Revisions); i++ {
		if below := &p.h.Revisions[i]; p.h.Revisions[i-1].Name == r.Name && below.Name != "" {
			return below
		}
	}
	return nil
}

// commands are what to look at next: who stands in the way of a rollout, what
// changed last, and what going back would do.
func (p *past) commands() {
	if p.noted(history.BeingDeleted) != nil || p.noted(history.SelectsAll) != nil {
		return
	}
	p.s.Add(screen.Check, p.again("explain"))
	if p.inferred() {
		return
	}
	if p.h.Next.Cut || len(p.current) != 1 || len(p.h.Next.Relabel) > 0 || p.h.Next.RaisedFrom > 0 { // what the next sync does
		p.s.Add(screen.Preview, p.again("plan-rollout"))
		return
	}
	c := p.current[0]
	back := p.below(c)
	if p.byNumber(c) && p.byNumber(back) {
		p.s.Add(screen.Compare, p.again("history", Flag{Name: "diff", Value: fmt.Sprintf("%d,%d", back.Revision, c.Revision)}))
	}
	for i := range p.h.Revisions { // of several the one that most pods are on
		if r := &p.h.Revisions[i]; !r.Current && r.Pods != nil && *r.Pods > 0 && r.Name != "" && (back == nil || back.Pods == nil || *r.Pods > *back.Pods) {
			back = r
		}
	}
	if p.asked.Again && p.byNumber(back) && back.Claim == daemonset.Owned {
		p.s.Add(screen.Preview, screen.Text("of a rollback:"), p.again("plan-rollout", Flag{Name: "to-revision", Value: strconv.FormatInt(back.Revision, 10)}))
	}
}

// byNumber reports whether a revision can be asked for by its number: no other
// has it, and the revision can be read.
func (p *past) byNumber(r *history.Revision) bool {
	return r != nil && r.Revision > 0 && !slices.Contains(r.Notes, history.Unreadable) && !slices.ContainsFunc(p.h.Revisions, func(o history.Revision) bool {
		return o.Name != r.Name && o.Revision == r.Revision
	})
}
