package daemonset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// demand is what a template requires of nodes, in a short notation:
//
// affinity     "disk In ssd hdd, size Gt 5 | field In n0 | ": terms and their requirements; the last one is empty
// tolerations  "dedicated=x:NoSchedule gpu:NoExecute :NoSchedule :": with = Equal, else Exists; no effect is any
type demand struct {
	nodeName    string
	selector    map[string]string
	affinity    string // "none" for an affinity without terms
	tolerations string
	hostNetwork bool
}

func (d demand) placement(t *testing.T) *Placement {
	t.Helper()
	ds := &appsv1.DaemonSet{}
	spec := &ds.Spec.Template.Spec
	spec.NodeName, spec.NodeSelector, spec.HostNetwork = d.nodeName, d.selector, d.hostNetwork
	if d.affinity != "" {
		required := &corev1.NodeSelector{}
		for term := range strings.SplitSeq(d.affinity, "|") {
			if d.affinity != "none" {
				required.NodeSelectorTerms = append(required.NodeSelectorTerms, parseTerm(t, term))
			}
		}
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	}
	for f := range strings.FieldsSeq(d.tolerations) {
		taint := parseTaint(t, f)
		tol := corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists, Value: taint.Value, Effect: taint.Effect}
		if strings.Contains(f, "=") {
			tol.Operator = corev1.TolerationOpEqual
		}
		spec.Tolerations = append(spec.Tolerations, tol)
	}
	return NewPlacement(ds, Profile{})
}

func parseTerm(t *testing.T, text string) corev1.NodeSelectorTerm {
	t.Helper()
	var term corev1.NodeSelectorTerm
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		if len(words) < 2 {
			t.Fatalf("requirement %q", part)
		}
		r := corev1.NodeSelectorRequirement{Key: words[0], Operator: corev1.NodeSelectorOperator(words[1])}
		if len(words) > 2 {
			r.Values = words[2:]
		}
		if r.Key == "field" {
			r.Key = "metadata.name"
			term.MatchFields = append(term.MatchFields, r)
			continue
		}
		term.MatchExpressions = append(term.MatchExpressions, r)
	}
	return term
}

