package plan

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// The assumptions of a plan. Durations have the format of time.Duration.String.
const (
	// AssumeStart: the median time from a pod's creation to Ready
	// Value: a duration in Go's format
	// Source: `UpdatedPods`: measured on pods of the current revision that never restarted, if there are three. `Pods`:
	// measured on all pods. `Flag`: `--start`. The assumption is absent if fewer than three pods could be measured
	AssumeStart daemonset.AssumptionCode = "Start"
	// AssumeStartSlow: nine of ten pods are ready within this time
	// Value: a duration
	// Source: as `Start`
	AssumeStartSlow daemonset.AssumptionCode = "StartSlow"
	// AssumeStartFast: one of ten pods is ready within this time
	// Value: a duration
	// Source: as `Start`
	AssumeStartFast daemonset.AssumptionCode = "StartFast"
	// AssumeFuture: the start times of this many pods are ignored, because their Ready time is in the future:
	// the clocks of their nodes are ahead
	// Value: a number of pods
	// Source: `Pods`
	AssumeFuture daemonset.AssumptionCode = "FutureStartsLeftOut"
	// AssumePull: pulling this many images of the template, which no Ready pod runs, adds nothing to `Start`.
	// Either the measured pods also pulled their images, or the nodes already have the new images, but this
	// is unknown
	// Value: a number of images
	// Source: `Pods`
	AssumePull daemonset.AssumptionCode = "PullAddsNothing"
	// AssumeTermination: the average time from a pod's deletion until it is gone
	// Value: a duration
	// Source: `Rollout`: measured on the pace of the rollout in progress: when its pods were created, and when there
	// was room for each. `LastRollout`: measured in the same way on the previous rollout. `Events`: measured between
	// the controller's last deletes and creates. `GracePeriod`: an upper bound. `Flag`: `--termination`
	AssumeTermination daemonset.AssumptionCode = "Termination"
	// AssumeMinReadySeconds: a pod is available only after it has been ready for this long
	// Value: seconds
	// Source: `Spec`
	AssumeMinReadySeconds daemonset.AssumptionCode = "MinReadySeconds"
	// AssumeCountedLate: the controller counts a pod as available up to this much later, because without
	// another event it syncs only every minReadySeconds; absent if less than a tenth of minReadySeconds
	// Value: a duration
	// Source: `Controller`
	AssumeCountedLate daemonset.AssumptionCode = "CountedLate"
	// AssumeRequestRate: requests per second that the controller's client allows for all DaemonSets of the
	// cluster together. The other DaemonSets are assumed to send none
	// Value: a number
	// Source: `Controller`: its default. `Flag`: `--request-rate`
	AssumeRequestRate daemonset.AssumptionCode = "RequestRate"
	// AssumeRequestBurst: requests that the client allows before the rate applies
	// Value: a number
	// Source: as `RequestRate`
	AssumeRequestBurst daemonset.AssumptionCode = "RequestBurst"
	// AssumeSlowStart: this many pods are created first, then twice as many, and so on
	// Value: a number
	// Source: `Controller`
	AssumeSlowStart daemonset.AssumptionCode = "SlowStart"
	// AssumeStepBurst: the most creates and the most deletes of one sync
	// Value: a number
	// Source: `Controller`
	AssumeStepBurst daemonset.AssumptionCode = "StepBurst"
	// AssumeNewPods: new pods become available, except those covered by other assumptions
	// Source: `State`
	AssumeNewPods daemonset.AssumptionCode = "NewPodsBecomeAvailable"
	// AssumeLatePods: this many [late](#how-is-the-verdict-decided) pods, which are not ready yet, become
	// available at an unknown time
	// Value: a number of pods
	// Source: `State`
	AssumeLatePods daemonset.AssumptionCode = "LatePodsBecomeAvailable"
	// AssumeNodesReady: this many nodes become Ready again, because their kubelets have reported NotReady for
	// less than 5 minutes
	// Value: a number of nodes
	// Source: `State`
	AssumeNodesReady daemonset.AssumptionCode = "NodesBecomeReady"
	// AssumeNodesStay: this many nodes have a problem that does not resolve by itself
	// Value: a number of nodes
	// Source: `State`
	AssumeNodesStay daemonset.AssumptionCode = "NodesStayAsTheyAre"
	// AssumeRevisionFails: no pod of the current revision becomes available, because none is available and
	// most of them fail
	// Value: the number of failing pods
	// Source: `State`
	AssumeRevisionFails daemonset.AssumptionCode = "RevisionFails"
	// AssumeConfined: pods of the current revision fail on the eligible nodes with the [common
	// properties](#kinds-of-properties) of the failing nodes, and work on the others
	// Value: the number of these nodes
	// Source: `State`
	AssumeConfined daemonset.AssumptionCode = "FailureConfined"
	// AssumeInvalidImage: no pod of the current revision becomes available, because no kubelet starts a container of
	// this image; absent if one of its pods is available
	// Value: the image
	// Source: `Spec`
	AssumeInvalidImage daemonset.AssumptionCode = "InvalidImageName"
	// AssumeMissingReference: no new pod becomes available, because the template refers to an object or key that does
	// not exist
	// Value: the object and its key, such as `ConfigMap settings, key level`
	// Source: `References`
	AssumeMissingReference daemonset.AssumptionCode = "MissingReference"
	// AssumeReadyPods: only with `RevisionFails`: this many pods are ready already, and become available after
	// minReadySeconds
	// Value: a number of pods
	// Source: `State`
	AssumeReadyPods daemonset.AssumptionCode = "ReadyPodsBecomeAvailable"
	// AssumeOtherPods: the pods of other workloads stay on the nodes as they are; only if they were read
	// Source: `State`
	AssumeOtherPods daemonset.AssumptionCode = "OtherPodsStay"
	// AssumeNotModelled: scheduler rules that the template uses, but that are not computed, do not keep pods
	// off their nodes
	// Value: the [rules](#rules-of-the-scheduler-that-are-not-computed), separated by commas; the rule about
	// other pods has an entry of its own
	// Source: `Spec`, `State`
	AssumeNotModelled daemonset.AssumptionCode = "SchedulingNotModelled"
	// AssumeFits: new pods fit on this many nodes, although their other pods or the volumes of the new pods
	// were not read
	// Value: a number of nodes
	// Source: `State`: the other pods could not be read. `Volumes`: some objects of the volumes could not be
	// read. `NotAsked`: they are not read without `--fit`
	AssumeFits daemonset.AssumptionCode = "NewPodsFit"
	// AssumeHooks: these webhooks and admission policies, which are not run, admit the pods unchanged
	// Value: their names, separated by commas
	// Source: `Admission`
	AssumeHooks daemonset.AssumptionCode = "HooksAdmit"
	// AssumeUnchecked: these admission rules admit the pods, although some objects for them could not be read
	// Value: the [rules](#rules-of-admission), separated by commas; empty if nothing of the namespace could
	// be read
	// Source: `Admission`
	AssumeUnchecked daemonset.AssumptionCode = "AdmissionNotChecked"
	// AssumeAsUser: the API server admits the controller's pods, because it admitted yours in a dry run; it
	// may treat users differently
	// Value: the [rules](#rules-of-admission) that would have rejected the pod, separated by commas; empty if
	// there are none
	// Source: `DryRun`
	AssumeAsUser daemonset.AssumptionCode = "AdmittedAsUser"
	// AssumeNotTried: the API server admits the pods, although a dry run did not show whether it does
	// Value: the message of its answer
	// Source: `DryRun`
	AssumeNotTried daemonset.AssumptionCode = "DryRunUnanswered"
	// AssumeHostPorts: a surging pod is not scheduled, because the old pod on its node holds its host ports
	// Source: `Spec`
	AssumeHostPorts daemonset.AssumptionCode = "HostPortsHeld"
	// AssumeRefused: the API server continues to reject pods
	// Source: `State`
	AssumeRefused daemonset.AssumptionCode = "CreatesRefused"
	// AssumeCollected: the pods of deleted nodes are gone within this time
	// Value: a duration
	// Source: `Controller`
	AssumeCollected daemonset.AssumptionCode = "PodsCollected"
)

