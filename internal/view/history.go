package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/difftext"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// History writes the revisions of one DaemonSet: the number of pods on each, what each changed, whether a rollout is in
// progress, and notes on what the table does not show.
func History(w io.Writer, h sheet.Past, asked sheet.Asked, style wording.Style) error {
	return sheet.WriteOne(w, &buildHistoryScreen(h, asked, style).Screen, style)
}

func buildHistoryScreen(h sheet.Past, asked sheet.Asked, style wording.Style) *historyScreen {
	p := historyScreenWithVerdict(h, asked, style)
	p.headline()
	p.rollout()
	p.revisions()
	p.notes()
	p.commands()
	p.Screen.Further(screen.Check, screen.Compare, screen.Preview, screen.Notes, screen.Rollout)
	return p
}

// historyScreen builds the screens of one History.
type historyScreen struct {
	*sheet.Sheet
	h       *history.History
	verdict *diagnosis.Answer // nil unless the rollout is stuck
	current *history.Revision // nil unless there is exactly one
	several bool              // there are several containers, so the screen names the container of each field
	by      []managed.Manager // the tools that write the DaemonSet
}

func newHistoryScreen(h sheet.Past, asked sheet.Asked, style wording.Style) *historyScreen {
	p := &historyScreen{Sheet: sheet.New(&h.Header, asked, style), h: h.History, current: h.Latest(), by: h.ManagedBy}
	p.Screen.Headline = screen.Headline{Subject: p.Subject(), Tone: screen.Warn}
	p.several = slices.ContainsFunc(h.Revisions, func(r history.Revision) bool { return len(r.Images) > 1 })
	return p
}

// historyScreenWithVerdict returns a screen that has the verdict of explain if the rollout is stuck.
func historyScreenWithVerdict(h sheet.Past, asked sheet.Asked, style wording.Style) *historyScreen {
	p := newHistoryScreen(h, asked, style)
	if h.Now != nil && h.Rollout.Code == history.Stuck {
		p.verdict = &diagnosis.Answer{Sheet: p.Sheet, E: h.Now}
	}
	return p
}

func (p *historyScreen) ago(t *time.Time) string {
	if t == nil {
		return "unknown"
	}
	return p.timeSince(t) + " ago"
}

// timeSince returns the time since t.
func (p *historyScreen) timeSince(t *time.Time) string { return wording.Ago(p.Now.Sub(*t)) }

// stage has the words for the state of a rollout, in a headline and in a count of DaemonSets.
type stage struct {
	code      history.RolloutCode
	verdict   string
	tone      screen.Tone
	one, many string
}

// stages lists the states, the worst first.
var stages = []stage{
	{history.Stuck, "STUCK", screen.Bad, "is stuck", "are stuck"},
	{history.Unavailable, "PODS UNAVAILABLE", screen.Warn, "has unavailable pods", "have unavailable pods"},
	{history.UnderWay, "IN PROGRESS", screen.Warn, "has a rollout in progress", "have a rollout in progress"},
	{history.Creates, pendingRevision, screen.Warn, "has a new revision pending", "have a new revision pending"},
	{history.CreatesSame, pendingRevision, screen.Warn, "has a new revision pending", "have a new revision pending"},
	{history.Renumbers, "RENUMBERING PENDING", screen.Warn, "has a renumbering pending", "have a renumbering pending"},
	{history.Merges, "MERGE PENDING", screen.Warn, "has a merge pending", "have a merge pending"},
	{history.AwaitingDelete, "WAITS FOR YOU", screen.Warn, "waits for you", "wait for you"},
	{history.NoPods, "NO PODS", screen.Warn, "has no pods", "have no pods"},
	{history.Deleted, "BEING DELETED", screen.Warn, "is being deleted", "are being deleted"},
	{history.Ignored, "IGNORED", screen.Warn, "is ignored", "are ignored"},
	{history.Settled, "SETTLED", screen.Good, "is settled", "are settled"},
	{history.Unknown, "UNKNOWN", screen.Warn, "is unknown", "are unknown"},
}