func parseTaint(t *testing.T, text string) corev1.Taint {
	t.Helper()
	key, effect, ok := strings.Cut(text, ":")
	if !ok {
		t.Fatalf("taint %q", text)
	}
	key, value, _ := strings.Cut(key, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

// nodeOf returns node n0 with labels such as "disk=ssd gpu=", and taints.
func nodeOf(t *testing.T, labels, taints string) *corev1.Node {
	t.Helper()
	n := &corev1.Node{}
	n.Name = "n0"
	for l := range strings.FieldsSeq(labels) {
		key, value, ok := strings.Cut(l, "=")
		if !ok {
			t.Fatalf("label %q", l)
		}
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[key] = value
	}
	for f := range strings.FieldsSeq(taints) {
		n.Spec.Taints = append(n.Spec.Taints, parseTaint(t, f))
	}
	return n
}

const (
	notReady    = corev1.TaintNodeNotReady
	unreachable = corev1.TaintNodeUnreachable
)

func TestDecide(t *testing.T) {
	yes := Verdict{OK: true, Reason: Eligible}
	no := func(r Reason, f Facts) Verdict { return Verdict{Reason: r, Facts: f} }
	selector := func(f Facts) Verdict { return no(NodeSelector, f) }
	affinity := func(f Facts) Verdict { return no(NodeAffinity, f) }
	taint := func(key, value, effect string) Verdict {
		text := key + ":" + effect
		if value != "" {
			text = key + "=" + value + ":" + effect
		}
		return no(TaintNotTolerated, Facts{"taint": text, "key": key, "value": value, "effect": effect})
	}
	also := func(v Verdict, others int) Verdict {
		f := Facts{"others": others}
		for k, x := range v.Facts {
			f[k] = x
		}
		return no(v.Reason, f)
	}
	taints := func(v Verdict, further string) Verdict { // the first taint and another one
		v = also(v, 1)
		v.Facts["taints"] = []string{v.Facts.Text("taint"), further}
		return v
	}
	fails := func(f Facts) Facts { // the facts of the requirement that fails
		out := Facts{"terms": 1, "term": 1, "isField": false, "valid": true}
		for k, v := range f {
			out[k] = v
		}
		return out
	}
	type verdicts struct{ ShouldRun, MayStay Verdict }
	both := func(v Verdict) verdicts { return verdicts{v, v} }
	whys := whys{}
	for _, tt := range []struct {
		asks           demand
		labels, taints string
		want           verdicts
		why            string
	}{
		{demand{}, "", "", both(yes), "nothing asked, any node will do"},

		// nodeName.
		{demand{nodeName: "n0"}, "", "", both(yes), "the template's nodeName is this node"},
		{demand{nodeName: "n1"}, "", "", both(no(NodeName, Facts{"want": "n1"})), "or another, which also ends a pod that is there"},

		// nodeSelector.
		{demand{selector: map[string]string{"disk": "ssd"}}, "disk=ssd gpu=", "", both(yes), "every key of the selector is there"},
		{demand{selector: map[string]string{"disk": "ssd"}}, "disk=hdd", "", both(selector(Facts{"key": "disk", "want": "ssd", "got": "hdd", "present": true})), "with another value"},
		{demand{selector: map[string]string{"disk": "ssd"}}, "", "", both(selector(Facts{"key": "disk", "want": "ssd", "present": false})), "or not at all, so pods are killed when a label goes"},
		{demand{selector: map[string]string{"gpu": ""}}, "", "", both(selector(Facts{"key": "gpu", "want": "", "present": false})), "an empty value is not a missing label"},
		{demand{selector: map[string]string{"disk": "ssd", "gpu": "true"}}, "disk=hdd", "", verdicts{also(selector(Facts{"key": "disk", "want": "ssd", "got": "hdd", "present": true}), 1), selector(Facts{"key": "disk", "want": "ssd", "got": "hdd", "present": true})}, "the first key by name is the reason, the others are counted"},

		// Affinity.
		{demand{affinity: "disk In ssd hdd"}, "disk=hdd", "", both(yes), "one of several values"},
		{demand{affinity: "disk In ssd"}, "disk=hdd", "", both(affinity(fails(Facts{"key": "disk", "operator": "In", "values": []string{"ssd"}, "got": "hdd"}))), "none of them"},
		{demand{affinity: "disk In ssd | gpu Exists"}, "gpu=", "", both(yes), "any term is enough"},
		{demand{affinity: "disk In ssd, gpu Exists"}, "disk=ssd", "", both(affinity(fails(Facts{"key": "gpu", "operator": "Exists", "values": []string{}}))), "of a term all is needed"},
		{demand{affinity: "disk In ssd, gpu Exists | disk In hdd, zone In z1, gpu Exists | gpu DoesNotExist, disk In nvme"}, "disk=hdd", "", both(affinity(Facts{"terms": 3, "term": 3, "key": "disk", "operator": "In", "values": []string{"nvme"}, "got": "hdd", "isField": false, "valid": true})), "the facts are of the term that fails least"},
		{demand{affinity: "disk In ssd | gpu Exists"}, "", "", both(affinity(fails(Facts{"terms": 2, "key": "disk", "operator": "In", "values": []string{"ssd"}}))), "of equal ones the first"},
		{demand{affinity: " | disk In ssd"}, "disk=ssd", "", both(yes), "an empty term does no harm"},
		{demand{affinity: "|"}, "disk=ssd", "", both(affinity(Facts{"terms": 2})), "and matches nothing"},
		{demand{affinity: "none"}, "", "", both(affinity(Facts{"terms": 0})), "nor do no terms"},
		{demand{affinity: "disk NotIn ssd"}, "", "", both(yes), "NotIn holds for a node without the label"},
		{demand{affinity: "disk DoesNotExist"}, "disk=", "", both(affinity(fails(Facts{"key": "disk", "operator": "DoesNotExist", "values": []string{}, "got": ""}))), "an empty label exists"},
		{demand{affinity: "size Gt 5"}, "size=007", "", both(yes), "Gt and Lt read numbers: 007 is 7"},
		{demand{affinity: "size Lt 5"}, "size=5", "", both(affinity(fails(Facts{"key": "size", "operator": "Lt", "values": []string{"5"}, "got": "5"}))), "and are strict"},
		{demand{affinity: "size Gt 5"}, "size=big", "", both(affinity(fails(Facts{"key": "size", "operator": "Gt", "values": []string{"5"}, "got": "big"}))), "a label that is no number is not greater"},
		{demand{affinity: "size Gt -5"}, "size=7", "", both(affinity(fails(Facts{"key": "size", "operator": "Gt", "values": []string{"-5"}, "got": "7", "valid": false}))), "a bound that is no label value never matches (15)"},
		{demand{affinity: "size Gt -5 | disk In ssd"}, "disk=ssd", "", both(yes), "which spoils its own term only"},
		{demand{affinity: "field In n0"}, "", "", both(yes), "the field metadata.name"},
		{demand{affinity: "field NotIn n0"}, "", "", both(affinity(fails(Facts{"key": "metadata.name", "operator": "NotIn", "values": []string{"n0"}, "isField": true}))), "and its opposite"},
		{demand{affinity: "field In n0, disk In ssd"}, "disk=hdd", "", both(affinity(fails(Facts{"key": "disk", "operator": "In", "values": []string{"ssd"}, "got": "hdd"}))), "fields and labels of a term are both needed"},
		{demand{affinity: "field NotIn n0"}, "metadata.name=n9", "", both(affinity(fails(Facts{"key": "metadata.name", "operator": "NotIn", "values": []string{"n0"}, "isField": true}))), "a label that is called like the field is not what the node has of it"},
		{demand{affinity: "field In n0 n1"}, "", "", both(affinity(fails(Facts{"key": "metadata.name", "operator": "In", "values": []string{"n0", "n1"}, "isField": true, "valid": false}))), "a field with two values never matches"},

		// Taints.
		{demand{}, "", "dedicated=x:NoSchedule", verdicts{taint("dedicated", "x", "NoSchedule"), yes}, "NoSchedule: no new pod, but one may stay"},
		{demand{}, "", "dedicated=x:NoExecute", both(taint("dedicated", "x", "NoExecute")), "NoExecute: neither"},
		{demand{}, "", "dedicated=x:PreferNoSchedule", both(yes), "PreferNoSchedule never matters"},
		{demand{}, "", "a:NoSchedule b:NoExecute", verdicts{taints(taint("a", "", "NoSchedule"), "b:NoExecute"), taint("b", "", "NoExecute")}, "the two verdicts have a reason each"},
		{demand{tolerations: "dedicated=x:NoSchedule"}, "", "dedicated=x:NoSchedule", both(yes), "a toleration of key, value and effect"},
		{demand{tolerations: "dedicated=y:NoSchedule"}, "", "dedicated=x:NoSchedule", verdicts{taint("dedicated", "x", "NoSchedule"), yes}, "another value"},
		{demand{tolerations: "dedicated=x:NoExecute"}, "", "dedicated=x:NoSchedule", verdicts{taint("dedicated", "x", "NoSchedule"), yes}, "another effect"},
		{demand{tolerations: "gpu:NoSchedule"}, "", "dedicated=x:NoSchedule", verdicts{taint("dedicated", "x", "NoSchedule"), yes}, "another key"},
		{demand{tolerations: "dedicated:NoSchedule"}, "", "dedicated=x:NoSchedule", both(yes), "Exists asks for no value"},
		{demand{tolerations: "dedicated=x:"}, "", "dedicated=x:NoSchedule dedicated=x:NoExecute", both(yes), "no effect is every effect"},
		{demand{tolerations: ":NoSchedule"}, "", "a:NoSchedule b=x:NoSchedule", both(yes), "no key is every key"},
		{demand{tolerations: ":NoSchedule"}, "", "a:NoExecute", both(taint("a", "", "NoExecute")), "of that effect"},

		// Automatic tolerations.
		{demand{}, "", notReady + ":NoExecute " + unreachable + ":NoExecute", both(yes), "not-ready and unreachable are tolerated as NoExecute"},
		{demand{}, "", notReady + ":NoExecute " + notReady + ":NoSchedule", verdicts{taint(notReady, "", "NoSchedule"), yes}, "but not as NoSchedule, which a node that is not ready has as well"},
		{demand{}, "", unreachable + ":NoSchedule", verdicts{taint(unreachable, "", "NoSchedule"), yes}, "nor is unreachable"},
		{demand{}, "", corev1.TaintNodeDiskPressure + ":NoSchedule " + corev1.TaintNodeMemoryPressure + ":NoSchedule " + corev1.TaintNodePIDPressure + ":NoSchedule", both(yes), "pressure of disk, memory and processes is tolerated"},
		{demand{}, "", corev1.TaintNodeDiskPressure + ":NoExecute", both(taint(corev1.TaintNodeDiskPressure, "", "NoExecute")), "as NoSchedule only"},
		{demand{}, "", corev1.TaintNodeUnschedulable + ":NoSchedule", both(yes), "so is a cordon"},
		{demand{}, "", corev1.TaintNodeNetworkUnavailable + ":NoSchedule", verdicts{taint(corev1.TaintNodeNetworkUnavailable, "", "NoSchedule"), yes}, "a node without network is not"},
		{demand{hostNetwork: true}, "", corev1.TaintNodeNetworkUnavailable + ":NoSchedule", both(yes), "unless the pods use the host's"},

		// The order of reasons.
		{demand{selector: map[string]string{"disk": "ssd"}, affinity: "gpu Exists"}, "", "a:NoSchedule", verdicts{also(selector(Facts{"key": "disk", "want": "ssd", "present": false}), 2), selector(Facts{"key": "disk", "want": "ssd", "present": false})}, "nodeName, selector, affinity, taints: the first that fails is the reason"},
		{demand{affinity: "gpu Exists"}, "", "a:NoExecute", verdicts{also(affinity(fails(Facts{"key": "gpu", "operator": "Exists", "values": []string{}})), 1), affinity(fails(Facts{"key": "gpu", "operator": "Exists", "values": []string{}}))}, "affinity comes before taints"},
		{demand{}, "", notReady + ":NoSchedule zone:NoSchedule", verdicts{taints(taint("zone", "", "NoSchedule"), notReady+":NoSchedule"), yes}, "taints of a node's condition come last, since they pass"},
		{demand{}, "", "zone:NoSchedule " + notReady + ":NoSchedule", verdicts{taints(taint("zone", "", "NoSchedule"), notReady+":NoSchedule"), yes}, "in whatever order they are on the node"},
		{demand{}, "", "b:NoSchedule a:NoSchedule", verdicts{taints(taint("a", "", "NoSchedule"), "b:NoSchedule"), yes}, "other taints go by name"},
		{demand{}, "", notReady + ":NoSchedule " + unreachable + ":NoSchedule", verdicts{taints(taint(notReady, "", "NoSchedule"), unreachable+":NoSchedule"), yes}, "and so do two of a condition"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			var got verdicts
			got.ShouldRun, got.MayStay = tt.asks.placement(t).Decide(nodeOf(t, tt.labels, tt.taints))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecideIgnores tests properties of a node that do not affect placement.
func TestDecideIgnores(t *testing.T) {
	n := nodeOf(t, "", "")
	n.Spec.Unschedulable = true
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}
	ds := &appsv1.DaemonSet{}
	seconds := int64(300)
	ds.Spec.Template.Spec = corev1.PodSpec{
		Tolerations: []corev1.Toleration{
			{Key: notReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
			{Key: "level", Operator: "Gt", Value: "5"}, {Key: "level", Operator: "Lt", Value: "5"},
		},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Preference: parseTerm(t, "gpu Exists")}},
		}},
	}
	if run, stay := NewPlacement(ds, Profile{}).Decide(n); !run.OK || !stay.OK {
		t.Errorf("unschedulable and not ready without their taints, and a preference: %+v, %+v", run, stay)
	}
	among := ds.DeepCopy()
	among.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}
	if run, stay := NewPlacement(among, Profile{}).Decide(n); !run.OK || !stay.OK {
		t.Errorf("an affinity to pods: %+v, %+v", run, stay)
	}
	n.Spec.Taints = []corev1.Taint{{Key: notReady, Effect: corev1.TaintEffectNoExecute}}
	if run, stay := NewPlacement(ds, Profile{}).Decide(n); !run.OK || !stay.OK {
		t.Errorf("tolerationSeconds ended a toleration: %+v, %+v", run, stay)
	}
}

