package plan

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Codes of warnings: what the API server accepts, but may not do what you want.
const (
	// NoEligibleNode: no node is eligible, but pods stay (if they are removed, the outcome is `RemovesAllPods`)
	// Facts: nodes, losing, staying
	NoEligibleNode = cause.NoEligibleNode
	// SurgeHostPort: the DaemonSet has maxSurge and a host port that the old pod on the node holds: the new pod is
	// never scheduled
	// Facts: ports
	SurgeHostPort daemonset.Reason = "SurgeHostPort"
	// StartsRollout: the strategy becomes RollingUpdate while there are old pods, which starts a rollout; absent if the
	// template changes too, which starts a rollout anyway
	// Facts: pods
	StartsRollout daemonset.Reason = "StartsRollout"
	// OutsideBudget: the next step deletes more pods than the limit allows because they are not available, for example
	// after minReadySeconds was raised
	// Facts: count, limit
	OutsideBudget daemonset.Reason = "OutsideBudget"
	// EvictsOldPods: a taint of the change evicts the running pods regardless of the limit, because only the new
	// template tolerates it. `count` is the number of pods
	// Facts: taint, count
	EvictsOldPods daemonset.Reason = "EvictsOldPods"
	// NewPodsFailing: some pods of the current revision fail and others run: the plan assumes that the next ones run
	// Facts: newPods, newFailing
	NewPodsFailing daemonset.Reason = "NewPodsFailing"
	// KeepsRestarting: `count` pods are available at the moment, but have restarted at least three times, the last time
	// less than 30 minutes ago. They run the containers of the template, so new pods are likely to restart as well
	// Facts: count
	KeepsRestarting daemonset.Reason = "KeepsRestarting"
	// NeverUpdated: the current revision has an empty hash, and nothing else identifies its pods: the controller
	// treats its own new pods as outdated and loops forever
	// Facts: revision
	NeverUpdated daemonset.Reason = "NeverUpdated"
	// ManagedByTool: a change by flags writes the spec, and a tool that manages the spec will undo it; one warning for
	// each of the [tools](#tools), in the order of that table. Absent for a restart alone
	// Facts: tool, by, evidence
	ManagedByTool daemonset.Reason = "ManagedByTool"
	// ServerWarning: the API server accepts the manifest with this warning, as kubectl apply prints it; only with
	// `--server-dry-run`
	// Facts: message
	ServerWarning daemonset.Reason = "APIServerWarning"
	// InvalidImageName: no kubelet starts the container, because the name of its image is not a valid reference; the
	// API server accepts nearly any text. One warning for each container
	// Facts: container, image, fault
	InvalidImageName daemonset.Reason = "InvalidImageName"
	// LostRepository: the new image of a container lacks the repository of the previous image, or a part of it: it is
	// only a tag, or only the last part of the name. `imageMeant` is the image that may be meant. One warning for each
	// container
	// Facts: container, image, imageBefore, imageMeant
	LostRepository daemonset.Reason = "LostRepository"
	// MixedOperatingSystems: no pod is available, the template names no operating system, and the eligible nodes have
	// several: its images have to be built for all of them. `onNodes` are the nodes of the rarest one
	// Facts: platforms, onNodes
	MixedOperatingSystems daemonset.Reason = "MixedOperatingSystems"
	// OtherOperatingSystem: the template names no operating system, and nodes get a pod whose operating system differs
	// from that of all nodes with an available pod
	// Facts: platform, platforms, onNodes
	OtherOperatingSystem daemonset.Reason = "OtherOperatingSystem"
	// OtherArchitecture: nodes get a pod whose architecture differs from that of all nodes with an available pod
	// Facts: platform, platforms, onNodes
	OtherArchitecture daemonset.Reason = "OtherArchitecture"
	// MissingReference: the template refers to an object, or to a key of an object, that does not exist, so no new pod
	// starts. One warning for each object or key
	// Facts: kind, name, key, field, container, init, variable, volume
	MissingReference daemonset.Reason = "MissingReference"
	// MissingPullSecret: an imagePullSecret of the template does not exist: the kubelet continues without it, and may
	// not be allowed to pull the image. One warning for each secret
	// Facts: kind, name, field
	MissingPullSecret daemonset.Reason = "MissingPullSecret"
	// DuplicateKey: an object of the manifest has the same key twice; the later value counts, as for kubectl apply
	// Facts: file, document, line, key
	DuplicateKey daemonset.Reason = "DuplicateKey"
)

