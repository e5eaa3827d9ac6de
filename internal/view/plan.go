package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Plan writes one DaemonSet's plan: verdict, what changes, which nodes gain or
// lose a pod at once, the next sync, the waves to the end or to the stall, how
// that ends, and what it rests on. again is the command that asked, to which
// flags can be added; empty where there is none to paste.
func Plan(w io.Writer, p *plan.Plan, again string, style Style) error {
	s := &screen{Style: style, now: p.Snapshot.TakenAt, minReady: minReady(p)}
	s.line("%s  %s/%s: %s", s.planCode(p), clean(p.DaemonSet.Namespace), clean(p.DaemonSet.Name), s.planDetail(p))
	s.warnings(p)
	s.changes(p)
	s.placements(p)
	s.gap()
	s.sync(p)
	s.groups(p.Groups)
	if f := p.IfTemplateChanged; f != nil {
		s.outcome(&p.Forecast, again)
		s.gap()
		s.line("%s %s", s.title("IF THE TEMPLATE CHANGED"), s.ifWords(f, &p.Header))
		if f.Outcome.Code != plan.NotRolling || p.Outcome.Code != plan.NotRolling { // it was said above
			asRestart := ""
			if !podsFail(p) {
				asRestart = added(again, "--restart")
			}
			s.forecast(f, asRestart)
		}
	} else {
		s.forecast(&p.Forecast, again)
	}
	s.assumptions(p)
	return s.writeTo(w)
}

// podsFail reports whether pods of the current revision fail, or are late. They
// go on so after a restart, but maybe not after another change of the template:
// no command that restarts shows what that does.
func podsFail(p *plan.Plan) bool {
	warned := slices.ContainsFunc(p.Warnings, func(w plan.Warning) bool { return w.Code == plan.NewPodsFailing })
	fails := slices.ContainsFunc(p.Assumptions, func(a daemonset.Assumption) bool {
		return a.Code == plan.AssumeRevisionFails || a.Code == plan.AssumeInvalidImage
	})
	return warned || fails || len(p.Outcome.Late) > 0
}

// sync says what the controller's next sync does.
func (s *screen) sync(p *plan.Plan) {
	n := p.Next
	if p.Change != nil && p.Change.TemplateChanged { // WHAT CHANGES has told the revision
		n.Revisions.Cut, n.Revisions.RaisedFrom = false, 0
	}
	if n.Kind == daemonset.StepNone && n.Reason == daemonset.StepUpToDate && n.Exact && p.Desired.After == 0 && len(s.bookkeeping(&n)) == 0 {
		s.line("%s does nothing: no node is eligible", s.title(syncTitle(p.Subject)))
		return
	}
	s.soon, s.zero = nextStepWords(p), p.Budget.Limit == 0
	s.step(syncTitle(p.Subject), &n, &p.Header)
}

// nextStepWords says when a rollout whose budget is used up goes on; empty where
// it does not, or nothing tells.
func nextStepWords(p *plan.Plan) string {
	if len(p.Waves) == 0 || p.Waves[0].At == nil || *p.Waves[0].At <= 0 {
		return ""
	}
	return "the rollout goes on in about " + seconds(*p.Waves[0].At)
}

// syncTitle tells a sync that is about to come from one that would.
func syncTitle(about plan.Subject) string {
	switch about {
	case plan.SubjectChange:
		return "FIRST SYNC AFTER THE CHANGE"
	case plan.SubjectNew:
		return "FIRST SYNC"
	}
	return "NEXT SYNC"
}

func (s *screen) planCode(p *plan.Plan) string {
	return s.outcomePaint(p)(strings.ToUpper(outcomeTitle(p)))
}

// outcomeTitle is the outcome in words. Of one that takes all pods away it says
// whether that is a plan only, or on its way.
func outcomeTitle(p *plan.Plan) string {
	switch {
	case staysDegraded(p):
		return "degraded"
	case p.Outcome.Code != plan.RemovesAllPods:
		return spaced(string(p.Outcome.Code))
	case p.Change == nil:
		return "will remove all pods"
	}
	return "would remove all pods"
}

// staysDegraded reports whether nothing is rolling and nodes stay without an
// available pod: explain says Degraded of that, and so does a plan.
func staysDegraded(p *plan.Plan) bool {
	return p.Outcome.Code == plan.NothingToDo && p.Subject == plan.SubjectNothing && left(&p.Outcome) > 0
}

// outcomePaint is the colour of how it ends: nodes that lose their pod at once
// are no good end.
func (s *screen) outcomePaint(p *plan.Plan) func(string) string {
	switch {
	case p.Outcome.Code == plan.Stalls, p.Outcome.Code == plan.RemovesAllPods, len(p.Placement.Lose) > 0:
		return s.bad
	case p.Desired.After == 0 && p.Next.Exact:
		return s.warn
	case left(&p.Outcome) == 0 && (p.Outcome.Code == plan.NothingToDo || p.Outcome.Code == plan.Completes):
		return s.good
	}
	return s.warn
}

// planDetail says in one sentence what is planned and how it ends: first what
// goes and comes at once.
func (s *screen) planDetail(p *plan.Plan) string {
	first := atOnce(&p.Placement)
	switch {
	case p.Outcome.Code == plan.RemovesAllPods:
		return cmp.Or(first, removedWords(p)) + ", and no node is eligible"
	case first == "":
		return s.planEnd(p)
	}
	o := &p.Outcome
	switch {
	case o.Code == plan.NotRolling && o.Left == 0, o.Code == plan.NothingToDo:
		return first
	case o.Code == plan.Unknown:
		return first + "; " + s.planEnd(p)
	case o.Code == plan.NotRolling:
		return first + "; then " + s.planEnd(p)
	case o.Code == plan.Stalls:
		return first + "; then it stalls " + s.stallWords(&p.Forecast)
	case olds(&p.Forecast) > 0:
		return first + "; then " + s.forecastWords(&p.Forecast, "are")
	}
	creates, deletes := moved(&p.Forecast)
	if more := movedWords(creates-len(p.Placement.Gain), deletes-len(p.Placement.Lose), "are"); more != "" {
		first += "; besides, " + more
	}
	if p.Subject != plan.SubjectNew {
		first += "; none is replaced"
	}
	return first + howWords(&p.Forecast) + leftWords(o) + s.lateWords(o)
}

// removedWords says how the last pods go where no node loses its pod for its
// eligibility alone: with their nodes, or by a rollout that replaces none.
func removedWords(p *plan.Plan) string {
	_, deletes := moved(&p.Forecast)
	if deletes == 0 {
		return "the last pod goes with its node"
	}
	return movedWords(0, deletes, "are") + " without replacement"
}

// atOnce says how many nodes lose or get a pod whatever strategy and budget
// say; empty where none does.
func atOnce(p *plan.Placement) string {
	lose, gain := pluralVerb(len(p.Lose), "node loses its pod", "nodes lose their pod"), pluralVerb(len(p.Gain), "node gets one", "nodes get one")
	switch {
	case len(p.Lose)+len(p.Gain) == 0:
		return ""
	case len(p.Gain) == 0:
		return lose + " at once"
	case len(p.Lose) == 0:
		return strings.TrimSuffix(gain, "one") + "a pod at once"
	}
	return lose + " at once, " + gain
}

