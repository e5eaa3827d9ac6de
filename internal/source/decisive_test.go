package source_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const podJSON = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","namespace":"kube-system","labels":{"app":"agent"}},"spec":{"nodeName":"n1"}}`

const podYAML = `apiVersion: v1
kind: Pod
metadata:
  name: p1
  namespace: kube-system
  labels:
    app: agent
`

// TestNothingThatCountsIsLost checks that an object that looks like one of a decisive kind is read, is an error, or
// is mentioned in a note. The document before it holds the DaemonSet and a node, so that only the pod can be missing.
func TestNothingThatCountsIsLost(t *testing.T) {
	const read = "" // no error, because the pod is read
	list := func(items ...string) string {
		return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",") + "]}"
	}
	as := func(apiVersion, kind string) string {
		return strings.Replace(podJSON, `"apiVersion":"v1","kind":"Pod"`, `"apiVersion":"`+apiVersion+`","kind":"`+kind+`"`, 1)
	}
	bare := strings.Replace(podJSON, `"apiVersion":"v1","kind":"Pod",`, "", 1)
	indent := func(by, s string) string {
		return by + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+by) + "\n"
	}
	for _, tt := range []struct{ text, err, note, why string }{
		// nested lists
		{list(list(podJSON)), read, "", "a List inside a List"},
		{list(list(list(), list(podJSON)), nodeJSON), read, "", "and deeper, beside others"},
		{list(`{"apiVersion":"example.com/v1","kind":"Wrapper","items":[` + podJSON + `]}`), read, "", "what has items is a list, whatever it is called, as it is for kubectl"},
		{list(`{"apiVersion":"v1","kind":"PodList","items":[` + bare + `]}`), read, "", "a typed list inside a List, whose items have no kind"},
		{"[" + list(podJSON) + "," + list(nodeJSON) + "]", read, "", "what jq -s makes of two dumps"},
		{"[[" + podJSON + "],[" + nodeJSON + "]]", read, "", "what jq -s makes of two arrays"},
		{`[{"apiVersion":"v1","kind":"PodList","items":[` + bare + `]}]`, read, "", "what jq -s makes of a typed list"},
		{"- apiVersion: v1\n  kind: List\n  items:\n" + indent("  ", strings.Replace(indent("  ", podYAML), "  ", "- ", 1)), read, "", "the same in YAML"},
		{list(list(`{"kind":"Pod","apiVersion":"v1","metadata":{}}`)), "document 2: items[0].items[0].metadata.name: missing", "", "an error names the place"},
		{`{"kind":"PodList","items":[` + bare + `],"apiVersion":"v1"}`, read, "", "a typed list that says its version last"},
		{list(list(bare)), "document 2: items[0].items[0]: not a Kubernetes object: no kind", "", "an item of a plain list must say what it is, there too"},
		{list(`{"apiVersion":"v1","kind":"PodList","items":{}}`), "document 2: items[0].items: must be a list, not an object", "", "a list of no list"},
		{`{"apiVersion":"template.openshift.io/v1","kind":"Template","metadata":{"name":"t"},"objects":[` + podJSON + "," + podJSON + "," + nodeJSON + `]}`,
			"", "standard input: document 2: a Template contains 1 Node and 2 Pod: objects inside another object are not read", "objects inside an object of another kind"},
		{`{"apiVersion":"example.com/v1","kind":"Bundle","spec":{"pods":{"apiVersion":"v1","kind":"PodList","items":[` + bare + `]}}}`,
			"", "standard input: document 2: a Bundle contains 1 Pod: objects inside another object are not read", "a typed list inside one"},
		{`{"apiVersion":"example.com/v1","kind":"Watcher","spec":{"for":{"apiVersion":"v1","kind":"Pod","name":"p"}}}`, "", "-", "a reference is no object"},

		// wrong apiVersion or kind
		{strings.Replace(podJSON, `"apiVersion":"v1",`, "", 1), "document 2: apiVersion: missing: a Pod has v1", "", "no apiVersion"},
		{as("apps/v1", "Pod"), "document 2: apiVersion: there is no Pod of apps/v1: use v1", "", "that of a DaemonSet"},
		{as("v2", "Pod"), "document 2: apiVersion: there is no Pod of v2: use v1", "", "a version that does not exist"},
		{as("core/v1", "Pod"), "document 2: apiVersion: there is no Pod of core/v1: use v1", "", "a group's name that the API does not use"},
		{strings.Replace(dsJSON, "apps/v1", "app/v1", 1), "document 2: apiVersion: there is no DaemonSet of app/v1: use apps/v1", "", "a letter is missing"},
		{strings.Replace(dsJSON, "apps/v1", "apps/v1beta2", 1), "document 2: apiVersion: no server since v1.16 has a DaemonSet of apps/v1beta2: use apps/v1", "", "a version long gone"},
		{strings.Replace(dsJSON, "apps/v1", "extensions/v1beta1", 1), "document 2: apiVersion: no server since v1.16 has a DaemonSet of extensions/v1beta1: use apps/v1", "", "a group long gone"},
		{as("longhorn.io/v1beta2", "Node"), "", "-", "somebody's own kind that is called Node"},
		{as("v1", "pod"), `document 2: kind: there is no "pod": did you mean Pod?`, "", "the case matters"},
		{as("v1", "Pods"), `document 2: kind: there is no "Pods": did you mean Pod?`, "", "the name of the resource"},
		{strings.Replace(dsJSON, `"DaemonSet"`, `"DeamonSet"`, 1), `document 2: kind: there is no "DeamonSet": did you mean DaemonSet?`, "", "two letters changed places"},
		{as("example.com/v1", "pod"), "", "-", "somebody's own kind may be called what it likes"},
		{as("v1", "Frob"), "", "ignored: 1 Frob, a kind that Kubernetes does not have", "a kind that v1 does not have"},
		{as("apps/v1", "Deployment"), "", "-", "a kind that apps/v1 has"},
		{as("v1", "PodTemplate"), "", "-", "a kind that begins with the name of one that counts"},
		{as("", "Frob"), "", "ignored: 1 Frob (no apiVersion), a kind that Kubernetes does not have", "no apiVersion, and a kind that nobody knows"},
		{`{"apiVersion":"apps/v1","kind":"PodList","items":[` + bare + `]}`, "document 2: apiVersion: there is no PodList of apps/v1: use v1", "", "a typed list of the wrong version"},
		{`{"apiVersion":"apps/v1","kind":"PodList","items":[]}`, "document 2: apiVersion: there is no PodList of apps/v1: use v1", "", "an empty one, too: it would say that there is no pod"},
		{`{"kind":"PodList","items":[` + bare + `]}`, "document 2: apiVersion: missing: a PodList has v1", "", "a typed list of no version"},
		{`{"apiVersion":"","kind":" v1 PodList","items":[` + bare + `]}`, "", "ignored: 1  v1 PodList (no apiVersion), a kind that Kubernetes does not have", "one whose version stands before its kind"},
		{`{"items":[` + bare + `],"kind":"FrobList","apiVersion":"v1"}`, "", "ignored: 1 Frob, a kind that Kubernetes does not have", "a list of a kind that v1 does not have, which says so last"},
		{`{"apiVersion":"example.com/v1","kind":"FrobList","items":[` + bare + `]}`, "", "-", "a list of somebody's own kind"},
		{`{"apiVersion":"v1","kind":"ConfigMapList","items":[` + bare + `]}`, "", "-", "of a kind that v1 has"},
		{`{"apiVersion":"v1","kind":"podlist","items":[` + bare + `]}`, `document 2: kind: there is no "podlist": did you mean PodList?`, "", "a typed list in the wrong case"},
		{`{"apiVersion":"v1","kind":"list","items":[]}`, `document 2: kind: there is no "list": did you mean List?`, "", "a list in the wrong case"},
		{`{"apiVersion":"meta.k8s.io/v1","kind":"Table","rows":[{"object":` + podJSON + `}]}`, "document 2: kind: a Table has columns of objects, not the objects", "", "what the server makes for kubectl's columns"},
		{`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","items":[` + bare + `]}`, "document 2: kind: a PartialObjectMetadataList has only the metadata of objects", "", "metadata alone"},
		{`{"apiVersion":"v1","kind":"Status","status":"Failure","message":"pods is forbidden"}`, "", "standard input: document 2: an error of the API server instead of an object: pods is forbidden", "a request that failed"},
		{`{"apiVersion":"kubectl-ds/v1alpha1","kind":"snapshot"}`, `document 2: kind: there is no "snapshot": did you mean Snapshot?`, "", "our own kind in the wrong case"},

		// fields that every object of the kind has
		{strings.Replace(podJSON, `,"namespace":"kube-system"`, "", 1), "document 2: metadata.namespace: missing", "", "a pod is in a namespace"},
		{strings.Replace(dsJSON, `,"namespace":"kube-system"`, "", 1), "document 2: metadata.namespace: missing", "", "so is a DaemonSet"},
		{strings.Replace(nodeJSON, `"n1"`, `"n1","namespace":"kube-system"`, 1), "document 2: metadata.namespace: a Node has no namespace", "", "a node is not"},

		// layout of the text
		{"---\n    " + strings.Replace(podYAML, "\nkind", "\n  kind", 1), "document 2: line 4: indented less than the first line of its document: nothing from here on would be read", "", "indentation that falls below that of the first line"},
		{"---\n" + indent("  ", podYAML) + "spec: {nodeName: n1}\n", "document 2: line 10: indented less than the first line of its document: nothing from here on would be read", "", "or only at the end"},
		{"---\n" + indent("  ", podYAML), read, "", "indented as a whole"},
		{"---\n" + indent("  ", podYAML+"  annotations:\n    a: \"x\n\n y\"\n"), read, "", "a text in quotes may stand where it likes"},
		{"---\nitems:\n-   apiVersion: v1\n    kind: Pod\n  " + "metadata: {name: p1}\nkind: List\napiVersion: v1\n", "document 2: items[0]: yaml: line 5: did not find expected '-' indicator", "", "in an item"},
		{"---\nitems:\n- " + nodeJSON + "\n\r- " + podJSON + "\nkind: List\napiVersion: v1\n", read, "", "a carriage return alone before a dash: it ends a line"},
		{"---\n- " + podJSON + "\nkind: List\n", "document 2: yaml: line 3: did not find expected '-' indicator", "", "a key after a sequence"},
		{"---\n" + strings.TrimSuffix(podYAML, "gent\n"), "", "standard input: the last line has no newline: the file may be cut off", "a file that ends in the middle of a word"},
		{"---\n" + podYAML + "spec: {nodeName: n1}", read, "-", "a file that ends with a bracket"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d, err := readText(dsJSON + "\n" + tt.text)
			if tt.err != "" {
				if err == nil || err.Error() != "standard input: "+tt.err {
					t.Fatalf("\n got %v\nwant standard input: %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(d.Notes(), "\n"), strings.TrimPrefix(tt.note, "-"); got != want {
				t.Errorf("notes\n got %s\nwant %s", got, want)
			}
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{true: "p1"}[tt.note == "" || strings.HasSuffix(tt.why, "bracket")]; outlineOf(s).Pods != want {
				t.Errorf("pods %q, want %q", outlineOf(s).Pods, want)
			}
		})
	}
}

