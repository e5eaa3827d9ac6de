package template

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlace tests the Place of a path, its kind, and the list member that
// contains it.
func TestPlace(t *testing.T) {
	part := func(kind PartKind, list string, name ...string) Part { return Part{kind, list, name} }
	for _, tt := range []struct {
		path string
		want Place
		what What
		of   string // the list member that the path leads into
		why  string
	}{
		{"spec.template", Place{}, WhatElse, "", "the template itself"},
		{"spec.template.spec.containers[name=a].image", Place{Parts: []Part{part(PartField, "", "image")}, Container: "a"}, WhatImage, "", "the image of a container"},
		{"spec.template.spec.initContainers[name=i].image", Place{Parts: []Part{part(PartField, "", "image")}, Container: "i"}, WhatImage, "", "of one that runs first, too"},
		{"spec.template.spec.volumes[name=v].image", Place{Parts: []Part{part(PartField, "", "image"), part(PartMember, "volumes", "v")}}, WhatElse, "spec.template.spec.volumes[name=v]", "a volume's is none"},
		{"spec.template.spec.containers[name=a]", Place{Parts: []Part{part(PartMember, "containers", "a")}}, WhatContainer, "", "a container as a whole is no field of it"},
		{"spec.template.spec.ephemeralContainers[name=e]", Place{Parts: []Part{part(PartMember, "ephemeralContainers", "e")}}, WhatElse, "", "one for debugging is not of the template's"},
		{"spec.template.spec.containers[name=a].env[name=A].valueFrom.fieldRef", Place{Parts: []Part{part(PartField, "", "valueFrom", "fieldRef"), part(PartMember, "env", "A")}, Container: "a"}, WhatElse, "spec.template.spec.containers[name=a].env[name=A]", "from the inside to the outside"},
		{"spec.template.spec.containers[name=a].env[name=A]", Place{Parts: []Part{part(PartMember, "env", "A")}, Container: "a"}, WhatElse, "", "a variable as a whole leads no further"},
		{"spec.template.spec.containers[name=a].env[name]", Place{Parts: []Part{part(PartOrder, "env")}, Container: "a"}, WhatOrder, "", "the order of a list"},
		{"spec.template.spec.containers[name]", Place{Parts: []Part{part(PartOrder, "containers")}}, WhatOrder, "", "and of the containers"},
		{"spec.template.spec.containers[name=a].resources.limits.memory", Place{Parts: []Part{part(PartLimit, "limits", "memory")}, Container: "a"}, WhatElse, "", "a limit"},
		{"spec.template.spec.containers[name=a].resources.requests.cpu", Place{Parts: []Part{part(PartRequest, "requests", "cpu")}, Container: "a"}, WhatElse, "", "a request"},
		{"spec.template.spec.containers[name=a].resources.claims", Place{Parts: []Part{part(PartField, "", "resources", "claims")}, Container: "a"}, WhatElse, "", "what stands beside them"},
		{"spec.template.metadata.labels[a.b/c]", Place{Parts: []Part{part(PartKey, "labels", "a.b/c")}}, WhatElse, "", "a label of the pods"},
		{"spec.template.metadata.labels", Place{Parts: []Part{part(PartField, "", "metadata", "labels")}}, WhatElse, "", "all of them"},
		{"metadata.labels.team", Place{Parts: []Part{part(PartKey, "labels", "team")}, Outside: true}, WhatElse, "", "a label of the DaemonSet"},
		{"spec.template.spec.nodeSelector.pool", Place{Parts: []Part{part(PartKey, "nodeSelector", "pool")}}, WhatElse, "", "a node selector"},
		{"spec.template.spec.tolerations", Place{Parts: []Part{part(PartField, "", "tolerations")}}, WhatTolerations, "", "tolerations"},
		{"spec.updateStrategy.rollingUpdate.maxSurge", Place{Parts: []Part{part(PartField, "", "updateStrategy", "rollingUpdate", "maxSurge")}}, WhatElse, "", "a field of the DaemonSet"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			path := ParsePath(tt.path)
			if diff := cmp.Diff(tt.want, path.Place()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.path, diff)
			}
			if got := path.What(); got != tt.what {
				t.Errorf("%s is %d, want %d", tt.path, got, tt.what)
			}
			of, within := path.Member()
			if within != (tt.of != "") || within && of.String() != tt.of || !within && !of.Equal(path) {
				t.Errorf("%s leads into %q %t, want %q", tt.path, of, within, tt.of)
			}
		})
	}
}