// planEnd says how it ends, and what is replaced until then.
func (s *screen) planEnd(p *plan.Plan) string {
	o := &p.Outcome
	switch {
	case o.Code == plan.Unknown:
		return unknownWords(p)
	case o.Code == plan.NotRolling:
		return notRolling(o, &p.Header, "stays")
	case o.Code == plan.NothingToDo && left(o) > 0:
		return fmt.Sprintf("no rollout is under way; %s without an available pod%s", plural(left(o), "node"), inBrackets(holderCodes(o.Holders)))
	case o.Code == plan.NothingToDo && p.Subject == plan.SubjectNothing && nowhere(p):
		return "no rollout is under way, and no node is eligible"
	case o.Code == plan.NothingToDo && p.Subject == plan.SubjectNothing:
		return "no rollout is under way, and every node has what it should"
	case o.Code == plan.NothingToDo && p.Subject == plan.SubjectNew && nowhere(p):
		return "no node is eligible, so no pod is created"
	case o.Code == plan.NothingToDo && p.Subject != plan.SubjectNew && p.Change != nil && len(p.Change.Fields)+len(p.Change.Nodes) == 0:
		if !p.TemplateKnown() {
			return "nothing that can be compared differs from what is in the cluster"
		}
		return "nothing differs from what is in the cluster"
	case o.Code == plan.NothingToDo && p.Desired.Before != p.Desired.After:
		return fmt.Sprintf("no pod is created, deleted or replaced for it, but DESIRED goes from %d to %d", p.Desired.Before, p.Desired.After) + ifValuesEqual(p)
	case o.Code == plan.NothingToDo:
		return "no pod is created, deleted or replaced for it" + ifValuesEqual(p)
	case p.Subject == plan.SubjectChange, p.Subject == plan.SubjectNew:
		return s.forecastWords(&p.Forecast, "would be")
	}
	return s.forecastWords(&p.Forecast, "are left to be")
}

// unknownDropped is what is assumed of the fields of a revision that this program
// does not know.
const unknownDropped = "the API server drops the fields that this version of kubectl ds does not know"

// valuesEqual is what is assumed of values that could not be compared.
func valuesEqual(p *plan.Plan) string {
	if slices.ContainsFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == plan.AssumeUnknownFields }) {
		return unknownDropped
	}
	return "the manifest's literal values, which could not be compared, are what is in the cluster"
}

func ifValuesEqual(p *plan.Plan) string {
	if p.TemplateKnown() {
		return ""
	}
	return ", if " + valuesEqual(p)
}

// nowhere tells whether it is known that no node should run the pod.
func nowhere(p *plan.Plan) bool { return p.Desired.After == 0 && p.Next.Exact }

// ifWords says what a change of the template would do.
func (s *screen) ifWords(f *plan.Forecast, h *daemonset.Header) string {
	switch f.Outcome.Code {
	case plan.RemovesAllPods:
		_, deletes := moved(f)
		return movedWords(0, deletes, "would be") + " without replacement, as no node is eligible"
	case plan.Stalls:
		return "the rollout would stall " + s.stallWords(f)
	case plan.NotRolling:
		return notRolling(&f.Outcome, h, "would stay")
	}
	return s.forecastWords(f, "would be")
}

// forecastWords says in a sentence what is replaced, how fast, and where it
// ends.
func (s *screen) forecastWords(f *plan.Forecast, verb string) string {
	o := &f.Outcome
	if o.Code == plan.Stalls {
		return s.stallWords(f)
	}
	creates, deletes := moved(f)
	replaced, old := f.Replaces, olds(f)
	words := plural(replaced, "pod") + " " + verb + " replaced"
	switch {
	case replaced == 1:
		words = "1 pod " + strings.Replace(verb, "are", "is", 1) + " replaced"
	case replaced == 0 && f.Drops > 0:
		words = "no pod is replaced"
	case old == 0 && creates+deletes == 0:
		words = "no pod is replaced"
	case old == 0:
		words = movedWords(creates, deletes, verb) + ", none is replaced"
	}
	if f.Drops > 0 {
		words += fmt.Sprintf(", %d %s deleted without replacement", f.Drops, pluralOnly(f.Drops, strings.Replace(verb, "are", "is", 1), verb))
	}
	words += paceWords(f)
	return words + howWords(f) + leftWords(o) + s.lateWords(o)
}

// paceWords says how many are replaced at a time: of those that are unavailable
// and stay so, all.
func paceWords(f *plan.Forecast) string {
	old := olds(f)
	n, once := atATime(f, f.Outcome.AtATime), min(f.Outcome.AtOnce, old)
	switch {
	case old > 1 && max(n, once) == old:
		return fmt.Sprintf(", all %d at once", old)
	case n == 0:
		return ""
	case once == 1:
		return fmt.Sprintf(", the unavailable one at once, the others at most %d at a time", n)
	case once > 1:
		return fmt.Sprintf(", the %d unavailable ones at once, the others at most %d at a time", once, n)
	}
	return fmt.Sprintf(", at most %d at a time", n)
}

// atATime is how many pods are replaced at a time, of nodes of which at most so
// many wait for theirs; where none is left for a limit to decide about, all.
func atATime(f *plan.Forecast, nodes int) int {
	old := olds(f)
	if f.Outcome.AtOnce >= old {
		return old
	}
	return min(nodes, old-f.Outcome.AtOnce)
}

// olds is how many old pods a rollout has to deal with: it replaces them, or only
// deletes them.
func olds(f *plan.Forecast) int { return f.Replaces + f.Drops }

// howWords says in how many steps, and how long that takes.
func howWords(f *plan.Forecast) string {
	o := &f.Outcome
	var how []string
	if olds(f) > 0 && o.Steps > 0 {
		how = append(how, plural(o.Steps, "step"))
	}
	if o.Duration != nil {
		how = append(how, "about "+durationWords(o.Duration))
	}
	if len(how) == 0 {
		return ""
	}
	return ": " + strings.Join(how, ", ")
}

// leftWords says how many nodes are left without an available pod.
func leftWords(o *plan.Outcome) string {
	n := left(o)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; then %s without an available pod%s", plural(n, "node"), inBrackets(holderCodes(o.Holders)))
}

// lateWords says which pods have to become ready for it that take longer than
// any other did; empty where none does.
func (s *screen) lateWords(o *plan.Outcome) string {
	if len(o.Late) == 0 {
		return ""
	}
	pods, become := "pods on ", " become"
	if len(o.Late) == 1 {
		pods, become = "pod on ", " becomes"
	}
	return ", if the " + pods + someNames(holderNodes(o.Late)) + become + " ready" + inBrackets(s.lasting(o.Late))
}

