package view

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// The methods in this file describe what to do with a planned change.

// doNow adds whether to make the change, or what to do first. At this point, the label Then already has the corrections
// that the change needs.
func (s *planScreen) doNow() {
	do, only := s.instruction(), len(s.p.Hypothetical()) > 0
	switch v := s.p.Verdict(); {
	case s.Asked.Undo && s.p.Change != nil && !s.p.Change.TemplateChanged:
		s.advise("nothing: the live template is that of this revision already")
	case v == plan.VerdictCompletes && only:
		s.advise("nothing: it completes with " + wording.SomeNames(s.p.Hypothetical()) + " down, too")
	case v == plan.VerdictCompletes:
		s.doComplete(do)
	case v == plan.VerdictNothing && s.p.Change != nil && len(s.p.Change.Fields) > 0:
		s.addCommands(screen.DoNow, "apply the change, if that is what you want; no pod is affected")
	case v == plan.VerdictEnds:
		s.addCommands(screen.DoNow, fmt.Sprintf("%s, if you give up revision %d; this ends the rollout", do,
			s.p.Change.Revision.From))
	case v == plan.VerdictLate:
		s.doLate(do)
	case v == plan.VerdictUndone:
		s.advise("change it where " + s.undoer() + " reads it, such as Git, not by hand" + s.argoLead())
		s.argo(s.p.UndoneBy())
	case v == plan.VerdictStalls && only:
		s.doIfDown()
	case v == plan.VerdictStalls:
		s.doStall(do)
	case only:
	case v == plan.VerdictRemoves:
		s.addCommands(screen.DoNow, onlyIfLost(do, len(s.p.Placement.Lose)))
	case v == plan.VerdictRemovesAll:
		s.removesAll(do)
	case v == plan.VerdictWaits:
		s.addCommands(screen.DoNow, do+", then delete the old pods one at a time")
	}
}

// advise adds an instruction to Do now.
func (s *planScreen) advise(words string) { s.Add(screen.DoNow, "%s", words) }

// addCommands adds when to make the change, and the commands for it.
func (s *planScreen) addCommands(l screen.Label, words string) {
	who := s.undoer()
	switch {
	case !s.applies() || who == "" && len(s.Asked.Makes) == 0:
		s.Add(l, "%s", words)
		return
	case who != "":
		s.Add(l, "%s", words)
		s.Add(l, "(change it where %s reads it, such as Git: a change by hand is undone)", who)
		return
	}
	s.Add(l, "%s:", words)
	for _, c := range s.Asked.Makes {
		s.Screen.Add(l, c)
	}
	s.Add(l, "%s", wording.Bracketed(s.undoneBy(s.p.ByHand())))
}

// tryOneNode is the instruction for a change after which no node may keep an available pod.
const tryOneNode = "before you %s, set updateStrategy OnDelete and try the change on one node by deleting its pod:" +
	" if the new pods fail, too, no node keeps an available pod"

// doComplete adds what to do with a change that completes.
func (s *planScreen) doComplete(do string) {
	loses := len(s.p.Losses())
	switch repair, waits := s.p.KeptByRepair(), s.revisionBecomingAvailable(); {
	case s.risksAll():
		s.advise(fmt.Sprintf(tryOneNode, do))
	case len(repair) > 0:
		its := wording.PluralOf(len(repair), "its pod is then replaced like the others",
			"their pods are then replaced like the others")
		s.advise(fmt.Sprintf("before you %s, %s %s; %s", do, s.repairVerb(), wording.SomeNames(repair), its))
		s.addCommands(screen.Then, do)
	case loses > 0 && s.Screen.Has(screen.Then):
		s.Screen.Move(screen.Then, screen.DoNow, 0)
		s.addCommands(screen.Or, onlyIfLost(do, loses))
	case loses > 0:
		s.addCommands(screen.DoNow, onlyIfLost(do, loses))
	case waits > 0:
		s.advise(fmt.Sprintf("nothing: revision %d has no problem so far", waits))
		if o := s.before.E.Outlook; o != nil && o.Next != nil {
			do += " before " + o.Next.At.UTC().Format(wording.ClockTime) + "; after that, more pods get revision " +
				fmt.Sprint(waits)
		}
		s.addCommands(screen.Or, do)
	case len(s.p.Warnings) > 0:
		s.addCommands(screen.DoNow, fmt.Sprintf("%s, if you want it in spite of the %s", do,
			wording.PluralOf(len(s.p.Warnings), "warning", wording.Plural(len(s.p.Warnings), "warning"))))
	default:
		s.addCommands(screen.DoNow, do+", if that is what you want")
	}
}

