package source_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Objects for the tests below, as YAML documents.
const (
	dsYAML = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
  namespace: kube-system
  uid: u1
spec:
  selector:
    matchLabels:
      app: agent
`
	nodeYAML = `apiVersion: v1
kind: Node
metadata:
  name: n1
  creationTimestamp: "2026-11-20T12:00:00Z"
`
	listYAML = `apiVersion: v1
items:
- apiVersion: apps/v1
  kind: DaemonSet
  metadata:
    name: agent
    namespace: kube-system
    annotations:
      note: |
        items:
        - not an item
  spec:
    selector:
      matchLabels:
        app: agent
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
kind: List
metadata:
  resourceVersion: ""
`
	dsJSON   = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"kube-system"},"spec":{"selector":{"matchLabels":{"app":"agent"}}}}`
	nodeJSON = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`
)

func readText(text string) (*dump.Dump, error) {
	return dump.ReadFiles(background, []string{"-"}, strings.NewReader(text), func() time.Time { return noon }, dump.ReadOptions{})
}

// TestReadChangesNothing checks that reading a Snapshot does not change the dump.
func TestReadChangesNothing(t *testing.T) {
	budget := func(name, app string) string {
		return `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"` + name + `","namespace":"kube-system"},"spec":{"selector":{"matchLabels":{"app":"` + app + `"}}},"status":{"disruptionsAllowed":3}}`
	}
	ds := strings.Replace(dsJSON, `"spec":{`, `"spec":{"template":{"metadata":{"labels":{"app":"agent"}}},`, 1)
	for _, budgets := range []string{budget("b", "agent"), budget("b", "agent") + budget("other", "x")} {
		d, err := readText(ds + nodeJSON + budgets)
		must(t, err)
		s, err := d.Read(background, d.Refs()[0])
		must(t, err)
		if len(s.PodDisruptionBudgets) != 1 {
			t.Fatalf("%d budgets select the pods", len(s.PodDisruptionBudgets))
		}
		for i := range d.Budgets.Items {
			if b := &d.Budgets.Items[i]; b.Status.DisruptionsAllowed != 3 {
				t.Errorf("%s allows %d", b.Name, b.Status.DisruptionsAllowed)
			}
		}
	}
}

func utf16Text(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestReadForms(t *testing.T) {
	both := outline{DaemonSet: "kube-system/agent", Nodes: "n1"}
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	lines := strings.SplitAfter(listYAML, "\n")
	for i := 2; i < len(lines)-4; i++ {
		lines[i] = "    " + lines[i]
	}
	indented := strings.Join(lines, "")
	for _, tt := range []struct{ text, why string }{
		{listYAML, "what kubectl get -o yaml writes"},
		{crlf(listYAML), "with the line ends of Windows"},
		{"\ufeff" + listYAML, "with a byte order mark"},
		{utf16Text(binary.LittleEndian, listYAML), "in UTF-16, as PowerShell writes"},
		{utf16Text(binary.BigEndian, crlf(listYAML)), "in UTF-16 the other way round"},
		{indented, "items that are indented"},
		{strings.Replace(listYAML, "items:\n", "items: # two of them\n\n# the first\n", 1), "comments and blank lines among the items"},
		{strings.Replace(listYAML, "items:", `"items":`, 1), "a key in quotes"},
		{strings.ReplaceAll(listYAML, "\n", "\r"), "line ends of an old Mac"},
		{dsYAML + "---\n" + nodeYAML, "two documents"},
		{"# a comment\n\n---\n---\n" + dsYAML + "--- # the node\n" + nodeYAML + "...\n---\n# nothing\n", "comments and empty documents"},
		{"%YAML 1.1\n---\n" + dsYAML + "---\n" + nodeYAML, "a directive"},
		{"--- " + dsJSON + "\n---\n" + nodeJSON, "JSON in a YAML stream"},
		{dsJSON + nodeJSON, "JSON documents one after another"},
		{"\ufeff" + crlf(dsJSON+"\n\n"+nodeJSON+"\n"), "JSON from Windows"},
		{utf16Text(binary.LittleEndian, dsJSON+nodeJSON), "JSON in UTF-16"},
		{"[" + dsJSON + ",\n" + nodeJSON + "]", "an array of objects"},
		{"- " + dsJSON + "\n- " + nodeJSON, "a sequence of objects"},
		{`{"apiVersion":"v1","kind":"List","items":[` + dsJSON + "," + nodeJSON + "]}", "a list in JSON"},
		{`{"items" : [` + dsJSON + " , " + nodeJSON + `] , "kind" : "List"}`, "a list whose kind comes last"},
		{`{"items":[{"metadata":{"name":"n1"}}],"kind":"NodeList","apiVersion":"v1"}` + dsJSON, "items without a kind, before the kind of their list"},
		{`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}` + dsJSON, "items without a kind, after the kind of their list"},
		{"items:\n- metadata:\n    name: n1\nkind: NodeList\napiVersion: v1\n---\n" + dsYAML, "the same in YAML"},
		{"kind: NodeList\napiVersion: v1\nitems: [{metadata: {name: n1}}]\n---\n" + dsYAML, "items in one line"},
		{`{"kind":"PodList","apiVersion":"v1","items":null}` + dsJSON + nodeJSON, "a list of null"},
		{dsYAML + "---\n" + nodeYAML + "---\nkind: PodList\napiVersion: v1\nitems:\n", "a list of nothing at the end"},
		{"kind: Foo\napiVersion: example.com/v1\nitems:\n- a: 1\n---\n" + dsYAML + "---\n" + nodeYAML, "an object that has items, and is no list"},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n" + dsYAML + "---\n" + nodeYAML, "an object of another kind"},
		{`{"kind":"DeploymentList","apiVersion":"apps/v1","items":[{"spec":{"replicas":"many"}}]}` + dsJSON + nodeJSON, "a list of another kind, whatever is in it"},
		{strings.Repeat(" ", 200_000) + "\n" + dsYAML + "---\n" + strings.Repeat("\n", 100) + nodeYAML, "much blank space"},
		{dsJSON + strings.Repeat(" ", 200_000) + nodeJSON, "much blank space in JSON"},
		{`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","annotations":{"long":"` + strings.Repeat(`\"{[`, 100_000) + `"}}}` + dsJSON, "a text longer than any buffer, with braces in it"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Read(background, source.Ref{Namespace: "", Name: "agent"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(both, outlineOf(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(d.Notes()) > 0 {
				t.Errorf("notes: %q", d.Notes())
			}
		})
	}
}

func TestDamage(t *testing.T) {
	const in = "standard input: "
	lines := strings.SplitAfter(listYAML, "\n")
	upTo := func(text, end string) string {
		before, _, _ := strings.Cut(text, end)
		return before
	}
	for _, tt := range []struct{ text, want, why string }{
		{"", "has no object", "an empty file"},
		{"---\n# nothing\n---\n", "has no object", "a file of comments"},
		{"NAME   STATUS   AGE\nn1     Ready    3d\n", "document 1: not a Kubernetes object: it is text", "a table"},
		{"a: 1\n", "document 1: not a Kubernetes object: no kind", "some other YAML"},
		{"items:\n", "document 1: not a Kubernetes object: no kind", "a list of nothing known"},
		{"{}", "document 1: not a Kubernetes object: no kind", "an object of nothing"},
		{`{"items":[{"a":1}]}`, "document 1: items[0]: not a Kubernetes object: no kind", "some other JSON"},
		{"[1]", "document 1: [0]: not a Kubernetes object: it is a number", "an array of something else"},
		{"\x89PNG\r\n\x1a\n\x00\x00", "not text", "a picture"},
		{utf16Text(binary.LittleEndian, dsJSON)[:61], "document 1: ends in the middle of an object: the file is cut off", "UTF-16 of an odd length"},
		{dsJSON[:60], "document 1: ends in the middle of an object: the file is cut off", "JSON that is cut off"},
		{`{"kind":"List","items":[` + dsJSON + "," + nodeJSON[:30], "document 1: items[1]: ends in the middle of an object: the file is cut off", "a list that is cut off in an item"},
		{`{"kind":"List","items":[` + dsJSON + ",", "document 1: items[1]: ends in the middle of an object: the file is cut off", "a list that is cut off between items"},
		{`{"kind":"List","items":[` + dsJSON + "]", "document 1: ends in the middle of an object: the file is cut off", "a list that is cut off after its items"},
		{`{"kind":`, "document 1: ends in the middle of an object: the file is cut off", "an object that is cut off after a colon"},
		{"{\"kind\":\"List\",\"items\":[{\"kind\":\"Dae\n", "document 1: items[0]: ends in the middle of an object: the file is cut off", "a list that is cut off in a text, with an end of the line"},
		{"{\"kind\":\"List\",\"items\":[{\"a\":tr\n\n", "document 1: items[0]: ends in the middle of an object: the file is cut off", "in a word"},
		{"{\"kind\":\"List\",\"items\":[{\"a\":\"tr\n\"}]}", "document 1: items[0]: line 1: not JSON: invalid character '\\n' in string (expecting non-control character)", "a text of two lines"},
		{`{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","annotations":{"a":"` + "\xff\xfe" + `\ud800"}}},` + dsJSON + "]}", "", "a text that is no UTF-8"},
		{strings.Join(lines[:len(lines)-4], ""), "document 1: a list without a kind: the file may be cut off", "a YAML list that ends with its items"},
		{upTo(listYAML, "    matchLabels"), "document 1: items[0].spec.selector: missing", "a YAML list that ends in an item"},
		{upTo(listYAML, "\n  metadata:\n    name: n1") + "\n  meta", `document 1: items[1]: yaml: line 19: could not find expected ':'`, "a YAML list that ends in a word"},
		{strings.Replace(listYAML, "name: n1", "name: \"n1", 1), "document 1: items[1]: yaml: line 20: found unexpected end of stream", "the line of the file is told, not of the item"},
		{dsYAML + "---\na: b: c\n", "document 2: yaml: mapping values are not allowed in this context", "the line of the file is told, not of the document"},
		{nodeYAML + "---\n\n---\n" + nodeYAML + "spec:\n  taints: none\n", "document 2: spec.taints: must be a list, not text", "an empty document is not counted"},
		{strings.Replace(listYAML, "name: n1", "name: n1\n  spec:\n    taints:\n    - key: a\n    - key: 5", 1), "document 1: items[1].spec.taints[1].key: must be text, not a number", "the place in a list is told"},
		{nodeYAML + "status:\n  allocatable:\n    cpu: lots\n", "document 1: status.allocatable[cpu]: must be a quantity such as 250m or 64Mi, not \"lots\"", "so is the key of a map"},
		{nodeYAML + "status: {conditions: [{lastHeartbeatTime: yesterday}]}\n", `document 1: status.conditions[0].lastHeartbeatTime: must be a time such as 2026-01-31T15:04:05Z`, "a time that is none"},
		{nodeYAML + "status: {conditions: [{lastHeartbeatTime: 5}]}\n", "document 1: status.conditions[0].lastHeartbeatTime: must be a time such as 2026-01-31T15:04:05Z, not a number", "a time that is a number"},
		{"apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: r, namespace: a}\nrevision: 1\ndata: 7\n", "document 1: data: must be an object, not a number", "a revision that holds no template in any form"},
		{dsYAML + "  minReadySeconds: 1.5\n", "document 1: spec.minReadySeconds: must be a whole number that fits, not a number", "a fraction"},
		{strings.Replace(dsYAML, "  selector:", "  template: {spec: {volumes: [{name: v, hostPath: 5}]}}\n  selector:", 1), "document 1: spec.template.spec.volumes[0].hostPath: must be an object, not a number", "a field that stands in line with others"},
		{nodeYAML + "---\n~\n---\n- 1\n", "document 2: [0]: not a Kubernetes object: it is a number", "nor is a document of null"},
		{`{"kind":"NodeList","apiVersion":"v1","items":[]}[` + strings.Replace(nodeJSON, `"apiVersion":"v1","kind":"Node",`, "", 1) + "]", "document 2: [0]: not a Kubernetes object: no kind", "a list says nothing of the next document"},
		{"{\"kind\":\"List\",\n\"metadata\":{\n},\n\"items\":[\n{\n\n}\n{}]}", "document 1: items[1]: line 8: not JSON: invalid character '{' after array element (expecting ',' or ']')", "lines are counted within values"},
		{dsYAML + "status: []\n", "document 1: status: must be an object, not a list", "a list for an object"},
		{"apiVersion: v1\nkind: Node\n", "document 1: metadata.name: missing", "an object without a name"},
		{"kind: [Node]\napiVersion: v1\n", "document 1: kind: must be text, not a list", "a kind that is none"},
		{`{"kind":5}`, "document 1: kind: must be text, not a number", "a kind that is a number"},
		{`{"apiVersion":"v1","kind":"List","items":[{"kind":"Node","metadata":{}}]}` + dsJSON, "document 1: items[0].apiVersion: missing: a Node has v1", "a kind that counts, without a version"},
		{"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a, namespace: b}\n", "document 1: spec.selector: missing", "a DaemonSet without a selector"},
		{strings.Replace(dsYAML, "matchLabels:\n      app: agent", "matchExpressions: [{key: a, operator: Near}]", 1), `document 1: spec.selector: "Near" is not a valid label selector operator`, "a selector that is none"},
		{`{"kind":"List","items":[{"a":1}],"apiVersion":"v1"}`, "document 1: items[0]: not a Kubernetes object: no kind", "an item of a plain list must say what it is"},
		{"apiVersion: v1\nkind: List\nitems:\n- a: 1\n", "document 1: items[0]: not a Kubernetes object: no kind", "in YAML too"},
		{`{"kind":"List","items":[` + dsJSON + `],"items":[]}`, "document 1: items: appears twice", "two lists in one"},
		{"items:\n- a: 1\nkind: List\nitems:\n- b: 1\n", "document 1: items: appears twice", "two lists in one, in YAML"},
		{`{"kind":"List","apiVersion":"v1","items":{}}`, "document 1: items: must be a list, not an object", "a list of no list"},
		{"apiVersion: v1\nkind: NodeList\nitems: none\n", "document 1: items: must be a list, not text", "a typed list of no list, in YAML"},
		{dsYAML + "kind: Pod\n", "document 1: apiVersion: there is no Pod of apps/v1: use v1", "of a kind that stands there twice the later counts"},
		{dsYAML + "---\n" + strings.Replace(nodeYAML, "n1", "*n", 1), "document 2: line 15: an alias without an anchor before it in the same document", "an alias of nothing"},
		{strings.Replace(dsYAML, "agent", "&n agent", 1) + "---\n" + strings.Replace(nodeYAML, "n1", "*n", 1), "document 2: line 15: an alias without an anchor before it in the same document", "an alias of another document"},
		{strings.Replace(strings.Replace(listYAML, "name: n1", "name: &n n1", 1), "name: agent", "name: *n", 1), "document 1: items[0]: line 6: an alias without an anchor before it in the same document", "an alias before its anchor"},
		{`{"kind":"List","items":[` + dsJSON + " " + nodeJSON + "]}", "document 1: items[1]: line 1: not JSON: invalid character '{' after array element (expecting ',' or ']')", "a missing comma among items"},
		{`{"kind":"List" "items":[]}`, `document 1: line 1: not JSON: invalid character '"' after object value (expecting ',' or '}')`, "a missing comma among fields"},
		{`{"kind" "List"}`, `document 1: line 1: not JSON: invalid character '"' after object name (expecting ':')`, "a missing colon"},
		{"{\nkind: List}", "document 1: line 2: not JSON: invalid character 'k' at start of string (expecting '\"')", "a name without quotes"},
		{`{"kind":"List",}`, "document 1: line 1: not JSON: invalid character '}' at start of string (expecting '\"')", "a comma too many"},
		{`{"kind":"List","items":[}`, "document 1: line 1: not JSON: invalid character '}' at start of value", "a wrong bracket"},
		{`{"a":}`, "document 1: line 1: not JSON: invalid character '}' at start of value", "a value that is missing"},
		{dsYAML + "null: s3cret\n", "document 1: a key that is neither text nor a number", "a key of null, whose value may be a secret"},
		{"]", "document 1: not a Kubernetes object: it is text", "a bracket"},
		{dsJSON + " and more", "document 2: not a Kubernetes object: it is text", "something after the last document"},
		{nodeYAML, "no DaemonSet, only 1 Node", "a dump without a DaemonSet"},
		{`{"kind":"PodList","apiVersion":"v1","items":[]}`, "no DaemonSet and no other object", "an empty list"},
		{`{"apiVersion":"extensions/v1beta1","kind":"DaemonSet"}` + nodeJSON + strings.Replace(nodeJSON, "n1", "n2", 1), "document 1: apiVersion: no server since v1.16 has a DaemonSet of extensions/v1beta1: use apps/v1", "a DaemonSet of a version long gone"},
		{`{"kind":"A"}{"kind":"B"}{"kind":"C"}{"kind":"D"}{"kind":"E"}{"kind":"F"}{"kind":"G"}`, "no DaemonSet, only 1 A (no apiVersion), 1 B (no apiVersion), 1 C (no apiVersion), 1 D (no apiVersion), 1 E (no apiVersion), objects of 2 more kinds", "many kinds"},
		{`{"apiVersion":"kubectl-ds/v1alpha1","kind":"Snapshot"}`, "document 1: daemonSet: missing", "a snapshot of nothing"},
		{`{"apiVersion":"kubectl-ds/v9","kind":"Snapshot"}`, `document 1: not a snapshot of kubectl-ds/v1alpha1: apiVersion "kubectl-ds/v9", kind "Snapshot"`, "a snapshot of a later program"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, err := readText(tt.text)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			e := (*source.InputError)(nil)
			if !errors.As(err, &e) {
				t.Fatalf("%T %v, want %s", err, err, tt.want)
			}
			want := in + tt.want
			if strings.HasPrefix(tt.want, "no DaemonSet") {
				want = "-: " + tt.want
			}
			if err.Error() != want {
				t.Errorf("\n got %s\nwant %s", err, want)
			}
			if e.Document > 0 && e.Field != "" && !strings.Contains(err.Error(), e.Field+": ") {
				t.Errorf("field %q does not stand in the error", e.Field)
			}
		})
	}
}

func TestHintsOfDamage(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"", source.GetHint, "nothing in it"},
		{"a table\n", source.GetHint, "not Kubernetes"},
		{dsJSON[:60], source.GetHint, "cut off"},
		{nodeYAML, source.GetHint, "no DaemonSet"},
		{"\x00", source.GetHint, "no text"},
		{dsYAML + "status: []\n", "--keep-going (leaves out what is damaged; what depends on it is then unknown)", "a field that is wrong: nothing to paste corrects it"},
	} {
		_, err := readText(tt.text)
		if e := (*source.InputError)(nil); !errors.As(err, &e) || e.Hint() != tt.want {
			t.Errorf("%s: %v with another hint than %q", tt.why, err, tt.want)
		}
	}
}

func TestFolders(t *testing.T) {
	type files map[string]string
	for _, tt := range []struct {
		files files
		paths string // separated by blanks; DIR is replaced by the directory
		notes string
		err   string
		why   string
	}{
		{files{"a/ds.yaml": dsYAML, "b/c/node.json": nodeJSON}, "DIR", "", "", "a folder is read with all that is in it"},
		{files{"ds.yaml": dsYAML, "n": "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n"}, "DIR", "", "", "a file is known by what is in it"},
		{files{"ds.yaml": dsYAML, "n.txt": utf16Text(binary.LittleEndian, nodeJSON)}, "DIR", "", "", "in UTF-16 too"},
		{files{"ds.yaml": dsYAML, "node.json": nodeJSON, "pod.log": "I1120 starting: kind of slow\n"}, "DIR", "not read: 1 log", "", "a log is noted"},
		{
			files{"ds.yaml": dsYAML, "node.json": nodeJSON, "a.log": "", "b.log": "", "c.bin": "\x00", "values.yaml": "replicas: 1\n", "errors.json": `["forbidden"]`},
			"DIR", "not read: 2 logs\nignored, because they are not Kubernetes objects in YAML or JSON: DIR/c.bin, DIR/errors.json, DIR/values.yaml", "", "logs are counted",
		},
		{
			files{"ds.yaml": dsYAML, "node.json": nodeJSON, "a": "", "b": "", "c.bin": "\x00", "values.yaml": "replicas: 1\n", "errors.json": `["forbidden"]`},
			"DIR", "ignored, because they are not Kubernetes objects in YAML or JSON: DIR/a, DIR/b, DIR/c.bin, +2 more", "", "many are counted",
		},
		{files{"ds.yaml": dsYAML, "node.json": nodeJSON, "empty.yaml": ""}, "DIR", "ignored, because they are not Kubernetes objects in YAML or JSON: DIR/empty.yaml", "", "an empty file is noted"},
		{files{"ds.yaml": dsYAML, "node.json": nodeJSON}, "DIR/ds.yaml DIR/node.json", "", "", "several paths are one dump"},
		{files{"ds.yaml": dsYAML, "node.json": nodeJSON}, "DIR DIR/node.json", "", "", "the same object twice is one"},
		{files{"ds.yaml": dsYAML, "node.json": nodeJSON, "b.yaml": "kind: Node\napiVersion: v1\nmetadata: {name: [n2]}"}, "DIR", "", "DIR/b.yaml: document 1: metadata.name: must be text, not a list", "damage is an error wherever it stands"},
		{files{"ds.yaml": dsYAML, "node.json": nodeJSON, "b": nodeJSON[:40]}, "DIR", "", "DIR/b: document 1: ends in the middle of an object: the file is cut off", "in a file without a telling name too"},
		{files{"ds.yaml": dsYAML, "node.json": nodeJSON, "chart.yaml": "a: {{ .Values.a }}\n"}, "DIR/chart.yaml", "", "DIR/chart.yaml: document 1: a template that is not rendered: it has {{ }}", "a file that is named is not taken for something else"},
		{files{"ds.yaml": dsYAML, "c.yml": "kind: Pod\na: b: c\n"}, "DIR", "", "DIR/c.yml: document 1: yaml: line 2: mapping values are not allowed in this context", "a short name is a name too"},
		{files{"ds.yaml": dsYAML + "---\na: 1\n"}, "DIR", "", "DIR/ds.yaml: document 2: not a Kubernetes object: no kind", "a file that holds objects holds nothing else"},
		{files{"values.yaml": "replicas: 1\n"}, "DIR/values.yaml", "", "DIR/values.yaml: document 1: not a Kubernetes object: no kind", "a file that is named must hold objects"},
		{files{"a.log": "x"}, "DIR", "", "DIR: no DaemonSet and no other object", "a folder of nothing"},
		{files{"node.json": nodeJSON}, "DIR", "", "DIR: no DaemonSet, only 1 Node", "a folder without a DaemonSet"},
		{files{"dump.tar.gz": "\x1f\x8b\x00"}, "DIR/dump.tar.gz", "", "DIR/dump.tar.gz: the gzip file is cut off", "an archive that is damaged"},
		{files{}, "DIR/none.yaml", "", "DIR/none.yaml: no such file or directory", "a file that is not there"},
		{files{"ds.yaml": dsYAML}, "DIR/ds.yaml DIR/ds.yaml", "", "DIR/ds.yaml: is given twice", "a path given twice"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				write(t, filepath.Join(dir, name), []byte(text))
			}
			d, err := dump.ReadFiles(background, strings.Fields(strings.ReplaceAll(tt.paths, "DIR", dir)), nil, func() time.Time { return noon }, dump.ReadOptions{})
			if tt.err != "" {
				if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != tt.err {
					t.Fatalf("\n got %v\nwant %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(strings.Join(d.Notes(), "\n"), dir, "DIR"); got != tt.notes {
				t.Errorf("notes\n got %s\nwant %s", got, tt.notes)
			}
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(outline{DaemonSet: "kube-system/agent", Nodes: "n1"}, outlineOf(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "real", "ds.yaml"), []byte(dsYAML))
	write(t, filepath.Join(dir, "dump", "node.yaml"), []byte(nodeYAML))
	for link, to := range map[string]string{"ds.yaml": "../real/ds.yaml", "loop": "."} {
		if err := os.Symlink(to, filepath.Join(dir, "dump", link)); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, filepath.Join(dir, "dump"))
	if s, err := d.Read(background, agent); err != nil || len(s.Nodes) != 1 {
		t.Errorf("%v, %v: a link to a file is read", s, err)
	}
	if want := []string{"ignored, because they are not Kubernetes objects in YAML or JSON: " + filepath.Join(dir, "dump", "loop")}; !cmp.Equal(want, d.Notes()) {
		t.Errorf("notes %q, want %q", d.Notes(), want)
	}
}

func TestGapsOfADump(t *testing.T) {
	notGiven := func(what snapshot.What, message string) snapshot.Gap {
		return snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: message}
	}
	noNode := notGiven(snapshot.Nodes, "the input holds no Node")
	noPod := notGiven(snapshot.Pods, "the input holds no Pod")
	noRevision := notGiven(snapshot.Revisions, "the input holds no ControllerRevision")
	noneOfIt := notGiven(snapshot.Revisions, "the input holds no ControllerRevision of daemonset kube-system/agent")
	noneOfIt.Of = "daemonset kube-system/agent"
	noneHere := notGiven(snapshot.Pods, "the input holds no Pod of namespace kube-system")
	noneHere.Of = "namespace kube-system"
	noEvent := notGiven(snapshot.Events, "the input holds no Event")
	for _, tt := range []struct {
		world string
		extra string // more documents
		want  []snapshot.Gap
		why   string
	}{
		{"ds agent", "", []snapshot.Gap{noNode, noPod, noRevision, noEvent}, "a DaemonSet alone lacks all"},
		{"ds agent\nnode n1\npod p app=agent\nrev r app=agent\nevent e about=DaemonSet/agent", "", nil, "a dump of everything lacks nothing"},
		{"ds agent\nnode n1\npod p\nrev r\nevent e about=DaemonSet/b", "", nil, "what is there for others is given, and this one has none"},
		{"ds agent\nnode n1\nrev r\nevent e ns=b about=DaemonSet/b", `{"kind":"PodList","apiVersion":"v1","items":[]}`, nil, "an empty list says that there is none"},
		{"ds agent\nnode n1\nrev r\nevent e ns=b about=DaemonSet/b", `{"kind":"PodList","apiVersion":"v1","items":null}`, nil, "so does a list of null"},
		{"ds agent\nnode n1\nrev r app=agent\nevent e about=DaemonSet/agent reason=FailedCreate", "", nil, "pods that are all rejected are none"},
		{"ds agent\nnode n1\nrev r app=agent\nevent e about=DaemonSet/agent reason=FailedCreate\nevent f about=DaemonSet/agent reason=SuccessfulCreate", "", []snapshot.Gap{noPod}, "but one was created"},
		{"ds agent current=1\nnode n1\nrev r app=agent\nevent e about=DaemonSet/agent reason=FailedCreate", "", []snapshot.Gap{noPod}, "or the status counts one"},
		{"ds agent\nnode n1\nrev r app=agent\nevent e about=DaemonSet/b reason=FailedCreate", "", []snapshot.Gap{noPod}, "those of another are rejected"},
		{"ds agent current=1\nnode n1\npod p app=b\nrev r app=b\nevent e about=DaemonSet/b", "", nil, "a dump that holds the namespace's pods holds what there is, whatever the status says"},
		{"ds agent current=2\nnode n1\nrev r\nevent e ns=b about=DaemonSet/b", `{"kind":"PodList","apiVersion":"v1","items":[]}`,
			[]snapshot.Gap{noneHere}, "but not where the status counts some: the list was of another namespace"},
		{"ds agent current=2\nnode n1\npod p ns=default\nrev r\nevent e ns=default about=DaemonSet/b", "",
			[]snapshot.Gap{noneHere}, "pods of another namespace only"},
		{"ds agent gen=1\nnode n1\npod p\nrev r ns=default\nevent e about=DaemonSet/b", "",
			[]snapshot.Gap{noneOfIt}, "revisions of another namespace only"},
		{"ds agent gen=1\nnode n1\npod p\nrev r app=b owner=b\nevent e about=DaemonSet/b", "", []snapshot.Gap{noneOfIt}, "another DaemonSet's only: the controller has made one for this, too"},
		{"ds agent gen=1\nnode n1\npod p\nrev r app=agent owner=b\nevent e about=DaemonSet/b", "", []snapshot.Gap{noneOfIt}, "a label makes nobody's revision this DaemonSet's"},
		{"ds agent gen=1 uid=new\nnode n1\npod p\nrev r app=agent owner=agent\nevent e about=DaemonSet/b", "", []snapshot.Gap{noneOfIt}, "those of an earlier DaemonSet of the same name"},
		{"ds agent gen=1\nnode n1\npod p\nrev r app=b\nevent e about=DaemonSet/b", "", []snapshot.Gap{noneOfIt}, "nobody's, which does not match"},
		{"ds agent gen=1\nnode n1\npod p\nevent e about=DaemonSet/b", `{"kind":"ControllerRevisionList","apiVersion":"apps/v1","items":[]}`,
			[]snapshot.Gap{noneOfIt}, "an empty list of revisions is of another namespace, or of other labels"},
		{"ds agent gen=1\nnode n1\npod p\nrev r app=agent\nevent e about=DaemonSet/b", "", nil, "one that it would adopt"},
		{"ds agent gen=1\nnode n1\npod p\nrev r app=b owner=agent\nrev s app=b owner=b\nevent e about=DaemonSet/b", "", nil, "one of its own, though the next sync lets it go"},
		{"ds agent\nnode n1\npod p\nrev r app=b owner=b\nevent e about=DaemonSet/b", "", nil, "before the first sync there is none of its own to miss"},
		{"ds agent\nnode n1\npod p ns=default\nrev r ns=default\nevent e about=DaemonSet/b", "", nil, "a DaemonSet that the controller has not seen has no pods and revisions anywhere"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "a.yaml"), asYAML(t, mixedList(parseWorld(t, tt.world))))
			if tt.extra != "" {
				write(t, filepath.Join(dir, "b.json"), []byte(tt.extra))
			}
			s, err := open(t, dir).Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(tt.want, clockAndVersion...), s.Gaps); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if s.KubernetesVersion != "" || s.VersionSource != snapshot.VersionDefault {
				t.Errorf("version %q from %s", s.KubernetesVersion, s.VersionSource)
			}
		})
	}
}

