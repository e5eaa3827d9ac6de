package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Change is a what-if: what somebody would do to the DaemonSet and to the
// cluster. Its parts are applied in the order of its fields.
type Change struct {
	// DaemonSet is what a manifest makes of the live object, and Method how it
	// was laid over it; nil without a manifest. Of it, spec, labels and
	// annotations count. Where the Snapshot holds digests of environment
	// variables, its literal values are taken for what is there.
	DaemonSet *appsv1.DaemonSet
	Method    string

	FieldManager string    // who applies the manifest server-side; empty: it is not applied so
	Warnings     []Warning // of the manifest, by whoever read it or would store it

	ToRevision      *int64 // the number of a ControllerRevision; 0 is the one before the current, as kubectl has it
	Restart         bool   // as kubectl rollout restart: an annotation of the template
	Images          []Image
	Tolerations     []corev1.Toleration // added to the template's
	NodeSelector    map[string]string   // added to the template's
	DropSelector    []string            // keys removed from the template's nodeSelector
	Strategy        string
	MaxUnavailable  *intstr.IntOrString
	MaxSurge        *intstr.IntOrString
	MinReadySeconds *int32

	Nodes []NodeEdit
}

// Image is a container's new image. An empty Container is the only one; "*" is all.
type Image struct{ Container, Image string }

// Error is a change that cannot be made as it was asked.
type Error struct{ message, hint string }

func (e *Error) Error() string { return e.message }

// Hint returns something to paste, or to ask for.
func (e *Error) Hint() string { return e.hint }

// Apply returns the Snapshot as it would be right after the change, as the API
// server would have it, before the controller acts. What it was given stays as
// it is.
//
// All that is asked of the DaemonSet is one write: the generation goes up by
// one if the spec changed, and the template's own with it if the template did.
// Templates that a ControllerRevision stores in the same way are equal, so a
// write that changes nothing leaves the DaemonSet as it was, and has no
// Fields.
//
// It fails with an Invalid where the API server would refuse the DaemonSet,
// and with an Error where the change names what is not there, or rests on what
// could not be read.
func (c *Change) Apply(s *snapshot.Snapshot) (*snapshot.Snapshot, *ChangeSummary, error) {
	before, err := historyOf(s)
	if err != nil {
		return nil, nil, err
	}
	out := *s
	sum := &ChangeSummary{Method: c.Method, FieldManager: c.FieldManager, Nodes: []NodeChange{}}
	if out.DaemonSet, err = c.daemonSet(s, before); err != nil {
		return nil, nil, err
	}
	if sum.Fields, err = fieldDiffs(s.DaemonSet, out.DaemonSet); err != nil {
		return nil, nil, err
	}
	if len(sum.Fields) == 0 {
		out.DaemonSet = s.DaemonSet
	} else if err := c.write(s, out.DaemonSet); err != nil {
		return nil, nil, err
	}
	if sum.TemplateChanged, err = templateChanged(s.DaemonSet, out.DaemonSet); err != nil {
		return nil, nil, err
	}
	if sum.Nodes, err = editNodes(&out, c.Nodes); err != nil {
		return nil, nil, err
	}
	after, err := historyOf(&out)
	if err != nil {
		return nil, nil, err
	}
	sum.Revision = revisionNote(before, after)
	return &out, sum, nil
}

// historyOf returns what a sync makes of the revisions. Nodes and pods do not
// matter to which of them is current.
func historyOf(s *snapshot.Snapshot) (*daemonset.History, error) {
	without := *s
	without.Nodes, without.Pods = nil, nil
	st, err := state(&without)
	if err != nil {
		return nil, err
	}
	return st.History, nil
}

