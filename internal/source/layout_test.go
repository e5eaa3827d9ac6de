package source_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestRealInput checks the layouts of common collectors, and of files that users provide.
func TestRealInput(t *testing.T) {
	type files map[string]string
	both := func(more files) files {
		all := files{"ds.yaml": dsYAML, "node.json": nodeJSON}
		for name, text := range more {
			all[name] = text
		}
		return all
	}
	const (
		klog   = "I1120 12:00:00.000000       1 main.go:1] starting\n{\"kind\":\"Node\",\"apiVersion\":\"v1\"\nkind: Pod\napiVersion: v1\n"
		quoted = "kind: Pod\napiVersion: v1\nmetadata:\n  name: x\n2026-11-20T12:00:00Z and so on\n"
		audit  = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete"}` + "\n"
		hidden = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  url: http: ***HIDDEN***:10000\n"
		config = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"url":***HIDDEN***:10000}}`
		old    = `{"metadata":{"selfLink":"/api/v1/nodes"},"Items":[{"name":"n1","creationTimestamp":"2017-01-01T00:00:00Z"}]}`
	)
	const cutOff = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: b"
	for _, tt := range []struct {
		files files
		notes string
		err   string
		why   string
	}{
		{both(files{"logs/current.log": quoted, "must-gather.logs": klog, "pod/logs.txt": klog}), "not read: 1 log\nignored, because they are not Kubernetes objects in YAML or JSON: DIR/must-gather.logs, DIR/pod/logs.txt", "", "a log that has the words kind and apiVersion"},
		{both(files{"kube-system/agent-x/logs.txt": quoted}), "not read: 1 log", "", "a log that begins with an object, of a container of a cluster-info dump"},
		{both(files{"a.txt": audit + audit}), "", "", "an audit log has Events of its own kind"},
		{both(files{"out": "kind of\napiVersion: v1\nkind: Pod\n"}), "ignored, because they are not Kubernetes objects in YAML or JSON: DIR/out", "", "what begins with words is no object"},
		{both(files{"cm.yaml": hidden}), "", "", "a mark of redaction in a ConfigMap, of which only the names of keys count"},
		{both(files{"cm.json": config}), "ignored, because it cannot be read and no answer depends on it: DIR/cm.json: document 1: line 1: not JSON: invalid character '*' at start of value", "", "the same in JSON"},
		{both(files{"cms.json": `{"apiVersion":"v1","items":[` + config + `],"kind":"List"}`}), "ignored, because it cannot be read and no answer depends on it: DIR/cms.json: document 1: items[0]: line 1: not JSON: invalid character '*' at start of value", "", "in a list of nothing else"},
		{both(files{"crd.yaml": "apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: c\nspec: {a: b: c}\n"}), "", "", "an object of a kind that decides nothing is not looked at"},
		{both(files{"pods.yaml": "apiVersion: v1\nkind: PodList\nitems:\n- metadata:\n    name: a\n    namespace: b\n  spec: {a: ***HIDDEN***:1}\n"}), "", "DIR/pods.yaml: document 1: items[0]: yaml: line 7: did not find expected alphabetic or numeric character", "a pod counts"},
		{both(files{"all.json": `{"apiVersion":"v1","items":[` + config + `,{"apiVersion":"v1","kind":"Pod"}],"kind":"List"}`}), "", "DIR/all.json: document 1: items[0]: line 1: not JSON: invalid character '*' at start of value", "what comes after the damage may count"},
		{both(files{"x.yaml": "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a, namespace: b}\nkind: List\n]\n"}), "", "DIR/x.yaml: document 1: yaml: line 6: did not find expected key", "a list that is damaged behind its items, which count"},
		{both(files{"x.json": `{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b"}}],"metadata":{]`}), "", "DIR/x.json: document 1: line 1: not JSON: invalid character ']' at start of string (expecting '\"')", "the same in JSON"},
		{both(files{"x.yaml": "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a, namespace: b}\nkind: List\n]\n"}), "ignored, because it cannot be read and no answer depends on it: DIR/x.yaml: document 1: yaml: line 6: did not find expected key", "", "and with items that do not"},
		{both(files{"x.yaml": "kind: |\n  Pod\napiVersion: v1\nmetadata: {name: a, namespace: b}\n]\n"}), "", "DIR/x.yaml: document 1: yaml: line 4: did not find expected key", "a kind on a line of its own"},
		{both(files{"x.yaml": "\tkind: Nodes\napiVersion: v1\nmetadata: {name: a}\n"}), "", "DIR/x.yaml: document 1: yaml: found character that cannot start any token", "a kind that is nearly one that counts, in a file that cannot be read"},
		{both(files{"x.json": `{"kind":" Node\nList","apiVersion":"v1 ","items":[{"metadata":{"name":"a"}}]}`}), "", `DIR/x.json: document 1: kind: there is no " Node\nList": did you mean NodeList?`, "a list that is nearly one of nodes"},
		{both(files{"x.json": "{\"kind\":\"Node\u200b\",\"apiVersion\":\"v1beta1\",\"metadata\":{\"name\":\"a\"}}"}), "", `DIR/x.json: document 1: kind: there is no "Node\u200b": did you mean Node?`, "a kind with a mark that nobody sees"},
		{both(files{"._ds.yaml": "\x00\x05\x16\x07\x00", "a/._b.json": "x"}), "not read: 2 files of macOS (._*)", "", "what macOS writes beside each file"},
		{both(files{"nodes.json": old}), "", "DIR/nodes.json: document 1: a list as kubectl before v1.9 wrote it, whose objects do not say what they are: it is too old to be read", "a list from before 1.9"},
		{files{"cluster-resources/daemonsets/kube-system.json": "[" + strings.Replace(dsJSON, `"apiVersion":"apps/v1","kind":"DaemonSet",`, "", 1) + "]", "cluster-resources/nodes.json": "[" + strings.Replace(nodeJSON, `"apiVersion":"v1","kind":"Node",`, "", 1) + "]"}, "", "", "arrays of objects that do not say what they are, of an old support bundle"},
		{files{"resources/ns/kube-system/apps_v1_daemonsets.json": "[" + strings.Replace(dsJSON, `"apiVersion":"apps/v1","kind":"DaemonSet",`, "", 1) + "]", "resources/cluster/core_v1_nodes.json": `{"items":[` + strings.Replace(nodeJSON, `"apiVersion":"v1","kind":"Node",`, "", 1) + "]}"}, "", "", "named as Sonobuoy names them"},
		{both(files{"Chart.yaml": "a: {{ .Values.a }}\n", "x.json": "{- Finished ..\n"}), "ignored, because it cannot be read and no answer depends on it: DIR/Chart.yaml: document 1: a template that is not rendered: it has {{ }} (and 1 more)", "", "what nothing says to be an object that counts"},
		{both(files{"x.json": "\x00\x01"}), "ignored, because it cannot be read and no answer depends on it: DIR/x.json: not text", "", "a file that is no text"},
		{both(files{"roles.json": `{"kind":"RoleList","apiVersion":"rbac.authorization.k8s.io/v1","items":null}`}), "", "", "a kind that is called nearly as one that counts"},
		{both(files{"table.json": `{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}`}), "ignored, because it cannot be read and no answer depends on it: DIR/table.json: document 1: kind: a Table has columns of objects, not the objects", "", "a table"},
		{both(files{"old.json": strings.Replace(dsJSON, "apps/v1", "extensions/v1beta1", 1), "olds.json": `{"kind":"DaemonSetList","apiVersion":"extensions/v1beta1","items":[{"metadata":{"name":"a"}}]}`}), "ignored: 3 DaemonSets or lists of them of versions that no server since v1.16 has: DIR/old.json", "", "each DaemonSet in two groups, as servers before v1.16 had it"},
		{files{"node.json": nodeJSON, "old.json": strings.Replace(dsJSON, "apps/v1", "extensions/v1beta1", 1)}, "", "DIR/old.json: document 1: apiVersion: no server since v1.16 has a DaemonSet of extensions/v1beta1: use apps/v1", "in the old one only"},
		{both(files{"yamls/namespaced/kube-system/v1/pods.yaml": "apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  continue: \"null\"\n  resourceVersion: \"null\"\n"}), "", "", "Rancher's collector writes null in quotes in what a list says of itself, too"},
		{both(files{"e.yaml": `{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"a","uid":"u","resourceVersion":"5"},"involvedObject":{},"count":1}{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e","namespace":"a","uid":"u","resourceVersion":"5"},"regarding":{}}`}), "", "", "each event in two groups"},
		{both(files{"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n", "e.json": `{"items":[{"metadata":{},"reason":"x"}],"kind":"EventList","apiVersion":"v1"}`}), "ignored, because it cannot be read and no answer depends on it: DIR/e.json: document 1: items[0].metadata.name: missing (and 1 more)", "", "a manifest, and an extract of events, are no objects of a server"},
		{both(files{"a.yaml": cutOff, "b.yaml": cutOff, "c.yaml": cutOff, "d.yaml": cutOff, "e.yaml": cutOff}), "DIR/a.yaml, DIR/b.yaml, DIR/c.yaml, +2 more: the last line has no newline: the files may be cut off", "", "five files whose last line has no newline"},
		{both(files{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata:\n  a: b"}), "", "", "of a kind that decides nothing"},
		{both(files{"a.yaml": cutOff + "\n---\n$ kubectl get nodes\n"}), "ignored, because it cannot be read and no answer depends on it: DIR/a.yaml: document 2: not a Kubernetes object: it is text", "", "words beside an object"},
		{both(files{"a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: kubernetes, namespace: default, uid: a}\n", "b.json": `{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"kubernetes","namespace":"default","uid":"b"}}]}`}), "", "DIR: two clusters: the service default/kubernetes is in it twice, with different UIDs, in DIR/a.yaml, document 1 and in DIR/b.json, document 1, items[0]", "two clusters, by the service of each"},
		{both(files{"gone.json": ""}), "ignored, because they are not Kubernetes objects in YAML or JSON: DIR/gone.json", "", "an empty file"},
		{files{"yamls/namespaced/kube-system/apps/v1/daemonsets.yaml": strings.Replace(dsYAML, "  uid: u1\n", "  uid: u1\n  creationTimestamp: \"null\"\n  labels:\n    a: \"null\"\n", 1), "yamls/cluster/v1/nodes.yaml": nodeYAML}, "", "", "Rancher's collector writes null in quotes"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				write(t, filepath.Join(dir, name), []byte(text))
			}
			d, err := dump.ReadFiles(background, []string{dir}, nil, func() time.Time { return noon }, dump.ReadOptions{})
			if tt.err != "" {
				if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != tt.err {
					t.Fatalf("\n got %v\nwant %s", err, tt.err)
				}
				return
			}
			must(t, err)
			if got := strings.ReplaceAll(strings.Join(d.Notes(), "\n"), dir, "DIR"); got != tt.notes {
				t.Errorf("notes\n got %s\nwant %s", got, tt.notes)
			}
			s, err := d.Read(background, agent)
			must(t, err)
			if diff := cmp.Diff(outline{DaemonSet: "kube-system/agent", Nodes: "n1"}, outlineOf(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if s.DaemonSet.Labels["a"] != "" {
				t.Errorf("a label has the value %q", s.DaemonSet.Labels["a"])
			}
		})
	}
}

// TestClusterInfoStream reads the standard output of "kubectl cluster-info dump".
func TestClusterInfoStream(t *testing.T) {
	block := func(container, text string) string {
		return fmt.Sprintf("==== START logs for container %s of pod kube-system/agent-x ====\n%s==== END logs for container %[1]s of pod kube-system/agent-x ====\n", container, text)
	}
	other := "{\"kind\":\"Pod\"\n==== END logs for container other of pod kube-system/agent-x ====\n---\nkind: Node\n"
	const cut = "standard input: it ends inside the log of container agent of pod kube-system/agent-x: the file may be cut off"
	for _, tt := range []struct{ text, why string }{
		{dsJSON + "\n" + nodeJSON + "\n" + block("agent", "hello\n") + block("side", ""), "logs after the objects"},
		{dsJSON + "\n" + block("agent", other) + nodeJSON + "\n", "a log in which another one seems to end"},
		{dsJSON + "\n" + block("agent", strings.Repeat("x", 200_000)+"\n") + nodeJSON + "\n", "a line that is longer than any buffer"},
		{dsYAML + "---\n" + nodeYAML + block("agent", "hello\n"), "objects in YAML"},
		{dsYAML + block("agent", "hello\n") + "---\n" + nodeYAML, "a log between them"},
		{dsJSON + "\n" + nodeJSON + "\n" + block("agent", "hello\n") + "Cluster info dumped to standard output\n", "the last line of an old kubectl"},
		{dsYAML + "---\n" + nodeYAML + "Cluster info dumped to standard output\n", "the last line of an old kubectl, after YAML"},
		{dsJSON + "\n" + nodeJSON + "\n==== START logs for container agent of pod kube-system/agent-x ====\nhello\n", "a log that is cut off"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(tt.text)
			must(t, err)
			s, err := d.Read(background, agent)
			must(t, err)
			if diff := cmp.Diff(outline{DaemonSet: "kube-system/agent", Nodes: "n1"}, outlineOf(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := tt.why == "a log that is cut off"; want != slices.Equal(d.Notes(), []string{cut}) || !want && len(d.Notes()) > 0 {
				t.Errorf("notes: %q", d.Notes())
			}
		})
	}
	if d, err := readText(dsJSON + "\n==== something else\n" + nodeJSON); err == nil {
		t.Errorf("other words are passed over, with the notes %q", d.Notes())
	}
}

// TestWithoutNulls checks that the string "null" becomes null, and that the template of a revision has no null
// fields.
func TestWithoutNulls(t *testing.T) {
	const revision, pruned = `{"data":{"spec":{"template":{"a":"null","creationTimestamp":"null","l":["null"]}}},"metadata":{"name":"null"},"revision":1}`, `{"data":{"spec":{"template":{"creationTimestamp":null,"l":[""]}}},"metadata":{"name":null},"revision":1}`
	for _, tt := range []struct{ raw, want, why string }{
		{`{"a":"x"}`, `{"a":"x"}`, "nothing to do"},
		{`{"a":"null","null":["null", "nulls"]}`, `{"a":null,"null":[null, "nulls"]}`, "a text, not a key or a part of a text"},
		{`{"data":"null","x":1}`, `{"data":null,"x":1}`, "no revision"},
		{revision, pruned, "a revision"},
		{`{"items":[` + revision + `]}`, `{"items":[` + pruned + `]}`, "in a list"},
		{`[` + revision + `,{"items":[` + revision + `]}]`, `[` + pruned + `,{"items":[` + pruned + `]}]`, "in an array"},
	} {
		if got := string(document.WithoutNulls([]byte(tt.raw))); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.why, got, tt.want)
		}
	}
}

// TestNamedByItsPath checks that the path of a file gives what its objects do not state, also if the file or its
// directory is the input itself.
func TestNamedByItsPath(t *testing.T) {
	dir := t.TempDir()
	set, node := strings.Replace(dsJSON, `"apiVersion":"apps/v1","kind":"DaemonSet",`, "", 1), strings.Replace(nodeJSON, `"apiVersion":"v1","kind":"Node",`, "", 1)
	write(t, filepath.Join(dir, "daemonsets.json"), []byte("["+set+"]"))
	write(t, filepath.Join(dir, "core_v1_nodes.json"), []byte("["+node+"]"))
	write(t, filepath.Join(dir, "yamls/cluster/v1/nodes.yaml"), []byte(strings.Replace(nodeYAML, `"2026-11-20T12:00:00Z"`, `"null"`, 1)))
	for _, paths := range [][]string{{"daemonsets.json", "core_v1_nodes.json"}, {"daemonsets.json", "yamls/cluster"}} {
		for i := range paths {
			paths[i] = filepath.Join(dir, paths[i])
		}
		d, err := dump.ReadFiles(background, paths, nil, func() time.Time { return noon }, dump.ReadOptions{})
		must(t, err)
		s, err := d.Read(background, agent)
		must(t, err)
		if diff := cmp.Diff(outline{DaemonSet: "kube-system/agent", Nodes: "n1"}, outlineOf(s)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", paths, diff)
		}
	}
}

// TestEmptyList checks that an empty list of DaemonSets is an answer, as it is for a cluster.
func TestEmptyList(t *testing.T) {
	d, err := readText(`{"kind":"DaemonSetList","apiVersion":"apps/v1","items":[]}` + nodeJSON)
	must(t, err)
	all, err := d.ReadAll(background, source.Filter{})
	must(t, err)
	if len(all) > 0 {
		t.Errorf("%d DaemonSets", len(all))
	}
}

// TestKeepGoing checks that damaged objects are left out, and that everything that depends on them is unknown.
func TestKeepGoing(t *testing.T) {
	type files map[string]string
	pods := func(more string) string {
		return "apiVersion: v1\nkind: PodList\nitems:\n- metadata:\n    name: a\n    namespace: kube-system\n" + more
	}
	partial := func(message string, whats ...snapshot.What) (gaps []string) {
		for _, what := range whats {
			gaps = append(gaps, fmt.Sprintf("%s Partial left out, because it is damaged: %s", what, message))
		}
		return gaps
	}
	everything := []snapshot.What{snapshot.DaemonSets, snapshot.Nodes, snapshot.Pods, snapshot.Revisions, snapshot.Events, snapshot.PodDisruptionBudgets}
	cut := partial("DIR/x.tar: the tar archive is cut off", everything...)
	cut[1] = partial("DIR/x.tar/nodes.json: document 1: items[160]: ends in the middle of an object: the file is cut off (and 2 more)", snapshot.Nodes)[0]
	for _, tt := range []struct {
		files files
		gaps  []string
		why   string
	}{
		{files{"p.yaml": pods("  spec: {nodeName: 5}\n")}, partial("DIR/p.yaml: document 1: items[0].spec.nodeName: must be text, not a number", snapshot.Pods), "a field of a pod"},
		{files{"p.yaml": pods("  spec: {a: b: c}\n")}, partial("DIR/p.yaml: document 1: items[0]: yaml: line 6: did not find expected ',' or '}'", snapshot.Pods), "a pod that cannot be parsed"},
		{files{"n.json": nodeJSON[:40]}, partial("DIR/n.json: document 1: ends in the middle of an object: the file is cut off", snapshot.Nodes), "a file that is cut off in a node"},
		{files{"r.json": `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r","namespace":"a"},"revision":1,"data":7}`}, partial("DIR/r.json: document 1: data: must be an object, not a number", snapshot.Revisions), "a revision"},
		{files{"l.json": `{"apiVersion":"v1","items":[{"apiVersion":"v1","metadata"x:{"name":"n1","labels":{"a":"b"}},"spec":{},"kind":"Node"}],"kind":"List"}`}, partial("DIR/l.json: document 1: items[0]: line 1: not JSON: invalid character 'x' after object name (expecting ':')", snapshot.Nodes), "a node that says only behind the damage that it is one"},
		{files{"x.tar": string(tarOf(t, entry{"nodes.json", `{"apiVersion":"v1","kind":"NodeList","items":[` + strings.Repeat(nodeJSON+",", 300) + nodeJSON + "]}", ""})[:10_000])}, cut, "a list in an archive that is cut off"},
		{files{"pods.json": `{"items":[`}, partial("DIR/pods.json: document 1: ends in the middle of an object: the file is cut off", snapshot.Pods), "a list of which only the file's name says what it is"},
		{files{"x.tar": string(tarOf(t, entry{"a", strings.Repeat("x", 2000), ""})[:1000])}, partial("DIR/x.tar: the tar archive is cut off", everything...), "what is lost of an archive could be of any kind"},
		{files{"o.json": `{"kind":5,"apiVersion":"v1","metadata":{"name":"p","ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent"}]}}`}, partial("DIR/o.json: document 1: kind: must be text, not a number", everything...), "an object whose kind cannot be read is no DaemonSet because its owner is one"},
		{files{"o.json": `{"kind":["Pod"],"apiVersion":"v1","metadata":{"name":"p","ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","kind":"DaemonSet","name":"agent"}]}}`}, partial("DIR/o.json: document 1: kind: must be text, not a list", everything...), "… nor where the kind of its owner stands there twice"},
		{files{"l.json": `{"apiVersion":"v1","items":[` + nodeJSON + `,{"apiVersion":"v1","kind":1,"metadata":{"name":"n0"}}],"kind":"List"}`}, partial("DIR/l.json: document 1: items[1].kind: must be text, not a number", everything...), "nor does the List that it is in tell what it is, whose kind comes later"},
		{
			files{"l.yaml": "  apiVersion: apps/v1\n  kind: ControllerRevision\n- apiVersion: apps/v1\n  kind: DaemonSet\n  metadata:\n    name: other\n"},
			partial("DIR/l.yaml: document 1: line 3: indented less than the first line of its document: nothing from here on would be read", snapshot.DaemonSets, snapshot.Revisions),
			"of items that are indented differently it says no more than the kind of the first",
		},
		{
			files{"l.yaml": "  apiVersion: v1\n  items:\n  - apiVersion: apps/v1\n    kind: DaemonSet\n    metadata:\n      name: other\n     x:\n  kind: ControllerRevision\n"},
			partial("DIR/l.yaml: document 1: yaml: line 6: did not find expected key", snapshot.DaemonSets, snapshot.Revisions),
			"nor where the parser fails before that",
		},
		{files{"o.yaml": "  apiVersion: v1\n  kind: \"null\"\n  metadata:\n    name: p\nspec: {}\n"}, partial("DIR/o.yaml: document 1: line 5: indented less than the first line of its document: nothing from here on would be read", everything...), "a broken object whose kind is nothing"},
		{files{"r.yaml": "apiVersion: apps/v1\nkind: ControllerRevision\nmetadata:\n  creationTimestamp: null\n"}, partial("DIR/r.yaml: document 1: metadata.name: missing", snapshot.Revisions), "what is cut off before its name"},
		{files{"o.json": `{"metadata":{"ownerReferences":[{"kind":"DaemonSet","name":"agent"}]},"spec":{"a":}}`}, partial("DIR/o.json: document 1: line 1: not JSON: invalid character '}' at start of value", everything...), "what breaks off may be the pod that refers to its owner"},
		{files{"nodes.json": "\x00\x01"}, partial("DIR/nodes.json: not text", snapshot.Nodes), "a file that is no text, and is called as one that counts"},
		{files{"a.tar.gz": "\x1f\x8b\x00"}, partial("DIR/a.tar.gz: the gzip file is cut off", everything...), "an archive of which nothing can be unpacked"},
		{files{"l.json": `{"kind":"List","apiVersion":"v1","x":1,"items":[` + nodeJSON + `,{"kind":"List","apiVersion":"v1","items":[` + strings.Replace(nodeJSON, `"n1"`, "5", 1) + "]}]}"}, partial("DIR/l.json: document 1: items[1].items[0].metadata.name: must be text, not a number", snapshot.Nodes), "of a list in a list one object, not the list"},
		{files{"d.json": strings.Replace(dsJSON, `"agent"`, `5`, 1)}, partial("DIR/d.json: document 1: metadata.name: must be text, not a number", snapshot.DaemonSets), "a DaemonSet"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			tt.files["ds.yaml"], tt.files["node.json"] = dsYAML, nodeJSON
			for name, text := range tt.files {
				write(t, filepath.Join(dir, name), []byte(text))
			}
			if _, err := dump.ReadFiles(background, []string{dir}, nil, func() time.Time { return noon }, dump.ReadOptions{}); err == nil {
				t.Error("no error without KeepGoing")
			}
			d, err := dump.ReadFiles(background, []string{dir}, nil, func() time.Time { return noon }, dump.ReadOptions{KeepGoing: true})
			must(t, err)
			all, err := d.ReadAll(background, source.Filter{})
			must(t, err)
			var gaps []string
			for _, g := range all[0].Gaps {
				if g.Why == snapshot.Partial {
					gaps = append(gaps, strings.ReplaceAll(fmt.Sprintf("%s %s %s", g.What, g.Why, g.Message), dir, "DIR"))
				}
			}
			if diff := cmp.Diff(tt.gaps, gaps); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestVersionOfADump checks which part of a dump determines the version of the cluster.
func TestVersionOfADump(t *testing.T) {
	kubelets := func(versions ...string) string {
		text := ""
		for i, v := range versions {
			text += fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"k%d"},"status":{"nodeInfo":{"kubeletVersion":%q}}}`, i+1, v)
		}
		return text
	}
	type files map[string]string
	operator := "apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata:\n  name: %s\nstatus:\n  versions:\n  - name: raw-internal\n    version: 4.14.1\n  - name: kube-controller-manager\n    version: 1.27.6\n"
	for _, tt := range []struct {
		files   files
		version string
		from    snapshot.VersionSource
		note    string
		why     string
	}{
		{files{}, "", snapshot.VersionDefault, "", "nobody"},
		{files{"serverversion.json": `{"major":"1","minor":"28","gitVersion":"v1.28.3","gitCommit":"x"}`}, "v1.28.3", snapshot.VersionDump, "Kubernetes v1.28.3: DIR/serverversion.json says it", "Sonobuoy"},
		{files{"cluster-info/cluster_version.json": `{"info":{"major":"1","minor":"27","gitVersion":"v1.27.4+k3s1"},"string":"v1.27.4+k3s1"}`}, "v1.27.4+k3s1", snapshot.VersionDump, "Kubernetes v1.27.4+k3s1: DIR/cluster-info/cluster_version.json says it", "troubleshoot"},
		{files{"metadata.yaml": "projectName: x\nkubernetesVersion: v1.24.7+rke2r1\nbundleCreatedAt: \"2023-01-01T00:00:00Z\"\n"}, "v1.24.7+rke2r1", snapshot.VersionDump, "Kubernetes v1.24.7+rke2r1: DIR/metadata.yaml says it", "Rancher"},
		{files{"k8s-version-20240101-000000.txt": "v1.29.1\n"}, "v1.29.1", snapshot.VersionDump, "Kubernetes v1.29.1: DIR/k8s-version-20240101-000000.txt says it", "Cilium"},
		{files{"kubectl_version": "Client Version: v1.31.0\nKustomize Version: v5.4.2\nServer Version: v1.30.2\n"}, "v1.30.2", snapshot.VersionDump, "Kubernetes v1.30.2: DIR/kubectl_version says it", "sos: the server's, not the client's"},
		{files{"kubectl_version": `Client Version: version.Info{Major:"1", Minor:"18", GitVersion:"v1.18.3"}` + "\n" + `Server Version: version.Info{Major:"1", Minor:"17", GitVersion:"v1.17.4"}` + "\n"}, "v1.17.4", snapshot.VersionDump, "Kubernetes v1.17.4: DIR/kubectl_version says it", "as an old kubectl says it"},
		{files{"op.yaml": fmt.Sprintf(operator, "kube-controller-manager"), "serverversion.json": `{"gitVersion":"v1.28.3"}`}, "v1.27.6", snapshot.VersionDump, "Kubernetes v1.27.6: DIR/op.yaml, document 1 says it", "the controller's own version goes before the server's"},
		{files{"op.yaml": fmt.Sprintf(operator, "kube-apiserver")}, "", snapshot.VersionDefault, "", "another operator is of another program"},
		{files{"nodes.json": kubelets("v1.28.3", "v1.29.0-eks-123", "v1.9.7")}, "v1.29.0-eks-123", snapshot.VersionKubelet, "", "the highest kubelet, by numbers"},
		{files{"nodes.json": kubelets("v1.28.3"), "serverversion.json": `{"gitVersion":"v1.30.3"}`}, "v1.30.3", snapshot.VersionDump, "Kubernetes v1.30.3: DIR/serverversion.json says it", "what is said goes before kubelets"},
		{files{"metadata.yaml": "kubernetesVersion: latest\n"}, "", snapshot.VersionDefault, "ignored, because they are not Kubernetes objects in YAML or JSON: DIR/metadata.yaml", "a version that is none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			tt.files["ds.yaml"], tt.files["node.json"] = dsYAML, nodeJSON
			for name, text := range tt.files {
				write(t, filepath.Join(dir, name), []byte(text))
			}
			d, err := dump.ReadFiles(background, []string{dir}, nil, func() time.Time { return noon }, dump.ReadOptions{})
			must(t, err)
			s, err := d.Read(background, agent)
			must(t, err)
			if s.KubernetesVersion != tt.version || s.VersionSource != tt.from || s.Lacks(snapshot.Version) != (tt.from != snapshot.VersionDump) {
				t.Errorf("%q by %s, gaps %v", s.KubernetesVersion, s.VersionSource, s.Gaps)
			}
			if got := strings.ReplaceAll(strings.Join(d.Notes(), "\n"), dir, "DIR"); got != tt.note {
				t.Errorf("notes\n got %s\nwant %s", got, tt.note)
			}
		})
	}
}

// TestTwoClusters checks that objects of two clusters are not combined.
func TestTwoClusters(t *testing.T) {
	system := func(uid string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":%q}}`, uid)
	}
	nodes := func(uid string, from, to int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%02d","uid":"%s%d"}}`, i, uid, i)
		}
		return text
	}
	for _, tt := range []struct{ text, err, why string }{
		{system("a") + system("a"), "", "the same one twice"},
		{system("a") + system("b"), "two clusters: the namespace kube-system is in it twice, with different UIDs, in standard input, document 2 and in standard input, document 3", "two namespaces kube-system"},
		{nodes("a", 0, 20) + nodes("b", 0, 1), "", "one of twenty nodes was registered again"},
		{nodes("a", 0, 20) + nodes("b", 0, 2), "two clusters: 2 of 20 nodes are in it twice, with different UIDs; the first is n00, in standard input, document 2 and in standard input, document 22", "a tenth of the nodes"},
		{nodes("a", 0, 3) + nodes("b", 0, 1), "", "one of three"},
		{nodes("a", 0, 1) + nodes("b", 0, 1), "two clusters: 1 of 1 node is in it twice, with different UIDs; the first is n00, in standard input, document 2 and in standard input, document 3", "all of one"},
		{nodes("a", 0, 10) + nodes("b", 10, 20), "", "other names are other nodes"},
	} {
		d, err := readText(dsJSON + tt.text)
		if got := strings.TrimPrefix(fmt.Sprint(err), "-: "); got != tt.err && (tt.err != "" || err != nil) {
			t.Errorf("%s: %v, want %s", tt.why, err, tt.err)
		}
		if tt.why == "one of twenty nodes was registered again" && !strings.Contains(strings.Join(d.Notes(), "\n"), "is of another UID") {
			t.Errorf("%s: notes %q", tt.why, d.Notes())
		}
	}
}

// TestSeveralGathers checks that a directory with several must-gathers is an error that asks for one of them.
func TestSeveralGathers(t *testing.T) {
	at := func(text, hour string) string { return strings.ReplaceAll(text, "T12:", "T"+hour+":") }
	dir := t.TempDir()
	for name, text := range map[string]string{
		"must-gather.local.2/x/ds.yaml": dsYAML, "must-gather.local.2/x/node.yaml": at(nodeYAML, "14"),
		"must-gather.local.1/y/ds.yaml": dsYAML, "must-gather.local.1/y/node.yaml": at(nodeYAML, "13"),
		"inspect.local.7/must-gather.log": "nothing in it",
	} {
		write(t, filepath.Join(dir, name), []byte(text))
	}
	read := func(paths ...string) (*dump.Dump, error) {
		return dump.ReadFiles(background, paths, nil, func() time.Time { return noon }, dump.ReadOptions{})
	}
	_, err := read(dir)
	want := "DIR: holds 2 dumps, of which one can be read at a time: must-gather.local.1 (newest object: 2026-11-20T13:00:00Z), must-gather.local.2 (newest object: 2026-11-20T14:00:00Z)"
	if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != want || strings.ReplaceAll(hintOf(err), dir, "DIR") != "--from DIR/must-gather.local.2 (the newest)" {
		t.Errorf("%v, hint %s", err, hintOf(err))
	}
	if _, err := read(filepath.Join(dir, "must-gather.local.1")); err != nil {
		t.Errorf("one of them: %v", err)
	}
	if _, err := read(filepath.Join(dir, "must-gather.local.1"), filepath.Join(dir, "must-gather.local.2")); err != nil {
		t.Errorf("both, by name: %v", err)
	}
	both := filepath.Join(t.TempDir(), "both.tar")
	write(t, both, tarOf(t, entry{"must-gather.local.1/ds.yaml", dsYAML, ""}, entry{"must-gather.local.2/ds.yaml", dsYAML, ""}, entry{"must-gather.local.2/n.yaml", nodeYAML, ""}))
	_, err = read(both)
	want = both + ": holds 2 dumps, of which one can be read at a time: must-gather.local.1, must-gather.local.2 (newest object: 2026-11-20T12:00:00Z)"
	if err == nil || err.Error() != want || hintOf(err) != "unpack it, and --from must-gather.local.2" {
		t.Errorf("in an archive: %v, hint %s", err, hintOf(err))
	}
	archives := t.TempDir()
	for name, hour := range map[string]string{"a.tar.gz": "13", "b.zip": "14"} {
		files := []entry{{"ds.yaml", dsYAML, ""}, {"node.yaml", at(nodeYAML, hour), ""}}
		raw := zipOf(t, files...)
		if name == "a.tar.gz" {
			raw = gzipOf(t, tarOf(t, files...))
		}
		write(t, filepath.Join(archives, name), raw)
	}
	_, err = read(archives)
	want = "DIR: holds 2 dumps, of which one can be read at a time: a.tar.gz (newest object: 2026-11-20T13:00:00Z), b.zip (newest object: 2026-11-20T14:00:00Z)"
	if err == nil || strings.ReplaceAll(err.Error(), archives, "DIR") != want || strings.ReplaceAll(hintOf(err), archives, "DIR") != "--from DIR/b.zip (the newest)" {
		t.Errorf("%v, hint %s", err, hintOf(err))
	}
}

// TestLogOf checks the command that shows the log of a container in the input.
func TestLogOf(t *testing.T) {
	const pod = "kube-system/agent-x"
	for _, tt := range []struct{ file, want, why string }{
		{"must-gather.local.1/img/namespaces/kube-system/pods/agent-x/agent/agent/logs/previous.log", "less DIR/must-gather.local.1/img/namespaces/kube-system/pods/agent-x/agent/agent/logs/previous.log", "must-gather"},
		{"kube-system/agent-x/logs.txt", "less DIR/kube-system/agent-x/logs.txt", "cluster-info dump"},
		{"cluster-resources/pods/logs/kube-system/agent-x/agent-previous.log", "less DIR/cluster-resources/pods/logs/kube-system/agent-x/agent-previous.log", "troubleshoot"},
		{"logs/kube-system/agent-x/agent.log", "less DIR/logs/kube-system/agent-x/agent.log", "Rancher; of the container that runs now, where there is none of the one before"},
		{"podlogs/kube-system/agent-x/logs/agent.txt", "less DIR/podlogs/kube-system/agent-x/logs/agent.txt", "Sonobuoy"},
		{"namespaces/kube-system/pods/agent-y/agent/agent/logs/previous.log", "", "another pod"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "ds.yaml"), []byte(dsYAML))
		write(t, filepath.Join(dir, tt.file), []byte("hello\n"))
		d, err := dump.ReadFiles(background, []string{dir}, nil, func() time.Time { return noon }, dump.ReadOptions{})
		must(t, err)
		namespace, name, _ := strings.Cut(pod, "/")
		if got := strings.ReplaceAll(strings.Join(d.Log(namespace, name, "agent", true), " "), dir, "DIR"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
	file := filepath.Join(t.TempDir(), "dump.tar")
	write(t, file, tarOf(t, entry{"d/ds.yaml", dsYAML, ""}, entry{"d/logs/kube-system/agent-x/agent.log", "hello\n", ""}))
	d, err := dump.ReadFiles(background, []string{file}, nil, func() time.Time { return noon }, dump.ReadOptions{})
	must(t, err)
	if got, want := strings.Join(d.Log("kube-system", "agent-x", "agent", false), " "), "tar -xOf "+file+" d/logs/kube-system/agent-x/agent.log"; got != want {
		t.Errorf("in an archive: %q, want %q", got, want)
	}
	file = filepath.Join(t.TempDir(), "dump.txt")
	write(t, file, []byte(dsJSON+"\n==== START logs for container agent of pod kube-system/agent-x ====\nhello\n==== END logs for container agent of pod kube-system/agent-x ====\n"))
	d, err = dump.ReadFiles(background, []string{file}, nil, func() time.Time { return noon }, dump.ReadOptions{})
	must(t, err)
	command := strings.Join(d.Log("kube-system", "agent-x", "agent", false), " ")
	if out, err := exec.Command("sh", "-c", command).Output(); err != nil || !strings.Contains(string(out), "hello\n") || strings.Contains(string(out), "DaemonSet") {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}

// TestMentions checks that a kind is found at any offset in the buffer.
func TestMentions(t *testing.T) {
	for _, tt := range []struct {
		text     string
		want     []metav1.TypeMeta
		referred bool
	}{
		{`"kind":"Pod","spec":{}`, []metav1.TypeMeta{{Kind: "Pod", APIVersion: "v1"}}, false},
		{`"kind":"DaemonSet","name":"agent"`, nil, true},
	} {
		for before := 64<<10 - 200; before < 64<<10+10; before++ {
			got, referred := document.Mentions(strings.NewReader(strings.Repeat(" ", before) + tt.text + strings.Repeat(" ", 300)))
			if !slices.Equal(got, tt.want) || referred != tt.referred {
				t.Fatalf("%s after %d bytes: %v, %t", tt.text, before, got, referred)
			}
		}
	}
}