const pendingRevision = "NEW REVISION PENDING"

// headline adds the state of the rollout and the number of pods on each revision.
func (p *historyScreen) headline() {
	is := stages[len(stages)-1]
	if i := slices.IndexFunc(stages, func(s stage) bool { return s.code == p.h.Rollout.Code }); i >= 0 {
		is = stages[i]
	}
	why := ""
	if p.verdict != nil {
		is.verdict, is.tone = p.verdict.Words()
		why = p.verdict.Why(2)
	}
	p.Screen.Headline.Verdict, p.Screen.Headline.Tone = is.verdict, is.tone
	p.Screen.Headline.Text = wording.Joined("; ", wording.Joined(", ", why, p.idle()), p.stateWords())
	switch {
	case !p.h.Inferred() || !p.h.Rollout.Acts():
	case len(p.h.Revisions) == 0:
		p.Screen.Headline.Text = "the revisions could not be read, and no pod names one"
	default:
		p.Screen.Headline.Text += "; the revisions could not be read"
	}
}

// stateWords returns the action of the next sync on revisions, and the number of pods on each revision.
func (p *historyScreen) stateWords() string {
	n := &p.h.Next
	switch p.h.Rollout.Code {
	case history.Deleted:
		return "no revision follows these, and no rollback is possible"
	case history.Ignored:
		return "its selector is empty, so the controller ignores it"
	case history.Creates:
		return fmt.Sprintf("the next sync creates revision %d from the live template; %s", n.Number, p.counts())
	case history.CreatesSame:
		like := wording.Fact(p.noted(history.CutThoughUnchanged).Facts, "like")
		return fmt.Sprintf("the next sync creates revision %d, although revision %s holds the same template; %s",
			n.Number, like, p.counts())
	case history.Renumbers:
		return fmt.Sprintf("the next sync renumbers revision %d to %d, as it holds the live template; %s",
			n.RaisedFrom, n.Number, p.counts())
	case history.Merges:
		return fmt.Sprintf("%d revisions hold the live template; %s",
			len(p.noted(history.Duplicates).Revisions), p.counts())
	}
	return p.counts()
}

// noted returns the first note with this code, or an empty note.
func (p *historyScreen) noted(code history.NoteCode) *history.Note {
	return cmp.Or(p.h.Note(code), &history.Note{})
}

// idle returns for how long a rollout in progress has created no pod. It returns "" if that is unknown or normal.
func (p *historyScreen) idle() string {
	if since := p.h.IdleSince(); since != nil {
		return "no new pod for " + p.timeSince(since)
	}
	return ""
}

// counts returns the number of pods on each revision. The current revision comes first.
func (p *historyScreen) counts() string {
	r, latest := &p.h.Rollout, ""
	if p.current != nil {
		latest = p.name(p.current) + wording.InBrackets(p.whyCurrent(), p.unavailable())
	}
	switch {
	case r.Pods == nil:
		return "the pods could not be read" + wording.WithPrefix("; ", latest)
	case *r.Pods == 0:
		return "no pod exists" + wording.WithPrefix("; ", latest)
	case latest != "" && *r.Current == *r.Pods:
		return wording.PluralOf(*r.Pods, "the only pod is on ", fmt.Sprintf("all %d pods on ", *r.Pods)) + latest
	}
	var parts []string
	if latest != "" {
		parts = append(parts, fmt.Sprintf("%d of %s on %s", *r.Current, wording.Plural(*r.Pods, "pod"), latest))
	}
	for i := range p.h.Revisions {
		row := &p.h.Revisions[i]
		if row == p.current || *row.Pods == 0 {
			continue
		}
		words, on := strconv.Itoa(*row.Pods), " on "+p.name(row)
		if len(parts) == 0 {
			words = wording.Plural(*row.Pods, "pod")
		}
		if row.Name+row.Hash == "" {
			on = " without a hash"
		}
		parts = append(parts, words+on+wording.InBrackets(p.where(row)))
	}
	const most = 3
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("the rest on %d more", more))
	}
	if updated, others := p.h.UpdatedElsewhere(); updated > 0 {
		parts[len(parts)-1] += wording.InBrackets(wording.CountedUpdated(updated, others))
	}
	return strings.Join(parts, ", ")
}