// daemonSet returns a copy of the DaemonSet with what was asked of it, for the
// API server to see to.
func (c *Change) daemonSet(s *snapshot.Snapshot, h *daemonset.History) (*appsv1.DaemonSet, error) {
	ds := s.DaemonSet.DeepCopy()
	if m := c.DaemonSet; m != nil {
		m = m.DeepCopy()
		keepDigests(s, m)
		ds.Labels, ds.Annotations, ds.Spec = m.Labels, m.Annotations, m.Spec
	}
	t := &ds.Spec.Template
	if c.ToRevision != nil {
		earlier, err := revisionTemplate(s, h, *c.ToRevision, t)
		if err != nil {
			return nil, err
		}
		*t = *earlier
	}
	if c.Restart {
		put(&t.Annotations, "kubectl.kubernetes.io/restartedAt", s.TakenAt.UTC().Format(time.RFC3339))
	}
	given := map[string]string{} // by container
	for _, image := range c.Images {
		if err := image.set(&t.Spec, given); err != nil {
			return nil, err
		}
	}
	for _, toleration := range c.Tolerations {
		if !slices.ContainsFunc(t.Spec.Tolerations, func(have corev1.Toleration) bool { return apiequality.Semantic.DeepEqual(have, toleration) }) {
			t.Spec.Tolerations = append(t.Spec.Tolerations, toleration)
		}
	}
	for key, value := range c.NodeSelector {
		put(&t.Spec.NodeSelector, key, value)
	}
	for _, key := range c.DropSelector {
		if _, ok := t.Spec.NodeSelector[key]; !ok {
			return nil, &Error{fmt.Sprintf("the template's nodeSelector has no key %q: %s", key, has(slices.Sorted(maps.Keys(t.Spec.NodeSelector)))), ""}
		}
		delete(t.Spec.NodeSelector, key)
	}
	if c.MinReadySeconds != nil {
		ds.Spec.MinReadySeconds = *c.MinReadySeconds
	}
	return ds, c.strategy(s, &ds.Spec.UpdateStrategy)
}

// byHand reports whether the change writes the DaemonSet without a manifest, and
// more than a restart, which nobody undoes.
func (c *Change) byHand() bool {
	only := *c
	only.Restart, only.Nodes = false, nil
	return c.DaemonSet == nil && !reflect.DeepEqual(only, Change{})
}

func put(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
}

// has lists what there is, for messages.
func has(names []string) string {
	if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}

// strategy makes the change of the update strategy. The API server leaves the
// limits of an OnDelete alone, and fills in what limits lack: the defaults of
// a RollingUpdate, 0 otherwise.
func (c *Change) strategy(s *snapshot.Snapshot, u *appsv1.DaemonSetUpdateStrategy) error {
	if c.Strategy == "" && c.MaxUnavailable == nil && c.MaxSurge == nil {
		return nil
	}
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return err
	}
	if c.MaxSurge != nil && !profile.MaxSurge {
		return &Error{fmt.Sprintf("maxSurge: Kubernetes %s does not have it, v1.22 was the first", s.KubernetesVersion), ""}
	}
	u.Type = cmp.Or(appsv1.DaemonSetUpdateStrategyType(c.Strategy), u.Type)
	rolling := u.Type == appsv1.RollingUpdateDaemonSetStrategyType
	if u.RollingUpdate == nil && (rolling || c.MaxUnavailable != nil || c.MaxSurge != nil) {
		u.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
	}
	ru := u.RollingUpdate
	if ru == nil {
		return nil
	}
	ru.MaxUnavailable, ru.MaxSurge = cmp.Or(c.MaxUnavailable, ru.MaxUnavailable), cmp.Or(c.MaxSurge, ru.MaxSurge)
	unavailable, surge := intstr.FromInt32(0), intstr.FromInt32(0)
	if rolling {
		unavailable = intstr.FromInt32(1)
	}
	if ru.MaxUnavailable == nil {
		ru.MaxUnavailable = &unavailable
	}
	if ru.MaxSurge == nil && profile.MaxSurge {
		ru.MaxSurge = &surge
	}
	return nil
}