// TestShows tests which values of a difference are worth showing.
func TestShows(t *testing.T) {
	const variable, volume = "spec.template.spec.containers[name=a].env[name=A]", "spec.template.spec.volumes[name=v]"
	for _, tt := range []struct {
		path, value string
		hidden      bool
		want        bool
		why         string
	}{
		{volume, `{"name":"v"}`, false, true, "a value"},
		{volume, ``, false, false, "none"},
		{volume, `""`, false, true, "an empty text is one"},
		{variable + ".value", `"<hidden>"`, true, false, "a value that was taken out"},
		{variable + ".value", `"<hidden>"`, false, true, "one that somebody wrote so"},
		{variable, `{"name":"A","value":"<hidden>"}`, true, false, "of a variable nothing else is worth it"},
		{"spec.template.spec.containers[name=a]", `{"env":[{"name":"A","value":"<hidden>"}],"name":"a"}`, true, true, "of a container there is"},
		{"metadata.annotations[a.b/c]", `"x <hidden>"`, true, false, "of an annotation of the DaemonSet nothing is"},
		{"spec.template.metadata.annotations[a.b/c]", `"x <hidden>"`, true, true, "of one of the pods it is"},
	} {
		d := Difference{Path: ParsePath(tt.path), New: ParseValue(tt.value), Hidden: tt.hidden}
		if got := d.Shows(d.New); got != tt.want {
			t.Errorf("%s: %s at %s: %t", tt.why, tt.value, tt.path, got)
		}
	}
}

// TestSelects tests added and removed entries of the nodeSelector.
func TestSelects(t *testing.T) {
	for _, tt := range []struct{ path, old, new, want, why string }{
		{"spec.template.spec.nodeSelector.pool", ``, `"gpu"`, "pool=gpu", "one that comes"},
		{"spec.template.spec.nodeSelector[a.b/pool]", `"gpu"`, ``, "a.b/pool=gpu", "one that goes"},
		{"spec.template.spec.nodeSelector.pool", ``, `""`, "pool=", "an empty value is one"},
		{"spec.template.spec.nodeSelector.pool", `"gpu"`, `"db"`, "", "one that changes has two values"},
		{"spec.template.metadata.labels.pool", ``, `"gpu"`, "", "a label of the pods selects no node"},
		{"spec.template.spec.nodeSelector", ``, `{"pool":"gpu"}`, "", "the selector as a whole is no key"},
	} {
		d := Difference{Path: ParsePath(tt.path), Old: ParseValue(tt.old), New: ParseValue(tt.new)}
		got, value := d.Selects()
		if text, _ := value.Text(); got != "" {
			got += "=" + text
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestMembers tests the keys of the members of a list that is added or removed.
func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		path, old, new string
		want           []string
		why            string
	}{
		{"spec.template.spec.containers[name=a].env", ``, `[{"name":"A"},{"name":"B"}]`, []string{"A", "B"}, "variables that come"},
		{"spec.template.spec.containers[name=a].ports", `[{"containerPort":80}]`, ``, []string{"80"}, "ports that go, by their number"},
		{"spec.template.spec.containers[name=a].volumeMounts", ``, `[{"mountPath":"/x","name":"v"}]`, []string{"/x"}, "mounts by their path"},
		{"spec.template.spec.containers[name=a].env", `[]`, `[{"name":"A"}]`, nil, "a list that was empty is another difference"},
		{"spec.template.spec.containers[name=a].args", ``, `["x"]`, nil, "arguments have no key"},
		{"spec.template.spec.volumes", ``, `["x"]`, nil, "nor has what is no object"},
	} {
		d := Difference{Path: ParsePath(tt.path), Old: ParseValue(tt.old), New: ParseValue(tt.new)}
		if diff := cmp.Diff(tt.want, d.Members()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestTolerations tests which values are lists of tolerations.
func TestTolerations(t *testing.T) {
	for _, tt := range []struct {
		value string
		want  int
		why   string
	}{
		{`[{"key":"a","operator":"Exists"},{"operator":"Exists","tolerationSeconds":30}]`, 2, "tolerations"},
		{`[]`, 0, "none"},
		{`{"key":"a"}`, 0, "what is no list"},
		{`[{"key":7}]`, 0, "a key that is no text"},
		{``, 0, "what is absent"},
	} {
		if got := ParseValue(tt.value).Tolerations(); len(got) != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

// TestImages tests how two images are distinguished.
func TestImages(t *testing.T) {
	for _, tt := range []struct{ old, new, want, why string }{
		{"a:1", "a:2", "1 2", "the repository is the same"},
		{"a:1", "b:1", "a:1 b:1", "it is another one"},
		{"a", "a:1", " 1", "a tag that comes"},
		{"a:1", "", "a:1 ", "an image that goes"},
	} {
		d := Difference{Old: ValueOf(tt.old), New: ValueOf(tt.new)}
		if old, new := d.Images(); old.Short()+" "+new.Short() != tt.want {
			t.Errorf("%s: %s, %s", tt.why, old.Short(), new.Short())
		}
	}
}

// TestShared tests the members that two lists share.
func TestShared(t *testing.T) {
	for _, tt := range []struct{ old, new, want, why string }{
		{`["a","b","c"]`, `["c","x","a"]`, `["a" "c"] ["c" "a"]`, "each in its order"},
		{`["a"]`, `["b"]`, "[] []", "nothing"},
		{`[1,"1"]`, `["1"]`, `["1"] ["1"]`, "a number is no text"},
		{``, `["a"]`, "[] []", "what is absent has no members"},
	} {
		d := Difference{Old: ParseValue(tt.old), New: ParseValue(tt.new)}
		old, new := d.Shared()
		if got := fmt.Sprint(old, " ", new); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}
