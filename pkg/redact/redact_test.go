package redact_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// marker is a word that occurs in no Snapshot, and in no redacted one.
const marker = "zqacme"

// planted are texts with the marker, alone and next to everything that rules
// read.
var planted = []string{
	marker, strings.ToUpper(marker), "Zqacme", marker + "-1", "a " + marker + " of several words\nand lines", "1" + marker, "\u00e9" + marker, "[" + marker + "]",
	"Running-" + marker, marker + "Error", marker + "ErrorX", "kubernetes.io/" + marker, marker + ".kubernetes.io/arch", marker + "/agent-not-ready", marker + "-not-ready", "startup-taint." + marker,
	"requests." + marker, "limits." + marker + "/x", "count/" + marker, "hugepages-" + marker, marker + ".storageclass.storage.k8s.io/requests.storage", "deviceclass.resource.kubernetes.io/" + marker,
	"v1.30.1-" + marker, "1.2." + marker, marker + "://1.2", "5%" + marker, "10" + marker + "%", "digest:" + marker, "latest" + marker,
	"registry." + marker + ".io/a:1", "a/" + marker + ":1.2", "a:" + marker, "a:1.2-" + marker, "https://" + marker, marker + ":", "A" + marker, marker + "$", "a@sha256:" + marker, marker + "//",
	"spec.containers{" + marker + "}", "metadata.labels['" + marker + "']", "metadata.labels['" + marker, "a__" + marker, "localhost/" + marker, "apps/v1, Kind=" + marker, marker + ":apps/DaemonSet:" + marker + "/" + marker,
	marker + ":apps/DaemonSet:x", "k=" + marker, marker + " in (a," + marker + ")", marker + "!=a,!" + marker, marker + ">5", "-" + marker, "/" + marker, "10.0.0." + marker, "fd00::" + marker,
	`{"kind":"` + marker + `","metadata":{"labels":{"` + marker + `":"` + marker + `"}},"spec":{"` + marker + `":{"` + marker + `":["` + marker + `",1]},"template":{"spec":{"containers":[{"name":"` + marker + `","` + marker + `":true}]}}}}`,
	`["` + marker + `"]`, `"` + marker + `"`, `{"` + marker,
	`Error creating: pods "` + marker + `-x7k2p" is forbidden: exceeded quota: ` + marker + `, requested: ` + marker + `=1,pods=1, used: pods=2, limited: ` + marker + `=2`,
	`violates PodSecurity "` + marker + `:latest": host namespaces (` + marker + `), ` + marker + ` volumes (x), a(b(` + marker + `))`, `violates PodSecurity "` + marker,
	`admission webhook "` + marker + `" denied the request: ` + marker, `failed calling webhook "` + marker, `ValidatingAdmissionPolicy '` + marker + `' with binding '` + marker + `' denied request: ` + marker,
	`0/3 nodes are available: 1 Insufficient ` + marker + `, 1 node(s) had untolerated taint {` + marker + `: ` + marker + `}, 1 ` + marker + `. preemption: ` + marker,
	`Found failed daemon pod ` + marker + `/` + marker + ` on node ` + marker + `, will try to kill it`, `Back-off pulling image "` + marker + `/x:` + marker + `": ` + marker, `persistentvolumeclaim "` + marker + `" not found`,
	`MountVolume.SetUp failed for volume "` + marker + `" : secret "` + marker + `" not found`, `back-off 5m0s restarting failed container=` + marker + ` pod=` + marker + `_` + marker + `(00000000-0000-4000-8000-000000000001) ` + marker,
	`containers with unready status: [` + marker + ` ` + marker + `]`, `nodes is forbidden: User "` + marker + `" cannot list resource "nodes" in API group "` + marker + `" at the cluster scope`, `exec /` + marker + `: exec format error`,
	`namespace ` + marker, `daemonset ` + marker + `/` + marker, `the input holds no status of daemonset ` + marker + `/` + marker, `rpc error: code = ` + marker + ` desc = ` + marker,
}

// shows returns where a text contains the marker, in any letter case or
// encoding.
func shows(text []byte) string {
	lower := bytes.ToLower(text)
	forms := []string{marker, hex.EncodeToString([]byte(marker))}
	for shift := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + marker + "xxx"))
		forms = append(forms, strings.ToLower(encoded[(shift*4+2)/3:(shift+len(marker))*4/3]))
	}
	for _, form := range forms {
		if at := bytes.Index(lower, []byte(form)); at >= 0 {
			return string(text[max(0, at-200):min(len(text), at+60)])
		}
	}
	return ""
}

// filler plants texts in values of any type.
type filler struct {
	*rand.Rand
	often int // in how many percent of the strings
}

func (f *filler) text() string { return planted[f.IntN(len(planted))] }