// TestNotesOfRejectedPods checks for a note that a dump without pods is read as if there were none.
func TestNotesOfRejectedPods(t *testing.T) {
	const rejected = "no Pod in the input: daemonset kube-system/agent is taken to have none, because its status counts none and its events say that all are rejected"
	for _, tt := range []struct {
		world string
		want  []string
	}{
		{"ds agent\nnode n1\nrev r app=agent\nevent e about=DaemonSet/agent reason=FailedCreate", []string{rejected}},
		{"ds agent\nnode n1\npod p\nrev r app=agent\nevent e about=DaemonSet/agent reason=FailedCreate", nil},
		{"ds agent\nnode n1\nrev r app=agent\nevent e about=DaemonSet/b reason=FailedCreate", nil},
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		write(t, path, asYAML(t, mixedList(parseWorld(t, tt.world))))
		if diff := cmp.Diff(tt.want, open(t, path).Notes()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.world, diff)
		}
	}
}

func TestClockOfADump(t *testing.T) {
	for _, tt := range []struct{ add, want, why string }{
		{"", "2026-11-20T12:00:00Z", "a node's creation is a time"},
		{"status: {conditions: [{type: Ready, lastHeartbeatTime: \"2026-11-20T12:00:05Z\"}]}", "2026-11-20T12:00:05Z", "a heartbeat is"},
		{"status: {conditions: [{type: Ready, lastTransitionTime: \"2026-11-20T13:00:05+01:00\"}]}", "2026-11-20T12:00:05Z", "in any zone"},
		{"spec: {taints: [{key: a, effect: NoExecute, timeAdded: \"2026-11-20T12:00:07Z\"}]}", "2026-11-20T12:00:07Z", "a taint is of a time"},
		{"---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: kube-system, deletionTimestamp: \"2027-01-01T00:00:00Z\"}", "2026-11-20T12:00:00Z", "a deletion lies in the future"},
		{"---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: kube-system}\nstatus: {startTime: \"2026-11-20T12:00:08Z\"}", "2026-11-20T12:00:08Z", "a pod's start is a time"},
		{"---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: kube-system}\nstatus: {conditions: [{lastProbeTime: \"2026-11-20T12:00:08Z\"}]}", "2026-11-20T12:00:08Z", "a pod's condition is of a time"},
		{"---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: kube-system}\nstatus: {containerStatuses: [{state: {running: {startedAt: \"2026-11-20T12:00:09Z\"}}}]}", "2026-11-20T12:00:09Z", "a container's start is a time"},
		{"---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: kube-system}\nstatus: {initContainerStatuses: [{lastState: {terminated: {finishedAt: \"2026-11-20T12:00:09Z\"}}}]}", "2026-11-20T12:00:09Z", "a container's end is"},
		{"---\napiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: kube-system}\nlastTimestamp: \"2026-11-20T12:00:10Z\"", "2026-11-20T12:00:10Z", "an event is of a time"},
		{"---\napiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: kube-system}\neventTime: \"2026-11-20T12:00:10.000000Z\"", "2026-11-20T12:00:10Z", "or of another"},
		{"---\napiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: kube-system}\nseries: {lastObservedTime: \"2026-11-20T12:00:10.000000Z\"}", "2026-11-20T12:00:10Z", "or of a series of them"},
		{"---\napiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: e, namespace: kube-system, managedFields: [{time: \"2026-11-20T12:00:11Z\"}]}", "2026-11-20T12:00:11Z", "a writing is of a time"},
		{"---\n" + strings.Replace(dsYAML, "agent", "b", 1) + "status: {conditions: [{type: X, lastTransitionTime: \"2026-11-20T12:00:12Z\"}]}", "2026-11-20T12:00:12Z", "so is a DaemonSet's condition"},
		{"---\napiVersion: v1\nkind: Secret\nmetadata: {name: e, namespace: kube-system, creationTimestamp: \"2026-11-20T12:00:11Z\"}", "2026-11-20T12:00:11Z", "so is any other object's creation"},
		{"---\napiVersion: v1\nkind: Secret\nmetadata: {name: e, creationTimestamp: soon}", "2026-11-20T12:00:00Z", "if it is a time"},
		{"---\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: n1}\nspec: {renewTime: \"2026-11-20T12:00:13.000000Z\"}", "2026-11-20T12:00:13Z", "so is a lease"},
		{"---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: kube-system, deletionTimestamp: \"2026-11-20T12:00:44Z\", deletionGracePeriodSeconds: 30}", "2026-11-20T12:00:14Z", "a deletion was asked for before its grace period"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(dsYAML + "---\n" + nodeYAML + tt.add)
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.TakenAt.Format(time.RFC3339); got != tt.want {
				t.Errorf("taken at %s, want %s", got, tt.want)
			}
		})
	}
	d, err := readText(dsJSON)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	want := snapshot.Gap{What: snapshot.Clock, Why: snapshot.NotGiven, Message: "the input holds no time at all: this machine's clock is used"}
	if !s.TakenAt.Equal(noon) || s.Gaps[len(s.Gaps)-1] != want {
		t.Errorf("taken at %v with %v", s.TakenAt, s.Gaps)
	}
}