// WarningCodes lists every code of a Warning.
var WarningCodes = []daemonset.Reason{NoEligibleNode, SurgeHostPort, StartsRollout, OutsideBudget, EvictsOldPods,
	NewPodsFailing, KeepsRestarting, NeverUpdated, ManagedByTool, ServerWarning, DuplicateKey, InvalidImageName,
	LostRepository, MixedOperatingSystems, OtherOperatingSystem, OtherArchitecture, MissingReference, MissingPullSecret}

// warn adds the warnings about the State after a change.
func (p *Plan) warn(before, after *daemonset.State) {
	if none := eligible.None(after, Nodes(p.Lost)); none != nil && p.Outcome.Code != RemovesAllPods {
		p.Warnings = append(p.Warnings, Warning{none.Code, none.Facts})
	}
	more := slices.Concat(evictions(before, after), warnings(before, after), otherPlatforms(after))
	if p.Change != nil && p.Change.TemplateChanged {
		more = slices.DeleteFunc(more, func(w Warning) bool { return w.Code == StartsRollout })
	}
	p.Warnings = append(p.Warnings, more...)
}

// evictions returns a warning for each taint that the new template tolerates and the old one does not, with the number
// of pods that it evicts. Pods keep the tolerations that they were created with.
func evictions(before, after *daemonset.State) (out []Warning) {
	if before == nil {
		return nil
	}
	for i := range after.Nodes {
		n := &after.Nodes[i]
		was := before.Node(n.Name)
		if n.Object == nil || was == nil || !was.MayStay.OK || !n.MayStay.OK {
			continue
		}
		_, may := before.Placement.Decide(n.Object)
		pods := 0
		for j := range n.Pods {
			pods += b2i(!n.Pods[j].Updated && !n.Pods[j].Terminating)
		}
		if may.OK || may.Reason != daemonset.TaintNotTolerated || pods == 0 {
			continue
		}
		k := slices.IndexFunc(out, func(w Warning) bool { return w.Facts["taint"] == may.Facts["taint"] })
		if k < 0 {
			k, out = len(out), append(out,
				Warning{EvictsOldPods, daemonset.Facts{"taint": may.Facts["taint"], "count": 0}})
		}
		out[k].Facts["count"] = out[k].Facts.Int("count") + pods
	}
	return out
}

// warnings returns the warnings about a DaemonSet as it is after a change. before is nil if there is no change.
func warnings(before, after *daemonset.State) []Warning {
	var out []Warning
	ds := after.DaemonSet
	if ports := cause.HostPorts(&ds.Spec.Template.Spec); len(ports) > 0 && after.Budget.MaxSurge > 0 {
		out = append(out, Warning{SurgeHostPort, daemonset.Facts{"ports": ports}})
	}
	if count := oldPods(after); count > 0 && before != nil && leavesOnDelete(before.DaemonSet, ds) {
		out = append(out, Warning{StartsRollout, daemonset.Facts{"pods": count}})
	}
	if h := after.History; h.Hash == "" && len(h.Current) > 0 && after.Budget.Kind != daemonset.BudgetNone &&
		after.NewPod() == daemonset.NotUpdated {
		out = append(out, Warning{NeverUpdated, daemonset.Facts{"revision": h.Current[0]}})
	}
	for _, c := range invalidImages(after) {
		out = append(out, Warning{InvalidImageName, daemonset.Facts{"container": c.Name, "image": c.Image,
			"fault": string(template.FaultOfImage(c.Image))}})
	}
	out = append(out, lostRepositories(before, after)...)
	unmet, pulls := refer.Unmet(&ds.Spec.Template.Spec, after.Snapshot.References),
		refer.UnmetPulls(&ds.Spec.Template.Spec, after.Snapshot.References)
	for i := range unmet {
		out = append(out, Warning{MissingReference, cause.FactsOf(&unmet[i])})
	}
	for i := range pulls {
		out = append(out, Warning{MissingPullSecret, cause.FactsOf(&pulls[i])})
	}
	return out
}

