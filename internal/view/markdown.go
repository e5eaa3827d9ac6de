package view

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// PlansMarkdown writes plans for a comment on a pull request: of each a
// headline, what changes, which nodes gain or lose a pod, how it ends, and
// what other limits would mean. Words of the cluster and of manifests cannot
// break out of it, and neither mention nor link to anything.
func PlansMarkdown(w io.Writer, plans []*plan.Plan) error {
	var out []string
	for _, p := range plans {
		m := &markdown{screen: &screen{now: p.Snapshot.TakenAt, minReady: minReady(p)}}
		m.plan(p)
		out = append(out, strings.Join(m.lines, "\n"))
	}
	_, err := io.WriteString(w, strings.Join(out, "\n")+"\n")
	return err
}

// markdown collects the lines of one plan. Its screen words the sentences; it
// has no width and no colour.
type markdown struct {
	*screen
}

func (m *markdown) add(format string, args ...any) {
	m.lines = append(m.lines, fmt.Sprintf(format, args...))
}

func (m *markdown) plan(p *plan.Plan) {
	m.add("### %s: %s", mdCode(p.DaemonSet.Namespace+"/"+p.DaemonSet.Name), strings.ToLower(outcomeTitle(p)))
	m.add("")
	m.add("%s", md(sentence(m.planDetail(p))))
	for _, w := range p.Warnings {
		m.add("")
		m.add("> **%s**: %s", md(string(w.Code)), md(m.warningWords(w)))
	}
	m.fields(p)
	m.placement(p)
	if words := desiredWords(p); words != "" {
		m.add("")
		m.add("%s", md(sentence(words)))
	}
	m.next(p)
	m.groups(p.Groups)
	f, title := &p.Forecast, "Outcome"
	if p.IfTemplateChanged != nil {
		f, title = p.IfTemplateChanged, "If the template changed"
		m.add("")
		m.add("**%s:** %s", title, md(sentence(m.ifWords(f, &p.Header))))
		title = "Outcome then"
	}
	m.waves(f.Waves)
	m.outcome(f, title)
	m.limits(f)
	m.folded("Assumptions", func() {
		for _, l := range assumptionLines(shownAssumptions(p)) {
			m.add("- %s", md(l))
		}
	})
	m.add("")
	m.add("<sub>as of %s, Kubernetes %s</sub>", md(p.Snapshot.TakenAt.UTC().Format(time.RFC3339)), md(p.Controller.KubernetesVersion))
}

// fields is the table of what differs.
func (m *markdown) fields(p *plan.Plan) {
	c := p.Change
	if c == nil {
		return
	}
	m.add("")
	if len(c.Fields) > 0 {
		m.add("| Field | Old | New |")
		m.add("| --- | --- | --- |")
		groups := groupFields(len(c.Fields), func(i int) (path, words string) {
			before, after := m.fieldCells(c.Fields[i])
			return c.Fields[i].Path, before + " | " + after
		})
		for _, g := range groups {
			m.add("| %s | %s |", mdCode(m.groupTitle(g, clean)), g.words)
		}
		m.add("")
		if slices.ContainsFunc(c.Fields, func(f plan.FieldDiff) bool { return f.Hidden }) {
			m.add("Literal values of environment variables may be secret, and are hidden (%s).", mdCode("--show-values"))
			m.add("")
		}
	}
	for _, n := range c.Nodes {
		m.add("- %s", md(m.nodeChange(n)))
	}
	if len(c.Nodes) > 0 {
		m.add("")
	}
	m.add("%s", md(sentence(templateWords(p))))
	if c.Method != "" {
		m.add("<br>How the change was made: %s.", md(methodWords(c)))
	}
}

// fieldCells are the two values of a field; none of what comes or goes.
func (m *markdown) fieldCells(f plan.FieldDiff) (before, after string) {
	switch {
	case f.Old == "":
		return "", mdCode(m.fieldValue(f.Path, f.New))
	case f.New == "":
		return mdCode(m.fieldValue(f.Path, f.Old)), ""
	case f.Old == f.New: // but for what is hidden
		return mdCode(m.fieldValue(f.Path, f.Old)), "changed, hidden"
	}
	before, after = m.sides(f.Path, f.Old, f.New)
	return mdCode(before), mdCode(after)
}