// TestOtherVersionsThatAreRead checks kinds that have the same meaning in two versions.
func TestOtherVersionsThatAreRead(t *testing.T) {
	const event = `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e1","namespace":"kube-system"},"regarding":{"kind":"DaemonSet","namespace":"kube-system","name":"agent"},
		"type":"Warning","reason":"FailedCreate","note":"quota","eventTime":"2026-11-20T12:00:00.000000Z","reportingController":"daemonset-controller",
		"deprecatedCount":7,"deprecatedFirstTimestamp":"2026-11-20T11:00:00Z","deprecatedLastTimestamp":"2026-11-20T11:59:00Z","deprecatedSource":{"component":"daemonset-controller"}}`
	const core = `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e1","namespace":"kube-system"},"involvedObject":{"kind":"DaemonSet","namespace":"kube-system","name":"agent"},
		"type":"Warning","reason":"FailedCreate","message":"quota","eventTime":"2026-11-20T12:00:00.000000Z","reportingComponent":"daemonset-controller",
		"count":7,"firstTimestamp":"2026-11-20T11:00:00Z","lastTimestamp":"2026-11-20T11:59:00Z","source":{"component":"daemonset-controller"}}`
	read := func(text string) any {
		d, err := readText(dsYAML + "---\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if diff := cmp.Diff(read(core), read(event)); diff != "" {
		t.Errorf("an Event of events.k8s.io/v1 (-v1 +events.k8s.io/v1):\n%s", diff)
	}
	pdb := func(version, spec string) string {
		return `{"apiVersion":"policy/` + version + `","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"kube-system"},"spec":` + spec + "}"
	}
	for _, tt := range []struct{ old, now, why string }{
		{`{"minAvailable":1,"selector":{"matchLabels":{"app":"agent"}}}`, `{"minAvailable":1,"selector":{"matchLabels":{"app":"agent"}}}`, "the same in both"},
		{`{"minAvailable":1,"selector":{}}`, `{"minAvailable":1}`, "an empty selector selected nothing then, and everything now"},
	} {
		if diff := cmp.Diff(read(pdb("v1", tt.now)), read(pdb("v1beta1", tt.old))); diff != "" {
			t.Errorf("%s (-v1 +v1beta1):\n%s", tt.why, diff)
		}
	}
}
