// Package whatif applies a change to a DaemonSet or of nodes to a State, as the
// API server and the node controller would, before the DaemonSet controller
// acts. The resulting State is explained and planned like any other.
package whatif

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
	"github.com/kubectl-ds/kubectl-ds/pkg/validate"
)

// Change is a what-if: a change to the DaemonSet and of nodes. Its parts are
// applied in the order of its fields.
type Change struct {
	// DaemonSet is the live object merged with a manifest, and Method the way
	// in which it was merged; nil without a manifest. Only its spec, labels and
	// annotations count. If the Snapshot has digests of environment variables,
	// the literal values of the manifest are assumed to equal the live ones.
	DaemonSet *appsv1.DaemonSet
	Method    string

	FieldManager string // who applies the manifest server-side; empty for any other way

	ToRevision      *int64 // the number of a ControllerRevision; 0 is the one before the current, as in kubectl
	Restart         bool   // like kubectl rollout restart: an annotation of the template
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

// Image is a container's new image. An empty Container means the only one, "*"
// all.
type Image struct{ Container, Image string }

// Result is the result of a Change.
type Result struct {
	Before      *daemonset.State // nil for a new DaemonSet
	State       *daemonset.State // right after the change, before the controller acts
	Summary     *Summary
	ByHand      bool                   // the DaemonSet is written without a manifest, and more than restarted
	Assumptions []daemonset.Assumption // about the manifest, or the revision of a rollback; see Assumptions
}

// Make returns the result of a change of a State, as the API server would
// process it. It modifies neither argument. c must not be nil.
//
// All changes to the DaemonSet are one write: it increments the generation if
// the spec changed, and the template's generation if a ControllerRevision would
// encode the template differently. A write without a change leaves the
// DaemonSet as it is.
//
// Make returns an *Invalid if the API server would reject the DaemonSet, even
// for what is already there, an *Error if the change names something that does
// not exist, and a *LackingError if it depends on a part that could not be
// read.
func Make(before *daemonset.State, c *Change) (*Result, error) {
	out := *before.Snapshot
	sum, err := &Summary{Method: c.Method, FieldManager: c.FieldManager}, error(nil)
	if out.DaemonSet, err = c.daemonSet(before); err != nil {
		return nil, err
	}
	old := before.DaemonSet
	if sum.Fields, err = fieldDiffs(old, out.DaemonSet); err != nil {
		return nil, err
	}
	if len(sum.Fields) == 0 {
		out.DaemonSet = old
	} else if err := c.write(before.Snapshot, out.DaemonSet); err != nil {
		return nil, err
	}
	if sum.TemplateChanged, err = templateChanged(old, out.DaemonSet); err != nil {
		return nil, err
	}
	if sum.Nodes, err = editNodes(&out, c.Nodes); err != nil {
		return nil, err
	}
	after, err := before.Changed(&out)
	if err != nil {
		return nil, err
	}
	sum.Revision = revisionNote(before.History, after.History)
	return &Result{before, after, sum, len(sum.Fields) > 0 && c.byHand(), c.assumptions(before, sum)}, nil
}

// MakeNew returns the result of creating a DaemonSet. The Snapshot contains it
// as the API server would store it, without pods. Only the changes of nodes,
// which are made first, and the method of the Change apply. MakeNew returns
// errors as Make does, and an error without nodes.
func MakeNew(s *snapshot.Snapshot, c *Change) (*Result, error) {
	if errs := validate.DaemonSet(nil, s.DaemonSet, s.KubernetesVersion); len(errs) > 0 &&
		c.Method != MethodServerDryRun {
		return nil, &Invalid{Name: s.DaemonSet.Name, Errors: errs}
	}
	if s.Lacks(snapshot.Nodes) {
		return nil, lacking(s, snapshot.Nodes, "where it would run")
	}
	out := *s
	nodes, err := editNodes(&out, c.Nodes)
	if err != nil {
		return nil, err
	}
	st, err := daemonset.StateOf(&out)
	if err != nil {
		return nil, err
	}
	sum := &Summary{Method: c.Method, FieldManager: c.FieldManager, Fields: []FieldDiff{}, TemplateChanged: true,
		Revision: RevisionNote{Number: 1, New: true}, Nodes: nodes}
	return &Result{nil, st, sum, false, (&Change{DaemonSet: s.DaemonSet, Method: c.Method}).ofManifest(sum)}, nil
}

// daemonSet returns a copy of the DaemonSet with the change made, before the
// API server processes it.
func (c *Change) daemonSet(before *daemonset.State) (*appsv1.DaemonSet, error) {
	s, ds := before.Snapshot, before.DaemonSet.DeepCopy()
	if m := c.DaemonSet; m != nil {
		m = m.DeepCopy()
		keepDigests(s, m)
		ds.Labels, ds.Annotations, ds.Spec = m.Labels, m.Annotations, m.Spec
	}
	t := &ds.Spec.Template
	if c.ToRevision != nil {
		earlier, err := revisionTemplate(before, *c.ToRevision, t)
		if err != nil {
			return nil, err
		}
		*t = *earlier
	}
	if c.Restart {
		put(&t.Annotations, "kubectl.kubernetes.io/restartedAt", s.TakenAt.UTC().Format(time.RFC3339))
	}
	given := map[string]string{} // by name of the container
	for _, image := range c.Images {
		if err := image.set(&t.Spec, given); err != nil {
			return nil, err
		}
	}
	t.Spec.Tolerations = c.AddTolerations(t.Spec.Tolerations)
	for key, value := range c.NodeSelector {
		put(&t.Spec.NodeSelector, key, value)
	}
	for _, key := range c.DropSelector {
		if _, ok := t.Spec.NodeSelector[key]; !ok {
			return nil, &Error{Message: fmt.Sprintf("the template's nodeSelector has no key %q: %s", key,
				listNames(slices.Sorted(maps.Keys(t.Spec.NodeSelector))))}
		}
		delete(t.Spec.NodeSelector, key)
	}
	if c.MinReadySeconds != nil {
		ds.Spec.MinReadySeconds = *c.MinReadySeconds
	}
	return ds, c.strategy(before.Profile, s.KubernetesVersion, &ds.Spec.UpdateStrategy)
}

// AddTolerations returns the tolerations of a template followed by those that
// the change adds, without duplicates.
func (c *Change) AddTolerations(to []corev1.Toleration) []corev1.Toleration {
	for _, toleration := range c.Tolerations {
		if !slices.ContainsFunc(to,
			func(have corev1.Toleration) bool { return apiequality.Semantic.DeepEqual(have, toleration) }) {
			to = append(to, toleration)
		}
	}
	return to
}

// byHand reports whether the change writes the DaemonSet without a manifest,
// other than by a restart, which no tool reverts.
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

// listNames formats a list of existing names for messages.
func listNames(names []string) string {
	if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}

// strategy applies the change of the update strategy. The API server leaves an
// OnDelete without limits as it is. Otherwise it sets a missing maxSurge to 0,
// and a missing maxUnavailable to 1 for RollingUpdate and to 0 for OnDelete.
func (c *Change) strategy(profile daemonset.Profile, version string, u *appsv1.DaemonSetUpdateStrategy) error {
	if c.Strategy == "" && c.MaxUnavailable == nil && c.MaxSurge == nil {
		return nil
	}
	if c.MaxSurge != nil && !profile.MaxSurge {
		return &Error{Message: fmt.Sprintf("maxSurge: Kubernetes %s does not have it, v1.22 was the first", version)}
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
// returns why it rejects it.
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
	if counts { // set only by the API server
		put(&ds.Annotations, appsv1.DeprecatedTemplateGeneration, generation)
	}
	if errs := c.refused(s, ds); len(errs) > 0 {
		return &Invalid{Name: ds.Name, Errors: errs, Instead: c.validStrategy(errs)}
	}
	if s.Lacks(snapshot.Nodes) && placedBy(old) != placedBy(ds) {
		return lacking(s, snapshot.Nodes, "where pods would have to go")
	}
	return nil
}

// refused returns why the API server would reject a changed DaemonSet. It omits
// what the API server accepted in a dry run.
func (c *Change) refused(s *snapshot.Snapshot, ds *appsv1.DaemonSet) field.ErrorList {
	errs := validate.DaemonSet(s.DaemonSet, ds, s.KubernetesVersion)
	if c.Method != MethodServerDryRun || c.DaemonSet == nil {
		return errs
	}
	accepted := map[string]bool{}
	for _, e := range validate.DaemonSet(s.DaemonSet, c.DaemonSet, s.KubernetesVersion) {
		accepted[e.Error()] = true
	}
	return slices.DeleteFunc(errs, func(e *field.Error) bool { return accepted[e.Error()] })
}

// validStrategy returns a change that makes a rejected update strategy valid, or nil if
// none is known.
func (c *Change) validStrategy(errs field.ErrorList) *Change {
	limit := intstr.FromInt32(0)
	refused := func(detail string) bool {
		return slices.ContainsFunc(errs, func(e *field.Error) bool { return e.Detail == detail })
	}
	switch {
	case refused(validate.BothLimits):
	case refused(validate.NoLimit):
		limit = intstr.FromInt32(1)
	default:
		return nil
	}
	if c.MaxUnavailable != nil && c.MaxSurge == nil {
		return &Change{MaxSurge: &limit}
	}
	return &Change{MaxUnavailable: &limit}
}

// placedBy returns a text with the fields of the template that decide on
// placement.
func placedBy(ds *appsv1.DaemonSet) string {
	spec := &ds.Spec.Template.Spec
	of := corev1.PodSpec{NodeName: spec.NodeName, NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations,
		HostNetwork: spec.HostNetwork}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		of.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		}}
	}
	raw, err := json.Marshal(of)
	if err != nil {
		panic(err) // a PodSpec always encodes
	}
	return string(raw)
}

// set sets the image of the container. It returns an error if given has another
// image for the container.
func (i Image) set(spec *corev1.PodSpec, given map[string]string) error {
	if len(spec.Containers) == 0 {
		return &Error{Message: "the template has no containers, so there is no image to change"}
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
				return &Error{Message: fmt.Sprintf("container %q is to have the image %q and %q", c.Name,
					before, i.Image)}
			}
			c.Image, given[c.Name], set = i.Image, i.Image, true
		}
	}
	if set {
		return nil
	}
	e := &Error{Message: fmt.Sprintf("the template has no container %q: %s", name, listNames(names)),
		Instead: &Change{Images: []Image{{names[0], i.Image}}}}
	if name == "" {
		e.Message = fmt.Sprintf("the template has %d containers: say whose image is %q: %s", len(spec.Containers),
			i.Image, strings.Join(names, ", "))
	}
	return e
}
