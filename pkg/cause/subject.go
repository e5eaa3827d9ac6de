package cause

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Subject is what pods fail on. Pods with equal Subjects have the same problem.
type Subject struct {
	Kind      SubjectKind `json:"kind"`      // what it is
	Node      string      `json:"node"`      // the node that has it; empty if it is on several nodes or on none
	Namespace string      `json:"namespace"` // the namespace of an object; otherwise empty
	// the name of the object, the container, the resource, the port or the condition
	Name string `json:"name"`
	Key  string `json:"key"` // the key of an object that lacks it; otherwise empty
	// the user of it, such as the pod that uses the port, as `namespace/name`; empty if unknown
	Holder string `json:"holder"`
}

// SubjectKind is a kind of Subject.
type SubjectKind string

const (
	// a condition of the node, such as DiskPressure, or Ready
	SubjectNodeCondition SubjectKind = "NodeCondition"
	// a resource of the node, such as cpu, or the number of pods
	SubjectNodeResource SubjectKind = "NodeResource"
	SubjectHostPort     SubjectKind = "HostPort"  // a port of the node
	SubjectNodeOS       SubjectKind = "NodeOS"    // the operating system of the node
	SubjectImage        SubjectKind = "Image"     // the image of a container
	SubjectContainer    SubjectKind = "Container" // a container of the template
	SubjectInjected     SubjectKind = "Injected"  // a container that the template does not have
	SubjectVolume       SubjectKind = "Volume"    // a volume of the pod
	SubjectReference    SubjectKind = "Reference" // an object that the template refers to
	SubjectNetwork      SubjectKind = "Network"   // the network or the sandbox of the pod
	SubjectGate         SubjectKind = "Gate"      // a readiness gate
	SubjectQuota        SubjectKind = "Quota"     // a ResourceQuota
	SubjectPolicy       SubjectKind = "Policy"    // the Pod Security level of the namespace
	SubjectWebhook      SubjectKind = "Webhook"   // an admission webhook
	// the SecurityContextConstraints of OpenShift that a ServiceAccount may use
	SubjectSCC SubjectKind = "SCC"
	// the PodSecurityPolicies that a ServiceAccount may use, which v1.25 removed
	SubjectPodSecurityPolicy SubjectKind = "PodSecurityPolicy"
	SubjectAPIServer         SubjectKind = "APIServer"   // the API server; its message says more
	SubjectController        SubjectKind = "Controller"  // kube-controller-manager
	SubjectStrategy          SubjectKind = "Strategy"    // `spec.updateStrategy`
	SubjectPlacement         SubjectKind = "Placement"   // the rules that make nodes eligible
	SubjectUnspecified       SubjectKind = "Unspecified" // the input does not show it
)

