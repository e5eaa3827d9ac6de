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
func History(w io.Writer, h Past, asked Asked, style Style) error {
	return writeOne(w, &revisionsOf(h, asked, style).s, style)
}

func revisionsOf(h Past, asked Asked, style Style) *past {
	p := judged(h, asked, style)
	p.headline()
	p.doNow()
	if p.rollout(); p.h.Rollout.Acts() {
		p.writers()
	}
	p.revisions()
	p.notes()
	p.commands()
	return p
}

// past makes the screens of one History.
type past struct {
	*sheet
	h       *history.History
	verdict *answer           // where the rollout is stuck; otherwise nil
	current *history.Revision // nil unless there is exactly one
	several bool              // containers, so a field needs the name of its own
}

func newPast(h *history.History, asked Asked, style Style) *past {
	p := &past{sheet: newSheet(&h.Header, asked, style), h: h, current: h.Latest()}
	p.s.Headline = screen.Headline{Subject: p.subject(), Tone: screen.Warn}
	p.several = slices.ContainsFunc(h.Revisions, func(r history.Revision) bool { return len(r.Images) > 1 })
	return p
}

// judged is a screen that also has the verdict of explain, where the rollout is stuck.
func judged(h Past, asked Asked, style Style) *past {
	p := newPast(h.History, asked, style)
	if h.Now != nil && h.Rollout.Code == history.Stuck {
		p.verdict = &answer{sheet: p.sheet, e: h.Now}
	}
	return p
}

func (p *past) ago(t *time.Time) string {
	if t == nil {
		return "unknown"
	}
	return ago(p.now.Sub(*t)) + " ago"
}

// stage says where a rollout stands: in the headline, and how many of a list are so.
type stage struct {
	code    history.RolloutCode
	verdict string
	tone    screen.Tone
	text    string
	of      string
}

// stages are the worst first.
var stages = []stage{
	{history.Stuck, "STUCK", screen.Bad, "{counts}[; {why}]", "{n:is|are} stuck"},
	{history.Unavailable, "PODS UNAVAILABLE", screen.Warn, "{counts}", "{n:has|have} unavailable pods"},
	{history.UnderWay, "IN PROGRESS", screen.Warn, "{counts}", "{n:has|have} a rollout in progress"},
	{history.Creates, "NEW REVISION PENDING", screen.Warn, "the next sync creates revision {number} from the live template; {counts}", "{n:has|have} a new revision pending"},
	{history.CreatesSame, "NEW REVISION PENDING", screen.Warn, "the next sync creates revision {number}, although revision {like} holds the same template; {counts}", "{n:has|have} a new revision pending"},
	{history.Renumbers, "RENUMBERING PENDING", screen.Warn, "the next sync renumbers revision {from} to {number}, as it holds the live template; {counts}", "{n:has|have} a renumbering pending"},
	{history.Merges, "MERGE PENDING", screen.Warn, "{holders} revisions hold the live template; {counts}", "{n:has|have} a merge of revisions pending"},
	{history.AwaitingDelete, "WAITS FOR YOU", screen.Warn, "{counts}", "{n:waits|wait} for you"},
	{history.NoPods, "NO PODS", screen.Warn, "{counts}", "{n:has|have} no pods"},
	{history.Deleted, "BEING DELETED", screen.Warn, "no revision follows these, and no rollback is possible", "{n:is|are} being deleted"},
	{history.Ignored, "IGNORED", screen.Warn, "its selector is empty, so the controller ignores it", "{n:is|are} ignored"},
	{history.Settled, "SETTLED", screen.Good, "{counts}", "{n:is|are} settled"},
	{history.Unknown, "UNKNOWN", screen.Warn, "{counts}", "{n:is|are} unknown"},
}

// headline says where the rollout stands, and how many pods are on which revision.
func (p *past) headline() {
	is := stages[len(stages)-1]
	if i := slices.IndexFunc(stages, func(s stage) bool { return s.code == p.h.Rollout.Code }); i >= 0 {
		is = stages[i]
	}
	f := daemonset.Facts{"counts": p.counts(), "number": p.h.Next.Number, "from": p.h.Next.RaisedFrom}
	if n := p.h.Note(history.CutThoughUnchanged); n != nil {
		f["like"] = n.Facts["like"]
	}
	if n := p.h.Note(history.Duplicates); n != nil {
		f["holders"] = len(n.Revisions)
	}
	if p.verdict != nil {
		is.verdict, is.tone = p.verdict.words()
		f["why"] = p.verdict.why(2)
	}
	p.s.Headline.Verdict, p.s.Headline.Tone, p.s.Headline.Text = is.verdict, is.tone, fill(p.now, f, is.text)
	switch {
	case !p.h.Inferred() || !p.h.Rollout.Acts():
	case len(p.h.Revisions) == 0:
		p.s.Headline.Text = "the revisions could not be read, and no pod tells of one"
	default:
		p.s.Headline.Text += "; the revisions could not be read"
	}
}