// placement are the nodes that gain or lose a pod: at once, and in the course of
// the rollout.
func (m *markdown) placement(p *plan.Plan) {
	var parts []string
	say := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, pluralVerb(n, one, many))
		}
	}
	say(len(p.Placement.Lose), "node loses its pod", "nodes lose their pod")
	say(len(p.Placement.Gain), "node gains a pod", "nodes gain a pod")
	if len(parts) > 0 {
		m.add("")
		m.add("**At once, whatever strategy and budget say:** %s.", strings.Join(parts, ", "))
		m.placed(p.Placement.Lose, p.Placement.Gain)
	}
	if later := lostLater(p); len(later) > 0 {
		m.add("")
		m.add("**In the course of the rollout, and not replaced:** %s.", pluralVerb(len(later), "node loses its pod", "nodes lose their pod"))
		m.placed(later, nil)
	}
}

func (m *markdown) placed(lose, gain []plan.PlacementNode) {
	m.add("")
	m.add("| | Nodes | | Why |")
	m.add("| --- | ---: | --- | --- |")
	row := func(verb string, nodes []plan.PlacementNode) {
		for _, g := range placedGroups(nodes) {
			why := strings.TrimSuffix(string(g.reason)+": "+g.words, ": ")
			if g.reason == daemonset.Eligible {
				why = "the node should run it"
			}
			m.add("| %s | %d | %s | %s |", verb, len(g.nodes), mdNames(g.nodes), md(why))
		}
	}
	row("loses", lose)
	row("gains", gain)
}

// mdNames is more names than a terminal has room for.
func mdNames(nodes []string) string {
	const most = 20
	words := mdCode(strings.Join(nodes[:min(most, len(nodes))], ", "))
	if n := len(nodes) - most; n > 0 {
		words += fmt.Sprintf(" and %d more", n)
	}
	return words
}

// next is the next sync, in the words of the text view.
func (m *markdown) next(p *plan.Plan) {
	sync := &screen{now: m.now}
	sync.sync(p)
	m.add("")
	first, rest, _ := strings.Cut(strings.Join(sync.lines, "\n"), "\n")
	title := strings.ToUpper(first[:1]) + strings.ToLower(strings.TrimPrefix(syncTitle(p.Subject), first[:1]))
	m.add("%s", strings.TrimRight(fmt.Sprintf("**%s:** %s", md(title), md(strings.TrimPrefix(first, syncTitle(p.Subject)))), " "))
	if rest == "" {
		return
	}
	m.add("")
	for _, l := range strings.Split(rest, "\n") {
		m.add("- %s", md(strings.TrimSpace(l)))
	}
}

// groups are the bounds for nodes that share a label's value.
func (m *markdown) groups(groups []plan.Group) {
	if len(groups) == 0 {
		return
	}
	m.add("")
	m.add("| %s | Nodes | Down now | Step at most | Down at worst |", mdCode(groups[0].Key))
	m.add("| --- | ---: | ---: | ---: | ---: |")
	const most = 20
	for _, g := range groups[:min(most, len(groups))] {
		m.add("| %s | %d | %d | %d | %d |", md(cmp.Or(g.Value, "(no label)")), g.Nodes, g.Down, g.Step, g.AtWorst)
	}
	if n := len(groups) - most; n > 0 {
		m.add("")
		m.add("and %s", plural(n, "more group"))
	}
}