// plant plants texts in the strings and keys of a value.
func (f *filler) plant(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			f.plant(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			f.plant(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			f.plant(value)
			v.SetMapIndex(key, value)
			if f.IntN(100) < f.often {
				v.SetMapIndex(key, reflect.Value{})
				v.SetMapIndex(reflect.ValueOf(f.text()).Convert(key.Type()), value)
			}
		}
	case reflect.String:
		if f.IntN(100) < f.often {
			v.SetString(f.text())
		}
	case reflect.Struct:
		switch is := v.Addr().Interface().(type) {
		case *resource.Quantity, *metav1.Time, *metav1.MicroTime:
			return
		case *intstr.IntOrString:
			if f.IntN(100) < f.often {
				*is = intstr.FromString(f.text())
			}
			return
		case *runtime.RawExtension:
			is.Raw = f.raw(is.Raw)
			return
		case *metav1.FieldsV1:
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.plant(v.Field(i))
			}
		}
	}
}

// raw plants texts in JSON.
func (f *filler) raw(text []byte) []byte {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return text
	}
	out, _ := json.Marshal(f.parsed(v))
	return out
}

func (f *filler) parsed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, of := range v {
			if f.IntN(100) < f.often/4 {
				key = f.text()
			}
			out[key] = f.parsed(of)
		}
		return out
	case []any:
		for i := range v {
			v[i] = f.parsed(v[i])
		}
	case string:
		if f.IntN(100) < f.often {
			return f.text()
		}
	}
	return v
}