// counts says how many pods are on which revision, the current one first.
func (p *past) counts() string {
	r, latest := &p.h.Rollout, ""
	if p.current != nil {
		latest = p.name(p.current) + inBrackets(p.latest(), p.unavailable())
	}
	switch {
	case r.Pods == nil:
		return "the pods could not be read" + behind("; ", latest)
	case *r.Pods == 0:
		return "no pod exists" + behind("; ", latest)
	case latest != "" && *r.Current == *r.Pods:
		return pluralOf(*r.Pods, "the only pod is on ", fmt.Sprintf("all %d pods on ", *r.Pods)) + latest
	}
	var parts []string
	if latest != "" {
		parts = append(parts, fmt.Sprintf("%d of %s on %s", *r.Current, Plural(*r.Pods, "pod"), latest))
	}
	for i := range p.h.Revisions {
		row := &p.h.Revisions[i]
		if row == p.current || *row.Pods == 0 {
			continue
		}
		words := strconv.Itoa(*row.Pods)
		if len(parts) == 0 {
			words = Plural(*row.Pods, "pod")
		}
		parts = append(parts, words+map[bool]string{true: " without a hash", false: " on " + p.name(row)}[row.Name+row.Hash == ""])
	}
	const most = 3
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("the rest on %d more", more))
	}
	if updated, others := p.h.UpdatedElsewhere(); updated > 0 {
		parts[len(parts)-1] += inBrackets(countedUpdated(updated, others))
	}
	return strings.Join(parts, ", ")
}