// where names up to three nodes with pods on an old revision during a rollout. It returns "" if there are more.
func (p *historyScreen) where(r *history.Revision) string {
	if n := len(r.OnNodes); n > 3 || n != *r.Pods || !p.h.Rollout.InProgress() || p.h.Shared(r) {
		return ""
	}
	return wording.SomeNames(r.OnNodes)
}

// whyCurrent returns why the revision is the current one.
func (p *historyScreen) whyCurrent() string {
	switch {
	case p.h.Inferred():
		return "assumed to be the latest"
	case p.current == &p.h.Revisions[0]:
		return "the latest"
	case p.h.Next.RaisedFrom == 0:
		return "which holds the live template"
	}
	return ""
}

// unavailable returns how many current pods are not available, and why.
func (p *historyScreen) unavailable() string {
	r := &p.h.Rollout
	if r.Available == nil {
		return ""
	}
	waiting, notReady, ending := "", "", ""
	if n := *r.NotYetAvailable; n > 0 {
		waiting = fmt.Sprintf("%d Ready but not available yet: minReadySeconds %s", n, p.minReady())
	}
	if n := *r.NotReady; n > 0 {
		notReady = fmt.Sprintf("%d not Ready", n)
	}
	if n := *r.Terminating; n > 0 {
		ending = fmt.Sprintf("%d terminating", n)
	}
	return wording.Joined(", ", waiting, notReady, ending)
}

// name returns the name of a row: a revision, or a hash without a revision.
func (p *historyScreen) name(r *history.Revision) string {
	if r.Name == "" {
		return "hash " + cmp.Or(r.Hash, "-")
	}
	return "revision " + p.number(r.Name)
}

// number returns the number of the named revision. If several revisions share the number, it adds the name.
func (p *historyScreen) number(name string) string {
	r := p.h.Named(name)
	switch {
	case r == nil:
		return name
	case p.h.Shared(r):
		return strconv.FormatInt(r.Revision, 10) + " (" + name + ")"
	}
	return strconv.FormatInt(r.Revision, 10)
}

// rollout adds whether a rollout is in progress and since when. With --all, it adds who wrote the DaemonSet.
func (p *historyScreen) rollout() {
	if c := p.h.Course(); c != nil {
		p.Add(screen.Rollout, "%s", p.course(c))
	}
	if p.Style.All && p.h.Rollout.Acts() {
		p.writers()
	}
}

// course describes the progress of a rollout, or returns "" if Do now describes it.
func (p *historyScreen) course(c *history.Course) string {
	switch {
	case c.Code == history.AwaitingDelete:
		return ""
	case c.Code == history.Settled && c.Since == nil:
		return "none in progress"
	case c.Code == history.Settled:
		return "none in progress; the latest one started " + p.ago(c.Since)
	case c.Since == nil && c.Newest == nil:
		return "in progress"
	case c.Newest == nil:
		return "started " + p.ago(c.Since) + ", no pod was created since"
	case c.Since == nil:
		return "in progress; the last pod was created " + p.ago(c.Newest)
	}
	return "started " + p.ago(c.Since) + "; the last pod was created " + p.ago(c.Newest)
}