func TestDuplicates(t *testing.T) {
	node := func(uid, rv, kubelet string) string {
		return `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"` + uid + `","resourceVersion":"` + rv + `"},"status":{"nodeInfo":{"kubeletVersion":"` + kubelet + `"}}}`
	}
	note := func(why string) string {
		return "standard input, document 3: a second Node n1: the one in standard input, document 2 " + why + "; the one that comes last is used"
	}
	for _, tt := range []struct{ first, second, want, note, why string }{
		{node("u", "9", "old"), node("u", "10", "new"), "new", "", "the higher resourceVersion wins, as a number"},
		{node("u", "10", "new"), node("u", "9", "old"), "new", "", "in whatever order"},
		{node("u", "9", "a"), node("u", "9", "b"), "b", note("differs, though it is of the same resourceVersion"), "of equal ones the later, and that is told"},
		{node("u", "9", "b"), node("u", "9", "b"), "b", "", "a copy that does not differ is nothing to tell"},
		{node("u", "", "a"), node("u", "", "b"), "b", note("differs, and no resourceVersion says which is newer"), "without numbers the later, and that is told"},
		{node("u", "", "b"), node("u", "", "b"), "b", "", "unless they are the same"},
		{node("u", "", "a"), node("u", "5", "b"), "b", note("differs, and no resourceVersion says which is newer"), "so with one number"},
		{node("u", "5", "a"), node("u", "x", "b"), "b", note("differs, and no resourceVersion says which is newer"), "a number that is none is no number"},
		{node("u", "9", "b"), strings.Replace(node("u", "9", "b"), `"uid"`, `"managedFields":[{"manager":"kubelet"}],"uid"`, 1), "b", "", "kubectl leaves out who wrote the fields"},
		{node("u", "10", "a"), node("v", "9", "b"), "b", note("is of another UID"), "of two that are not the same the later, and it is told"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(dsJSON + tt.first + tt.second + strings.Replace(nodeJSON, "n1", "n2", 1))
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Nodes) != 2 || s.Nodes[0].Status.NodeInfo.KubeletVersion != tt.want {
				t.Errorf("got %v, want n1 of %s", s.Nodes, tt.want)
			}
			if got := strings.Join(d.Notes(), "\n"); got != tt.note {
				t.Errorf("notes %q, want %q", got, tt.note)
			}
		})
	}
}