// TestTolerationComparison tests Lt and Gt, which exist since 1.35 and compare
// integers in canonical form.
func TestTolerationComparison(t *testing.T) {
	whys := whys{}
	for _, tt := range []struct {
		operator     corev1.TolerationOperator
		value, taint string
		version      string
		want         bool
		why          string
	}{
		{"Lt", "5", "4", "v1.35.0", true, "below the limit"},
		{"Lt", "5", "5", "v1.35.0", false, "at the limit is not below it"},
		{"Lt", "5", "6", "v1.35.0", false, "above it"},
		{"Gt", "5", "6", "v1.35.0", true, "above the limit"},
		{"Gt", "5", "5", "v1.35.0", false, "at the limit is not above it"},
		{"Gt", "5", "4", "v1.35.0", false, "below it"},
		{"Lt", "10", "9", "v1.37.1", true, "numbers are compared, not strings"},
		{"Gt", "-1", "0", "v1.37.1", true, "zero is a number, and so is one below it"},
		{"Lt", "5", "4", "v1.34.4", false, "before 1.35 the operator is not known"},
		{"Lt", "5", "", "v1.37.1", false, "a taint without a value has no number"},
		{"Lt", "5", "low", "v1.37.1", false, "a word is no number"},
		{"Gt", "5", "007", "v1.37.1", false, "nor is one with zeros before it"},
		{"", "5", "5", "v1.37.1", true, "no operator asks for the value"},
		{"", "5", "4", "v1.37.1", false, "and for no other"},
		{"Near", "5", "5", "v1.37.1", false, "an operator that nobody knows tolerates nothing"},
		{"Gt", "05", "7", "v1.37.1", false, "in the toleration either"},
		{"Gt", "+5", "7", "v1.37.1", false, "nor with a plus"},
		{"Lt", "-0", "-1", "v1.37.1", false, "nor is minus zero"},
		{"Lt", "5", "4.0", "v1.37.1", false, "nor a fraction"},
		{"Lt", "9223372036854775807", "9223372036854775806", "v1.37.1", true, "64 bits are compared to the last digit"},
		{"Lt", "9223372036854775808", "1", "v1.37.1", false, "and one more is too large"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			profile, err := ForVersion(tt.version)
			if err != nil {
				t.Fatal(err)
			}
			ds := &appsv1.DaemonSet{}
			ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "level", Operator: tt.operator, Value: tt.value, Effect: corev1.TaintEffectNoSchedule}}
			n := &corev1.Node{}
			n.Spec.Taints = []corev1.Taint{{Key: "level", Value: tt.taint, Effect: corev1.TaintEffectNoSchedule}}
			if run, _ := NewPlacement(ds, profile).Decide(n); run.OK != tt.want {
				t.Errorf("level %s %s, taint %s, in %s: %t, want %t", tt.operator, tt.value, tt.taint, tt.version, run.OK, tt.want)
			}
		})
	}
}