// waves are the steps to the end, in one row those that are equal.
func (m *markdown) waves(waves []plan.Wave) {
	if len(waves) == 0 {
		return
	}
	m.folded("Waves", func() {
		m.add("| Wave | After | Deletes | Creates | Then up-to-date | Available |")
		m.add("| --- | ---: | ---: | ---: | ---: | ---: |")
		const most = 50
		first := 1
		for _, w := range waves[:min(most, len(waves))] {
			m.add("| %s | %s | %s | %s | %d | %d |", interval(first, first+w.Count-1), begins(w), each(w.Deletes, w.Count), each(w.Creates, w.Count), w.Counts.Updated, w.Counts.Available)
			first += w.Count
		}
		if n := len(waves) - most; n > 0 {
			m.add("")
			m.add("and %s", plural(n, "more row"))
		}
	})
}

func (m *markdown) outcome(f *plan.Forecast, title string) {
	o := &f.Outcome
	switch {
	case o.Code == plan.NothingToDo, o.Code == plan.Unknown, o.Code == plan.NotRolling && (o.Reason != daemonset.StepOnDelete || o.Left == 0):
		return
	}
	m.add("")
	m.add("**%s:** %s.", title, md(outcomeWords(f)))
	if left(o) > 0 {
		m.add("")
		m.add("| Cause | Nodes | What is wrong |")
		m.add("| --- | --- | --- |")
		for _, g := range holderGroups(o.Holders) {
			m.add("| %s | %s | %s |", md(string(g.code)), mdNames(g.nodes), md(m.causeWords(g.code, g.facts, g.since, g.latest)))
		}
		if n := o.FurtherHolders; n > 0 {
			m.add("| | any %d more | which ones is the controller's random pick |", n)
		}
	}
	if len(o.Unblock) > 0 {
		var ways []string
		for _, u := range o.Unblock[:min(4, len(o.Unblock))] {
			words, _ := unblockWords(u)
			ways = append(ways, words+m.leftBroken(u.Left))
		}
		m.add("")
		m.add("To let it complete, fix what is wrong there, or try one of: %s.", md(strings.Join(ways, "; ")))
	}
}

func (m *markdown) limits(f *plan.Forecast) {
	if len(f.Limits) == 0 {
		return
	}
	m.folded("Other limits", func() {
		m.add("| Limit | At a time | Steps | Duration |")
		m.add("| --- | ---: | ---: | --- |")
		rows := limitRows(f.Limits)
		for _, r := range rows {
			m.add("| %s | %s | %s | %s |", md(r.name), strconv.Itoa(atATime(f, r.AtATime)), strconv.Itoa(r.Steps), md(limitEnd(r.Limit)))
		}
		if words := usedUpWords(f); words != "" {
			m.add("")
			m.add("%s", md(sentence(words)))
		}
		if words := m.slowerWords(rows, f.Budget.Kind); words != "" {
			m.add("")
			m.add("%s", md(sentence(words)))
		}
	})
}

func (m *markdown) folded(title string, body func()) {
	m.add("")
	m.add("<details><summary>%s</summary>", md(title))
	m.add("")
	body()
	m.add("")
	m.add("</details>")
}

// sentence begins with a capital and ends in a full stop.
func sentence(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + strings.TrimSuffix(words[1:], ".") + "."
}

// mdSpecial are the characters that Markdown, or GitHub's and GitLab's, read
// as more than themselves.
var mdSpecial = strings.NewReplacer(
	"|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "~", "&#126;", "[", "&#91;", "]", "&#93;", "@", "&#64;", "#", "&#35;", `\`, "&#92;",
	"!", "&#33;", "$", "&#36;", "://", "&#58;//", "www.", "www&#46;", "^", "&#94;",
)

// md makes words safe in Markdown: they stand there as they are.
func md(words string) string { return mdEscape(clean(words)) }

func mdEscape(words string) string {
	// html.EscapeString writes & as &amp; and makes entities with # of its own, so the special ones come after it,
	// apart from those entities.
	words = strings.ReplaceAll(html.EscapeString(words), "&#39;", "'")
	words = strings.ReplaceAll(words, "&#34;", `"`)
	return mdSpecial.Replace(words)
}

// mdCode is md in a typewriter's letters.
func mdCode(words string) string { return "<code>" + md(words) + "</code>" }