// lasting is "ProbeFailing for 90s".
func (s *screen) lasting(holders []plan.Holder) string {
	var parts []string
	for _, g := range holderGroups(holders) {
		words := string(g.code)
		if g.since != nil {
			words += " for " + span(s.now, g.since, g.latest)
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, ", ")
}

func holderNodes(holders []plan.Holder) []string {
	var nodes []string
	for _, h := range holders {
		nodes = append(nodes, h.Node)
	}
	return nodes
}

func movedWords(creates, deletes int, verb string) string {
	var parts []string
	say := func(n int, what string) {
		switch {
		case n == 1:
			parts = append(parts, "1 pod "+strings.Replace(verb, "are", "is", 1)+" "+what)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d pods %s %s", n, verb, what))
		}
	}
	say(creates, "created")
	say(deletes, "deleted")
	return strings.Join(parts, ", ")
}

// moved is how many pods all waves create and delete.
func moved(f *plan.Forecast) (creates, deletes int) {
	for _, w := range f.Waves {
		creates, deletes = creates+w.Count*w.Creates, deletes+w.Count*w.Deletes
	}
	return creates, deletes
}

// stallWords says after how many pods it ends, and held by whom.
func (s *screen) stallWords(f *plan.Forecast) string {
	o := &f.Outcome
	words := fmt.Sprintf("after %d of %s%s: ", o.Replaced+o.Dropped, plural(olds(f), "pod"), atWorst(o))
	if olds(f) == 0 {
		words = "before every node has its pod: "
	}
	switch {
	case o.Reason == cause.Terminating:
		words = pluralVerb(o.Terminating, "pod is deleted and stays", "pods are deleted and stay") + " "
	case o.Reason == daemonset.StepBudgetSpent && f.Budget.Limit == 0:
		return words + noBudget(f.Budget.Spec, 0)
	case left(o) == 0:
		return words + stallReason(o.Reason)
	}
	var nodes []string
	for _, h := range o.Holders {
		nodes = append(nodes, h.Node)
	}
	short := *s
	short.All = false
	names := short.namesWithin(nodes, 40)
	if n := o.FurtherHolders; n > 0 {
		names = strings.TrimPrefix(names+" and any "+plural(n, "node"), " and ")
	}
	switch {
	case o.Reason != daemonset.StepBudgetSpent:
		return words + stallReason(o.Reason) + inBrackets(names)
	case left(o) == 1:
		return words + names + " holds the budget" + inBrackets(holderCodes(o.Holders))
	}
	return words + names + " hold the budget" + inBrackets(holderCodes(o.Holders))
}

// atWorst marks a number that is certain only for the worst order of the nodes,
// which the controller picks at random.
func atWorst(o *plan.Outcome) string {
	if o.AtWorst {
		return " at worst"
	}
	return ""
}

func stallReason(r daemonset.Reason) string {
	switch r {
	case cause.Terminating:
		return "terminating"
	case daemonset.InvalidBudget:
		return "maxUnavailable or maxSurge cannot be resolved, so every step fails"
	case daemonset.VanishedNodeInSurge:
		return "every surge step fails until the old pod of a vanished node is gone"
	case cause.CreateRefused:
		return "the API server refuses new pods"
	case daemonset.StepBudgetSpent:
		return "the budget is used up"
	case daemonset.StepWaiting:
		return "it waits for pods that do not come or do not go"
	case plan.Unfilled:
		return "nodes stay without a pod"
	case plan.Endless:
		return "the controller creates and deletes without end"
	}
	return clean(string(r))
}

// left is how many nodes stay without an available pod, or hold the budget.
func left(o *plan.Outcome) int { return len(o.Holders) + o.FurtherHolders }

// holderCodes lists the causes, the most frequent first.
func holderCodes(holders []plan.Holder) string {
	count := map[string]int{}
	var order []string
	for _, h := range holders {
		c := string(holderCode(h))
		if count[c]++; count[c] == 1 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return count[b] - count[a] })
	return strings.Join(order, ", ")
}

// holderCode is the cause of a holder, which a hand-made document may lack.
func holderCode(h plan.Holder) daemonset.Reason {
	if h.Cause == nil {
		return daemonset.NotReady
	}
	return h.Code
}

func unknownWords(p *plan.Plan) string {
	if what := unread(&p.Header); what != "" {
		return "how it ends is not known, as " + what + " could not be read"
	}
	words := "how it ends is not known"
	if p.Outcome.Reason != "" {
		words += ": " + stallReason(p.Outcome.Reason)
	}
	return words
}

// notRolling says why nothing is replaced by itself.
func notRolling(o *plan.Outcome, h *daemonset.Header, stays string) string {
	switch o.Reason {
	case daemonset.StepBeingDeleted:
		return "it is being deleted, and its controller does nothing any more"
	case daemonset.StepSelectsAll:
		return selectsAll
	}
	switch n := o.Left; n {
	case 0:
		return "no pod is old (" + strategy(h) + ")"
	case 1:
		return "1 pod " + stays + " on an old revision until somebody deletes it (" + strategy(h) + ")"
	default:
		return fmt.Sprintf("%d pods %s on an old revision until somebody deletes them (%s)", n, strings.TrimSuffix(stays, "s"), strategy(h))
	}
}

// warnings are what the API accepts and will not go well.
func (s *screen) warnings(p *plan.Plan) {
	if len(p.Warnings) == 0 {
		return
	}
	s.gap()
	s.line("%s", s.warn("WARNINGS"))
	for _, w := range p.Warnings {
		s.entry(0, s.warn(string(w.Code)), s.warningWords(w), nil)
	}
}

func (s *screen) warningWords(w plan.Warning) string {
	switch w.Code {
	case plan.StartsRollout:
		return fmt.Sprintf("the change of the strategy alone starts a rollout: %s", pluralVerb(number(w.Facts, "pods"), "pod is old", "pods are old"))
	case plan.OutsideBudget:
		return fmt.Sprintf("the next step deletes %s, and the limit is %d: pods that are not available go whatever it says", plural(number(w.Facts, "count"), "pod"), number(w.Facts, "limit"))
	case plan.NewPodsFailing:
		n, failing := number(w.Facts, "newPods"), number(w.Facts, "newFailing")
		return fmt.Sprintf("%d of the %s of the current revision %s; the plan takes further ones to run", failing, plural(n, "pod"), map[bool]string{true: "fails", false: "fail"}[failing == 1])
	case plan.ManagedByTool:
		return toolWords(w.Facts)
	case plan.ServerWarning:
		return "the API server warns: " + fact(w.Facts, "message")
	case plan.DuplicateKey:
		key := "a key stands twice in one object"
		if name := fact(w.Facts, "key"); name != "" {
			key = "the key " + name + " stands twice in one object"
		}
		return fmt.Sprintf("%s: document %d, line %d: %s; the later value counts, as for kubectl apply", fact(w.Facts, "file"), number(w.Facts, "document"), number(w.Facts, "line"), key)
	case plan.InvalidImageName:
		return fmt.Sprintf(`container %s: a kubelet does not start "%s": %s`, fact(w.Facts, "container"), fact(w.Facts, "image"), ImageFault(template.ImageFault(fact(w.Facts, "fault"))))
	case plan.NeverUpdated:
		return "revision " + fact(w.Facts, "revision") + " has an empty hash: the controller takes its own new pods for old ones, and never ends"
	}
	return s.causeWords(w.Code, w.Facts, nil, nil)
}