// Assumptions lists every AssumptionCode that this package adds to daemonset.Assumptions.
var Assumptions = []daemonset.AssumptionCode{
	AssumeStart, AssumeStartSlow, AssumeStartFast, AssumeFuture, AssumePull, AssumeTermination, AssumeMinReadySeconds,
	AssumeCountedLate, AssumeRequestRate, AssumeRequestBurst, AssumeSlowStart, AssumeStepBurst,
	AssumeNewPods, AssumeLatePods, AssumeNodesReady, AssumeNodesStay, AssumeRevisionFails, AssumeConfined,
	AssumeInvalidImage, AssumeMissingReference, AssumeReadyPods, AssumeOtherPods, AssumeNotModelled, AssumeFits,
	AssumeHooks, AssumeUnchecked, AssumeAsUser, AssumeNotTried, AssumeHostPorts, AssumeRefused, AssumeCollected,
}

// RestsOn reports whether an assumption of the plan is about something that happens in it, or would happen with another
// template.
func (p *Plan) RestsOn(code daemonset.AssumptionCode) bool {
	stalls, inner := p.Outcome.Code == Stalls, p.IfTemplateChanged
	// no pod is created
	none := stalls && p.Outcome.Reason == cause.FailedCreate && p.Admission != nil && len(p.Admission.Refusals) > 0
	moves := func(pods func(Wave) int) bool {
		return stalls || inner != nil || slices.ContainsFunc(p.Waves, func(w Wave) bool { return pods(w) > 0 })
	}
	switch {
	case !slices.Contains(Assumptions, code):
		return true // an assumption about the manifest or the state
	case len(p.Waves) == 0 && !stalls && (inner == nil || inner.Outcome.Code == NotRolling):
		return false
	case none && slices.Contains([]daemonset.AssumptionCode{AssumeStart, AssumeStartFast, AssumeStartSlow, AssumeFuture,
		AssumeNewPods, AssumeMinReadySeconds, AssumeCountedLate, AssumeFits, AssumeNotModelled, AssumeOtherPods,
		AssumeHooks, AssumeUnchecked}, code):
		return false
	case code == AssumePull: // if the rollout does not end, its duration does not matter
		return !stalls && p.RestsOn(AssumeStart)
	case code == AssumeTermination && p.Subject == SubjectNew && len(p.Lost) == 0:
		return false
	case slices.Contains([]daemonset.AssumptionCode{AssumeStart, AssumeStartFast, AssumeStartSlow, AssumeFuture,
		AssumeNewPods, AssumeMinReadySeconds, AssumeCountedLate}, code):
		return moves(func(w Wave) int { return w.Creates })
	case code == AssumeTermination:
		return moves(func(w Wave) int { return w.Deletes })
	}
	return true
}