// writers adds all field managers of the DaemonSet.
func (p *historyScreen) writers() {
	var names []string
	for _, m := range p.h.Managers {
		var facts []string
		if m.Time != nil {
			facts = append(facts, p.ago(m.Time))
		}
		if m.Operation == string(metav1.ManagedFieldsOperationApply) {
			facts = append(facts, "server-side apply")
		}
		if !m.Template {
			facts = append(facts, "not the template")
		}
		names = append(names, m.Manager+wording.InBrackets(facts...))
	}
	if len(names) > 0 {
		p.Screen.Add(screen.Rollout, screen.Names{Before: "written by field managers", Names: names, Short: true})
	}
}

// writtenBy names the field managers that wrote the latest change, or returns "" if they are unknown.
func (p *historyScreen) writtenBy() string {
	if !p.h.Rollout.Acts() {
		return ""
	}
	var names []string
	for _, m := range p.h.Writers() {
		name := screen.Clean(m.Manager)
		if m.Operation == string(metav1.ManagedFieldsOperationApply) {
			name += " (server-side apply)"
		}
		names = append(names, name)
	}
	return wording.WithPrefix("written by ", strings.Join(names, ", "))
}

// revisions adds the table: a row for each revision, newest first, and one for each previous number of a revision.
// Without --all, it folds rows without pods.
func (p *historyScreen) revisions() {
	surges := func(r history.Revision) bool { return r.Pods != nil && *r.Pods != *r.Nodes }
	nodes := p.Style.Wide || slices.ContainsFunc(p.h.Revisions, surges)
	t := &screen.Table{Columns: p.revisionColumns(nodes)}
	newest := true
	for _, r := range p.rows() {
		if r.Is == history.RowsFolded {
			words := make([]string, len(t.Columns))
			words[0] = "…"
			words[len(words)-1] = wording.Plural(int(r.Number), "more revision") + " without pods (--all lists them)"
			t.Row(words...)
			continue
		}
		row, lines := t.Row(p.revisionCells(&r, nodes)...), p.changes(&r, 6)
		if is := r.Is == history.RowPending || r.Is == history.RowRevision && r.Current; is {
			if by := p.writtenBy(); newest && by != "" {
				lines = append(lines, by)
			}
			newest = false
		}
		row.Cells = append(row.Cells, screen.Cell{Lines: lines})
		if r.Current && r.Is != history.RowRenumbered {
			row.Cells[0].Tone = screen.Title
		}
	}
	p.Screen.Add(screen.Body, t)
}

// rows returns the rows of the table. It folds rows with equal changes, except with -o wide, which shows the name of
// each revision.
func (p *historyScreen) rows() []history.Row {
	rows := p.h.Rows()
	if p.Style.All {
		return rows
	}
	if !p.Style.Wide {
		rows = history.FoldAlike(rows, func(a, b *history.Row) bool {
			one := *a
			one.Is = history.RowRevision
			return slices.Equal(p.changes(&one, 6), p.changes(b, 6))
		})
	}
	return history.Fold(rows, 8)
}

// revisionColumns returns the columns of the table. nodes adds one for the number of nodes.
func (p *historyScreen) revisionColumns(nodes bool) []screen.Column {
	all := []screen.Column{{Head: "REVISION"}, {Head: "SINCE", Drop: 1}, {Head: "PODS", Right: true}}
	if p.h.Inferred() {
		all[0].Head = "HASH"
	}
	if nodes {
		all = append(all, screen.Column{Head: "NODES", Right: true})
	}
	if p.Style.Wide {
		all[1].Drop = 0
		all = append(all, screen.Column{Head: "AVAILABLE", Right: true})
		all = append(all, sheet.Columns("NAME", "HASH", "CREATED")...)
	}
	return append(all, screen.Column{Head: "CHANGE FROM THE PREVIOUS REVISION", Wrap: true, Least: 24})
}

