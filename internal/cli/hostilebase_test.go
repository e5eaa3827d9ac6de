package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// object is an API object, decoded from JSON.
type object = map[string]any

// base is the objects of one cluster and the DaemonSet that the commands are about.
type base struct {
	title           string
	namespace, name string
	objects         []object
	manifest        object   // a manifest to apply to the DaemonSet
	secrets         []string // literal values of environment variables
}

// randomBases is the number of random states.
const randomBases = 60

var bases = sync.OnceValue(func() []*base {
	var out []*base
	recorded, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(recorded) < 5 {
		panic(fmt.Sprint("no examples: ", err))
	}
	for _, path := range recorded {
		raw, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		s, err := snapshot.Decode(raw)
		if err != nil {
			panic(err)
		}
		out = append(out, ofSnapshot(filepath.Base(path), s))
	}
	raw, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		panic(err)
	}
	var list struct{ Items []object }
	read(raw, &list)
	for _, o := range list.Items {
		if o["kind"] == "DaemonSet" {
			meta := o["metadata"].(object)
			out = append(out, newBase("cluster.yaml", meta["namespace"].(string), meta["name"].(string), clone(list.Items)))
		}
	}
	for i := range randomBases {
		out = append(out, ofSnapshot(fmt.Sprint("random state ", i), dstest.Random(int64(i))))
	}
	return out
})

// read decodes YAML or JSON without converting numbers.
func read(raw []byte, into any) {
	raw, err := yaml.YAMLToJSON(raw)
	if err != nil {
		panic(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		panic(err)
	}
}

func write(o any) []byte {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return raw
}

// clone returns a deep copy.
func clone[T any](o T) T {
	d := json.NewDecoder(bytes.NewReader(write(o)))
	d.UseNumber()
	var out T
	if err := d.Decode(&out); err != nil {
		panic(err)
	}
	return out
}

func ofSnapshot(title string, s *snapshot.Snapshot) *base {
	var all []object
	add := func(apiVersion, kind string, o any) {
		var m object
		read(write(o), &m)
		m["apiVersion"], m["kind"] = apiVersion, kind
		all = append(all, m)
	}
	add("apps/v1", "DaemonSet", s.DaemonSet)
	for i := range s.Nodes {
		add("v1", "Node", &s.Nodes[i])
	}
	for i := range s.Revisions {
		add("apps/v1", "ControllerRevision", &s.Revisions[i])
	}
	for i := range s.Pods {
		add("v1", "Pod", &s.Pods[i])
	}
	for i := range s.Events {
		o := s.Events[i]
		if o.Name == "" {
			o.Name = fmt.Sprint("event-", i)
			o.Namespace = s.DaemonSet.Namespace
		}
		add("v1", "Event", &o)
	}
	for i := range s.PodDisruptionBudgets {
		add("policy/v1", "PodDisruptionBudget", &s.PodDisruptionBudgets[i])
	}
	return newBase(title, s.DaemonSet.Namespace, s.DaemonSet.Name, all)
}

// newBase gives each container an environment variable, and each variable a unique value.
func newBase(title, namespace, name string, all []object) *base {
	b := &base{title: title, namespace: namespace, name: name, objects: all}
	words := rand.New(rand.NewPCG(17, uint64(len(title))*1000+uint64(len(all))))
	known := map[string]string{}
	word := func(key string) string {
		if known[key] == "" {
			known[key] = newWord(words)
			b.secrets = append(b.secrets, known[key])
		}
		return known[key]
	}
	for _, o := range all {
		fillEnv(o, word)
	}
	ds := b.find("DaemonSet", name)
	b.manifest = clone(ds)
	delete(b.manifest, "status")
	meta := b.manifest["metadata"].(object)
	for _, k := range []string{"uid", "generation", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields", "finalizers"} {
		delete(meta, k)
	}
	delete(meta, "annotations")
	applied := write(b.manifest)
	walk(b.manifest, func(path []string, o object) {
		if o["image"] != nil {
			o["image"] = fmt.Sprint(o["image"], "-next")
		}
	})
	fillEnv(b.manifest, word)
	if len(all)%2 == 0 { // add a copy of the values, as kubectl apply does
		annotations, _ := ds["metadata"].(object)["annotations"].(object)
		if annotations == nil {
			annotations = object{}
			ds["metadata"].(object)["annotations"] = annotations
		}
		annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(applied) + "\n"
	}
	return b
}

func newWord(r *rand.Rand) string {
	const letters = "bcdfghjkmnpqrstvwxz23456789"
	w := make([]byte, 16)
	for i := range w {
		w[i] = letters[r.IntN(len(letters))]
	}
	return string(w)
}

// find returns the object with this kind and name in the base's namespace.
func (b *base) find(kind, name string) object {
	for _, o := range b.objects {
		meta, _ := o["metadata"].(object)
		if o["kind"] == kind && meta["name"] == name && (kind == "Node" || meta["namespace"] == b.namespace) {
			return o
		}
	}
	panic(fmt.Sprintf("%s: no %s %s", b.title, kind, name))
}

// names returns the names of the objects of a kind.
func (b *base) names(kind string) []string {
	var out []string
	for _, o := range b.objects {
		if meta, _ := o["metadata"].(object); o["kind"] == kind {
			out = append(out, fmt.Sprint(meta["name"]))
		}
	}
	return out
}

// fillEnv sets the values of environment variables in all pod templates of an object. Equal
// templates get equal values.
func fillEnv(o object, word func(key string) string) {
	walk(o, func(path []string, at object) {
		if len(path) == 0 || !slices.Contains([]string{"containers", "initContainers"}, strings.TrimRight(path[len(path)-1], "[0123456789]")) {
			return
		}
		if path[0] == "status" {
			return
		}
		of := fmt.Sprint(at["name"], " ", at["image"])
		env, _ := at["env"].([]any)
		for i, v := range env {
			if v, ok := v.(object); ok && v["valueFrom"] == nil {
				v["value"] = word(fmt.Sprint(of, " ", i))
			}
		}
		if path[0] != "spec" || o["kind"] == "DaemonSet" { // pods may lack it
			at["env"] = append(env, object{"name": "API_TOKEN", "value": word(of)})
		}
	})
}

// walk calls f for an object and all objects inside it, with their paths.
func walk(o any, f func(path []string, o object)) { walkAt(o, nil, f) }

func walkAt(v any, path []string, f func([]string, object)) {
	switch v := v.(type) {
	case object:
		f(path, v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			walkAt(v[k], append(slices.Clone(path), k), f)
		}
	case []any:
		for i, e := range v {
			at := slices.Clone(path)
			if len(at) > 0 {
				at[len(at)-1] += fmt.Sprintf("[%d]", i)
			}
			walkAt(e, at, f)
		}
	}
}

// TestBases checks the properties of the bases on which the cases rely.
func TestBases(t *testing.T) {
	verdicts := map[string]int{}
	for _, b := range bases() {
		if len(b.secrets) == 0 {
			t.Errorf("%s: no value of an environment variable", b.title)
		}
		in := input{base: b, objects: b.objects}
		r := in.serialize("List in JSON", nil).explain(t.TempDir())
		if r.status != 0 {
			t.Fatalf("%s: %s", b.title, r.errs)
		}
		verdicts[r.numbers().verdict]++
	}
	if len(verdicts) < 5 {
		t.Errorf("the bases show too little: %v", verdicts)
	}
	t.Log(verdicts)
}
