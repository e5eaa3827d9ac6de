// Package eligible finds why no node is eligible for a DaemonSet: which nodes come nearest, what excludes them, and
// since when. It takes a State and returns causes and facts.
package eligible

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Values of the fact "changed" of NoEligibleNode.
const (
	ChangedTemplate = "Template" // a change to the template, between two existing revisions
	// no existing template makes a node eligible: nodes have changed, or no node was ever eligible
	ChangedOther   = "NotTemplate"
	ChangedUnknown = "Unknown" // the revisions could not be read
)

// Values of the fact "excludedBy" of NoEligibleNode, which is about the nodes in "nearest".
const (
	ExcludedByNodeName  = "NodeName"       // the template names another node
	ExcludedByLabels    = "NodeSelector"   // they lack a label in the template's nodeSelector
	ExcludedByAffinity  = "NodeAffinity"   // they do not meet the template's node affinity
	ExcludedByNamespace = "Namespace"      // the node selector of the namespace, on OpenShift
	ExcludedByTaint     = "Taint"          // they have a taint that the template does not tolerate
	ExcludedByCondition = "NodeCondition"  // they have such a taint only while they have a problem
	ExcludedForGood     = "NodeUnsuitable" // their taint says that they are being removed, or run no DaemonSet pods
)

// None returns the cause if no node of the cluster is eligible. It returns nil if a node is eligible, if there are no
// nodes, if they could not be read, and if the controller ignores the DaemonSet.
//
// The facts are three counts: all nodes, the nodes whose pod is being deleted (lost has their names), and the nodes
// whose pod stays until the next rollout deletes it.
func None(st *daemonset.State, lost []string) *cause.Cause {
	if !st.NodesRead || st.Desired > 0 || st.DaemonSet.DeletionTimestamp != nil || daemonset.SelectsAll(st.DaemonSet) {
		return nil
	}
	nodes, staying := 0, 0
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if !n.Exists {
			continue
		}
		nodes++
		if n.MayStay.OK && !slices.Contains(lost, n.Name) &&
			slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating }) {
			staying++
		}
	}
	if nodes == 0 {
		return nil
	}
	return &cause.Cause{Code: cause.NoEligibleNode, Severity: cause.SeverityWarning,
		Facts: daemonset.Facts{"nodes": nodes, "losing": len(lost), "staying": staying}}
}

// NearestFacts returns what excludes the nodes that come nearest to being eligible, as additional facts for the cause
// of None. The nearest nodes fail the fewest rules by which the template selects nodes, and then have the fewest
// taints. If they fail different rules, the largest group counts.
func NearestFacts(st *daemonset.State) daemonset.Facts {
	near, all := nearest(st)
	if near == nil {
		return daemonset.Facts{}
	}
	f := daemonset.Facts{
		"nearest": near.nodes, "excludedBy": excludedBy(st, near.nodes[0], near.checks),
		"selects": append([]string{}, st.Placement.Selects()...),
	}
	labels := labelTexts(st.Placement.Unmet(all))
	switch f["excludedBy"] {
	case ExcludedByTaint, ExcludedByCondition, ExcludedForGood:
		f["taints"] = textsOf(near.checks, func(c daemonset.Check) bool { return true }, "taint")
	case ExcludedByLabels:
		labels = textsOf(near.checks, func(c daemonset.Check) bool {
			has := func(n *corev1.Node) bool {
				value, is := n.Labels[c.Facts.Text("key")]
				return is && value == c.Facts["want"]
			}
			return c.Rule == daemonset.RuleNodeSelector && !slices.ContainsFunc(all, has)
		}, "key", "want")
		fallthrough
	case ExcludedByAffinity:
		if len(labels) > 0 {
			f["labels"] = labels
		}
	}
	return f
}

// excluded is a group of nodes that fail the same placement rules.
type excluded struct {
	nodes  []string          // sorted by name
	checks []daemonset.Check // the checks that they fail; the facts of affinity checks may differ
	labels int               // the number of these checks that are not for taints
}

// nearest returns the nodes that come nearest to being eligible, or nil if there are no nodes, and all nodes.
func nearest(st *daemonset.State) (near *excluded, all []*corev1.Node) {
	groups := map[string]*excluded{}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if !n.Exists || n.Object == nil {
			continue
		}
		all = append(all, n.Object)
		g, key := excluded{}, ""
		for _, c := range st.Placement.Checks(n.Object) {
			if c.OK {
				continue
			}
			g.checks, key = append(g.checks, c), key+"\x00"+string(c.Rule)
			if c.Rule != daemonset.RuleTaint {
				g.labels++
			}
			if c.Rule != daemonset.RuleNodeAffinity {
				key += "\x00" + c.Facts.Text("taint") + c.Facts.Text("key")
			}
		}
		if groups[key] == nil {
			groups[key] = &g
		}
		groups[key].nodes = append(groups[key].nodes, n.Name)
	}
	for _, g := range groups {
		if slices.Sort(g.nodes); near == nil || g.compare(near) < 0 {
			near = g
		}
	}
	return near, all
}

// compare orders groups by how near they are to being eligible.
func (g *excluded) compare(o *excluded) int {
	return cmp.Or(
		cmp.Compare(g.labels, o.labels), cmp.Compare(len(g.checks), len(o.checks)),
		cmp.Compare(len(o.nodes), len(g.nodes)), slices.Compare(g.nodes, o.nodes))
}