// revisionCells returns the cells of a row without its changes.
func (p *historyScreen) revisionCells(r *history.Row, nodes bool) []string {
	pods, on, available := wording.Count(r.Pods), wording.Count(r.Nodes), wording.Count(r.Available)
	if r.Is == history.RowRenumbered || r.Is == history.RowPending {
		pods, on, available = "-", "-", "-"
	}
	words := []string{p.firstCell(r), p.since(r), pods}
	if nodes {
		words = append(words, on)
	}
	if p.Style.Wide {
		words = append(words, available, cmp.Or(r.Name, "-"), cmp.Or(r.Hash, "-"), cmp.Or(stamp(r.CreatedAt), "-"))
	}
	return words
}

// firstCell returns the first cell of a row. For a renumbered revision, it shows both numbers, because flags accept
// only the new one.
func (p *historyScreen) firstCell(r *history.Row) string {
	switch r.Is {
	case history.RowHash:
		return cmp.Or(r.Hash, "-")
	case history.RowRenumbered:
		return fmt.Sprintf("%d, now %d", r.Number, r.Revision.Revision)
	case history.RowsAlike:
		return fmt.Sprintf("%d to %d", r.Number, r.Last.Number)
	}
	return strconv.FormatInt(r.Number, 10)
}

// stamp formats a time in UTC. It returns "" if the time is unknown.
func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// since returns the time since the revision of a row got its number, or since the creation of its pods if it has no
// revision.
func (p *historyScreen) since(r *history.Row) string {
	b := p.h.Began(r)
	if r.Is == history.RowsAlike {
		b.To = p.h.Began(r.Last).At
		if b.To != nil && b.At != nil {
			b.At, b.To = b.To, b.At
		}
	}
	switch {
	case b.How == history.BeganPending:
		return "pending"
	case b.How == history.BeganUnknown:
		return "-"
	case b.To != nil && p.timeSince(b.At) != p.timeSince(b.To):
		return p.timeSince(b.To) + " to " + p.timeSince(b.At)
	case b.At == nil:
		return "unknown"
	case b.After:
		return "less than " + p.timeSince(b.At)
	}
	return p.timeSince(b.At)
}

// origin returns when a revision was created, or when a rollback restored it. It returns "" if that is unknown.
func (p *historyScreen) origin(r *history.Revision) string {
	row, at := p.h.RowOf(r), ""
	b := p.h.Began(&row)
	if b.At != nil {
		at = " " + p.since(&row) + " ago"
	}
	switch {
	case b.How == history.BeganRestored:
		return "by a rollback" + at
	case b.How == history.BeganCreated && at != "":
		return "created" + at
	}
	return ""
}

// restored says that a rollback gave the revision its number, or returns "" if none did.
func (p *historyScreen) restored(r *history.Row, b history.Began) string {
	switch {
	case b.How != history.BeganRestored:
		return ""
	case b.Was > 0:
		return fmt.Sprintf("rolled back to revision %d: ", b.Was)
	case r.CreatedAt != nil:
		return "rolled back to an earlier revision, created " + p.ago(r.CreatedAt) + ": "
	}
	return "rolled back to an earlier revision: "
}

// changes returns the origin of a revision, its changes and its change-cause.
func (p *historyScreen) changes(r *history.Row, most int) []string {
	b := p.h.Began(r)
	lines := slices.Clone(difftext.FirstLines(p.changed(r), most, "more change", p.Style))
	if r.Partial() {
		lines[0] = fmt.Sprintf("from revision %d: ", r.From) + lines[0]
	}
	lines[0] = p.restored(r, b) + lines[0]
	if r.ChangeCause != "" && r.Is != history.RowRenumbered {
		of := ""
		if b.How == history.BeganRestored && b.Was > 0 {
			of = fmt.Sprintf(" of revision %d", b.Was)
		}
		lines = append(lines, "change-cause"+of+": "+p.Style.Brief(screen.Clean(r.ChangeCause), 120))
	}
	if r.Is == history.RowsAlike {
		lines[len(lines)-1] += fmt.Sprintf(" (%d times)", r.Stands())
	}
	return lines
}