// Sources of assumptions, besides those of measured times.
const (
	sourceSpec       = "Spec"
	sourceController = "Controller" // the controller's own constants and defaults
	sourceState      = "State"
	sourceReferences = "References" // the objects that were read
	sourceAdmission  = "Admission"  // the admission rules that were read
	sourceDryRun     = "DryRun"     // the API server, in a dry run
	sourceNotAsked   = "NotAsked"   // reading it was not requested
	sourceVolumes    = "Volumes"    // the volumes, as far as they could be read
)

// assumptions returns the assumptions of a forecast.
func (sc *scenario) assumptions(o Options) (out []daemonset.Assumption) {
	a, m := sc.a, sc.m
	add := func(holds bool, code daemonset.AssumptionCode, value, source string) {
		if holds {
			out = append(out, daemonset.Assumption{Code: code, Value: value, Source: source})
		}
	}
	from := map[bool]string{true: timing.SourceFlag, false: sourceController}
	if len(m.Starts) > 0 {
		add(true, AssumeStart, seconds(m.Quantile(0.5)), m.StartSource)
		add(len(m.Starts) > 1, AssumeStartSlow, seconds(m.Quantile(0.9)), m.StartSource)
		add(len(m.Starts) > 1, AssumeStartFast, seconds(m.Quantile(0.1)), m.StartSource)
		add(m.Unpulled > 0, AssumePull, strconv.Itoa(m.Unpulled), m.StartSource)
	}
	add(m.Future > 0, AssumeFuture, strconv.Itoa(m.Future), timing.SourcePods)
	add(true, AssumeTermination, seconds(math.Round(timing.Mean(m.Ends))), m.EndSource)
	add(m.MinReady > 0, AssumeMinReadySeconds, strconv.Itoa(int(m.MinReady)), sourceSpec)
	add(true, AssumeRequestRate, strconv.FormatFloat(m.Rate, 'f', -1, 64), from[o.RequestRate > 0])
	add(true, AssumeRequestBurst, strconv.Itoa(m.Burst), from[o.RequestBurst > 0])
	add(true, AssumeSlowStart, "1", sourceController)
	add(true, AssumeStepBurst, strconv.Itoa(daemonset.BurstReplicas), sourceController)
	predicted := a.refusal != nil && a.refusal.Facts.Yes("predicted")
	add(a.fails == nil && a.image == "" && a.unmet == nil && !predicted, AssumeNewPods, "", sourceState)
	add(len(a.late) > 0, AssumeLatePods, strconv.Itoa(len(a.late)), sourceState)
	add(a.ready > 0, AssumeNodesReady, strconv.Itoa(a.ready), sourceState)
	add(a.stay > 0, AssumeNodesStay, strconv.Itoa(a.stay), sourceState)
	if a.fails != nil {
		ready := sc.readyPods()
		add(true, AssumeRevisionFails, strconv.Itoa(a.fails.NewFailing), sourceState)
		add(ready > 0, AssumeReadyPods, strconv.Itoa(ready), sourceState)
	}
	add(a.confined != nil && len(sc.failsOn()) > 0, AssumeConfined, strconv.Itoa(len(sc.failsOn())), sourceState)
	add(a.image != "", AssumeInvalidImage, a.image, sourceSpec)
	if m := a.unmet; m != nil {
		what := string(m.Kind) + " " + m.Name
		if m.Fault == refer.NoKey {
			what += ", key " + m.Key
		}
		add(true, AssumeMissingReference, what, sourceReferences)
	}
	add(sc.st.Snapshot.OtherPods != nil, AssumeOtherPods, "", sourceState)
	var rules []string
	others := false
	for _, u := range a.causes.NotModelled() {
		if u == fit.AntiAffinityOfOthers { // not a rule that the template uses
			others = true
			continue
		}
		rules = append(rules, string(u))
	}
	add(len(rules) > 0, AssumeNotModelled, strings.Join(rules, ", "), sourceSpec)
	add(others, AssumeNotModelled, string(fit.AntiAffinityOfOthers), sourceState)
	unread, why := sc.unread(o.Fit)
	add(unread > 0, AssumeFits, strconv.Itoa(unread), why)
	hooks, unchecked := a.notRun()
	add(len(hooks) > 0, AssumeHooks, strings.Join(hooks, ", "), sourceAdmission)
	add(len(unchecked) > 0, AssumeUnchecked, joinUnlessAll(ofNamespace, unchecked), sourceAdmission)
	for _, x := range a.tried() {
		add(true, x.Code, x.Value, sourceDryRun)
	}
	add(a.ports, AssumeHostPorts, "", sourceSpec)
	add(a.refusal != nil && !predicted, AssumeRefused, "", sourceState)
	add(a.gone, AssumeCollected, seconds(collectedWithin), sourceController)
	return out
}

