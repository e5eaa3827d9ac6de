package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// readSkimmed is like ReadFiles. Without skimming, it converts every text, including copies of earlier texts.
func readSkimmed(t testing.TB, path string, skimming bool) (*dump.Dump, error) {
	d := dump.New(dump.ReadOptions{})
	if !skimming {
		d.Sums = nil
	}
	if err := d.ReadPath(background, path, nil); err != nil {
		return d, err
	}
	return d, d.Finish([]string{path}, func() time.Time { return noon })
}

// said has everything that a Dump returns.
type said struct {
	Err       string
	Snapshots []string // as JSON
	Notes     []string
	TakenAt   time.Time
	Kinds     []string // without counts, because a text that appears twice is read once
	Referable part.Referable
	Objects   map[string]dump.Gathered
}

func saidBy(t testing.TB, d *dump.Dump, err error, wanted []snapshot.Wanted) said {
	s := said{TakenAt: d.TakenAt, Kinds: slices.Sorted(maps.Keys(d.Kinds)), Referable: d.Referable, Objects: map[string]dump.Gathered{}}
	for _, note := range d.Notes() {
		if !strings.HasPrefix(note, "ignored, because it cannot be read and no answer depends on it") {
			s.Notes = append(s.Notes, note)
		}
	}
	for _, of := range d.Gathers {
		for name, g := range of {
			s.Objects[name] = dump.Gathered{Newest: g.Newest}
		}
	}
	if err != nil {
		s.Err = err.Error()
		return s
	}
	all, err := d.ReadAll(background, source.Filter{})
	if err != nil {
		s.Err = err.Error()
	}
	for _, one := range all {
		if one, err = d.AddReferences(background, one, wanted); err != nil {
			t.Fatal(err)
		}
		raw, err := snapshot.Encode(one)
		if err != nil {
			t.Fatal(err)
		}
		s.Snapshots = append(s.Snapshots, string(raw))
	}
	return s
}