// changed returns the changes of a revision, in at least one line.
func (p *historyScreen) changed(r *history.Row) []string {
	of, again := p.h.SameAs(r), strconv.FormatInt(r.From, 10)
	if of != nil {
		again = p.number(of.Name)
	}
	if words := p.unchanged(r, again); words != "" {
		return []string{words}
	}
	lines := difftext.Style{Brief: true, Cell: true, Alone: !p.several, All: p.Style.All}.ChangeLines(r.Change)
	if of != nil {
		lines = append(lines, "the content of revision "+again+" again")
	}
	return lines
}

// unchanged describes a row that has no list of changed fields, or that has the same content as another row. It returns
// "" for any other row.
func (p *historyScreen) unchanged(r *history.Row, same string) string {
	ran := ""
	if len(r.Images) <= 3 {
		ran = wording.WithPrefix(", ", images(r.Images))
	}
	switch p.h.Told(r) {
	case history.ToldLive:
		return "from the live template"
	case history.ToldFirst:
		return "first revision" + ran
	case history.ToldOldest:
		return "the oldest revision kept" + ran
	case history.ToldSame:
		return "same content as revision " + same
	case history.ToldUnreadable:
		return "unknown: it holds no pod template"
	case history.ToldImages:
		return images(r.Images)
	case history.ToldBelow:
		return fmt.Sprintf("unknown: revision %d could not be read", r.From)
	case history.ToldNoRevision:
		return "pods whose hash no revision has"
	case history.ToldWithoutAHash:
		return "pods without a hash"
	case history.ToldNothing:
		return "unknown"
	}
	return ""
}

// images lists the images of a revision without duplicates. It returns "" if they are unknown.
func images(all []history.Image) string {
	var each []string
	for _, i := range all {
		if !slices.Contains(each, i.Image) {
			each = append(each, i.Image)
		}
	}
	var words []string
	for _, i := range each {
		image := template.ParseImage(i)
		if len(each) > 1 { // leave out the registries
			image.Repository = image.Name()
		}
		words = append(words, difftext.ImageWords(image))
	}
	return wording.WithPrefix(wording.PluralOf(len(each), "image ", "images "), strings.Join(words, ", "))
}

// commands adds what to do about the rollout, and other useful commands.
func (p *historyScreen) commands() {
	if !p.h.Rollout.Acts() {
		return
	}
	p.doNow()
	if from, to := p.h.Compares(); to != nil && !p.h.Inferred() {
		both := sheet.Flag{Name: "diff", Value: fmt.Sprintf("%d,%d", from.Revision, to.Revision)}
		p.Screen.Add(screen.Compare, p.Again("history", both))
	}
	label := screen.Preview
	if p.failing() {
		label = screen.Then
	}
	p.rollback(label, p.h.RollsBackTo())
}

// failing reports whether a rollback may be the next action.
func (p *historyScreen) failing() bool {
	r := &p.h.Rollout
	return r.InProgress() && !r.Ripens() || r.Code == history.Unavailable
}

// doNow adds what to do about the rollout, and how to get the parts that could not be read.
func (p *historyScreen) doNow() {
	words, command := p.act()
	p.look(screen.DoNow, words, command)
	if missing, get := p.howToGetMissing(); missing != "" {
		p.look(p.nextLabel(), missing, get)
	}
	if explain := p.Again("explain"); !slices.Equal(explain, command) {
		p.Screen.Add(screen.Check, explain)
	}
}

// nextLabel returns the label for the next action: DoNow, or Then if DoNow is in use.
func (p *historyScreen) nextLabel() screen.Label {
	if p.Screen.Has(screen.DoNow) {
		return screen.Then
	}
	return screen.DoNow
}

