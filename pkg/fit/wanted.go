package fit

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/types"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Wanted is a pod to place.
type Wanted struct {
	Namespace, Name string // Name is empty for a pod that does not exist yet

	Priority      int32
	NeverPreempts bool   // its preemptionPolicy is Never
	NominatedNode string // `status.nominatedNodeName`; empty if none
	Requests      snapshot.Resources
	HostPorts     []snapshot.HostPort
	Tolerations   []corev1.Toleration
	Volumes       []Volume
	Unmodelled    []Unmodelled                      // in the order of UnmodelledCodes
	Unreadable    []corev1.ResourceName             // requests that are negative, or too large to count; sorted
	affinity      nodeaffinity.RequiredNodeAffinity // the node selector, and the required node affinity
	// the nodes that the required node affinity names; nil if other nodes may
	// match too
	only []string
}

// Volume is a bound claim of the pod, with what the scheduler reads of its
// PersistentVolume.
type Volume struct {
	Claim        string                     // the name of the PersistentVolumeClaim
	Name         string                     // the name of the PersistentVolume
	OnePod       bool                       // the claim has the access mode ReadWriteOncePod
	NodeAffinity *corev1.VolumeNodeAffinity // where the volume can be reached from; nil: from everywhere
	// the labels of the PersistentVolume that name zones and regions; it may
	// have others
	Zones  map[string]string
	Driver string // its CSI driver; empty if it has none
	Handle string // its name for the driver
}

// Of returns what a pod requires of a node. The pod is as the API server stores
// it: with defaulted requests, its priority, and the overhead of its
// RuntimeClass. Use Admitted for a pod that the API server has not processed.
// Its volumes are unknown until WithVolumes.
func Of(p *corev1.Pod) Wanted {
	w := Wanted{
		Namespace: p.Namespace, Name: p.Name, NominatedNode: p.Status.NominatedNodeName,
		HostPorts: snapshot.HostPortsOf(&p.Spec), Tolerations: p.Spec.Tolerations, Unmodelled: unmodelled(&p.Spec),
		affinity: nodeaffinity.GetRequiredNodeAffinity(p), only: namedNodes(p.Spec.Affinity),
	}
	requests := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{})
	w.Requests, w.Unreadable = snapshot.ResourcesOf(requests), snapshot.UnreadableOf(requests)
	if p.Spec.Priority != nil {
		w.Priority = *p.Spec.Priority
	}
	w.NeverPreempts = p.Spec.PreemptionPolicy != nil && *p.Spec.PreemptionPolicy == corev1.PreemptNever
	return w
}

// OfTemplate returns what a pod of a DaemonSet's template requires of the node
// that the controller creates it for. The controller replaces the required node
// affinity by the name of the node, so only the node selector counts. The
// template must include the changes of Admitted and the tolerations of the
// controller.
func OfTemplate(namespace string, t *corev1.PodTemplateSpec) Wanted {
	p := &corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	p.Namespace = namespace
	w := Of(p)
	w.affinity = nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: corev1.PodSpec{NodeSelector: t.Spec.NodeSelector}})
	w.only = nil
	return w
}

// WithVolumes returns the pod with its known volumes. A claim that is not among
// them stays unknown, and so does an ephemeral claim until the pod has a name.
func (w Wanted) WithVolumes(spec *corev1.PodSpec, volumes []Volume) Wanted {
	known := map[string]bool{}
	for _, v := range volumes {
		known[v.Claim] = true
	}
	w.Volumes = volumes
	w.Unmodelled = slices.DeleteFunc(slices.Clone(w.Unmodelled), func(u Unmodelled) bool { return u == UnboundClaims })
	if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.Ephemeral != nil && (w.Name == "" || !known[w.Name+"-"+v.Name]) || v.PersistentVolumeClaim != nil &&
			!known[v.PersistentVolumeClaim.ClaimName]
	}) {
		w.Unmodelled = append(w.Unmodelled, UnboundClaims)
	}
	if slices.ContainsFunc(volumes, func(v Volume) bool { return v.OnePod }) {
		w.Unmodelled = append(w.Unmodelled, VolumeRestrictions)
	}
	w.Unmodelled = inOrder(w.Unmodelled)
	return w
}

// namedNodes returns the nodes that the required node affinity names, if every
// term names some: the scheduler then ignores all other nodes. nil means any
// node.
func namedNodes(a *corev1.Affinity) []string {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) == 0 {
		return nil
	}
	all := []string{}
	for _, term := range terms {
		names := namedIn(term)
		if names == nil {
			return nil
		}
		all = append(all, names...)
	}
	return all
}