// SubjectOf returns what the pods of a problem fail on.
func (cs *Causes) SubjectOf(p *Problem) Subject {
	f := p.Facts
	s := Subject{Kind: kindOf(p.Code).subject}
	if len(p.Nodes) == 1 {
		s.Node = p.Nodes[0]
	}
	container, namespace := f.Text("container"), cs.s.DaemonSet.Namespace
	of, object := NamedObject(f)
	switch {
	case container != "" && StageOf(p.Code) >= StageImage && !cs.inTemplate(container):
		return Subject{Kind: SubjectInjected, Node: s.Node, Name: container}
	case f["kind"] != nil: // a missing object
		return Subject{Kind: SubjectReference, Namespace: namespace, Name: f.Text("name"), Key: f.Text("key")}
	case p.Code == FailedCreate && object != "":
		s = Subject{Kind: SubjectReference, Name: object}
		if of == serviceAccount { // the other kinds are not namespaced
			s.Namespace = namespace
		}
		return s
	case p.Code == FailedCreate:
		s.Kind, s.Name = RejectedBy(f)
		s.Node = ""
		if s.Kind == SubjectSCC || s.Kind == SubjectPodSecurityPolicy {
			s.Namespace, s.Name = namespace, cmp.Or(cs.st.DaemonSet.Spec.Template.Spec.ServiceAccountName, "default")
		}
	case p.Code == ImagePullBackOff, p.Code == PullingImage:
		s.Kind, s.Name = SubjectImage, f.Text("image")
	case f.Yes("noRoutes"):
		s.Kind, s.Name = SubjectNodeCondition, string(corev1.NodeNetworkUnavailable)
	case s.Kind == SubjectContainer:
		s.Name = container
	case s.Kind == SubjectVolume:
		s.Name = cmp.Or(f.Text("claim"), f.Text("volume"))
	case s.Kind == SubjectNodeCondition:
		s.Name = cmp.Or(f.Text("purpose"), "Ready")
	case p.Code == EvictLoop || p.Code == daemonset.FailedPod:
		s.Kind, s.Name = evictedFor(f.Text("message"))
	case f.Text("plugin") == "NodePorts" || p.Code == HostPortConflict:
		s.Kind, s.Holder = SubjectHostPort, f.Text("holder")
		s.Name = firstOf(f["ports"])
	case f["added"] != nil:
		s.Kind, s.Name = SubjectPlacement, firstOf(f["added"])
	case f["resources"] != nil:
		s.Kind, s.Name = SubjectNodeResource, firstOf(f["resources"])
	case f["claim"] != nil:
		s.Kind, s.Name = SubjectVolume, f.Text("claim")
	case f["conditions"] != nil:
		s.Kind, s.Name = SubjectGate, firstOf(f["conditions"])
	}
	return s
}

func firstOf(list any) string {
	if all, ok := list.([]string); ok && len(all) > 0 {
		return all[0]
	}
	return ""
}

// inTemplate reports whether the live template, or the template of an existing revision, has a container with that
// name.
func (cs *Causes) inTemplate(container string) bool {
	has := func(t *corev1.PodTemplateSpec) bool {
		is := func(c corev1.Container) bool { return c.Name == container }
		return slices.ContainsFunc(t.Spec.Containers, is) || slices.ContainsFunc(t.Spec.InitContainers, is)
	}
	if has(&cs.st.DaemonSet.Spec.Template) {
		return true
	}
	return slices.ContainsFunc(cs.st.History.Revisions, func(r daemonset.Revision) bool {
		t := cs.st.TemplateOf(r.Name)
		return t == nil || has(t)
	})
}

// evictedFor returns why a kubelet evicted or rejected a pod, according to its message.
func evictedFor(message string) (kind SubjectKind, name string) {
	if _, rest, ok := strings.Cut(message, "The node had condition: ["); ok {
		name, _, _ = strings.Cut(rest, "]")
		return SubjectNodeCondition, name
	}
	if _, rest, ok := strings.Cut(message, "The node was low on resource: "); ok {
		name, _, _ = strings.Cut(rest, ".")
		return SubjectNodeCondition, pressures[name]
	}
	if _, rest, ok := strings.Cut(message, `Usage of EmptyDir volume "`); ok {
		name, _, _ = strings.Cut(rest, `"`)
		return SubjectVolume, name
	}
	if strings.Contains(message, "ephemeral local storage") || strings.Contains(message, "local ephemeral storage") {
		return SubjectContainer, ""
	}
	return SubjectUnspecified, ""
}

// pressures are the conditions that a kubelet sets if a resource of its node is low.
var pressures = map[string]string{
	"memory": "MemoryPressure", "ephemeral-storage": "DiskPressure", "inodes": "DiskPressure", "nodefs": "DiskPressure",
	"imagefs": "DiskPressure", "pids": "PIDPressure",
}

// ruleSubjects are the Subjects of admission rules.
var ruleSubjects = map[admission.Rule]SubjectKind{admission.ResourceQuota: SubjectQuota,
	admission.PodSecurity: SubjectPolicy}