// latest says in which way the current revision is that.
func (p *past) latest() string {
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

// unavailable says how many of the current pods are not available, and why not.
func (p *past) unavailable() string {
	r := &p.h.Rollout
	if r.Available == nil {
		return ""
	}
	f := daemonset.Facts{"waiting": *r.NotYetAvailable, "seconds": r.MinReadySeconds, "notReady": *r.NotReady, "ending": *r.Terminating}
	waiting := fill(p.now, f, "[{waiting} Ready but not available yet: minReadySeconds {seconds@}]")
	return joined(", ", waiting, fill(p.now, f, "[{notReady} not Ready]"), fill(p.now, f, "[{ending} terminating]"))
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
	r := p.h.Named(name)
	switch {
	case r == nil:
		return name
	case p.h.Shared(r):
		return strconv.FormatInt(r.Revision, 10) + " (" + name + ")"
	}
	return strconv.FormatInt(r.Revision, 10)
}

// rolloutWords say what is in progress, by what is known of it.
var rolloutWords = map[history.RolloutCode][]string{
	history.UnderWay:       {"started {since@} ago; the last pod was created {newest@} ago", "started {since@} ago, no pod was created since", "in progress; the last pod was created {newest@} ago", "in progress"},
	history.AwaitingDelete: {"with {strategy}, you delete the other {left:pod}"},
	history.Settled:        {"none in progress; the latest one started {since@} ago", "none in progress"},
}

// rollout says whether one is in progress, since when, and who wrote the template.
func (p *past) rollout() {
	if c := p.h.Course(); c != nil {
		f := daemonset.Facts{"strategy": p.h.DaemonSet.Strategy, "left": c.Left, "since": stamp(c.Since), "newest": stamp(c.Newest)}
		p.add(screen.Rollout, "%s", fill(p.now, f, rolloutWords[c.Code]...))
	}
}

// writers are who wrote what is new, by managed fields; with --all, everybody who
// wrote the DaemonSet.
func (p *past) writers() {
	writers, before := p.h.Writers(), "last change by field manager"
	if p.style.All {
		writers, before = p.h.Managers, "written by field managers"
	}
	var names []string
	for _, m := range writers {
		f := daemonset.Facts{"operation": m.Operation, "template": m.Template}
		if m.Time != nil {
			f["at"] = p.ago(m.Time)
		}
		apply, not := fill(p.now, f, "{operation=Apply}server-side apply"), fill(p.now, f, "{template=false}not the template")
		names = append(names, m.Manager+inBrackets(fact(f, "at"), apply, not))
	}
	if len(names) > 0 {
		p.s.Add(screen.Rollout, screen.Names{Before: before, Names: names, Short: true})
	}
}

// revisions is the table: a row for each revision, the newest first, and for each
// number that one had before.
func (p *past) revisions() {
	t := &screen.Table{Columns: []screen.Column{{Head: "REVISION"}, {Head: "SINCE", Drop: 1}, {Head: "PODS", Right: true}}}
	if p.h.Inferred() {
		t.Columns[0].Head = "HASH"
	}
	nodes := p.style.Wide || slices.ContainsFunc(p.h.Revisions, func(r history.Revision) bool { return r.Pods != nil && *r.Pods != *r.Nodes })
	if nodes {
		t.Columns = append(t.Columns, screen.Column{Head: "NODES", Right: true})
	}
	if p.style.Wide {
		t.Columns[1].Drop = 0
		t.Columns = append(t.Columns, screen.Column{Head: "AVAILABLE", Right: true}, screen.Column{Head: "NAME"}, screen.Column{Head: "HASH"}, screen.Column{Head: "CREATED"})
	}
	t.Columns = append(t.Columns, screen.Column{Head: "CHANGE FROM THE PREVIOUS REVISION", Wrap: true, Least: 24})
	rows := p.h.Rows()
	if !p.style.All {
		rows = history.Fold(rows, 8)
	}
	for i := range rows {
		r := &rows[i]
		if r.Is == history.RowsFolded {
			words := append(make([]string, len(t.Columns)-1), Plural(int(r.Number), "revision")+" without pods, with --all")
			words[0] = "…"
			t.Row(words...)
			continue
		}
		pods, on, available := count(r.Pods), count(r.Nodes), count(r.Available)
		if r.Is == history.RowRenumbered || r.Is == history.RowPending {
			pods, on, available = "-", "-", "-"
		}
		words := []string{strconv.FormatInt(r.Number, 10), p.since(r), pods}
		if r.Is == history.RowHash {
			words[0] = cmp.Or(r.Hash, "-")
		}
		if nodes {
			words = append(words, on)
		}
		if p.style.Wide {
			words = append(words, available, cmp.Or(r.Name, "-"), cmp.Or(r.Hash, "-"), cmp.Or(stamp(r.CreatedAt), "-"))
		}
		row := t.Row(words...)
		row.Cells = append(row.Cells, screen.Cell{Lines: p.changes(r, 6)})
		if r.Current && r.Is != history.RowRenumbered {
			row.Cells[0].Tone = screen.Title
		}
	}
	p.s.Add(screen.Body, t)
}

// stamp is a time in UTC, as fill takes it; empty where it is unknown.
func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// since is when the revision of a row got its number; of pods without one, when they were created.
func (p *past) since(r *history.Row) string {
	switch b := p.h.Began(r); {
	case b.How == history.BeganPending:
		return "pending"
	case b.How == history.BeganUnknown:
		return "-"
	case b.To != nil && p.ago(b.At) != p.ago(b.To):
		return p.ago(b.At) + " to " + p.ago(b.To)
	case b.After:
		return "less than " + p.ago(b.At)
	default:
		return p.ago(b.At)
	}
}

// madeWords say how a revision came by its number.
var madeWords = map[history.BeganHow][]string{
	history.BeganRestored: {"by a rollback {ago}", "by a rollback"}, history.BeganCreated: {"created {ago}"},
}

// made is when a revision was created, or a rollback restored it; empty if unknown.
func (p *past) made(r *history.Revision) string {
	row, ago := p.h.RowOf(r), ""
	b := p.h.Began(&row)
	if b.At != nil {
		ago = p.since(&row)
	}
	return fill(p.now, daemonset.Facts{"ago": ago}, madeWords[b.How]...)
}

// cameAbout says how a revision came by its number, if not as a new one.
var cameAbout = []string{"is now revision {now}; ", "{was=0}rolled back to an earlier revision[, created {ago}]: ", "rolled back to revision {was}: "}

// changes says how a revision came about, what it changed, and its change-cause.
func (p *past) changes(r *history.Row, most int) []string {
	f, b := daemonset.Facts{}, p.h.Began(r)
	switch {
	case r.Is == history.RowRenumbered:
		f["now"] = r.Revision.Revision
	case b.How == history.BeganRestored:
		f["was"] = int(b.Was)
	}
	if r.CreatedAt != nil {
		f["ago"] = p.ago(r.CreatedAt)
	}
	if r.Partial() {
		f["from"] = r.From
	}
	lines := slices.Clone(few(p.changed(r), most, "more change", p.style))
	lines[0] = fill(p.now, f, cameAbout...) + fill(p.now, f, "from revision {from}: ") + lines[0]
	if r.ChangeCause != "" && r.Is != history.RowRenumbered {
		lines = append(lines, fill(p.now, f, "change-cause[ of revision {was}]: ")+p.style.brief(screen.Clean(r.ChangeCause), 120))
	}
	return lines
}

// toldWords say what is known of the change of a row, where that is no list of fields.
var toldWords = map[history.Told]string{
	history.ToldLive: "from the live template", history.ToldFirst: "first revision[, {images}]", history.ToldOldest: "the oldest revision kept[, {images}]",
	history.ToldSame: "same content as revision {same}", history.ToldUnreadable: "unknown: it holds no pod template", history.ToldImages: "{images}",
	history.ToldBelow: "unknown: revision {from} could not be read", history.ToldNoRevision: "pods whose hash no revision has",
	history.ToldWithoutAHash: "pods without a hash", history.ToldNothing: "unknown",
}

// changed says what a revision changed; one line at least.
func (p *past) changed(r *history.Row) []string {
	f := daemonset.Facts{"from": r.From, "same": r.From}
	told, of := p.h.Told(r), p.h.SameAs(r)
	if of != nil {
		f["same"] = p.number(of.Name)
	}
	if len(r.Images) <= 3 || told == history.ToldImages {
		f["images"] = images(r.Images)
	}
	if told != history.ToldFields {
		return []string{fill(p.now, f, toldWords[told])}
	}
	lines := fieldStyle{brief: true, cell: true, alone: !p.several, all: p.style.All}.changeLines(r.Change)
	if of != nil {
		lines = append(lines, fill(p.now, f, "the content of revision {same} again"))
	}
	return lines
}

// images are what a revision runs, each once; empty where it is unknown.
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
		if len(each) > 1 { // their registries are left out
			image.Repository = image.Name()
		}
		words = append(words, imageWords(image))
	}
	return behind(pluralOf(len(each), "image ", "images "), strings.Join(words, ", "))
}