// ImageFault says what is wrong with the name of an image.
func ImageFault(fault template.ImageFault) string {
	switch fault {
	case template.ImageScheme:
		return "the name of an image has no scheme such as https://"
	case template.ImageCharacter:
		return "it has a character that no name of an image has"
	case template.ImageUppercase:
		return "the name of a repository has no upper case"
	case template.ImageNoTag:
		return "the tag after the colon is missing"
	case template.ImageBadDigest:
		return "the digest after @ is not sha256: and 64 hexadecimal digits"
	}
	return "it is not of the form REGISTRY/NAME:TAG"
}

// toolWords says who else writes the DaemonSet, and what undoes a change by
// hand.
func toolWords(f daemonset.Facts) string {
	by := func(kind string) string {
		if fact(f, "by") == "" {
			return ""
		}
		return ", " + kind + " " + fact(f, "by")
	}
	var who, undone string
	switch tool := plan.Tool(fact(f, "tool")); tool {
	case plan.Operator:
		who, undone = "the controller of "+fact(f, "by")+" writes it", "its next reconciliation undoes this"
	case plan.ArgoCD:
		who, undone = "Argo CD writes it"+by("application"), "the next sync undoes this"
	case plan.FluxKustomization:
		who, undone = "Flux writes it"+by("Kustomization"), "the next reconciliation undoes this"
	case plan.FluxHelmRelease:
		who, undone = "Flux writes it"+by("HelmRelease"), "the next upgrade, or correction of drift, undoes this"
	case plan.ConfigSync:
		who, undone = "Config Sync writes it"+by("sync"), "the next sync undoes this"
	case plan.Fleet:
		who, undone = "Fleet writes it", "the next deployment of its bundle, or correction of drift, undoes this"
	case plan.K3sAddon:
		who, undone = "k3s or RKE2 writes it"+by("addon"), "it is applied again when the file changes or the server starts, which undoes this"
	case plan.AddonManager:
		who, undone = "the addon manager of Kubernetes writes it", "it is applied again all the time, which undoes this"
	case plan.Kops:
		who, undone = "kOps writes it"+by("addon"), "the next update of the addon undoes this"
	case plan.Kapp:
		who, undone = "kapp writes it"+by("app"), "the next deploy undoes this"
	case plan.HelmRelease:
		who, undone = "Helm writes it"+by("release"), "the next upgrade undoes this"
	case plan.Terraform:
		who, undone = "Terraform writes it", "the next apply undoes this"
	case plan.ServerSideApply:
		who, undone = fact(f, "by")+" applies it server-side", "the next apply undoes this"
	case plan.KubectlApply:
		who, undone = "it was made with kubectl apply", "the next apply of its manifest undoes this"
	default:
		who, undone = clean(string(tool))+" writes it", "that undoes this"
	}
	return who + " (" + fact(f, "evidence") + "): " + undone
}

// changes are the fields that differ, and what that means for the pods.
func (s *screen) changes(p *plan.Plan) {
	c := p.Change
	if c == nil {
		return
	}
	s.gap()
	s.line("%s%s", s.title("WHAT CHANGES"), inBrackets(methodWords(c)))
	const most = 8
	groups := groupFields(len(c.Fields), func(i int) (path, words string) { return c.Fields[i].Path, s.fieldWords(c.Fields[i]) })
	slices.SortStableFunc(groups, func(a, b fieldGroup) int { return cmp.Compare(a.rank(), b.rank()) })
	said := 0
	for i, g := range groups {
		if i == most && !s.All && len(groups) > most+1 {
			s.line("  and %s, with --all", plural(len(c.Fields)-said, "more field"))
			break
		}
		s.line("  %s: %s", s.groupTitle(g, clean), g.words)
		said += len(g.paths)
	}
	for _, n := range c.Nodes {
		s.line("  %s", s.nodeChange(n))
	}
	s.line("  %s", templateWords(p))
}

// fieldGroup is one field that differs, or one of several containers that differs
// alike in all of them.
type fieldGroup struct {
	paths []string
	words string // how it differs
}

// rank orders what a plan says of fields, of which it may leave out the last: what
// runs comes first.
func (g fieldGroup) rank() int {
	if d := describe(g.paths[0]); d.isImage() || d.isContainer() {
		return 0
	}
	return 1
}

// groupFields puts fields together that differ alike in several containers, each
// group at the place of its first.
func groupFields(n int, field func(i int) (path, words string)) []fieldGroup {
	var out []fieldGroup
	at := map[[2]string]int{} // by the field of any container, and its words
	for i := range n {
		path, words := field(i)
		if _, rest := ofContainer(path); rest != "" {
			key := [2]string{rest, words}
			if j, found := at[key]; found {
				out[j].paths = append(out[j].paths, path)
				continue
			}
			at[key] = len(out)
		}
		out = append(out, fieldGroup{[]string{path}, words})
	}
	return out
}

// ofContainer splits the path of a field of a container in two; rest is empty for
// any other path.
func ofContainer(path string) (container, rest string) {
	at := segments(templatePath(path))
	if len(at) > 1 && at[0].val != "" && (at[0].name == "containers" || at[0].name == "initContainers") {
		return at[0].val, joined(at[1:])
	}
	return "", ""
}

// groupTitle names what differs: the path of one field, or the field and the
// containers that it is of.
func (s *screen) groupTitle(g fieldGroup, pathWords func(string) string) string {
	if len(g.paths) == 1 {
		return pathWords(g.paths[0])
	}
	var of []string
	rest := ""
	for _, path := range g.paths {
		container := ""
		container, rest = ofContainer(path)
		of = append(of, container)
	}
	return fmt.Sprintf("%s of %s (%s)", clean(rest), plural(len(of), "container"), s.names(of))
}

// fieldWords says how a field differs. Of one whose literal value is hidden
// there is only that.
func (s *screen) fieldWords(f plan.FieldDiff) string {
	before, after := s.fieldValue(f.Path, f.Old), s.fieldValue(f.Path, f.New)
	note, alone := "", f.Hidden && (hiddenAlone.MatchString(f.Path) || hiddenWhole(f.Old) && hiddenWhole(f.New))
	switch {
	case alone:
		note = " (its value is hidden; --show-values)"
	case f.Hidden:
		note = " (literal values are hidden; --show-values)"
	}
	switch {
	case f.Old == "" && alone:
		return "added" + note
	case f.Old == "":
		return "added, " + after + note
	case f.New == "" && alone:
		return "removed" + note
	case f.New == "":
		return "removed, was " + before + note
	case alone, f.Hidden && f.Old == f.New:
		return "changed" + note
	}
	before, after = s.sides(f.Path, f.Old, f.New)
	return before + " -> " + after + note
}

// hiddenAlone are the paths of a variable, of its value, and of an annotation,
// of which nothing is left to show when the value is hidden.
var hiddenAlone = regexp.MustCompile(`\.env\[name=("([^"\\]|\\.)*"|[^\]]*)\](\.value)?$|^metadata\.annotations[.\[]`)

// hiddenWhole reports whether nothing is left of a value, or there was none.
func hiddenWhole(raw string) bool { return raw == "" || plainText(raw) == template.Hidden }