func TestAmbiguous(t *testing.T) {
	d, err := readText(dsJSON + strings.Replace(dsJSON, "kube-system", "default", 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Read(background, source.Ref{Namespace: "", Name: "agent"})
	e := (*source.AmbiguousError)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("%T %v", err, err)
	}
	if want := `2 daemonsets are named "agent": default/agent, kube-system/agent`; err.Error() != want || e.Hint() != "choose one with -n default" {
		t.Errorf("%q, hint %q, want %q", err, e.Hint(), want)
	}
	s, err := d.Read(background, source.Ref{Namespace: "default", Name: "agent"})
	if err != nil || s.DaemonSet.Namespace != "default" {
		t.Errorf("%v: a namespace decides", err)
	}
	_, err = d.Read(background, source.Ref{Namespace: "", Name: "agents"})
	want := &source.NotFoundError{Ref: source.Ref{Namespace: "", Name: "agents"}, Near: []string{"agent"}}
	if diff := cmp.Diff(want, err); diff != "" || err.Error() != `daemonset "agents" not found` {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestRecordedSnapshot(t *testing.T) {
	w := parseWorld(t, small)
	recorded, err := newCluster(t, newAPIServer(t, w)).Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	recorded.Gaps = []snapshot.Gap{{What: snapshot.Events, Why: snapshot.Forbidden, Message: "no"}}
	text, err := snapshot.Encode(recorded)
	if err != nil {
		t.Fatal(err)
	}
	later, err := snapshot.Encode(recorded.At(noon.Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	asYAML := asYAMLOfJSON(t, text)
	for _, tt := range []struct {
		text  string
		at    time.Time
		notes []string
		why   string
	}{
		{string(text), noon, nil, "a snapshot comes back as it was taken"},
		{asYAML, noon, nil, "from YAML as well"},
		{string(text) + nodeJSON, noon, nil, "and takes nothing from what stands beside it"},
		{string(text) + dsJSON, noon, nil, "not even from the same DaemonSet"},
		{string(text) + string(later), noon.Add(time.Hour), []string{"standard input: a second snapshot of daemonset kube-system/agent: the one taken last is used"}, "of two the later"},
		{string(later) + string(text), noon.Add(time.Hour), []string{"standard input: a second snapshot of daemonset kube-system/agent: the one taken last is used"}, "in whatever order"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			all, err := d.ReadAll(background, source.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]*snapshot.Snapshot{recorded.At(tt.at)}, all, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.notes, d.Notes(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func asYAMLOfJSON(t *testing.T, text []byte) string {
	t.Helper()
	b, err := jsonToYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReadingStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	never, writer := io.Pipe() // a terminal at which nobody types
	defer writer.Close()
	cancel()
	if _, err := dump.ReadFiles(ctx, []string{"-"}, never, nil, dump.ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := dump.ReadFiles(ctx, []string{"-"}, strings.NewReader(dsJSON), nil, dump.ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestLongListsComeInOrder(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(`{"kind":"List","items":[` + dsJSON)
	for i := range 3 * document.BatchItems {
		text.WriteString("," + strings.Replace(nodeJSON, "}}", `,"labels":{"i":"`+string(rune('a'+i%26))+`"}}}`, 1))
	}
	text.WriteString("]}")
	d, err := readText(text.String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	want := string(rune('a' + (3*document.BatchItems-1)%26))
	if len(s.Nodes) != 1 || s.Nodes[0].Labels["i"] != want {
		t.Errorf("the last of many is %v, want %s", s.Nodes, want)
	}
}

func TestHostileInput(t *testing.T) {
	deep := strings.Repeat("[", 200_000)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	for why, text := range map[string]string{
		"deep JSON":            `{"kind":"Node","apiVersion":"v1","metadata":` + deep + strings.Repeat("]", 200_000) + "}",
		"deep JSON, cut off":   deep,
		"deep YAML in one row": "a: " + deep,
		"deep YAML":            strings.Repeat("- ", 200_000),
		"a bomb of aliases":    bomb,
		"a bomb in an item":    "items:\n- " + strings.ReplaceAll(bomb, "\n", "\n  ") + "\nkind: List\n",
	} {
		if _, err := readText(text); !errors.As(err, new(*source.InputError)) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// FuzzReadFiles checks that ReadFiles returns an answer or an error for any bytes, and that the error is one line
// from this package.
func FuzzReadFiles(f *testing.F) {
	for _, seed := range []string{
		dsYAML + "---\n" + nodeYAML, listYAML, dsJSON + nodeJSON, "[" + dsJSON + "]",
		`{"items":[{"metadata":{"name":"n1"}}],"kind":"NodeList","apiVersion":"v1"}`,
		utf16Text(binary.LittleEndian, listYAML), "\ufeff" + dsJSON, "--- " + dsJSON,
		`{"apiVersion":"kubectl-ds/v1alpha1","kind":"Snapshot","takenAt":"2026-11-20T12:00:00Z","daemonSet":` + dsJSON + `}`,
		string(asYAML(f, mixedList(parseWorld(f, small)))), string(asJSON(f, mixedList(parseWorld(f, small)))),
		"a: &a [b]\nc: *a\nkind: Node\n", "items:\n- |\n  a\n- >\n b\n-\n  c: 1\nkind: NodeList",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := dump.ReadFiles(background, []string{"-"}, bytes.NewReader(data), func() time.Time { return noon }, dump.ReadOptions{})
		if err != nil {
			if !errors.As(err, new(*source.InputError)) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%T %q", err, err)
			}
			return
		}
		all, err := d.ReadAll(background, source.Filter{})
		if err != nil {
			t.Errorf("read, and then: %v", err)
		}
		for _, s := range all {
			b, err := snapshot.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := snapshot.Decode(b); err != nil {
				t.Errorf("cannot be recorded: %v\n%s", err, b)
			}
		}
	})
}

// TestSnapshotOfSomebodyElse checks that fields that this program does not record are removed from a Snapshot, so
// that it passes on no secret of a pod.
func TestSnapshotOfSomebodyElse(t *testing.T) {
	s := &snapshot.Snapshot{DaemonSet: &appsv1.DaemonSet{}, TakenAt: noon, VersionSource: snapshot.VersionDefault}
	s.DaemonSet.Namespace, s.DaemonSet.Name, s.DaemonSet.Spec.Selector = "kube-system", "agent", &metav1.LabelSelector{}
	s.Pods = []corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "p", Annotations: map[string]string{"token": "s3cret"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{Name: "TOKEN", Value: "s3cret"}}}}},
	}}
	s.Nodes = []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{"token": "s3cret"}}}}
	raw, err := snapshot.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dump.ReadFiles(background, []string{"-"}, bytes.NewReader(raw), func() time.Time { return noon }, dump.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = snapshot.Encode(got); err != nil || strings.Contains(string(raw), "s3cret") || len(got.Pods) != 1 {
		t.Errorf("%v: %s", err, raw)
	}
}

// TestDuplicatesOfFiles checks that the note about duplicates names both files, and does not list every copy.
func TestDuplicatesOfFiles(t *testing.T) {
	dir := t.TempDir()
	node := func(i int, kubelet string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d"},"status":{"nodeInfo":{"kubeletVersion":%q}}}`, i, kubelet)
	}
	var first, second []string
	for i := range 6 {
		first, second = append(first, node(i, "old")), append(second, node(i, "new"))
	}
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	for path, text := range map[string]string{
		a: dsJSON + `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(first, ",") + "]}", b: "[" + strings.Join(second, ",") + "]",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := dump.ReadFiles(background, []string{a, b}, nil, func() time.Time { return noon }, dump.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 3 {
		want = append(want, fmt.Sprintf("%s, document 1, [%d]: a second Node n%[2]d: the one in %s, document 2, items[%[2]d] differs, and no resourceVersion says which is newer; the one that comes last is used", b, i, a))
	}
	want = append(want, "3 more objects appear twice in the input, with different content")
	if diff := cmp.Diff(want, d.Notes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRepeatsInDumps checks that the later value of a repeated key is used, and that its position is reported, in
// YAML and in JSON.
func TestRepeatsInDumps(t *testing.T) {
	const note = "standard input: document 2, line %d: the key %s appears twice in one object; the last value is used"
	line := strings.Count(dsYAML, "\n") + 1
	node := strings.Replace(nodeJSON, `"name":"n1"`, `"name":"n0","name":"n1"`, 1)
	many := strings.Repeat(`"a":"x",`, 6)
	for _, tt := range []struct{ text, want, why string }{
		{strings.Replace(nodeYAML, "  name: n1", "  name: n0\n  name: n1", 1), fmt.Sprintf(note, line+5, "name"), "in YAML"},
		{node, fmt.Sprintf(note, line+1, "name"), "in JSON"},
		{"{\n\n\"kind\":\"List\",\"items\":[\n" + node + "\n]}", fmt.Sprintf(note, line+4, "name"), "in a List of JSON"},
		{"kind: List\nitems:\n- metadata: {name: n1}\n  kind: Node\n  kind: Node\n  apiVersion: v1\n", fmt.Sprintf(note, line+5, "kind"), "in a List of YAML"},
		{"kind: NodeList\napiVersion: v2\nitems:\n- metadata: {name: n1}\napiVersion: v1\n", fmt.Sprintf(note, line+5, "apiVersion"), "in what a List of YAML says of itself"},
		{`{"kind":"NodeList","apiVersion":"v2",` + "\n" + `"apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}`, fmt.Sprintf(note, line+2, "apiVersion"), "in what a List of JSON says of itself"},
		{strings.Replace(nodeJSON, `"name":"n1"`, `"name":"n1","labels":{`+many+`"\u0061":"y"}`, 1), strings.Repeat(fmt.Sprintf(note, line+1, "a")+"\n", 1), "all in one line: told once"},
		{strings.Replace(nodeJSON, `"name":"n1"`, `"name":"n1","labels":{"a":"x","\u0061":"y"}`, 1), fmt.Sprintf(note, line+1, "a"), "a key that is written in two ways"},
		{strings.Replace(nodeJSON, `"name":"n1"`, `"name":"n1","labels":{"a":"a","b":"a"},"annotations":{"a":"{\"a\":1,\"a\":2}"}`, 1), "", "the same key of two objects, as a value, and in a text"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(dsYAML + "---\n" + tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(d.Notes(), "\n"); got != strings.TrimSpace(tt.want) {
				t.Errorf("notes\n got %s\nwant %s", got, tt.want)
			}
			s, err := d.Read(background, agent)
			if err != nil || len(s.Nodes) != 1 || s.Nodes[0].Name != "n1" {
				t.Errorf("read %v, error %v", s.Nodes, err)
			}
		})
	}
}

// TestUnknownFields checks that a field that a decisive kind does not have is not an error, because a newer version
// may have it. It is reported once for all objects of the kind.
func TestUnknownFields(t *testing.T) {
	pod := func(name, spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"kube-system"},"spec":` + spec + `,"status":{"phase":"Running"}}`
	}
	const at, known = "standard input, document ", " is ignored: this version of the plugin does not know the field"
	for _, tt := range []struct {
		text string
		want []string
		why  string
	}{
		{pod("p1", `{"nodename":"n1"}`), []string{at + "2: Pod spec.nodename" + known + ", did you mean nodeName?"}, "in another case"},
		{pod("p1", `{"nodName":"n1","containers":[]}`), []string{at + "2: Pod spec.nodName" + known + ", did you mean nodeName?"}, "a letter is missing"},
		{pod("p1", `{"teleports":true}`), []string{at + "2: Pod spec.teleports" + known}, "of a newer version, perhaps"},
		{pod("p1", `{"containers":[{"name":"a","images":"x"},{"name":"b","images":"x"}]}`) + pod("p2", `{"containers":[{"name":"a","images":"x"}]}`),
			[]string{at + "2: Pod spec.containers.images" + known + ", did you mean image? (also in 1 more object)"}, "in a list, and in several objects"},
		{"[" + pod("p1", `{"a1":1,"b2":2,"c3":3,"d4":4,"e5":5}`) + "]",
			[]string{at + "2, [0]: Pod spec.a1" + known, at + "2, [0]: Pod spec.b2" + known, at + "2, [0]: Pod spec.c3" + known, "2 more fields are ignored"}, "three at most"},
		{strings.Replace(nodeJSON, `}}`, `},"spec":{"taint":[]}}`, 1), []string{at + "2: Node spec.taint" + known + ", did you mean taints?"}, "of a node"},
		{`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"kube-system"},"specs":{}}`, []string{at + "2: PodDisruptionBudget specs" + known + ", did you mean spec?"}, "in the object itself"},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespaces":"kube-system"}}`, nil, "of a kind that counts for nothing"},
		{pod("p1", `{"nodeName":"n1"}`), nil, "none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(dsYAML + "---\n" + tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, d.Notes()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAliases checks that a YAML alias can refer to every earlier anchor in its document, also if the items of a List
// are read one by one.
func TestAliases(t *testing.T) {
	const head = "apiVersion: v1\nkind: List\n"
	item := func(name, labels string) string {
		return "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: " + name + "\n    labels: " + labels + "\n"
	}
	ds := "- " + strings.ReplaceAll(strings.TrimSuffix(dsYAML, "\n"), "\n", "\n  ") + "\n"
	for _, tt := range []struct{ text, want, why string }{
		{head + "items:\n" + ds + item("n1", "&l {os: linux}") + item("n2", "*l"), "n1 linux, n2 linux", "an item before"},
		{head + "items:\n" + ds + item("n1", "&l {os: linux}") + item("n2", "*l") + item("n3", "*l"), "n1 linux, n2 linux, n3 linux", "and again"},
		{head + "items:\n" + ds + item("n1", "&l {os: linux}") + item("n2", "&l {os: windows}") + item("n3", "*l"), "n1 linux, n2 windows, n3 windows", "of two anchors of a name the later"},
		{head + "items:\n" + ds + item("n1", "&l {os: linux}") + item("n2", "*l") + item("n3", "&l {os: windows}"), "n1 linux, n2 linux, n3 windows", "and not one that comes after"},
		{head + "items:\n" + ds + item("n1", "&a {os: linux}") + item("n2", "&b\n      os: linux\n      <<: *a") + item("n3", "*b"), "n1 linux, n2 linux, n3 linux", "an alias in what an anchor names"},
		{head + "x: &l {os: linux}\nitems:\n" + ds + item("n1", "*l"), "n1 linux", "before the items"},
		{head + "items:\n" + strings.ReplaceAll("  "+ds+item("n1", "&l {os: linux}")+item("n2", "*l"), "\n", "\n  ") + "\n", "n1 linux, n2 linux", "items that are indented"},
		{"items:\n" + ds + item("n1", "&l {os: linux}") + item("n2", "*l") + "kind: List\nx: *l\napiVersion: v1\n", "n1 linux, n2 linux", "after the items"},
		{strings.ReplaceAll(head+"items:\n"+ds+item("n1", "&l {os: linux}")+"# a comment\n\n"+item("n2", "*l"), "\n", "\r\n"), "n1 linux, n2 linux", "with the line ends of Windows"},
		{strings.TrimSuffix(head+"items:\n"+ds+item("n1", "&l {os: linux}")+item("n2", "*l"), "\n"), "n1 linux, n2 linux", "without a line end at the end"},
		{head + "items:\n" + ds + item("n1", "{os: 'a &l b'}") + item("n2", "{os: 'a *l b'}"), "n1 a &l b, n2 a *l b", "in a text neither is one"},
		{head + "items: [\n{apiVersion: v1, kind: Node, metadata: {name: n1, labels: &l {os: linux}}},\n{apiVersion: v1, kind: Node, metadata: {name: n2, labels: *l}}]\n---\n" + dsYAML, "n1 linux, n2 linux", "items in brackets"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range s.Nodes {
				got = append(got, n.Name+" "+n.Labels["os"])
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
	// Line numbers are those of the file.
	for text, want := range map[string]string{
		head + "items:\n" + item("n1", "&l {os: linux}") + item("n2", "*l") + item("n3", "*m"): "standard input: document 1: items[2]: line 18: an alias without an anchor before it in the same document",
	} {
		if _, err := readText(text); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestKindAfterManyItems checks that items without a kind are read when the kind of their list follows at its end,
// for any number of items.
func TestKindAfterManyItems(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"apiVersion":"v1","items":[`)
	for i := range 2*document.BatchItems + 10 {
		if i > 0 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, `{"metadata":{"name":"n%04d","labels":{"number":"%d"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, i, i)
	}
	text.WriteString(`],"kind":"NodeList"}` + "\n" + dsJSON)
	d, err := dump.ReadFiles(background, []string{"-"}, strings.NewReader(text.String()), func() time.Time { return noon }, dump.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.HeldNodes.Items) != 2*document.BatchItems+10 {
		t.Errorf("%d nodes", len(d.HeldNodes.Items))
	}
	for i, n := range d.HeldNodes.Items {
		if n.Name != fmt.Sprintf("n%04d", i) || n.Labels["number"] != fmt.Sprint(i) {
			t.Fatalf("node %d is %s with %v", i, n.Name, n.Labels)
		}
	}
}