// commands are what to look at next.
func (p *past) commands() {
	if !p.h.Rollout.Acts() {
		return
	}
	p.s.Add(screen.Check, p.again("explain"))
	switch from, to := p.h.Compares(); {
	case p.h.Inferred():
		p.unread()
	case p.h.Pending(), p.current == nil: // what the next sync does
		p.s.Add(screen.Preview, p.again("plan-rollout"))
	case to != nil:
		p.s.Add(screen.Compare, p.again("history", Flag{Name: "diff", Value: fmt.Sprintf("%d,%d", from.Revision, to.Revision)}))
	}
	if p.verdict == nil || !p.verdict.e.RollbackInVain() {
		p.preview(p.h.RollsBackTo())
	}
}

// preview is the plan of a rollback to a revision; nil for none.
func (p *past) preview(r *history.Revision) {
	if r != nil && p.asked.Again {
		p.s.Add(screen.Preview, screen.Text("of a rollback:"), p.again("plan-rollout", Flag{Name: "to-revision", Value: strconv.FormatInt(r.Revision, 10)}))
	}
}

// unread is how to get at revisions that could not be read.
func (p *past) unread() {
	for _, g := range p.h.Snapshot.Gaps {
		switch {
		case g.What != snapshot.Revisions:
		case g.Why == snapshot.Forbidden:
			p.s.Add(screen.Check, p.kubectl("kubectl auth can-i list controllerrevisions.apps", p.namespace()), screen.Text("(without that right, neither older changes nor a rollback can be shown)"))
		default:
			p.s.Add(screen.Check, screen.Text("with the ControllerRevisions, changes and rollbacks are shown, too: add --from=revisions.yaml"),
				p.kubectl("kubectl get controllerrevisions", p.namespace(), "-o yaml", "> revisions.yaml"))
		}
	}
}

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