// excludedBy returns the rule that excludes a node, given the checks that it fails.
func excludedBy(st *daemonset.State, node string, failing []daemonset.Check) string {
	if by, known := excluding[failing[0].Rule]; known {
		return by
	}
	by := ExcludedByCondition
	for _, r := range st.Placement.Remedies(st.Node(node).Object) {
		switch r.Kind {
		case daemonset.AddToleration:
			return ExcludedByTaint
		case daemonset.NoSensibleChange:
			by = ExcludedForGood
		}
	}
	return by
}

var excluding = map[daemonset.Rule]string{
	daemonset.RuleNodeName: ExcludedByNodeName, daemonset.RuleNodeSelector: ExcludedByLabels,
	daemonset.RuleNodeAffinity: ExcludedByAffinity, daemonset.RuleNamespaceSelector: ExcludedByNamespace,
}

// textsOf returns the given facts of some checks. Several facts of one check are joined with =.
func textsOf(checks []daemonset.Check, is func(daemonset.Check) bool, keys ...string) (texts []string) {
	for _, c := range checks {
		var all []string
		for _, key := range keys {
			all = append(all, c.Facts.Text(key))
		}
		if text := strings.Join(all, "="); is(c) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// LabelKeys returns the keys in the fact "labels" of NoEligibleNode.
func LabelKeys(f daemonset.Facts) (keys []string) {
	labels, _ := f["labels"].([]string)
	for _, l := range labels {
		key, _, _ := strings.Cut(l, "=")
		key, _, _ = strings.Cut(key, " ")
		keys = append(keys, key)
	}
	return keys
}

// labelTexts returns requirements in the format of kubectl's label selectors.
func labelTexts(all []corev1.NodeSelectorRequirement) (texts []string) {
	for _, r := range all {
		text := r.Key
		switch {
		case r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1:
			text += "=" + r.Values[0]
		case r.Operator == corev1.NodeSelectorOpIn:
			text += " in (" + strings.Join(r.Values, ",") + ")"
		case r.Operator == corev1.NodeSelectorOpGt:
			text += " > " + strings.Join(r.Values, "")
		case r.Operator == corev1.NodeSelectorOpLt:
			text += " < " + strings.Join(r.Values, "")
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// NoneSince returns which change to the template left no node eligible, as additional facts for the cause of None, and
// when. The change is from the newest revision whose template would make an existing node eligible to the next
// revision. The time is nil if it is unknown.
func NoneSince(st *daemonset.State) (daemonset.Facts, *time.Time) {
	unknown := daemonset.Facts{"changed": ChangedUnknown}
	if st.Snapshot.Lacks(snapshot.Revisions) || !st.History.CurrentKnown() && !st.History.Cut {
		return unknown, nil
	}
	after := step{spec: &st.DaemonSet.Spec.Template.Spec, Revision: daemonset.Revision{Number: st.History.Number}}
	for _, r := range st.History.Revisions { // newest first
		if slices.Contains(st.History.Current, r.Name) {
			after.Revision = r
			continue
		}
		before := step{templateOf(st.Snapshot, r.Name), r}
		if before.spec == nil {
			return unknown, nil
		}
		if eligible := before.eligible(st); eligible > 0 {
			var since *time.Time
			if after.Created.After(r.Created) { // otherwise a rollback restored it
				at := after.Created.UTC()
				since = &at
			}
			return daemonset.Facts{
				"changed": ChangedTemplate, "number": int(after.Number), "before": int(r.Number), "eligible": eligible,
				"fields": placementFields(before.spec, after.spec),
			}, since
		}
		after = before
	}
	return daemonset.Facts{"changed": ChangedOther}, nil
}

// step is one template in the sequence of revisions.
type step struct {
	spec *corev1.PodSpec
	daemonset.Revision
}

// eligible counts the nodes that are eligible for the template.
func (t *step) eligible(st *daemonset.State) int {
	ds := &appsv1.DaemonSet{}
	ds.Spec.Template.Spec = *t.spec
	placement, count := daemonset.NewPlacement(ds, st.Profile).In(st.Snapshot.OpenShift), 0
	for i := range st.Nodes {
		if n := st.Nodes[i].Object; n != nil {
			if should, _ := placement.Decide(n); should.OK {
				count++
			}
		}
	}
	return count
}

// templateOf returns the pod spec in a revision; nil if it cannot be read.
func templateOf(s *snapshot.Snapshot, revision string) *corev1.PodSpec {
	for i := range s.Revisions {
		if s.Revisions[i].Name != revision {
			continue
		}
		var data struct {
			Spec struct {
				Template *corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if json.Unmarshal(s.Revisions[i].Data.Raw, &data) != nil || data.Spec.Template == nil {
			return nil
		}
		return &data.Spec.Template.Spec
	}
	return nil
}

// placementFields returns the names of the fields that decide placement and differ between two pod specs.
func placementFields(a, b *corev1.PodSpec) []string {
	required := func(s *corev1.PodSpec) *corev1.NodeSelector {
		if s.Affinity == nil || s.Affinity.NodeAffinity == nil {
			return nil
		}
		return s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	out := []string{}
	for _, f := range []struct {
		name  string
		equal bool
	}{
		{"nodeName", a.NodeName == b.NodeName},
		{"nodeSelector", equality.Semantic.DeepEqual(a.NodeSelector, b.NodeSelector)},
		{"affinity", equality.Semantic.DeepEqual(required(a), required(b))},
		{"tolerations", equality.Semantic.DeepEqual(a.Tolerations, b.Tolerations)},
		{"hostNetwork", a.HostNetwork == b.HostNetwork},
	} {
		if !f.equal {
			out = append(out, f.name)
		}
	}
	return out
}