func namedIn(term corev1.NodeSelectorTerm) (names []string) {
	for _, f := range term.MatchFields {
		if f.Key != metav1.ObjectNameField || f.Operator != corev1.NodeSelectorOpIn {
			continue
		}
		if names == nil {
			names = slices.Clone(f.Values)
		} else {
			names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(f.Values, n) })
		}
	}
	return names
}

// unmodelled returns the properties of a pod that this package does not check.
func unmodelled(s *corev1.PodSpec) []Unmodelled {
	has := map[Unmodelled]bool{
		InterPodAffinity: s.Affinity != nil && s.Affinity.PodAffinity != nil &&
			len(s.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0,
		InterPodAntiAffinity: s.Affinity != nil && s.Affinity.PodAntiAffinity != nil &&
			len(s.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0,
		TopologySpread: slices.ContainsFunc(s.TopologySpreadConstraints,
			func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == corev1.DoNotSchedule }),
		VolumeRestrictions: slices.ContainsFunc(s.Volumes, onePodOnly),
		UnboundClaims: slices.ContainsFunc(s.Volumes,
			func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }),
		ResourceClaims:         len(s.ResourceClaims) > 0,
		RuntimeClassScheduling: s.RuntimeClassName != nil && *s.RuntimeClassName != "" && s.Overhead == nil,
		NodeName:               s.NodeName != "",
		SchedulerName:          s.SchedulerName != "" && s.SchedulerName != corev1.DefaultSchedulerName,
		SchedulingGates:        len(s.SchedulingGates) > 0,
		SchedulingGroup:        s.SchedulingGroup != nil,
		NodeDeclaredFeatures:   needsDeclaredFeature(s),
	}
	var out []Unmodelled
	for _, u := range UnmodelledCodes {
		if has[u] {
			out = append(out, u)
		}
	}
	return out
}

// needsDeclaredFeature reports whether a pod needs a feature that nodes have to declare.
func needsDeclaredFeature(s *corev1.PodSpec) bool {
	all, err := nodedeclaredfeatures.DefaultFramework.InferForPodScheduling(&types.PodInfo{Spec: s},
		version.MajorMinor(1, 37))
	return err == nil && !all.IsEmpty()
}

// onePodOnly reports whether the scheduler allows only one pod of a node to use
// a volume.
func onePodOnly(v corev1.Volume) bool {
	return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil
}

func inOrder(all []Unmodelled) []Unmodelled {
	slices.SortFunc(all, func(a, b Unmodelled) int {
		return slices.Index(UnmodelledCodes,
			a) - slices.Index(UnmodelledCodes, b)
	})
	return slices.Compact(all)
}

// Admitted returns a spec with those changes of the API server to pods, but not
// to templates, that affect fit: missing requests are set to the limits and,
// with hostNetwork, missing host ports to the container ports. Set the
// priority, the overhead and the changes of a RuntimeClass or a LimitRange
// before.
func Admitted(s *corev1.PodSpec) *corev1.PodSpec {
	s = s.DeepCopy()
	for _, all := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range all {
			requestLimits(&all[i].Resources)
			for j := range all[i].Ports {
				if p := &all[i].Ports[j]; s.HostNetwork && p.HostPort == 0 {
					p.HostPort = p.ContainerPort
				}
			}
		}
	}
	requestPodLimits(s)
	return s
}

func requestLimits(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, given := r.Requests[name]; !given {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = limit
		}
	}
}

// requestPodLimits sets the missing pod-level requests of a pod with pod-level
// limits to the sum of its containers' requests or, without any, to the limit
// (since v1.34).
func requestPodLimits(s *corev1.PodSpec) {
	if s.Resources == nil || len(s.Resources.Limits) == 0 {
		return
	}
	requests := s.Resources.Requests.DeepCopy()
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	fill := func(from corev1.ResourceList, but func(corev1.ResourceName) bool) {
		for name, q := range from {
			if _, given := requests[name]; !given && resourcehelper.IsSupportedPodLevelResource(name) && !but(name) {
				requests[name] = q
			}
		}
	}
	fill(resourcehelper.AggregateContainerRequests(&corev1.Pod{Spec: *s},
		resourcehelper.PodResourcesOptions{}), hugePages)
	fill(s.Resources.Limits, func(corev1.ResourceName) bool { return false })
	s.Resources.Requests = requests
}

// hugePages reports whether a resource is hugepages, which cannot be
// overcommitted.
func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