func TestChecks(t *testing.T) {
	p := demand{
		nodeName: "n0", selector: map[string]string{"disk": "ssd", "arch": "arm"}, affinity: "gpu Exists | disk In ssd",
		tolerations: "dedicated:NoSchedule",
	}.placement(t)
	n := nodeOf(t, "disk=ssd", notReady+":NoSchedule "+notReady+":NoExecute dedicated=x:NoSchedule a:NoExecute b:PreferNoSchedule")
	want := []Check{
		{Rule: RuleNodeName, OK: true, Reason: NodeName, Facts: Facts{"want": "n0"}},
		{Rule: RuleNodeSelector, Reason: NodeSelector, Facts: Facts{"key": "arch", "want": "arm", "present": false}},
		{Rule: RuleNodeSelector, OK: true, Reason: NodeSelector, Facts: Facts{"key": "disk", "want": "ssd", "got": "ssd", "present": true}},
		{Rule: RuleNodeAffinity, OK: true, Reason: NodeAffinity, Facts: Facts{"terms": 2, "term": 2}},
		{Rule: RuleTaint, Reason: TaintNotTolerated, Facts: Facts{"taint": "a:NoExecute", "key": "a", "value": "", "effect": "NoExecute"}},
		{Rule: RuleTaint, OK: true, Stays: true, Reason: TaintNotTolerated, Facts: Facts{"taint": "dedicated=x:NoSchedule", "key": "dedicated", "value": "x", "effect": "NoSchedule", "automatic": false}},
		{Rule: RuleTaint, OK: true, Reason: TaintNotTolerated, Facts: Facts{"taint": notReady + ":NoExecute", "key": notReady, "value": "", "effect": "NoExecute", "automatic": true}},
		{Rule: RuleTaint, Stays: true, Reason: TaintNotTolerated, Facts: Facts{"taint": notReady + ":NoSchedule", "key": notReady, "value": "", "effect": "NoSchedule"}},
	}
	if diff := cmp.Diff(want, p.Checks(n)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