// invalidImages returns the containers of the template that no kubelet starts. It leaves out images that an available
// pod runs, because a dump may hide the names of images.
func invalidImages(st *daemonset.State) []corev1.Container {
	spec := &st.DaemonSet.Spec.Template.Spec
	return slices.DeleteFunc(slices.Concat(spec.InitContainers, spec.Containers), func(c corev1.Container) bool {
		return c.Image == "" || template.FaultOfImage(c.Image) == "" ||
			anyAvailable(st, func(p *daemonset.Pod) bool { return p.Updated || runs(p.Object, c.Image) })
	})
}

// lostRepositories returns a warning for each image of a change that has lost its repository.
func lostRepositories(before, after *daemonset.State) (out []Warning) {
	if before == nil {
		return nil
	}
	images := map[string]string{}
	was, is := &before.DaemonSet.Spec.Template.Spec, &after.DaemonSet.Spec.Template.Spec
	for _, c := range slices.Concat(was.InitContainers, was.Containers) {
		images[c.Name] = c.Image
	}
	for _, c := range slices.Concat(is.InitContainers, is.Containers) {
		if meant := template.LostRepository(images[c.Name], c.Image); meant != "" {
			out = append(out, Warning{LostRepository, daemonset.Facts{"container": c.Name, "image": c.Image,
				"imageBefore": images[c.Name], "imageMeant": meant}})
		}
	}
	return out
}

func runs(p *corev1.Pod, image string) bool {
	is := func(c corev1.Container) bool { return c.Image == image }
	return slices.ContainsFunc(p.Spec.InitContainers, is) || slices.ContainsFunc(p.Spec.Containers, is)
}

// stepWarnings returns the warnings about the next step and about the revision that it rolls out.
func stepWarnings(step *daemonset.Step, st *daemonset.State, a *assumed) []Warning {
	var out []Warning
	if n := step.Deletes.Len() + step.Deletes.Deferred; step.Kind == daemonset.StepRollingUpdate &&
		st.Budget.MaxSurge == 0 && n > st.Limit() {
		out = append(out, Warning{OutsideBudget, daemonset.Facts{"count": n, "limit": st.Limit()}})
	}
	if len(a.broken) > 0 && a.fails == nil {
		pods := 0
		for i := range st.Nodes {
			for j := range st.Nodes[i].Pods {
				p := &st.Nodes[i].Pods[j]
				pods += b2i(p.Updated && !p.Terminating)
			}
		}
		out = append(out, Warning{NewPodsFailing, daemonset.Facts{"newPods": pods, "newFailing": len(a.broken)}})
	}
	if n := keepRestarting(st, a.causes); n > 0 {
		out = append(out, Warning{KeepsRestarting, daemonset.Facts{"count": n}})
	}
	return out
}

// keepRestarting counts the available pods that keep restarting and run the same program as the template.
func keepRestarting(st *daemonset.State, causes *cause.Causes) (count int) {
	for i := range st.Nodes {
		n := &st.Nodes[i]
		c := causes.Of(n.Name)
		if c == nil || !c.Facts.Yes("ready") {
			continue
		}
		count += b2i(slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return p.Name == c.Pod &&
				causes.SameProgram(&p)
		}))
	}
	return count
}

func leavesOnDelete(before, after *appsv1.DaemonSet) bool {
	return before.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType &&
		after.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
}
