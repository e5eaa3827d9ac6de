package source_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// stored is a cluster with volumes.
const stored = `
	ds agent
	node n1 attached=ebs^vol-1,ebs^other,efs^x
	node n2 attached=ebs^other
	node n3
	pod p app=agent owner=agent ready
	rev r app=agent owner=agent
	event e about=DaemonSet/agent
	pvc zonal volume=pv-zonal
	pvc labelled volume=pv-labelled onepod
	pvc disk volume=pv-disk
	pvc shared volume=pv-shared
	pvc open
	pvc bindable volume=pv-zonal bindable
	pvc once volume=pv-zonal modes=ReadWriteOnce,ReadOnlyMany
	pvc lost volume=pv-gone
	pvc zonal volume=pv-disk ns=apps uid=other
	pv pv-zonal zone=a
	pv pv-labelled label=b
	pv pv-disk driver=ebs handle=vol-1
	pv pv-shared driver=nfs
	csinode n1 driver=ebs limit=25
	csinode n2 driver=ebs limit=2
	csinode n3 driver=ebs`

// volumesOf formats a Volumes.
func volumesOf(v *snapshot.Volumes) string {
	if v == nil {
		return "none"
	}
	var out []string
	for _, c := range v.Claims {
		text := c.Name
		if !c.Exists {
			text += " does not exist"
		}
		if c.OnePod {
			text += " onepod"
		}
		if want := modesOf(&c); !slices.Equal(c.AccessModes, want) {
			text += fmt.Sprint(" ", c.AccessModes)
		}
		if p := c.Volume; p != nil {
			text += "=" + p.Name
			if p.NodeAffinity != nil {
				text += " in " + p.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
			}
			for label, zone := range p.Zones {
				text += " " + label + "=" + zone
			}
			if p.Driver != "" {
				text += " " + p.Driver + "^" + p.Handle
			}
		}
		out = append(out, text)
	}
	for _, d := range v.Drivers {
		out = append(out, fmt.Sprintf("%s on %s: %d of %d %v", d.Name, d.Node, d.Attached, d.Limit, d.Handles))
	}
	switch {
	case v.AllNodes:
		out = append(out, "all nodes")
	case v.Nodes != nil:
		out = append(out, "of "+strings.Join(v.Nodes, " "))
	}
	return strings.Join(out, "; ")
}

// modesOf returns the access modes that parseWorld gives to a claim without modes=X.
func modesOf(c *snapshot.ClaimRow) []corev1.PersistentVolumeAccessMode {
	switch {
	case !c.Exists:
		return nil
	case c.OnePod:
		return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
}

func TestAddVolumes(t *testing.T) {
	for _, tt := range []struct {
		claims string
		nodes  []string
		want   string
		asked  string // requests to a cluster
		why    string
	}{
		{"zonal", []string{"n1"}, "zonal=pv-zonal in a", "persistentvolume 1, persistentvolumeclaim 1", "a volume that no CSI driver attaches asks for no CSINode; that of another namespace is another"},
		{"labelled", nil, "labelled onepod=pv-labelled topology.kubernetes.io/zone=b", "persistentvolume 1, persistentvolumeclaim 1", "of its labels those that name zones"},
		{"zonal open zonal gone", []string{"n1"}, "gone does not exist; open; zonal=pv-zonal in a", "persistentvolume 1, persistentvolumeclaim 3", "each once; what is not bound has no volume, and what does not exist is known not to"},
		{"bindable lost", []string{"n1"}, "bindable; lost", "persistentvolume 1, persistentvolumeclaim 2", "one whose binding is not complete, and one whose volume does not exist, have none"},
		{
			"disk", []string{"n2", "n1", "n3"}, "disk=pv-disk ebs^vol-1; ebs on n1: 2 of 25 [vol-1]; ebs on n2: 1 of 2 []; of n1 n2 n3",
			"csinode 3, node 2, persistentvolume 1, persistentvolumeclaim 1", "of few nodes each is asked, and only those with a limit for what is attached",
		},
		{"disk", nil, "disk=pv-disk ebs^vol-1; ebs on n1: 2 of 25 [vol-1]; ebs on n2: 1 of 2 []; all nodes", "csinodes 1, nodes 1, persistentvolume 1, persistentvolumeclaim 1", "of all nodes two lists are read"},
		{"once", []string{"n1"}, "once [ReadWriteOnce ReadOnlyMany]=pv-zonal in a", "persistentvolume 1, persistentvolumeclaim 1", "what a claim got is how nodes can have it"},
		{"shared", nil, "shared=pv-shared nfs^pv-shared; all nodes", "csinodes 1, persistentvolume 1, persistentvolumeclaim 1", "without a limit nothing is asked of nodes"},
		{"disk", []string{}, "disk=pv-disk ebs^vol-1; of ", "persistentvolume 1, persistentvolumeclaim 1", "of no node"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			for _, from := range sources {
				r := from.open(t, parseWorld(t, stored))
				if from.name == "cluster" {
					server := newAPIServer(t, parseWorld(t, stored))
					r = newCluster(t, server)
					defer func() {
						var asked []string
						for what, n := range server.asked() {
							asked = append(asked, fmt.Sprintf("%s %d", what, n))
						}
						slices.Sort(asked)
						if got := strings.Join(asked, ", "); got != tt.asked {
							t.Errorf("asked for %s, want %s", got, tt.asked)
						}
					}()
				}
				s, err := r.AddVolumes(background, anySnapshot(), strings.Fields(tt.claims), tt.nodes)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, volumesOf(s.Volumes)); diff != "" || len(s.Gaps) > 0 {
					t.Errorf("%s (-want +got):\n%s%v", from.name, diff, s.Gaps)
				}
			}
		})
	}
}

