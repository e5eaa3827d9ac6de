package source_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
)

// TestKindByFields checks that the kind is found for objects that were written by Go's typed clients.
func TestKindByFields(t *testing.T) {
	const link = `"metadata":{"uid":"1","selfLink":"/apis/apps/v1/namespaces/a/daemonsets/b"}`
	for _, tt := range []struct{ raw, want, why string }{
		{`{"metadata":{"uid":"1"},"status":{"nodeInfo":{}}}`, "Node", "only a node has nodeInfo"},
		{`{"metadata":{"uid":"1"},"spec":{"containers":[{}]}}`, "Pod", "the containers of a pod stand in its spec"},
		{`{"metadata":{"uid":"1"},"spec":{"template":{}},"status":{"desiredNumberScheduled":0}}`, "DaemonSet", "the status counts scheduled pods"},
		{`{"metadata":{"uid":"1"},"revision":1,"data":{}}`, "ControllerRevision", "a number and what it stands for"},
		{`{"metadata":{"uid":"1"},"involvedObject":{}}`, "Event", "an event is about an object"},
		{`{` + link + `,"spec":{"template":{}},"status":{"desiredNumberScheduled":0}}`, "DaemonSet", "its address agrees"},
		{`{` + link + `,"status":{"nodeInfo":{}}}`, "", "its address is another kind's"},
		{`{"metadata":{"uid":"1","selfLink":"/apis/apps.kruise.io/v1alpha1/daemonsets/b"},"spec":{"template":{}},"status":{"desiredNumberScheduled":0}}`, "", "its address is another group's"},
		{`{"metadata":{"uid":"1"},"spec":{"template":{}},"status":{"desiredNumberScheduled":0,"daemonSetHash":"x"}}`, "", "OpenKruise's DaemonSet"},
		{`{"apiVersion":"v1","metadata":{"uid":"1"},"status":{"nodeInfo":{}}}`, "Node", "the version alone is there"},
		{`{"apiVersion":"acme.io/v1","metadata":{"uid":"1"},"status":{"nodeInfo":{}}}`, "", "a version that has no Node"},
		{`{"metadata":{"name":"a"},"spec":{"containers":[{}]}}`, "", "a template of a pod: no server made it"},
		{`{"metadata":{"uid":"1"},"spec":{"replicas":1}}`, "", "a kind that nothing depends on"},
		{`[]`, "", "no object"},
	} {
		if got := document.KindByFields([]byte(tt.raw)).Kind; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestKindless checks that an object without a kind is read, is an error, or is a gap, and is never lost silently.
func TestKindless(t *testing.T) {
	const (
		node  = `{"metadata":{"name":"n7","uid":"7"},"status":{"nodeInfo":{"kubeletVersion":"v1.30.0"}}}`
		read  = "objects that do not say their kind are read by their fields: 1 Node"
		chart = "apiVersion: v2\nname: agent\nversion: 1.0.0\n"
		left  = "ignored, because they are not Kubernetes objects in YAML or JSON: DIR/"
	)
	for _, tt := range []struct {
		name, text  string // the file next to a DaemonSet and a node
		keepGoing   bool
		note, err   string
		nodes, lost int
		why         string
	}{
		{"n7.json", node, false, read, "", 2, 0, "a node"},
		{"n7.json", `[` + node + `]`, false, read, "", 2, 0, "in an array"},
		{"n7.json", `{"kind":"List","apiVersion":"v1","items":[` + node + `]}`, false, read, "", 2, 0, "in a list of anything"},
		{"other.json", `{"metadata":{"name":"x","uid":"7"},"spec":{"paused":true}}`, false, left + "other.json", "", 1, 0, "of no kind that counts"},
		{"other.json", `{"apiVersion":"v1","metadata":{"name":"x","uid":"7"}}`, false, "", "DIR/other.json: document 1: not a Kubernetes object: no kind", 0, 0, "with a version it may be anything"},
		{"other.json", `{"apiVersion":"v1","metadata":{"name":"x","uid":"7"}}`, true, "", "", 1, len(dump.LostOf) - 1, "which is a gap of everything"},
		{"n7.json", "{\n  \"a", false, "", "DIR/n7.json: document 1: ends in the middle of an object: the file is cut off", 0, 0, "cut off within its first key"},
		{"n7.json", "{\n  \"b", false, "ignored, because it cannot be read and no answer depends on it: DIR/n7.json: document 1: ends in the middle of an object: the file is cut off", "", 1, 0, "which no object has"},
		{"Chart.yaml", chart, false, left + "Chart.yaml", "", 1, 0, "a chart has a version, and is no object"},
		{"Chart.yaml", chart, true, left + "Chart.yaml", "", 1, 0, "nor is anything lost with it"},
		{"nodes.json", "", false, "", "DIR/nodes.json: it is empty, and by its name it has a list", 0, 0, "an empty file in place of a list"},
		{"nodes.json", "", true, "", "", 1, 1, "whose objects are lost"},
		{"notes.json", "", false, left + "notes.json", "", 1, 0, "an empty file of another name"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"ds.yaml": dsYAML, "node.json": nodeJSON, tt.name: tt.text} {
				write(t, filepath.Join(dir, name), []byte(text))
			}
			d, err := dump.ReadFiles(background, []string{dir}, nil, func() time.Time { return noon }, dump.ReadOptions{KeepGoing: tt.keepGoing})
			if err != nil || tt.err != "" {
				if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != tt.err {
					t.Fatalf("error %v, want %s", err, tt.err)
				}
				return
			}
			if len(d.HeldNodes.Items) != tt.nodes || len(d.Lost) != tt.lost {
				t.Errorf("%d nodes and %d parts lost, want %d and %d", len(d.HeldNodes.Items), len(d.Lost), tt.nodes, tt.lost)
			}
			if notes := d.Notes(); tt.note != "" && !slices.Contains(notes, strings.ReplaceAll(tt.note, "DIR", dir)) {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
		})
	}
}
