package source_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestStrippedStatus checks that an object without its status, as in backups and exports, is a gap. It must not look
// like a controller that has done nothing.
func TestStrippedStatus(t *testing.T) {
	gap := func(what snapshot.What, message string) snapshot.Gap {
		return snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: message}
	}
	of := func(what snapshot.What, piece, of string) snapshot.Gap {
		return snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: "the input holds no " + piece + " of " + of, Of: of}
	}
	ofDaemonSet := of(snapshot.DaemonSetStatus, "status", "daemonset kube-system/agent")
	const whole = "ds agent gen=1 current=2\nnode n1\nnode n2\npod p1 app=agent owner=agent ready\npod p2 app=agent owner=agent\nrev r app=agent owner=agent\nevent e about=DaemonSet/agent"
	without := func(kind string, fields ...string) func(kind string, o map[string]any) {
		return func(k string, o map[string]any) {
			status, _ := o["status"].(map[string]any)
			switch {
			case k != kind:
			case len(fields) == 0:
				delete(o, "status")
			default:
				for _, f := range fields {
					delete(status, f)
				}
			}
		}
	}
	set := func(kind, field string, value any) func(kind string, o map[string]any) {
		return func(k string, o map[string]any) {
			if k == kind {
				o["status"].(map[string]any)[field] = value
			}
		}
	}
	type edit = func(kind string, o map[string]any)
	for _, tt := range []struct {
		world string
		edits []edit
		want  []snapshot.Gap
		why   string
	}{
		{whole, nil, nil, "objects as a server gives them"},
		{whole, []edit{without("DaemonSet")}, []snapshot.Gap{ofDaemonSet}, "a DaemonSet without its status"},
		{whole, []edit{func(k string, o map[string]any) {
			if k == "DaemonSet" {
				o["status"] = map[string]any{}
			}
		}}, []snapshot.Gap{ofDaemonSet}, "with an empty one"},
		{whole, []edit{without("DaemonSet", "numberReady")}, []snapshot.Gap{ofDaemonSet}, "with one that was cut off"},
		{whole, []edit{set("DaemonSet", "desiredNumberScheduled", 2), without("DaemonSet", "observedGeneration")}, []snapshot.Gap{ofDaemonSet}, "with numbers, but not of which generation they are"},
		{whole, []edit{without("Node")}, []snapshot.Gap{gap(snapshot.NodeStatus, "2 of 2 have none")}, "nodes without theirs"},
		{whole, []edit{without("Node", "conditions")}, []snapshot.Gap{gap(snapshot.NodeStatus, "2 of 2 have none")}, "or without its conditions"},
		{whole, []edit{without("Pod")}, []snapshot.Gap{gap(snapshot.PodStatus, "2 of 2 have none")}, "pods without theirs"},
		{whole, []edit{without("Pod", "phase")}, []snapshot.Gap{gap(snapshot.PodStatus, "2 of 2 have none")}, "cut off before the phase, which every pod has"},
		{whole + "\npod other app=b owner=b", []edit{func(k string, o map[string]any) {
			if o["metadata"].(map[string]any)["name"] == "other" {
				delete(o, "status")
			}
		}}, nil, "another DaemonSet's pods do not matter"},
		{whole, []edit{func(k string, o map[string]any) {
			if o["metadata"].(map[string]any)["name"] == "p2" {
				delete(o, "status")
			}
		}}, []snapshot.Gap{gap(snapshot.PodStatus, "1 of 2 have none")}, "one pod will do"},
		{whole, []edit{without("DaemonSet"), without("Node"), without("Pod")},
			[]snapshot.Gap{ofDaemonSet, gap(snapshot.NodeStatus, "2 of 2 have none"), gap(snapshot.PodStatus, "2 of 2 have none")}, "all together"},
		{"ds agent gen=1\nnode n1\npod p1 ns=default\nrev r app=b owner=b\nevent e about=DaemonSet/agent", []edit{without("DaemonSet")}, []snapshot.Gap{
			ofDaemonSet, of(snapshot.Pods, "Pod", "namespace kube-system"), of(snapshot.Revisions, "ControllerRevision", "daemonset kube-system/agent"),
		}, "and a missing status does not mean that there are no pods and no revisions"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(edited(t, parseWorld(t, tt.world), tt.edits...))
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(tt.want, clockAndVersion...), s.Gaps); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			raw, err := snapshot.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			if d, err = readText(string(raw)); err != nil {
				t.Fatal(err)
			}
			again, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.Gaps, again.Gaps); diff != "" {
				t.Errorf("recorded and read again (-recorded +read):\n%s", diff)
			}
		})
	}
}

// TestStatusBesideNone checks that the copy of an object with a status is used, whatever the order and the
// resourceVersion of the copies.
func TestStatusBesideNone(t *testing.T) {
	w := parseWorld(t, "ds agent gen=1\nnode n1\npod p1 app=agent owner=agent ready\nrev r app=agent owner=agent\nevent e about=DaemonSet/agent")
	whole := edited(t, w)
	bare := edited(t, w, func(_ string, o map[string]any) {
		delete(o, "status")
		delete(o["metadata"].(map[string]any), "resourceVersion")
	})
	for why, text := range map[string]string{"first": whole + bare, "last": bare + whole} {
		d, err := readText(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(clockAndVersion, s.Gaps); diff != "" || s.Pods[0].Status.Phase == "" || s.DaemonSet.Status.ObservedGeneration == 0 {
			t.Errorf("the whole ones %s (-want +got):\n%s", why, diff)
		}
	}
}

// edited returns the world as a list in JSON, with edited objects.
func edited(t *testing.T, w world, edits ...func(kind string, o map[string]any)) string {
	t.Helper()
	var list struct {
		APIVersion string           `json:"apiVersion"`
		Kind       string           `json:"kind"`
		Items      []map[string]any `json:"items"`
	}
	if err := json.Unmarshal(asJSON(t, mixedList(w)), &list); err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Items {
		for _, edit := range edits {
			edit(o["kind"].(string), o)
		}
	}
	return string(asJSON(t, list))
}