// fieldValue writes a JSON value: a text without its quotes, and tolerations as
// --toleration takes them; of a long list the first members, and of a container
// its image.
func (s *screen) fieldValue(path, raw string) string {
	if words := tolerationWords(path, raw); words != "" {
		return s.shorten(words, 300)
	}
	whole := wholeValue(raw)
	var container struct{ Image string }
	if describe(path).isContainer() && !s.All && json.Unmarshal([]byte(raw), &container) == nil && container.Image != "" {
		return "image " + s.shorten(seen(container.Image), room) + ", …"
	}
	if members, isList := membersOf(raw); isList && !s.All && width(whole) > room {
		_, whole = s.apart(pieces{joiner: ", ", list: true}, pieces{all: members, joiner: ", ", list: true})
		return whole
	}
	return s.shorten(whole, room)
}

var tolerationPath = regexp.MustCompile(`^spec\.template\.spec\.tolerations(\[[^\]]*\])?$`)

// tolerationWords writes one toleration or several as KEY=VALUE:EFFECT; empty
// for any other field.
func tolerationWords(path, raw string) string {
	if !tolerationPath.MatchString(path) {
		return ""
	}
	var all []corev1.Toleration
	if json.Unmarshal([]byte(raw), &all) != nil {
		var one corev1.Toleration
		if json.Unmarshal([]byte(raw), &one) != nil {
			return ""
		}
		all = append(all, one)
	}
	var words []string
	for _, t := range all {
		w := cmp.Or(t.Key, "*")
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			w += "=" + t.Value
		case corev1.TolerationOpExists:
		default:
			w += " " + string(t.Operator) + " " + t.Value
		}
		if t.Effect != "" {
			w += ":" + string(t.Effect)
		}
		if t.TolerationSeconds != nil {
			w += fmt.Sprintf(" for %d s", *t.TolerationSeconds)
		}
		words = append(words, clean(w))
	}
	return strings.Join(words, ", ")
}

// methodWords says how a manifest was laid over the live object.
func methodWords(c *plan.ChangeSummary) string {
	as := " as field manager " + clean(c.FieldManager)
	switch {
	case c.FieldManager == "":
	case c.Method == plan.MethodServerDryRun:
		return "by the API server, in a dry run of kubectl apply --server-side" + as
	case c.Method == plan.MethodOverlay:
		return "kubectl apply --server-side" + as + "; no managed fields are known, so nothing is removed"
	case c.Method != "New":
		return "kubectl apply --server-side" + as + "; a field that it alone owns and the manifest lacks is removed"
	}
	switch c.Method {
	case "":
		return ""
	case "LastApplied":
		return "the manifest as kubectl apply would lay it over the live object, by its last-applied annotation"
	case "ManagedFields":
		return "the manifest laid over the live object; what its field managers own and the manifest lacks goes"
	case "Overlay":
		return "the manifest laid over the live object; nothing tells what it used to hold, so nothing is removed"
	case "ServerDryRun":
		return "by the API server, in a dry run"
	case "New":
		return "a DaemonSet that is not in the cluster yet"
	}
	return clean(c.Method)
}

var nodeChangeWords = map[plan.NodeChangeKind]string{
	plan.NodeTaint: "tainted", plan.NodeUntaint: "without the taint", plan.NodeLabel: "labelled", plan.NodeUnlabel: "without the label",
	plan.NodeCordon: "cordoned", plan.NodeUncord: "uncordoned", plan.NodeDown: "down", plan.NodeRemove: "removed", plan.NodeAdd: "added",
}

func (s *screen) nodeChange(n plan.NodeChange) string {
	words := plural(len(n.Nodes), "node") + " "
	if len(n.Nodes) == 0 {
		words = "no node "
	}
	words += cmp.Or(nodeChangeWords[n.Kind], clean(string(n.Kind)))
	switch {
	case n.Kind == plan.NodeAdd:
		words += " like " + clean(n.Value)
	case n.Value != "":
		words += " " + clean(n.Value)
	}
	if len(n.Nodes) == 0 {
		return words + ": what was named is so already"
	}
	return words + ": " + s.names(n.Nodes)
}

// templateWords says what the change means for the revision.
func templateWords(p *plan.Plan) string {
	c := p.Change
	r := &c.Revision
	switch {
	case p.Subject == plan.SubjectNew && nowhere(p):
		return "No node is eligible: none matches the node selector and affinity, or each has a taint that the pod does not tolerate."
	case p.Subject == plan.SubjectNew:
		return "every node that should run it gets a pod of revision 1"
	case !c.TemplateChanged && !p.TemplateKnown():
		return "The template stays, if " + valuesEqual(p) + ": else every pod gets old."
	case !c.TemplateChanged && len(c.Fields) == 0 && len(c.Nodes) == 0:
		return "nothing"
	case !c.TemplateChanged && len(c.Fields) == 0:
		return "The DaemonSet stays as it is."
	case !c.TemplateChanged:
		return "The template stays: no pod gets old by it."
	case !r.New && r.Was > 0 && !p.TemplateKnown():
		return fmt.Sprintf("The template is that of revision %d, taken up again as revision %d, if %s: else every pod is old.", r.Was, r.Number, valuesEqual(p))
	case !r.New && r.Was > 0:
		return fmt.Sprintf("The template is that of revision %d, taken up again as revision %d: only pods that are not on it are replaced.", r.Was, r.Number)
	}
	what := "The template changes"
	if m, ok := template.OnlyMetadata(c.Fields, "spec.template"); ok {
		what = "Nothing changes in the template but " + metadataWords(m)
		if slices.Equal(slices.Concat(m.Annotations, m.Labels), []string{restarted}) {
			what = "Nothing changes in the template but its restart annotation"
		}
	}
	if !p.TemplateKnown() {
		what += ", if " + valuesEqual(p)
	}
	if r.From > 0 {
		return fmt.Sprintf("%s: revision %d follows %d, and every pod is old.", what, r.Number, r.From)
	}
	return what + ": every pod is old."
}

// metadataWords names annotations and labels.
func metadataWords(m template.Metadata) string {
	var parts []string
	for _, of := range []struct {
		one, many string
		keys      []string
	}{{"the annotation", "the annotations", m.Annotations}, {"the label", "the labels", m.Labels}} {
		const most = 5
		names := slices.Clone(of.keys[:min(most, len(of.keys))])
		for i, n := range names {
			names[i] = clean(n)
		}
		switch n := len(of.keys) - most; {
		case len(of.keys) == 0:
			continue
		case len(of.keys) == 1:
			parts = append(parts, of.one+" "+names[0])
			continue
		case n > 0:
			names = append(names, fmt.Sprintf("%d more", n))
		}
		parts = append(parts, of.many+" "+strings.Join(names, ", "))
	}
	return strings.Join(parts, " and ")
}