// failsOn returns the nodes to which the failure of the revision is confined.
func (sc *scenario) failsOn() (nodes []string) {
	for i := range sc.st.Nodes {
		if n := &sc.st.Nodes[i]; sc.a.failsOn(n) {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes
}

// unread counts the nodes on which a new pod is assumed to fit because their other pods, or its volumes, were not read.
// A node on which the pod would not fit alone does not count. why is the source of the assumption.
func (sc *scenario) unread(fit bool) (count int, why string) {
	s, volumes := sc.st.Snapshot, sc.a.causes.VolumesUnread()
	for _, node := range NeedsOf(sc.st, fit || sc.st.Budget.MaxSurge > 0).Nodes {
		i := slices.IndexFunc(sc.st.Nodes, func(n daemonset.Node) bool { return n.Name == node })
		count += b2i((volumes || !s.OtherPods.Of(node)) && sc.a.nodes[i].never == nil)
	}
	switch {
	case s.Lacks(snapshot.PodsOfOthers):
		return count, sourceState
	case volumes:
		return count, sourceVolumes
	}
	return count, sourceNotAsked
}

// ofNamespace lists the rules that are all unchecked if nothing of a namespace could be read.
var ofNamespace = []string{string(admission.PodSecurity), string(admission.LimitRanger),
	string(admission.ResourceQuota)}

// joinUnlessAll joins names with commas. It returns "" if names contains all of all.
func joinUnlessAll(all, names []string) string {
	if !slices.ContainsFunc(all, func(n string) bool { return !slices.Contains(names, n) }) {
		return ""
	}
	return strings.Join(names, ", ")
}

// notRun returns the names of the webhooks and policies that were not run, and the admission rules that could not be
// checked.
func (a *assumed) notRun() (hooks, rules []string) {
	v := a.causes.Admission()
	if v == nil {
		return nil, nil
	}
	for _, x := range v.Assumed {
		if x.Hook != nil && !slices.Contains(hooks, x.Hook.Name) {
			hooks = append(hooks, x.Hook.Name)
		}
	}
	for _, u := range v.Unknown {
		if !slices.Contains(rules, string(u.Rule)) {
			rules = append(rules, string(u.Rule))
		}
	}
	return hooks, rules
}

// tried returns the assumptions about a dry run of the next pod.
func (a *assumed) tried() (out []daemonset.Assumption) {
	v := a.causes.Admission()
	if v == nil {
		return nil
	}
	for _, x := range v.Assumed {
		switch x.What {
		case admission.ControllerAsUser:
			var rules []string
			for _, r := range x.Rules {
				rules = append(rules, string(r))
			}
			out = append(out, daemonset.Assumption{Code: AssumeAsUser, Value: strings.Join(rules, ", ")})
		case admission.DryRunUnanswered:
			out = append(out, daemonset.Assumption{Code: AssumeNotTried, Value: x.Message})
		}
	}
	return out
}

// readyPods counts the pods of the current revision that only wait for minReadySeconds.
func (sc *scenario) readyPods() (count int) {
	for i := range sc.st.Nodes {
		for j := range sc.st.Nodes[i].Pods {
			p := &sc.st.Nodes[i].Pods[j]
			_, kind, moves := sc.a.nodes[i].next(p, sc.st,
				sc.pace(timing.Exact([]float64{nominalStart}), timing.Exact([]float64{nominalStart})))
			count += b2i(moves && kind == podAvailable && p.Updated)
		}
	}
	return count
}

func seconds(s float64) string { return (time.Duration(s*1000) * time.Millisecond).String() }