// fill sets every field of a value.
func (f *filler) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 14 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, depth+1)
		f.fill(value, depth+1)
		v.SetMapIndex(key, value)
		if v.Type() == reflect.TypeFor[map[string]string]() {
			for _, known := range knownKeys {
				v.SetMapIndex(reflect.ValueOf(known), reflect.ValueOf(f.text()))
			}
		}
	case reflect.String:
		v.SetString(f.text())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.IntN(9)))
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Struct:
		switch is := v.Addr().Interface().(type) {
		case *resource.Quantity:
			*is = resource.MustParse("5Gi")
		case *metav1.Time, *metav1.MicroTime, *metav1.Duration:
		case *intstr.IntOrString:
			*is = intstr.FromString(f.text())
		case *runtime.RawExtension:
			var ds appsv1.DaemonSet
			if depth < 10 {
				f.fill(reflect.ValueOf(&ds.Spec).Elem(), depth+2)
			}
			is.Raw, _ = json.Marshal(map[string]any{"spec": ds.Spec, "Spec": f.text(), marker: map[string]any{marker: []any{marker, 1, nil, true}}, "$patch": f.text(), "kind": f.text()})
		case *metav1.FieldsV1:
			*is = *metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:` + marker + `":{}},"f:finalizers":{"v:\"` + marker + `\"":{}}},"f:` + marker + `":{"f:` + marker + `":{}},"` + marker + `":{},"f:spec":{"k:{\"` + marker + `\":\"` + marker + `\"}":{},` +
				`"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"` + marker + `\"}":{"f:image":{}},"v:` + marker + `":{}},"f:nodeSelector":{"f:` + marker + `":{}}}}}}`)
		default:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					f.fill(v.Field(i), depth+1)
				}
			}
		}
	}
}

var knownKeys = []string{
	corev1.LastAppliedConfigAnnotation, "kubectl.kubernetes.io/restartedAt", "kubernetes.io/change-cause", "deprecated.daemonset.template.generation", "controller-revision-hash", "pod-template-generation",
	"argocd.argoproj.io/tracking-id", "objectset.rio.cattle.io/owner-gvk", "meta.helm.sh/release-namespace", "container.apparmor.security.beta.kubernetes.io/" + marker, "scheduler.alpha.kubernetes.io/node-selector",
	"openshift.io/node-selector", "kubernetes.io/hostname", "kubernetes.io/arch", "topology.kubernetes.io/zone", "pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/enforce-version", "kubernetes.io/metadata.name", "app",
}

// TestNothingSurvives checks that the marker disappears from a Snapshot with
// the marker in every field of every API type, and from random states with it
// in half of their strings. LAW_CASES=250 tries 5,000 states.
func TestNothingSurvives(t *testing.T) {
	try := func(name string, s *snapshot.Snapshot) {
		t.Helper()
		out, _ := redact.Names([]*snapshot.Snapshot{s})
		raw, err := snapshot.Encode(out[0])
		if err != nil {
			t.Fatal(err)
		}
		if where := shows(raw); where != "" {
			t.Fatalf("%s: …%s…", name, where)
		}
		if len(raw) < 1000 {
			t.Fatalf("%s: there is nothing in it: %s", name, raw)
		}
	}
	for i := range cases.Of(5) {
		f := &filler{rand.New(rand.NewPCG(uint64(i), 1)), 100}
		s := &snapshot.Snapshot{}
		f.fill(reflect.ValueOf(s).Elem(), 0)
		s.Admission.DryRun = nil
		if raw, err := snapshot.Encode(s); err != nil || shows(raw) == "" {
			t.Fatal("nothing was planted", err)
		}
		try(fmt.Sprint("full ", i), s)
	}
	for i := range cases.Of(20) {
		f := &filler{rand.New(rand.NewPCG(uint64(i), 2)), 50}
		s := dstest.RandomTrouble(int64(i))
		f.plant(reflect.ValueOf(s).Elem())
		if s.DaemonSet.Spec.Selector == nil {
			s.DaemonSet.Spec.Selector = &metav1.LabelSelector{}
		}
		try(fmt.Sprint("state ", i), s)
	}
}

// TestShows checks that the marker is found in each encoding.
func TestShows(t *testing.T) {
	for _, text := range []string{marker, "xZQACMEx", "7a7161636d65", base64.StdEncoding.EncodeToString([]byte(marker)), base64.StdEncoding.EncodeToString([]byte("a" + marker + "b")), base64.StdEncoding.EncodeToString([]byte("ab" + marker))} {
		if shows([]byte("some "+text+" more")) == "" {
			t.Errorf("%s shows it", text)
		}
	}
	if where := shows([]byte("zq acme")); where != "" {
		t.Error(where)
	}
}

// TestExamplesShowNothing checks that all words of four or more letters in the
// redacted examples belong to Kubernetes: they are in testdata/words.txt, or in
// names of fields.
func TestExamplesShowNothing(t *testing.T) {
	raw, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, w := range strings.Fields(string(raw)) {
		known[w] = true
	}
	fieldNames(reflect.TypeFor[snapshot.Snapshot](), known, map[reflect.Type]bool{})
	fieldNames(reflect.TypeFor[appsv1.DaemonSet](), known, map[reflect.Type]bool{})
	files, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	word := regexp.MustCompile(`[A-Za-z]{4,}`)
	used := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = snapshot.HideValues(s, []byte("of this test")); err != nil {
			t.Fatal(err)
		}
		out, _ := redact.Names([]*snapshot.Snapshot{s})
		after, err := snapshot.Encode(out[0])
		if err != nil {
			t.Fatal(err)
		}
		before := map[string]bool{}
		for _, w := range word.FindAllString(string(raw), -1) {
			before[w] = true
		}
		for _, w := range word.FindAllString(string(after), -1) {
			if used[w] = true; before[w] && !known[w] {
				t.Errorf("%s: %q is still there", filepath.Base(file), w)
				known[w] = true // report it once
			}
		}
	}
	for _, w := range strings.Fields(string(raw)) {
		if !used[w] {
			t.Errorf("testdata/words.txt: %q is in no example", w)
		}
	}
}

// fieldNames collects the words in JSON field names.
func fieldNames(t reflect.Type, known map[string]bool, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		known[strings.TrimRight(name, "0123456789")] = true
		fieldNames(t.Field(i).Type, known, seen)
	}
}

// TestNamesLaws checks that the input is not modified, that the output can be
// decoded, and that redacting it again changes nothing.
func TestNamesLaws(t *testing.T) {
	for i := range cases.Of(20) {
		s, err := snapshot.HideValues(dstest.RandomTrouble(int64(i)), []byte("of this test"))
		if err != nil {
			t.Fatal(err)
		}
		encode := func(s *snapshot.Snapshot) string {
			raw, err := snapshot.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		before := encode(s)
		out, _ := redact.Names([]*snapshot.Snapshot{s})
		if diff := gocmp.Diff(before, encode(s)); diff != "" {
			t.Fatalf("state %d was changed:\n%s", i, diff)
		}
		once := encode(out[0])
		if _, err := snapshot.Decode([]byte(once)); err != nil {
			t.Fatalf("state %d: %v", i, err)
		}
		again, _ := redact.Names(out)
		if diff := gocmp.Diff(once, encode(again[0])); diff != "" {
			t.Fatalf("state %d, redacted again (-once +twice):\n%s", i, diff)
		}
	}
}

// TestTableKeepsOrder checks that the names of a kind and their stand-ins have
// the same order, and that stand-ins are unique.
func TestTableKeepsOrder(t *testing.T) {
	for i := range cases.Of(10) {
		f := &filler{rand.New(rand.NewPCG(uint64(i), 3)), 30}
		s := dstest.RandomTrouble(int64(i))
		f.plant(reflect.ValueOf(s).Elem())
		_, table := redact.Names([]*snapshot.Snapshot{s})
		byKind := map[string][]redact.Row{}
		for _, r := range table.Rows {
			byKind[r.Kind] = append(byKind[r.Kind], r)
		}
		for kind, rows := range byKind {
			if kind == "address" || kind == "tag" || kind == "image" || kind == "persistentvolumeclaim" || kind == "controllerrevision" { // composed, or never compared
				continue
			}
			if !slices.IsSortedFunc(rows, func(a, b redact.Row) int { return cmp.Or(strings.Compare(a.StandIn, b.StandIn), -1) }) {
				t.Fatalf("state %d: stand-ins are not in order: %v", i, rows)
			}
		}
	}
}