// act returns the first action and its command. The words are empty if there is nothing to do, and the command is empty
// if there is none.
func (p *historyScreen) act() (words string, command screen.Command) {
	r, explain := &p.h.Rollout, p.Again("explain")
	switch r.Code {
	case history.UnderWay:
		switch {
		case r.NotReady != nil && *r.NotReady > 0:
			return "find out why " + wording.PluralVerb(*r.NotReady, "new pod is", "new pods are") +
				" not Ready", explain
		case r.Ripens():
			return p.pendingAvailability(), nil
		}
		return "find out what the rollout waits for", explain
	case history.Stuck:
		return "find out what to do", explain
	case history.AwaitingDelete:
		return "when convenient, delete the old pods one at a time; see which they are", explain
	case history.Unavailable:
		return "find out why not every pod is available", explain
	case history.NoPods:
		return "find out why no pod exists", explain
	case history.Creates, history.CreatesSame, history.Renumbers, history.Merges:
		return "find out what the next sync does", p.Again("plan-rollout")
	}
	return "", nil
}

// minReady returns how long a pod must be Ready before it is available.
func (p *historyScreen) minReady() string {
	return wording.Ago(time.Duration(p.h.Rollout.MinReadySeconds) * time.Second)
}

// pendingAvailability returns when the new pods, which are Ready, become available.
func (p *historyScreen) pendingAvailability() string {
	r := &p.h.Rollout
	pods := wording.PluralVerb(*r.NotYetAvailable, "new pod becomes", "new pods become") + " available "
	if r.AvailableAt != nil {
		return "wait: " + pods + "within " + wording.Ago(r.AvailableAt.Sub(p.Now))
	}
	return "wait: " + pods + "after being Ready for " + p.minReady()
}

// look adds an instruction to look at something, with the read-only command if there is one.
func (p *historyScreen) look(l screen.Label, words string, command screen.Command) {
	if len(command) > 0 {
		words += " (read-only):"
	}
	p.Add(l, "%s", words)
	p.Screen.Add(l, command)
}

// rollback adds a command that plans a rollback to the revision, or a warning if a rollback does not help. It does
// nothing if r is nil.
func (p *historyScreen) rollback(l screen.Label, r *history.Revision) {
	switch {
	case r == nil:
	case p.verdict != nil && p.verdict.E.RollbackInVain():
		p.Add(screen.DoNot, "%s", p.verdict.NoRollback())
	case p.Asked.Again:
		to := sheet.Flag{Name: "to-revision", Value: strconv.FormatInt(r.Revision, 10)}
		p.look(l, "see what a rollback would do", p.Again("plan-rollout", to))
		p.Screen.Add(l, screen.Text(wording.Bracketed(diagnosis.UndoneBy(p.by))))
	}
}

// howToGetMissing returns how to get the revisions or pods that could not be read. It returns "" if all were read.
func (p *historyScreen) howToGetMissing() (words string, get screen.Command) {
	for _, of := range []struct {
		what        snapshot.What
		name        string
		list, right screen.Word
		file, why   string
	}{
		{snapshot.Revisions, "ControllerRevisions", "controllerrevisions", "controllerrevisions.apps", "revisions.yaml",
			": they hold the older templates"},
		{snapshot.Pods, "pods", "pods", "pods", "pods.yaml", ""},
	} {
		i := slices.IndexFunc(p.h.Snapshot.Gaps, func(g daemonset.Gap) bool { return g.What == of.what })
		switch {
		case i < 0:
		case p.h.Snapshot.Gaps[i].Why == snapshot.Forbidden:
			return "ask for the right to list " + of.name + of.why + "; check whether you have it",
				p.Kubectl("kubectl auth can-i list "+of.right, p.Namespace())
		default:
			return "add the " + of.name + " (--from=" + of.file + ")" + of.why + "; get them",
				append(p.Kubectl("kubectl get "+of.list, p.Namespace(), "-o yaml"), screen.Word("> "+of.file))
		}
	}
	return "", nil
}