// onlyIfLost returns the instruction for a change that removes pods from nodes.
func onlyIfLost(do string, nodes int) string {
	return do + " only if you want " +
		wording.PluralOf(nodes, "1 node to lose its pod", fmt.Sprintf("%d nodes to lose their pods", nodes))
}

// revisionBecomingAvailable returns the current revision if its pods are about to become available and the change would
// replace them. It returns 0 otherwise.
func (s *planScreen) revisionBecomingAvailable() int64 {
	if s.before == nil || s.p.Change == nil || !s.p.Change.TemplateChanged {
		return 0
	}
	if n, _ := s.before.E.Waiting(); n == 0 {
		return 0
	}
	return s.before.Current()
}

// removesAll adds what to do with a change that leaves no node eligible.
func (s *planScreen) removesAll(do string) {
	if tolerations := s.p.KeptBeforeTaint(); len(tolerations) > 0 {
		s.advise("do not " + do)
		s.tolerateFirst(tolerations, do)
		return
	}
	if s.Screen.Has(screen.Then) || !s.Screen.Has(screen.Check) {
		s.advise("do not " + do)
		return
	}
	s.advise("do not " + do + "; see which values the nodes have (read-only):")
	s.Screen.Move(screen.Check, screen.DoNow, 1)
}

// tolerateFirst adds the tolerations that keep the pods on nodes that get a taint.
func (s *planScreen) tolerateFirst(tolerations []corev1.Toleration, do string) {
	var words []string
	for i := range tolerations {
		words = append(words, diagnosis.TolerationText(&tolerations[i]))
	}
	s.Add(screen.Or, "first add to the template the %s %s (this starts a rollout of all pods); once that is "+
		"complete, %s",
		wording.PluralOf(len(words), "toleration", "tolerations"), strings.Join(words, ", "), do)
}

// repairVerb returns the verb for nodes that are down.
func (s *planScreen) repairVerb() string {
	for _, p := range s.problems {
		if p.OnPurpose() {
			return "wait for"
		}
	}
	return "repair"
}

// doLate adds what to do with a change whose end depends on pods that are not Ready yet.
func (s *planScreen) doLate(do string) {
	switch doubt := plan.Nodes(s.o.Unknown); {
	case s.risksAll():
		s.advise(fmt.Sprintf(tryOneNode, do))
	case len(doubt) > 0:
		corrects := " only if it corrects what the pods on " + wording.SomeNames(doubt) +
			" fail on; nothing shows that it does"
		s.addCommands(screen.DoNow, do+corrects)
	default:
		s.advise("wait until these pods are Ready, or find out why they are not (read-only):")
		s.Screen.Move(screen.Check, screen.DoNow, 1)
	}
}

// doIfDown adds what to do about a rollout that stalls if nodes go down.
func (s *planScreen) doIfDown() {
	down, _ := s.p.SplitDown(plan.Down(s.problems))
	supposed := s.p.Hypothetical()
	some, n := wording.SomeNames(supposed), len(supposed)
	switch ways := len(s.p.Ways(false)); {
	case len(down) > 0:
		s.advise(s.repairVerb() + " " + wording.SomeNames(down) + ", whether " + some +
			wording.PluralOf(n, " goes", " go") +
			" down or not")
	case ways == 0:
		s.advise("nothing now; with " + some + " down, the rollout waits until " +
			wording.PluralOf(n, "it is", "they are") + " back")
	default:
		s.advise("nothing now; if " + some + wording.PluralOf(n, " goes", " go") + " down, take " +
			wording.PluralOf(ways, "the", "a") +
			" way out (WAYS OUT)")
	}
}

// doStall adds what to do before a change that stalls.
func (s *planScreen) doStall(do string) {
	down, supposed := s.p.SplitDown(plan.Down(s.problems))
	stuck := s.before != nil && s.before.E.Verdict.Code == explain.Stuck && s.p.Change != nil &&
		!s.p.Change.TemplateChanged
	ways, raised := len(s.p.Ways(false)), s.p.Raised()
	while := ""
	if len(down) == 0 && len(supposed) > 0 {
		while = " while " + wording.SomeNames(supposed) + wording.PluralOf(len(supposed), " is", " are") + " down"
	}
	switch {
	case len(down) > 0 && stuck:
		s.advise(s.repairVerb() + " " + wording.SomeNames(down) + ": the rollout stays stuck if you " + do)
	case len(down) > 0:
		s.advise("before you " + do + ", " + s.repairVerb() + " " + wording.SomeNames(down))
	case s.Screen.Has(screen.Then) && while == "":
		s.advise("before you " + do + s.orDrain() + ":")
		s.Screen.Move(screen.Then, screen.DoNow, 0)
		s.alsoFirst()
	case s.dryRun():
		s.advise("do not " + do + ": first correct what its message names")
	case ways == 0 && while == "" && s.before != nil && len(s.before.E.Matters()) > 0 && s.Asked.Again:
		s.advise("before you " + do + ", see what is wrong now (read-only):")
		s.Screen.Add(screen.DoNow, sheet.WithFlags(screen.Command{s.Asked.Own("explain"), s.Namespace(), s.Name()},
			s.Asked.Input...))
	case ways == 0 || raised != nil && s.raises():
		s.advise("do not " + do + while)
	case raised != nil:
		s.advise("do not " + do + while + "; with a higher limit (WAYS OUT) it would complete" +
			wording.WithPrefix(", but ", s.lossWords()))
	default:
		s.advise("before you " + do + ", take " + wording.PluralOf(ways, "the", "a") + " way out (WAYS OUT)" +
			wording.WithPrefix(": then ", s.lossWords()))
	}
	if s.Asked.Undo {
		s.addCommands(screen.Or, do+" all the same")
	}
}