// placements are the nodes that gain or lose a pod at once, those that lose
// one first.
func (s *screen) placements(p *plan.Plan) {
	moves, later := len(p.Placement.Gain)+len(p.Placement.Lose), lostLater(p)
	desired := desiredWords(p)
	if moves == 0 && desired == "" && len(later) == 0 {
		return
	}
	s.gap()
	title := s.title("PLACEMENT")
	if moves > 0 {
		s.line("%s", title+"  at once, whatever strategy and budget say")
		s.placed("loses", s.bad, p.Placement.Lose)
		s.placed("gains", s.good, p.Placement.Gain)
	}
	if len(later) > 0 {
		s.line("%s", title+"  in the course of the rollout, and not replaced")
		s.placed("loses", s.bad, later)
	}
	switch {
	case desired == "":
	case moves+len(later) == 0:
		s.line("%s  %s", title, desired)
	default:
		s.line("  %s", desired)
	}
}

// lostLater are the nodes that lose their pod, but for those that do so at once
// for the change.
func lostLater(p *plan.Plan) []plan.PlacementNode {
	return slices.DeleteFunc(slices.Clone(p.Lost), func(n plan.PlacementNode) bool {
		return slices.ContainsFunc(p.Placement.Lose, func(l plan.PlacementNode) bool { return l.Node == n.Node })
	})
}

// desiredWords says on how many nodes more or fewer the pod should run; empty
// where it is on as many.
func desiredWords(p *plan.Plan) string {
	if p.Desired.Before == p.Desired.After {
		return ""
	}
	words := fmt.Sprintf("DESIRED %d -> %d", p.Desired.Before, p.Desired.After)
	if stays(p) {
		words += ": pods on nodes that are no longer eligible stay until the next rollout deletes them, and are not recreated"
	}
	return words
}

// stays tells whether there are surely pods whose node should run one no more
// and keeps it: fewer nodes should than those tell that lose theirs or go.
func stays(p *plan.Plan) bool {
	fewer := p.Desired.Before - p.Desired.After - len(p.Lost) + len(p.Placement.Gain)
	if p.Change != nil {
		for _, n := range p.Change.Nodes {
			if n.Kind == plan.NodeRemove {
				fewer -= len(n.Nodes)
			}
		}
	}
	return fewer > 0
}

func (s *screen) placed(verb string, paint func(string) string, nodes []plan.PlacementNode) {
	groups := placedGroups(nodes)
	for i, g := range groups {
		if i == 4 && !s.All && len(groups) > 5 {
			left := 0
			for _, g := range groups[i:] {
				left += len(g.nodes)
			}
			s.line("  and %s %s a pod for other reasons, with --all", plural(left, "more node"), strings.TrimSuffix(verb, "s"))
			return
		}
		code := paint(verb)
		if g.reason != daemonset.Eligible {
			code += "  " + s.title(string(g.reason))
		}
		s.entry(len(g.nodes), code, g.words, g.nodes)
	}
}

// placedGroup is nodes that gain or lose a pod for one reason.
type placedGroup struct {
	reason daemonset.Reason
	words  string
	nodes  []string
}

// placedGroups puts nodes of one reason together, the largest group first.
func placedGroups(nodes []plan.PlacementNode) []placedGroup {
	var groups []placedGroup
	for _, n := range nodes {
		words := placement(n.Verdict.Reason, n.Verdict.Facts)
		i := slices.IndexFunc(groups, func(g placedGroup) bool { return g.reason == n.Verdict.Reason && g.words == words })
		if i < 0 {
			i, groups = len(groups), append(groups, placedGroup{reason: n.Verdict.Reason, words: words})
		}
		groups[i].nodes = append(groups[i].nodes, n.Node)
	}
	slices.SortStableFunc(groups, func(a, b placedGroup) int { return len(b.nodes) - len(a.nodes) })
	return groups
}

// groups are the bounds for nodes that share a label's value.
func (s *screen) groups(groups []plan.Group) {
	if len(groups) == 0 {
		return
	}
	s.gap()
	t := &table{head: []string{strings.ToUpper(clean(groups[0].Key)), " NODES", " DOWN NOW", " STEP AT MOST", " DOWN AT WORST"}}
	for i, g := range groups {
		if i == 8 && !s.All && len(groups) > 9 {
			break
		}
		t.add(cmp.Or(clean(g.Value), "(no label)"), strconv.Itoa(g.Nodes), strconv.Itoa(g.Down), strconv.Itoa(g.Step), strconv.Itoa(g.AtWorst))
	}
	s.rows(t)
	if n := len(groups) - len(t.rows); n > 0 {
		s.line("  and %s, with --all", plural(n, "more group"))
	}
}

// forecast is the way to the end: waves, outcome, and what other limits would
// mean.
func (s *screen) forecast(f *plan.Forecast, again string) {
	s.waves(f.Waves)
	s.outcome(f, again)
	s.limits(f)
}

func (s *screen) waves(waves []plan.Wave) {
	if len(waves) == 0 {
		return
	}
	s.gap()
	timed := waves[0].At != nil
	t := &table{head: []string{"WAVE", " DELETES", " CREATES", " THEN UP-TO-DATE", " AVAILABLE"}}
	if timed {
		t.head = slices.Insert(t.head, 1, " AFTER")
	}
	first := 1
	for _, w := range waves {
		cells := []string{interval(first, first+w.Count-1), each(w.Deletes, w.Count), each(w.Creates, w.Count), strconv.Itoa(w.Counts.Updated), strconv.Itoa(w.Counts.Available)}
		if timed {
			cells = slices.Insert(cells, 1, cmp.Or(begins(w), "?"))
		}
		t.add(cells...)
		first += w.Count
	}
	lines := t.lines(s.Style)
	const head, tail = 6, 2 // with the head of the table before them
	for i, l := range lines {
		if folded := len(lines) - head - tail; folded > 1 && !s.All {
			if i == head {
				s.line("  … %s, with --all", plural(folded, "more row"))
			}
			if i >= head && i < len(lines)-tail {
				continue
			}
		}
		s.row(l)
	}
}

// begins says when a wave begins, or when the first and the last of several do;
// empty where that is not known.
func begins(w plan.Wave) string {
	switch {
	case w.At == nil:
		return ""
	case w.Count == 1 || w.Last == nil:
		return seconds(*w.At)
	}
	return rangeWords(&plan.Duration{Optimistic: *w.At, Pessimistic: *w.Last})
}