// write does what the API server does when a changed DaemonSet is written, or
// refuses it.
func (c *Change) write(s *snapshot.Snapshot, ds *appsv1.DaemonSet) error {
	old := s.DaemonSet
	generation, counts := old.Annotations[appsv1.DeprecatedTemplateGeneration]
	switch {
	case !apiequality.Semantic.DeepEqual(old.Spec.Template, ds.Spec.Template):
		ds.Generation++
		if n, err := strconv.ParseInt(generation, 10, 64); err == nil {
			generation = strconv.FormatInt(n+1, 10)
		}
	case !apiequality.Semantic.DeepEqual(old.Spec, ds.Spec):
		ds.Generation++
	}
	delete(ds.Annotations, appsv1.DeprecatedTemplateGeneration)
	if counts { // nobody but the API server writes it
		put(&ds.Annotations, appsv1.DeprecatedTemplateGeneration, generation)
	}
	if errs := Validate(old, ds); len(errs) > 0 {
		return &Invalid{Name: ds.Name, Errors: errs, hint: c.way(errs)}
	}
	if s.Lacks(snapshot.Nodes) && placedBy(old) != placedBy(ds) {
		return lacking(s, snapshot.Nodes, "where pods would have to go")
	}
	return nil
}

// way returns flags that would make a refused update strategy a valid one.
func (c *Change) way(errs field.ErrorList) string {
	var both, neither bool
	for _, e := range errs {
		both, neither = both || e.Detail == bothLimits, neither || e.Detail == noLimit
	}
	switch {
	case both && c.MaxUnavailable != nil && c.MaxSurge == nil:
		return "--max-surge 0"
	case both:
		return "--max-unavailable 0"
	case neither && c.MaxUnavailable != nil && c.MaxSurge == nil:
		return "--max-surge 1"
	case neither:
		return "--max-unavailable 1"
	}
	return ""
}

// placedBy is what of a template decides on which nodes its pods go.
func placedBy(ds *appsv1.DaemonSet) string {
	spec := &ds.Spec.Template.Spec
	of := corev1.PodSpec{NodeName: spec.NodeName, NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, HostNetwork: spec.HostNetwork}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		of.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		}}
	}
	raw, err := json.Marshal(of)
	if err != nil {
		panic(err) // a PodSpec is JSON
	}
	return string(raw)
}

// lacking refuses a change that rests on what could not be read.
func lacking(s *snapshot.Snapshot, what snapshot.What, tells string) *Error {
	e := &Error{message: fmt.Sprintf("the %s could not be read, which tell %s", what, tells)}
	namespace := ""
	if what != snapshot.Nodes {
		namespace = " -n " + s.DaemonSet.Namespace
	}
	for _, g := range s.Gaps {
		switch {
		case g.What != what || g.Why == snapshot.Moved:
			continue
		case g.Why == snapshot.Forbidden:
			e.hint = fmt.Sprintf("kubectl auth can-i list %s%s", what, namespace)
		case g.Why == snapshot.NotGiven, g.Why == snapshot.Partial:
			e.hint = fmt.Sprintf("kubectl get %s%s -o yaml > %s.yaml, and add --from %s.yaml", what, namespace, what, what)
		}
		e.message += fmt.Sprintf(": %s", cmp.Or(g.Message, string(g.Why)))
		break
	}
	return e
}

// revisionTemplate returns a template as kubectl rollout undo and the API server
// make it: with the server's defaults, which a revision may be older than. A live
// template that lacks some comes from no server, and gets none here either.
func revisionTemplate(s *snapshot.Snapshot, h *daemonset.History, number int64, live *corev1.PodTemplateSpec) (*corev1.PodTemplateSpec, error) {
	if s.Lacks(snapshot.Revisions) {
		return nil, lacking(s, snapshot.Revisions, "what a rollback goes back to")
	}
	r, err := findRevision(s.DaemonSet, h, number)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.Revisions, func(o appsv1.ControllerRevision) bool {
		return o.Name == r.Name && o.Namespace == s.DaemonSet.Namespace
	})
	t, err := template.Patched(live, s.Revisions[i].Data.Raw)
	if err != nil {
		return nil, fmt.Errorf("revision %d, controllerrevision %s: %w", r.Number, r.Name, err)
	}
	served := live.DeepCopy()
	if template.Default(served, s.KubernetesVersion); apiequality.Semantic.DeepEqual(served, live) {
		template.Default(t, s.KubernetesVersion)
	}
	return t, nil
}