// alsoFirst adds a command that explains other problems that stop the rollout.
func (s *planScreen) alsoFirst() {
	if s.before == nil || !s.Asked.Again {
		return
	}
	for _, p := range s.problems {
		if p.Code != cause.DoesNotFit && p.Code != cause.FailedCreate && s.before.E.Has(p.Code) != nil {
			s.advise("and solve " + string(p.Code) + wording.Phrase(" on ", wording.SomeNames(p.Nodes)) +
				"; this says how (read-only):")
			s.Screen.Add(screen.DoNow, sheet.WithFlags(screen.Command{s.Asked.Own("explain"), s.Namespace(), s.Name()},
				s.Asked.Input...))
			return
		}
	}
}

// orDrain adds draining to the actions to avoid if the API server now rejects pods that it admitted before.
func (s *planScreen) orDrain() string {
	v := s.p.Admission
	if s.admittedBefore() == 0 || s.o.Reason != cause.FailedCreate || v == nil || len(v.Refusals) == 0 {
		return ""
	}
	return " or drain a node"
}

// dryRun reports whether only a dry run shows why the API server rejects the pods.
func (s *planScreen) dryRun() bool {
	v := s.p.Admission
	return v != nil && len(v.Refusals) > 0 && v.Refusals[0].Reason == admission.DryRunRejected
}

// lossWords names the nodes that lose their pod because of the way out. It returns "" if there are none.
func (s *planScreen) lossWords() string { return sheet.LossWords(s.p.Price()) }

// risksAll reports whether the change may leave no node with an available pod. That is so if the new pods fail on all
// nodes, and nothing shows that they work.
func (s *planScreen) risksAll() bool {
	for _, a := range s.o.Alternatives {
		if s.p.Now.Available > 0 && a.Condition == plan.NextPodsFail && a.Unserved > 0 &&
			a.Unserved == s.p.Desired.After {
			return true
		}
	}
	return false
}

// restartInstruction is the instruction for the change that kubectl rollout restart makes.
const restartInstruction = "restart the DaemonSet"

// instruction returns the instruction that makes the change.
func (s *planScreen) instruction() string {
	c := s.p.Change
	switch {
	case s.Asked.Undo, c != nil && c.Method == "" && c.TemplateChanged && !c.Revision.New && c.Revision.Was > 0:
		return "roll back"
	case c != nil && len(c.Fields) == 1 && c.Fields[0].Path.Equal(template.RestartedAt):
		return restartInstruction
	case c == nil || c.Method != "" || len(c.Fields) > 0:
		return "apply the change"
	}
	var acts []string
	for _, n := range c.Nodes {
		if n.Kind == whatif.NodeAdd && len(n.Nodes) > 0 {
			acts = append(acts, wording.PluralOf(len(n.Nodes), "add the node", "add the nodes"))
		} else if act := nodeActs[n.Kind]; act != "" && len(n.Nodes) > 0 {
			// Change names these nodes
			acts = append(acts, act+" "+wording.PluralOf(len(n.Nodes), wording.SomeNames(n.Nodes), "these nodes"))
		}
	}
	if len(acts) != 1 {
		return "make the change"
	}
	return acts[0]
}

// nodeActs has the verbs for changes of nodes. It has none for a failure, which nobody makes on purpose.
var nodeActs = map[whatif.NodeChangeKind]string{
	whatif.NodeTaint: "taint", whatif.NodeUntaint: "remove the taint from",
	whatif.NodeLabel: "label", whatif.NodeUnlabel: "remove the label from",
	whatif.NodeCordon: "cordon", whatif.NodeUncordon: "uncordon", whatif.NodeRemove: "delete",
}