// TestAddVolumesGaps checks that a volume that cannot be read or does not exist is a Gap. It must not look like a
// volume that can be used on every node.
func TestAddVolumesGaps(t *testing.T) {
	const forbidden, failed, not = snapshot.Forbidden, snapshot.Failed, snapshot.NotGiven
	without := func(kind string) string {
		var kept []string
		for line := range strings.Lines(stored) {
			if !strings.HasPrefix(strings.TrimSpace(line), kind+" ") {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	asking := func(what string, code int) func(*testing.T) reader {
		return func(t *testing.T) reader {
			server := newAPIServer(t, parseWorld(t, stored))
			server.answer = func(s *apiServer, w http.ResponseWriter, asked string, _ int) bool {
				switch {
				case asked != what:
					return false
				case code == http.StatusForbidden:
					return s.forbid(w, what)
				}
				s.fail(w, code, "", "broken")
				return true
			}
			return newCluster(t, server)
		}
	}
	input := func(world string) func(*testing.T) reader {
		return func(t *testing.T) reader {
			return openText(t, "dump.yaml", asYAML(t, mixedList(parseWorld(t, world))))
		}
	}
	for _, tt := range []struct {
		open  func(*testing.T) reader
		nodes []string
		want  string
		gaps  []snapshot.Gap
		why   string
	}{
		{asking("persistentvolumeclaim", 403), []string{"n1"}, "", []snapshot.Gap{{What: snapshot.PersistentVolumes, Why: forbidden}}, "claims"},
		{asking("persistentvolume", 403), []string{"n1"}, "disk; zonal", []snapshot.Gap{{What: snapshot.PersistentVolumes, Why: forbidden}}, "volumes"},
		{asking("csinode", 500), []string{"n1"}, "disk=pv-disk ebs^vol-1; zonal=pv-zonal in a; of n1", []snapshot.Gap{{What: snapshot.CSINodes, Why: failed}}, "the CSINode of one"},
		{asking("csinodes", 403), nil, "disk=pv-disk ebs^vol-1; zonal=pv-zonal in a; all nodes", []snapshot.Gap{{What: snapshot.CSINodes, Why: forbidden}}, "the CSINodes of all"},
		{asking("node", 403), []string{"n1"}, "disk=pv-disk ebs^vol-1; zonal=pv-zonal in a; of n1", []snapshot.Gap{{What: snapshot.CSINodes, Why: forbidden}}, "what is attached to one"},
		{asking("nodes", 403), nil, "disk=pv-disk ebs^vol-1; zonal=pv-zonal in a; all nodes", []snapshot.Gap{{What: snapshot.CSINodes, Why: forbidden}}, "what is attached to all"},
		{input(without("pvc")), nil, "", []snapshot.Gap{{What: snapshot.PersistentVolumes, Why: not}}, "a dump without claims"},
		{input(without("pv")), nil, "disk; zonal", []snapshot.Gap{{What: snapshot.PersistentVolumes, Why: not}}, "without volumes"},
		{input(without("csinode")), nil, "disk=pv-disk ebs^vol-1; zonal=pv-zonal in a; all nodes", []snapshot.Gap{{What: snapshot.CSINodes, Why: not}}, "without CSINodes"},
		{
			input(without("pvc") + "\n pvc disk volume=pv-disk ns=apps"), nil, "",
			[]snapshot.Gap{{What: snapshot.PersistentVolumes, Why: not, Of: "namespace kube-system"}}, "with claims of another namespace",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s, err := tt.open(t).AddVolumes(background, anySnapshot(), []string{"zonal", "disk"}, tt.nodes)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Gaps {
				s.Gaps[i].Message = ""
			}
			if diff := cmp.Diff(tt.gaps, s.Gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, volumesOf(s.Volumes)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("more claims than are asked for", func(t *testing.T) {
		var claims []string
		for i := range 21 {
			claims = append(claims, fmt.Sprintf("c%02d", i))
		}
		s, err := newCluster(t, newAPIServer(t, parseWorld(t, stored))).AddVolumes(background, anySnapshot(), claims, nil)
		if err != nil || len(s.Volumes.Claims) != 20 || s.Gap(snapshot.PersistentVolumes) == nil {
			t.Errorf("%v: %d claims, gaps %v", err, len(s.Volumes.Claims), s.Gaps)
		}
	})
}

// TestRecordedVolumes checks that a recorded Snapshot returns what was recorded, and a Gap for the rest.
func TestRecordedVolumes(t *testing.T) {
	c := newCluster(t, newAPIServer(t, parseWorld(t, stored)))
	s, err := c.Read(background, source.Ref{Namespace: "kube-system", Name: "agent"})
	if err == nil {
		s, err = c.AddVolumes(background, s, []string{"zonal", "disk", "gone"}, []string{"n1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	raw, err := snapshot.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	d := recordedDump(t, raw)
	read, err := d.Read(background, source.Ref{Namespace: "kube-system", Name: "agent"})
	if err != nil || read.Volumes != nil {
		t.Fatalf("%v: volumes before anybody asked: %v", err, read.Volumes)
	}
	const want = "disk=pv-disk ebs^vol-1; gone does not exist; zonal=pv-zonal in a; ebs on n1: 2 of 25 [vol-1]; of n1"
	for _, tt := range []struct {
		claims string
		nodes  []string
		lacks  []snapshot.What
		why    string
	}{
		{"disk gone", []string{"n1"}, nil, "what was recorded"},
		{"disk", []string{"n1", "n2"}, []snapshot.What{snapshot.CSINodes}, "another node"},
		{"disk", nil, []snapshot.What{snapshot.CSINodes}, "all nodes"},
		{"open", []string{"n1"}, []snapshot.What{snapshot.PersistentVolumes}, "another claim"},
	} {
		got, err := d.AddVolumes(background, read, strings.Fields(tt.claims), tt.nodes)
		if err != nil {
			t.Fatal(err)
		}
		var lacks []snapshot.What
		for _, g := range got.Gaps {
			lacks = append(lacks, g.What)
		}
		if diff := cmp.Diff(want, volumesOf(got.Volumes)); diff != "" || !slices.Equal(lacks, tt.lacks) {
			t.Errorf("%s: lacks %v (-want +got):\n%s", tt.why, lacks, diff)
		}
	}
	elsewhere := anySnapshot()
	elsewhere.DaemonSet.Namespace = "apps"
	if got, err := d.AddVolumes(background, elsewhere, []string{"disk"}, []string{"n1"}); err != nil || got.Volumes != nil || got.Gap(snapshot.PersistentVolumes) == nil {
		t.Errorf("for another namespace: %v, %v %v", err, got.Volumes, got.Gaps)
	}
	without, err := snapshot.Encode(s.Reaching(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	got, err := recordedDump(t, without).AddVolumes(background, read, []string{"disk"}, nil)
	if err != nil || got.Volumes != nil || got.Gap(snapshot.PersistentVolumes) == nil {
		t.Errorf("recorded without: %v, %v %v", err, got.Volumes, got.Gaps)
	}
	if again, err := snapshot.Encode(s); err != nil || !bytes.Equal(again, raw) {
		t.Error("the recorded Snapshot was changed")
	}
}

func recordedDump(t *testing.T, raw []byte) *dump.Dump {
	t.Helper()
	d, err := readText(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