// TestSkim checks that skipping the conversion of YAML changes nothing. It reads random states with and without the
// scan, together with objects of kinds that are common in dumps, in the layouts of kubectl and of other programs.
func TestSkim(t *testing.T) {
	var skipped, decided, doubles int
	for seed := range cases.Of(uint64(25)) {
		w := newDumped(seed)
		dir := t.TempDir()
		w.write(t, dir)
		fast, err := readSkimmed(t, dir, true)
		got := saidBy(t, fast, err, w.wanted)
		slow, err := readSkimmed(t, dir, false)
		want := saidBy(t, slow, err, w.wanted)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(dump.Gathered{}, object.InNamespace{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: skimming (+) differs from converting (-):\n%s", seed, diff)
		}
		for _, o := range w.objects {
			if s, ok := document.ScanYAML(asYAML(t, o)); ok {
				if _, ok := s.OfObject(); ok {
					decided++
				} else {
					skipped++
				}
			}
		}
		doubles += w.doubles
	}
	if least := cases.Least(100); decided < least || skipped < least || doubles < least/10 {
		t.Errorf("%d objects were not converted, %d were, %d stood there twice: too few of one sort", decided, skipped, doubles)
	}
	t.Logf("%d objects were not converted, %d were, %d stood there twice", decided, skipped, doubles)
}

// dumped is a state in the files of a collector, with the other objects of a cluster.
type dumped struct {
	*rand.Rand
	objects []map[string]any
	wanted  []snapshot.Wanted
	doubles int
}

type jsonObject = map[string]any

func newDumped(seed uint64) *dumped {
	w := &dumped{Rand: rand.New(rand.NewPCG(seed, 4))}
	s := dstest.RandomTrouble(int64(seed))
	add := func(apiVersion, kind string, o any) {
		raw, err := json.Marshal(o)
		var m jsonObject
		if err != nil || json.Unmarshal(raw, &m) != nil {
			panic(err)
		}
		m["apiVersion"], m["kind"] = apiVersion, kind
		w.objects = append(w.objects, m)
	}
	add("apps/v1", "DaemonSet", s.DaemonSet)
	for i := range s.Nodes {
		add("v1", "Node", &s.Nodes[i])
	}
	for i := range s.Pods {
		add("v1", "Pod", &s.Pods[i])
	}
	for i := range s.Revisions {
		add("apps/v1", "ControllerRevision", &s.Revisions[i])
	}
	for i := range s.Events {
		o := s.Events[i]
		o.Namespace, o.Name = s.DaemonSet.Namespace, fmt.Sprint("event-", i)
		add("v1", "Event", &o)
	}
	for i := range 10 + w.IntN(15) {
		w.objects = append(w.objects, w.other(i, s))
	}
	for i := range 12 {
		kind := snapshot.ReferredKinds[w.IntN(len(snapshot.ReferredKinds))]
		w.wanted = append(w.wanted, snapshot.Wanted{Kind: kind, Name: w.name(i), Keys: kind != snapshot.Claim && w.IntN(2) == 0})
	}
	return w
}

func (w *dumped) pick(of ...any) any { return of[w.IntN(len(of))] }

func (w *dumped) text(of ...string) string { return of[w.IntN(len(of))] }

func (w *dumped) name(i int) string {
	return w.text("config", "a.b", "true", "12", "x-y", fmt.Sprint("n", i), "null", "0x1", "1e3", "é", "on")
}

// when returns a time close to now, which is often the newest.
func (w *dumped) when() string {
	at := dstest.Now.Add(time.Duration(w.IntN(20000)-10000) * time.Second)
	return w.text(at.Format(time.RFC3339), at.In(time.FixedZone("", 7200)).Format(time.RFC3339))
}

// moment returns a time with more digits.
func (w *dumped) moment() string {
	return strings.Replace(dstest.Now.Add(time.Duration(w.IntN(20000)-10000)*time.Second).Format(time.RFC3339), "Z", ".123456Z", 1)
}

func (w *dumped) meta(name, namespace string) jsonObject {
	m := jsonObject{"name": name}
	if namespace != "" {
		m["namespace"] = namespace
	}
	if w.IntN(4) > 0 {
		m["creationTimestamp"] = w.when()
	}
	if w.IntN(4) == 0 {
		m["annotations"] = jsonObject{"time": w.when(), "creationTimestamp": w.when(), "note": w.text("a\nb: c\n", "kind: Pod\nmetadata:\n  name: x\n", "x: 'y'", "multi word "+strings.Repeat("long ", 40))}
	}
	if w.IntN(4) == 0 {
		m["ownerReferences"] = []any{jsonObject{"apiVersion": "apps/v1", "kind": w.text("DaemonSet", "Deployment"), "name": "agent", "uid": "u", "controller": true}}
	}
	if w.IntN(5) == 0 {
		m["managedFields"] = []any{jsonObject{"manager": "x", "operation": "Update", "apiVersion": "v1", "time": w.when(), "fieldsType": "FieldsV1", "fieldsV1": jsonObject{"f:data": jsonObject{".": jsonObject{}, "f:time": jsonObject{}}}}, jsonObject{"manager": "y", "operation": "Apply"}}
	}
	if w.IntN(8) == 0 {
		m["deletionTimestamp"], m["deletionGracePeriodSeconds"] = w.when(), w.pick(0, 30)
	}
	return m
}

func (w *dumped) data() jsonObject {
	data := jsonObject{}
	for range w.IntN(5) {
		data[w.text("a", "b.yaml", "true", "12", "tls.crt", "A_B", "kind", "- x", "é")] = w.text("", "x", "kind: Pod\nmetadata:\n  name: x\n", "{\"kind\": \"Node\", \"metadata\": {}}", "a\n\n  b\n", "# no comment\nx", "null", "items:\n- x\n", "  indented\nless\n", "a: 'b'\n\ttab", "|")
	}
	return data
}

// other returns an object of a kind that is common in dumps.
func (w *dumped) other(i int, s *snapshot.Snapshot) jsonObject {
	namespace := w.text(s.DaemonSet.Namespace, s.DaemonSet.Namespace, "other", "")
	name := w.name(i)
	pod := jsonObject{"apiVersion": "v1", "kind": "Pod", "metadata": jsonObject{"name": "inner", "labels": jsonObject{"app": "agent"}}, "spec": jsonObject{"containers": []any{}}}
	switch w.IntN(12) {
	case 0, 1, 2:
		o := jsonObject{"apiVersion": "v1", "kind": w.text("ConfigMap", "ConfigMap", "Secret"), "metadata": w.meta(name, namespace)}
		for _, key := range []string{"data", "binaryData", "stringData"} {
			if w.IntN(3) > 0 {
				o[key] = w.data()
			}
		}
		if w.IntN(8) == 0 {
			o["data"] = nil
		}
		return o
	case 3, 4, 5:
		about := jsonObject{"kind": w.text("Pod", "DaemonSet", "Node", "Deployment", "true"), "name": w.text("agent", "p1"), "namespace": s.DaemonSet.Namespace}
		if n := len(s.Pods); n > 0 && about["kind"] == "Pod" {
			p := s.Pods[w.IntN(n)]
			about["name"], about["uid"] = p.Name, string(p.UID)
		}
		if w.IntN(3) > 0 {
			o := jsonObject{"apiVersion": "v1", "kind": "Event", "metadata": w.meta(fmt.Sprint("e", i), s.DaemonSet.Namespace), "involvedObject": about, "type": w.text("Normal", "Warning"), "reason": w.text("R", "Pulling", "Killing"), "message": w.text("m", "a: b", "kind: Pod", "two\nlines"),
				"firstTimestamp": w.when(), "lastTimestamp": w.pick(w.when(), nil), "eventTime": nil, "source": jsonObject{}}
			if w.IntN(3) == 0 {
				o["series"] = jsonObject{"count": 3, "lastObservedTime": w.moment()}
			}
			return o
		}
		return jsonObject{"apiVersion": w.text("events.k8s.io/v1", "events.k8s.io/v1beta1"), "kind": "Event", "metadata": w.meta(fmt.Sprint("e", i), s.DaemonSet.Namespace), "regarding": about, "type": w.text("Normal", "Warning"), "reason": w.text("R", "Pulled"), "note": "n",
			"eventTime": w.moment(), "deprecatedLastTimestamp": w.pick(w.when(), nil), "series": w.pick(nil, jsonObject{"count": 2, "lastObservedTime": w.moment()})}
	case 6:
		return jsonObject{"apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": w.meta(name, namespace), "objects": []any{pod, jsonObject{"apiVersion": "v1", "kind": "Service", "metadata": jsonObject{"name": "s"}}}}
	case 7:
		return jsonObject{"apiVersion": "example.com/v1", "kind": w.text("Bundle", "Node", "Pod", "Widget"), "metadata": w.meta(name, namespace), "spec": jsonObject{"a": 1, "template": jsonObject{"metadata": jsonObject{}, "kind": w.text("Pod", "x")}}}
	case 8:
		return jsonObject{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": w.meta(name, namespace), "spec": jsonObject{"template": jsonObject{"metadata": jsonObject{"creationTimestamp": nil}, "spec": pod["spec"]}}, "status": jsonObject{"conditions": []any{jsonObject{"lastUpdateTime": w.when()}}}}
	case 9:
		return jsonObject{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": w.meta(name, namespace), "spec": jsonObject{"renewTime": w.moment()}}
	case 10:
		return jsonObject{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": w.meta(name, namespace), "spec": jsonObject{}}
	}
	return jsonObject{"apiVersion": "v1", "kind": "Service", "metadata": w.meta(name, namespace), "spec": jsonObject{"ports": []any{jsonObject{"port": 80}}}}
}

// write writes the objects to a directory: in lists, in single files, and some in both.
func (w *dumped) write(t testing.TB, dir string) {
	var mixed []jsonObject
	typedLists := map[string][]jsonObject{}
	for i, o := range w.objects {
		kind := fmt.Sprint(o["apiVersion"], " ", o["kind"])
		switch w.IntN(4) {
		case 0:
			mixed = append(mixed, o)
		case 1:
			typedLists[kind] = append(typedLists[kind], o)
		case 2:
			w.doubles++
			mixed = append(mixed, o)
			fallthrough
		default:
			write(t, filepath.Join(dir, fmt.Sprintf("%03d.yaml", i)), w.odd(append([]byte(w.text("", "---\n", "# kept\n---\n")), asYAML(t, o)...)))
		}
	}
	write(t, filepath.Join(dir, "all.yaml"), w.odd(asYAML(t, jsonObject{"apiVersion": "v1", "kind": "List", "items": append([]jsonObject{}, mixed...), "metadata": jsonObject{"resourceVersion": ""}})))
	for _, kind := range slices.Sorted(maps.Keys(typedLists)) {
		version, kind, _ := strings.Cut(kind, " ")
		var items []jsonObject
		for _, o := range typedLists[version+" "+kind] {
			o = maps.Clone(o)
			if w.IntN(2) == 0 {
				delete(o, "kind")
				delete(o, "apiVersion")
			}
			items = append(items, o)
		}
		name := strings.ReplaceAll(version, "/", "-") + "-" + strings.ToLower(kind) + ".yaml"
		write(t, filepath.Join(dir, "lists", name), w.odd(asYAML(t, jsonObject{"apiVersion": version, "kind": kind + "List", "items": items})))
	}
}

// odd changes the layout of YAML to that of other programs.
func (w *dumped) odd(text []byte) []byte {
	switch w.IntN(8) {
	case 0: // indented lists
		var v any
		if raw, err := yaml.YAMLToJSON(text); err != nil || json.Unmarshal(raw, &v) != nil {
			return text
		}
		return append([]byte(nil), indentLists(v, 0)...)
	case 1:
		return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	case 2: // comments and empty lines, but not within texts
		var b bytes.Buffer
		for line := range bytes.Lines(text) {
			if bytes.HasPrefix(line, []byte("kind:")) || bytes.HasPrefix(line, []byte("- apiVersion:")) {
				b.WriteString(w.text("# comment\n", "\n", "   # comment\n"))
			}
			b.Write(line)
		}
		return b.Bytes()
	case 3: // quoted keys
		return bytes.ReplaceAll(text, []byte("\nkind:"), []byte("\n\"kind\":"))
	}
	return text
}

// indentLists writes YAML with lists that are indented more than their key, and with quoted strings.
func indentLists(v any, depth int) []byte {
	var b bytes.Buffer
	lead := strings.Repeat("  ", depth)
	child := func(v any) {
		switch c := v.(type) {
		case jsonObject:
			if len(c) > 0 {
				b.WriteString("\n")
				b.Write(indentLists(c, depth+1))
				return
			}
		case []any:
			if len(c) > 0 {
				b.WriteString("\n")
				b.Write(indentLists(c, depth+1))
				return
			}
		}
		raw, _ := json.Marshal(v)
		b.WriteString(" " + string(raw) + "\n")
	}
	switch v := v.(type) {
	case jsonObject:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			key := k
			if !document.PlainKey.MatchString(k) || document.OtherThanText[k] || strings.Trim(k, "0123456789") == "" {
				raw, _ := json.Marshal(k)
				key = string(raw)
			}
			b.WriteString(lead + key + ":")
			child(v[k])
		}
	case []any:
		for _, e := range v {
			if m, ok := e.(jsonObject); ok && len(m) > 0 {
				inner := indentLists(m, depth+1)
				b.WriteString(lead + "- ")
				b.Write(bytes.TrimPrefix(inner, []byte(lead+"  ")))
				continue
			}
			b.WriteString(lead + "-")
			child(e)
		}
	default:
		raw, _ := json.Marshal(v)
		b.WriteString(lead + string(raw) + "\n")
	}
	return b.Bytes()
}

// FuzzSkim checks that the Object from the lines of a text is equal to the Object from its conversion.
func FuzzSkim(f *testing.F) {
	for seed := range uint64(6) {
		for _, o := range newDumped(seed).objects {
			f.Add(asYAML(f, o), "")
		}
	}
	f.Add([]byte("- metadata:\n    name: a\n  data:\n    k: v\n"), "ConfigMapList")
	f.Add([]byte("- metadata:\n    name: a\n    namespace: b\n  involvedObject:\n    kind: Node\n  type: Normal\n"), "EventList")
	f.Add([]byte("kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: x\ndata:\n  a: |\n    b: c\n  d: 'e\n\n    f'\n"), "")
	f.Add([]byte("kind: 'X'\napiVersion: v1\nmetadata:\n  name: x\n  creationTimestamp: '2026-11-20T12:00:00Z'\n"), "")
	// a kind of a custom API group
	f.Add([]byte("kind: Secret\napiVersion: example.com/v1\nmetadata:\n  name: x\n  namespace: ns\ndata:\n  a: b\n"), "")
	f.Fuzz(func(t *testing.T, text []byte, list string) {
		if len(text) > 64<<10 {
			return
		}
		s, ok := document.ScanYAML(text)
		if !ok {
			return
		}
		in := metav1.TypeMeta{Kind: list, APIVersion: "v1"}
		if s.Kind.Kind == "" {
			s.Kind = object.ItemKind(in)
		}
		got, ok := s.OfObject()
		if !ok {
			return
		}
		d := document.Documents{Name: "x", Decode: object.Decode, Tolerant: &document.DamagePolicy{}}
		path := ""
		if bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("- ")) {
			path = "items[0]"
		}
		all, err := d.Objects(document.Item{Text: text, Yaml: true, Path: path}, in)
		if err != nil {
			return // the damage is in a kind that no answer needs
		}
		if len(all) != 1 {
			t.Fatalf("%d objects\n%s", len(all), text)
		}
		want := all[0]
		if len(want.Repeats) > 0 {
			return
		}
		if want.Kind != got.Kind || want.Note != "" || want.Snapshot != nil || want.Asked != nil || want.Operator != nil || want.List {
			t.Errorf("of kind %v, is %v, note %q\n%s", got.Kind, want.Kind, want.Note, text)
		}
		var timed struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		}
		raw, _, _ := (&document.Item{Text: text, Yaml: true, Path: path}).JSON()
		if json.Unmarshal(raw, &timed) != nil {
			return // an object that cannot be decoded has no times
		}
		if !want.Newest.Equal(got.Newest) {
			t.Errorf("newest %v, is %v\n%s", got.Newest, want.Newest, text)
		}
		if diff := cmp.Diff(want.Referred, got.Referred, cmp.AllowUnexported(object.InNamespace{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s\n%s", diff, text)
		}
	})
}