// findRevision returns the revision with a number, of those that are the
// DaemonSet's already; of two the first by name. 0 is the second by number.
func findRevision(ds *appsv1.DaemonSet, h *daemonset.History, number int64) (*daemonset.Revision, error) {
	var owned []daemonset.Revision // newest first
	for _, r := range h.Revisions {
		if r.Claim == daemonset.Owned {
			owned = append(owned, r)
		}
	}
	if number == 0 && len(owned) > 1 {
		return &owned[1], nil
	}
	var found *daemonset.Revision
	numbers := make([]string, 0, len(owned))
	for i := range slices.Backward(owned) {
		r := &owned[i]
		if r.Number == number && number > 0 && (found == nil || r.Name < found.Name) {
			found = r
		}
		numbers = append(numbers, strconv.FormatInt(r.Number, 10))
	}
	if found != nil {
		return found, nil
	}
	if i := slices.IndexFunc(h.Revisions, func(r daemonset.Revision) bool { return r.Number == number && r.Claim == daemonset.Adopt }); i >= 0 && number > 0 {
		return nil, &Error{message: fmt.Sprintf("revision %d, controllerrevision %s, has no owner yet: kubectl does not see it until the next sync has adopted it", number, h.Revisions[i].Name)}
	}
	name, have := ds.Namespace+"/"+ds.Name, has(slices.Compact(numbers))
	switch {
	case number == 0:
		return nil, &Error{message: fmt.Sprintf("daemonset %s has no revision before the current one: %s", name, have)}
	case len(owned) > 1:
		return nil, &Error{fmt.Sprintf("daemonset %s has no revision %d: %s", name, number, have), fmt.Sprintf("--to-revision %d", owned[1].Number)}
	}
	return nil, &Error{message: fmt.Sprintf("daemonset %s has no revision %d: %s", name, number, have)}
}

// set gives the container its image, unless it was given another one before.
func (i Image) set(spec *corev1.PodSpec, given map[string]string) error {
	if len(spec.Containers) == 0 {
		return &Error{message: "the template has no containers, so there is no image to change"}
	}
	name := i.Container
	if name == "" && len(spec.Containers) == 1 {
		name = spec.Containers[0].Name
	}
	var names []string
	set := false
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for j := range list {
			c := &list[j]
			if names = append(names, c.Name); name != "*" && name != c.Name {
				continue
			}
			if before, again := given[c.Name]; again && before != i.Image {
				return &Error{fmt.Sprintf("container %q is to have the image %q and %q", c.Name, before, i.Image), ""}
			}
			c.Image, given[c.Name], set = i.Image, i.Image, true
		}
	}
	switch {
	case set:
		return nil
	case name == "":
		return &Error{fmt.Sprintf("the template has %d containers: say whose image is %q: %s", len(spec.Containers), i.Image, strings.Join(names, ", ")), fmt.Sprintf("--image %s=%s", names[0], i.Image)}
	}
	return &Error{fmt.Sprintf("the template has no container %q: %s", name, has(names)), fmt.Sprintf("--image %s=%s", names[0], i.Image)}
}

// revisionNote compares the history before and after a change.
func revisionNote(before, after *daemonset.History) RevisionNote {
	n := RevisionNote{Number: after.Number, New: after.Cut}
	if r := current(before); r != nil {
		n.From = r.Number
	}
	if r := current(after); r != nil {
		n.Name, n.Was = r.Name, r.Number
	}
	return n
}

// current returns the revision that the next sync keeps, or nil if there is
// none, or none is known.
func current(h *daemonset.History) *daemonset.Revision {
	for i := range h.Revisions {
		if r := &h.Revisions[i]; len(h.Current) > 0 && r.Name == h.Current[0] {
			return r
		}
	}
	return nil
}
