package refer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func podSpec(t *testing.T, text string) *corev1.PodSpec {
	t.Helper()
	var spec corev1.PodSpec
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &spec
}

// known parses objects: "ConfigMap a" exists, and its keys were not read;
// "Secret b: k l" has these keys; "ConfigMap c: k / l" has l as binary data;
// "!Secret d" does not exist.
func known(text string) *snapshot.References {
	out := &snapshot.References{}
	for _, object := range strings.Split(text, ";") {
		object, keys, read := strings.Cut(strings.TrimSpace(object), ":")
		name, missing := strings.CutPrefix(object, "!")
		kind, name, _ := strings.Cut(name, " ")
		data, binary, _ := strings.Cut(keys, "/")
		out.Objects = append(out.Objects, snapshot.Referred{
			Kind: snapshot.ReferredKind(kind), Name: name, Exists: !missing, KeysRead: read, Keys: strings.Fields(data), BinaryKeys: strings.Fields(binary),
		})
	}
	return out
}

// text returns a Reference on one line, with its location.
func (r Reference) text() string {
	s := fmt.Sprintf("%s %s", r.Kind, r.Name)
	if r.Key != "" {
		s += "." + r.Key
	}
	s += " " + r.Field
	for _, where := range []string{r.Container, r.Variable, r.Volume} {
		if where != "" {
			s += " " + where
		}
	}
	if r.Init {
		s += " init"
	}
	if r.Optional {
		s += " optional"
	}
	return s
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want string
		why  string
	}{
		{"containers: [{name: a, env: [{name: X, value: y}, {name: U, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: Z, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]}]", "", "literals and what the pod itself says are no references"},
		{"containers: [{name: a, env: [{name: X, valueFrom: {configMapKeyRef: {name: c, key: k}}}, {name: U, valueFrom: {secretKeyRef: {name: s, key: l, optional: true}}}]}]", "ConfigMap c.k env a X; Secret s.l env a U optional", "a variable takes one key"},
		{"containers: [{name: a, envFrom: [{configMapRef: {name: c, optional: false}}, {secretRef: {name: s}, prefix: P}]}]", "ConfigMap c envFrom a; Secret s envFrom a", "envFrom takes whatever keys there are"},
		{"{containers: [{name: a, envFrom: [{secretRef: {name: s}}]}], initContainers: [{name: i, envFrom: [{secretRef: {name: s, optional: true}}]}]}", "Secret s envFrom i init optional; Secret s envFrom a", "init containers start first"},
		{"{containers: [{name: a, volumeMounts: [{name: v, mountPath: /v}, {name: w, mountPath: /w}]}], volumes: [{name: v, configMap: {name: c}}, {name: w, secret: {secretName: s, optional: true, items: [{key: k, path: k}, {key: l, path: l}]}}]}",
			"ConfigMap c volumes v; Secret s.k volumes w optional; Secret s.l volumes w optional", "items name the keys that a volume needs"},
		{"{containers: [{name: a}], volumes: [{name: v, configMap: {name: c}}, {name: w, persistentVolumeClaim: {claimName: p}}]}", "PersistentVolumeClaim p volumes w", "a volume that no container mounts is not set up, but the scheduler looks for its claim"},
		{"{containers: [{name: a, volumeDevices: [{name: w, devicePath: /dev/x}]}], volumes: [{name: w, persistentVolumeClaim: {claimName: p}}]}", "PersistentVolumeClaim p volumes w", "a block device is a claim too"},
		{"{containers: [{name: a, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {}}, {configMap: {name: c, items: [{key: k, path: p}]}}, {secret: {name: s, optional: true}}]}}]}",
			"ConfigMap c.k volumes v; Secret s volumes v optional", "the sources of a projected volume, without what the kubelet makes itself"},
		{"{containers: [{name: a, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: s}}}]}", "Secret s volumes v", "the Secret of a CSI driver"},
		{"{containers: [{name: a, volumeMounts: [{name: v, mountPath: /v}, {name: w, mountPath: /w}, {name: x, mountPath: /x}]}], volumes: [{name: v, emptyDir: {}}, {name: w, hostPath: {path: /}}, {name: x, csi: {driver: d}}]}", "", "nothing else is an object of the namespace"},
		{"{containers: [{name: a}], imagePullSecrets: [{name: s}]}", "Secret s imagePullSecrets optional", "the kubelet pulls without one that is missing"},
		{"{containers: [{name: a, envFrom: [{configMapRef: {}}, {}]}], imagePullSecrets: [{}]}", "", "an empty name is none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var got []string
			for _, r := range Of(podSpec(t, tt.spec)) {
				got = append(got, r.text())
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnmet(t *testing.T) {
	const (
		env     = "containers: [{name: a, env: [{name: X, valueFrom: {configMapKeyRef: {name: c, key: k}}}, {name: U, valueFrom: {secretKeyRef: {name: s, key: l}}}]}]"
		volume  = "{containers: [{name: a, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, configMap: {name: c, items: [{key: k, path: p}, {key: l, path: q}]}}]}"
		twice   = "{containers: [{name: a, envFrom: [{configMapRef: {name: c}}, {configMapRef: {name: c}}], env: [{name: X, valueFrom: {configMapKeyRef: {name: c, key: k}}}, {name: U, valueFrom: {configMapKeyRef: {name: c, key: k}}}]}]}"
		without = "containers: [{name: a, envFrom: [{configMapRef: {name: c, optional: true}}], env: [{name: X, valueFrom: {configMapKeyRef: {name: d, key: k, optional: true}}}]}]"
		pull    = "{containers: [{name: a, envFrom: [{secretRef: {name: s}}]}], imagePullSecrets: [{name: s}, {name: t}]}"
	)
	for _, tt := range []struct {
		spec, known string
		want        string // for the start and, after a bar, for the pull
		why         string
	}{
		{env, "ConfigMap c: k; Secret s: l m", "", "all is there"},
		{env, "!ConfigMap c; !Secret s", "NoObject ConfigMap c.k env a X; NoObject Secret s.l env a U", "neither object is"},
		{env, "ConfigMap c: x; Secret s:", "NoKey ConfigMap c.k env a X; NoKey Secret s.l env a U", "the objects are, and not the keys"},
		{env, "ConfigMap c; Secret x: l", "", "keys that were not read, and an object that is unknown, are not missing"},
		{env, "Secret c: x; !ConfigMap s", "", "a name is one of a kind"},
		{env, "ConfigMap c: x / k; Secret s: l", "NoKey ConfigMap c.k env a X", "a variable takes no binary data"},
		{volume, "ConfigMap c: l / k", "", "a volume does"},
		{volume, "ConfigMap c: x / y", "NoKey ConfigMap c.k volumes v; NoKey ConfigMap c.l volumes v", "each key that an item names"},
		{volume, "!ConfigMap c", "NoObject ConfigMap c.k volumes v", "an object that does not exist is missing once"},
		{twice, "!ConfigMap c", "NoObject ConfigMap c envFrom a", "by its first reference"},
		{twice, "ConfigMap c: x", "NoKey ConfigMap c.k env a X", "and so is a key"},
		{without, "!ConfigMap c; ConfigMap d: x", "", "what is optional may be missing"},
		{"containers: [{name: a, envFrom: [{configMapRef: {name: c}}]}]", "ConfigMap c:", "", "envFrom needs no key"},
		{pull, "Secret s; !Secret t", " | NoObject Secret t imagePullSecrets optional", "a Secret of the pull keeps no pod from starting"},
		{pull, "!Secret s; Secret t", "NoObject Secret s envFrom a | NoObject Secret s imagePullSecrets optional", "unless the start needs it too"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			text := func(all []Missing) string {
				var out []string
				for _, m := range all {
					out = append(out, string(m.Fault)+" "+m.Reference.text())
				}
				return strings.Join(out, "; ")
			}
			spec, objects := podSpec(t, tt.spec), known(tt.known)
			got := text(Unmet(spec, objects))
			if pulls := text(UnmetPulls(spec, objects)); pulls != "" {
				got += " | " + pulls
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if all := append(Unmet(spec, nil), UnmetPulls(spec, nil)...); all != nil {
				t.Errorf("where nobody asked: %+v", all)
			}
		})
	}
}

// TestWanted tests that each object is listed once, those for image pulls last,
// and that optional ones are omitted.
func TestWanted(t *testing.T) {
	a := podSpec(t, "{containers: [{name: a, envFrom: [{secretRef: {name: s}}, {configMapRef: {name: o, optional: true}}], volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, configMap: {name: c}}, {name: p, persistentVolumeClaim: {claimName: d}}], imagePullSecrets: [{name: pull}, {name: s}]}")
	b := podSpec(t, "containers: [{name: a, env: [{name: X, valueFrom: {configMapKeyRef: {name: c, key: k}}}, {name: U, valueFrom: {secretKeyRef: {name: c, key: k}}}]}]")
	want := []snapshot.Wanted{
		{Kind: snapshot.Secret, Name: "s"}, {Kind: snapshot.ConfigMap, Name: "c", Keys: true}, {Kind: snapshot.Claim, Name: "d"}, {Kind: snapshot.Secret, Name: "c", Keys: true},
		{Kind: snapshot.Secret, Name: "pull"},
	}
	if diff := cmp.Diff(want, Wanted(a, b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := podSpec(t, "{containers: [{name: a, env: [{name: X, valueFrom: {configMapKeyRef: {name: c, key: k}}}], volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, configMap: {name: c}}]}")
	if diff := cmp.Diff([]snapshot.Wanted{{Kind: snapshot.ConfigMap, Name: "c", Keys: true}}, Wanted(again)); diff != "" {
		t.Errorf("a key, and then the object alone (-want +got):\n%s", diff)
	}
	if got := Wanted(podSpec(t, "containers: [{name: a}]")); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}