func interval(from, to int) string {
	if from == to {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

func each(n, count int) string {
	if count > 1 && n > 0 {
		return fmt.Sprintf("%d each", n)
	}
	return strconv.Itoa(n)
}

// outcome says how it ends, who keeps it from ending well, and what would
// help.
func (s *screen) outcome(f *plan.Forecast, again string) {
	o := &f.Outcome
	switch {
	case o.Code == plan.NothingToDo, o.Code == plan.Unknown, o.Code == plan.NotRolling && (o.Reason != daemonset.StepOnDelete || o.Left == 0):
		return
	}
	s.gap()
	s.line("%s %s", s.title("OUTCOME"), outcomeWords(f))
	if c := added(again, "--strategy RollingUpdate"); o.Code == plan.NotRolling && c != "" {
		s.line("  as a rolling update:")
		s.whole("    " + c)
	}
	s.late(o)
	s.holders(o)
	s.unblockings(o, again)
}

func outcomeWords(f *plan.Forecast) string {
	o := &f.Outcome
	words := "completes"
	switch {
	case o.Code == plan.RemovesAllPods:
		words = "removes all pods"
	case o.Code == plan.NotRolling:
		words = "not rolling: " + pluralVerb(o.Left, "pod stays old until somebody deletes it", "pods stay old until somebody deletes them")
	case o.Code == plan.Stalls && o.Replaced+o.Dropped+o.Left == 0:
		words = "stalls"
	case o.Code == plan.Stalls && f.Budget.Kind == daemonset.BudgetSurge:
		words = fmt.Sprintf("stalls: %d replaced%s%s, %s", o.Replaced, droppedWords(o), atWorst(o), pluralVerb(o.Left, "stays old", "stay old"))
	case o.Code == plan.Stalls: // on a dead node a deleted pod never ends, and none follows
		words = fmt.Sprintf("stalls: %s deleted%s, %s", plural(o.Replaced+o.Dropped, "old pod"), atWorst(o), pluralVerb(o.Left, "stays old", "stay old"))
	}
	if o.Code == plan.Stalls && o.Terminating > 0 {
		words += ", " + pluralVerb(o.Terminating, "stays terminating", "stay terminating")
	}
	if o.Duration != nil {
		words += " in " + rangeWords(o.Duration)
	}
	if o.Worst > 0 {
		words += fmt.Sprintf(", with at most %s without an available pod", plural(o.Worst, "node"))
	}
	if f.Drops > 0 && o.Code == plan.Completes {
		words += "; " + pluralVerb(f.Drops, "old pod is deleted without replacement: its node is not eligible", "old pods are deleted without replacement: their nodes are not eligible")
	}
	creates, _ := moved(f)
	switch {
	case len(o.Late) > 0 && o.Code == plan.Completes:
		words += " once " + pluralVerb(len(o.Late), "pod is ready that takes longer than any other pod did", "pods are ready that take longer than any other pod did") + "; no time can be told"
	case o.Duration == nil && o.Code == plan.Completes && creates > 0:
		words += "; no pod tells how long it takes to become ready (--start 40s would)"
	}
	return words
}

func droppedWords(o *plan.Outcome) string {
	if o.Dropped == 0 {
		return ""
	}
	return fmt.Sprintf(", %d deleted without replacement", o.Dropped)
}

// rangeWords is "19 to 44 min".
func rangeWords(d *plan.Duration) string {
	low, high := seconds(d.Optimistic), seconds(d.Pessimistic)
	if low == high {
		return low
	}
	if n, unit, _ := strings.Cut(low, " "); strings.Count(low, " ") == 1 && strings.Count(high, " ") == 1 && strings.HasSuffix(high, " "+unit) {
		low = n
	}
	return low + " to " + high
}

// durationWords is "27 min (19 to 44 min)".
func durationWords(d *plan.Duration) string {
	if low := seconds(d.Optimistic); low == seconds(d.Pessimistic) {
		return seconds(d.Expected)
	}
	return seconds(d.Expected) + " (" + rangeWords(d) + ")"
}

// seconds writes a span of time with no more digits than a forecast has.
func seconds(n float64) string {
	d := time.Duration(n * float64(time.Second))
	switch {
	case d < 950*time.Millisecond && d >= 50*time.Millisecond:
		return fmt.Sprintf("%.1f s", n)
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
	case d.Round(time.Minute) < time.Hour:
		return fmt.Sprintf("%d min", d.Round(time.Minute)/time.Minute)
	case d.Round(5*time.Minute) < 10*time.Hour:
		d = d.Round(5 * time.Minute)
		if m := d % time.Hour / time.Minute; m > 0 {
			return fmt.Sprintf("%d h %d min", d/time.Hour, m)
		}
		return fmt.Sprintf("%d h", d/time.Hour)
	case d.Round(time.Hour) < 48*time.Hour:
		return fmt.Sprintf("%d h", d.Round(time.Hour)/time.Hour)
	}
	return fmt.Sprintf("%d days", d.Round(24*time.Hour)/(24*time.Hour))
}

// holders lists by cause who stays without an available pod.
func (s *screen) holders(o *plan.Outcome) {
	if left(o) == 0 {
		return
	}
	title := "WITHOUT AN AVAILABLE POD AT THE END"
	if o.Code == plan.Stalls && o.Reason == daemonset.StepBudgetSpent {
		title = "HOLDING THE BUDGET"
	}
	if o.Reason == cause.Terminating {
		title = "STAY TERMINATING"
	}
	s.line("%s", s.title(fmt.Sprintf("%s (%d)", title, left(o))))
	if n := o.FurtherHolders; n > 0 {
		what := "any of the nodes"
		if len(o.Holders) > 0 {
			what = "more, any of the nodes"
		}
		defer s.line("  %3d  %s: which ones is the controller's random pick", n, what)
	}
	s.holderEntries(o.Holders)
}

// holderEntries lists holders by cause.
func (s *screen) holderEntries(holders []plan.Holder) {
	groups := holderGroups(holders)
	const most = 4
	for i, g := range groups {
		if i == most && !s.All && len(groups) > most+1 {
			s.line("  and %s, with --all", plural(len(groups)-most, "more cause"))
			return
		}
		code := string(g.code)
		switch g.severity {
		case cause.Error:
			code = s.bad(code)
		case cause.Warning:
			code = s.warn(code)
		}
		s.entry(len(g.nodes), code, s.causeWords(g.code, g.facts, g.since, g.latest), g.nodes)
	}
}

// late lists by cause the pods that a rollout waits for longer than others took.
func (s *screen) late(o *plan.Outcome) {
	if len(o.Late) == 0 {
		return
	}
	title := s.title(fmt.Sprintf("NOT READY YET (%d)", len(o.Late)))
	if slowest, known := slowestStart(o.Late); known {
		title += fmt.Sprintf("  other pods were ready after %s at most", seconds(slowest))
	}
	s.line("%s", title)
	s.holderEntries(o.Late)
}

// slowestStart is how long the slowest of the other pods took to become ready.
func slowestStart(late []plan.Holder) (seconds float64, known bool) {
	for _, h := range late {
		if h.Cause != nil && h.Facts["slowestStart"] != nil {
			return float64(number(h.Facts, "slowestStart")), true
		}
	}
	return 0, false
}

// holderGroup is the holders that have one cause.
type holderGroup struct {
	code          daemonset.Reason
	severity      cause.Severity
	facts         daemonset.Facts
	since, latest *time.Time
	nodes         []string
}

// holderGroups puts the holders of one cause together, the largest group
// first, with the facts that all of them share and the first one's message.
func holderGroups(holders []plan.Holder) []holderGroup {
	var groups []holderGroup
	for _, h := range holders {
		c := cause.Cause{Code: holderCode(h), Severity: cause.Error}
		if h.Cause != nil {
			c = *h.Cause
		}
		i := slices.IndexFunc(groups, func(g holderGroup) bool { return g.code == c.Code && g.severity == c.Severity })
		if i < 0 {
			g := holderGroup{code: c.Code, severity: c.Severity, facts: daemonset.Facts{}, since: c.Since, latest: c.Since}
			for k, v := range c.Facts {
				g.facts[k] = v
			}
			i, groups = len(groups), append(groups, g)
		}
		g := &groups[i]
		g.nodes = append(g.nodes, h.Node)
		for k, v := range g.facts {
			if k != "message" && !reflect.DeepEqual(v, c.Facts[k]) {
				delete(g.facts, k)
			}
		}
		switch {
		case c.Since == nil || g.since == nil:
			g.since, g.latest = nil, nil
		case c.Since.Before(*g.since):
			g.since = c.Since
		case c.Since.After(*g.latest):
			g.latest = c.Since
		}
	}
	slices.SortStableFunc(groups, func(a, b holderGroup) int { return len(b.nodes) - len(a.nodes) })
	return groups
}

// unblockings are the single changes that would let a stalled rollout end,
// with the command that plans each.
func (s *screen) unblockings(o *plan.Outcome, again string) {
	if len(o.Unblock) == 0 {
		return
	}
	s.line("  to let it complete, fix what is wrong there, or try one of these:")
	var nodes []plan.Unblock
	for _, u := range o.Unblock {
		if u.Code == plan.RemoveNode {
			nodes = append(nodes, u)
			continue
		}
		words, _ := unblockWords(u)
		s.unblocking(words, u, again)
	}
	if len(nodes) == 0 {
		return
	}
	words, _ := unblockWords(nodes[0])
	if len(nodes) > 1 {
		var names []string
		for _, u := range nodes {
			names = append(names, u.Value)
		}
		words = "without one node of " + s.names(names)
	}
	s.unblocking(words, nodes[0], again)
}

// unblocking is one of them, with what it leaves broken.
func (s *screen) unblocking(words string, u plan.Unblock, again string) {
	words += s.leftBroken(u.Left)
	c := unblockCommand(u, again)
	if c == "" {
		s.line("    %s", words)
		return
	}
	s.line("    %s:", words)
	s.whole("      " + c)
}

// unblockCommand plans the same with one change more.
func unblockCommand(u plan.Unblock, again string) string {
	_, flag := unblockWords(u)
	if flag == "" {
		return ""
	}
	return added(again, flag+" "+Quote(u.Value))
}

// unblockWords says a change, and the flag that asks for it.
func unblockWords(u plan.Unblock) (words, flag string) {
	switch u.Code {
	case plan.RaiseMaxUnavailable:
		return "maxUnavailable " + clean(u.Value), "--max-unavailable"
	case plan.RaiseMaxSurge:
		return "maxSurge " + clean(u.Value), "--max-surge"
	case plan.RemoveNode:
		return "without node " + clean(u.Value), "--remove-nodes"
	case plan.NoSurge:
		return "maxSurge 0 with maxUnavailable " + clean(u.Value), "--max-surge 0 --max-unavailable"
	case plan.RollBack:
		return "back to revision " + clean(u.Value), "--to-revision"
	}
	return clean(string(u.Code)) + " " + clean(u.Value), ""
}

// limits is what the same rollout would be with other limits, those that come
// to the same in one line.
func (s *screen) limits(f *plan.Forecast) {
	limits := f.Limits
	rows := limitRows(limits)
	if len(rows) == 0 {
		return
	}
	if !slices.ContainsFunc(rows, func(r limitRow) bool { return r.Code != plan.Stalls }) {
		var names []string
		for _, l := range limits {
			if !l.Planned {
				names = append(names, clean(l.Limit))
			}
		}
		if len(names) > 0 {
			s.gap()
			s.line("%s stall as well: %s", s.title("OTHER LIMITS"), strings.Join(names, ", "))
		}
		return
	}
	s.gap()
	t := &table{head: []string{"OTHER LIMITS", " AT A TIME", " STEPS", "DURATION"}}
	if f.Budget.Kind == daemonset.BudgetSurge {
		t.head[0] = "OTHER maxSurge"
	}
	for _, r := range rows {
		t.add(r.name, strconv.Itoa(atATime(f, r.AtATime)), strconv.Itoa(r.Steps), limitEnd(r.Limit))
	}
	s.rows(t)
	if words := usedUpWords(f); words != "" {
		s.line("  %s", words)
	}
	if words := s.slowerWords(rows, f.Budget.Kind); words != "" {
		s.line("  %s", words)
	}
}

// usedUpWords says why fewer pods are replaced at a time than a limit allows,
// where nodes that stay as they are use it up too. Where it stalls, those were
// listed as holding the budget.
func usedUpWords(f *plan.Forecast) string {
	n := len(f.Outcome.Holders)
	fewer := func(l plan.Limit) bool {
		return l.Code != plan.Stalls && atATime(f, l.AtATime) < min(l.Nodes, olds(f))
	}
	if f.Outcome.Code == plan.Stalls || f.Budget.Kind != daemonset.BudgetUnavailable || n == 0 || f.Outcome.FurtherHolders > 0 || !slices.ContainsFunc(f.Limits, fewer) {
		return ""
	}
	return "each limit also counts the " + pluralVerb(n, "node that stays", "nodes that stay") + " unavailable"
}

// minReady is the minReadySeconds that a plan reckons with; empty where there are
// none.
func minReady(p *plan.Plan) string {
	for _, a := range p.Assumptions {
		if a.Code == plan.AssumeMinReadySeconds {
			return clean(a.Value)
		}
	}
	return ""
}

// slowerWords says why a higher limit takes longer than a lower one, where one
// does and minReadySeconds makes it so.
func (s *screen) slowerWords(rows []limitRow, kind daemonset.BudgetKind) string {
	if s.minReady == "" {
		return ""
	}
	field := "maxUnavailable"
	if kind == daemonset.BudgetSurge {
		field = "maxSurge"
	}
	for i := 1; i < len(rows); i++ {
		lower, higher := rows[i-1].Duration, rows[i].Duration
		if lower == nil || higher == nil || higher.Expected < lower.Expected+1 {
			continue
		}
		return fmt.Sprintf("%s %s takes longer than %s: the controller counts a pod that becomes available just after it has looked only when it looks again, minReadySeconds (%s s) later",
			field, clean(rows[i].Limit.Limit), clean(rows[i-1].Limit.Limit), s.minReady)
	}
	return ""
}

// limitRow is a limit under all its names.
type limitRow struct {
	name string
	plan.Limit
}

func limitRows(limits []plan.Limit) []limitRow {
	var rows []limitRow
	for _, l := range limits {
		if i := slices.IndexFunc(rows, func(r limitRow) bool { return r.Nodes == l.Nodes }); i >= 0 {
			rows[i].name += ", " + clean(l.Limit)
			continue
		}
		rows = append(rows, limitRow{clean(l.Limit), l})
	}
	for i := range rows {
		switch r := &rows[i]; {
		case r.Current:
			r.name += " (as now)"
		case r.Planned:
			r.name += " (in this plan)"
		}
	}
	return rows
}

func limitEnd(l plan.Limit) string {
	switch {
	case l.Code == plan.Stalls:
		return "stalls"
	case l.Code != plan.Completes:
		return strings.ToLower(spaced(string(l.Code)))
	case l.Duration == nil:
		return "?"
	}
	return durationWords(l.Duration)
}
