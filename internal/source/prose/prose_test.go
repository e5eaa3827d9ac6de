package prose

import "testing"

// TestMayBegin checks first lines of documents, and lines that people paste with them.
func TestMayBegin(t *testing.T) {
	for _, line := range []string{
		"apiVersion: v1", `"kind": "List"`, "'kind': List", "kind:", "- apiVersion: v1", "-", "# a comment", "---", "%YAML 1.2", "{", `{"kind":"List"}`, "{}",
		"[", "[{", `["forbidden"]`, "[]", "[null]", "null", "~", "!!map {a: b}", "\ufeffapiVersion: v1", "a: 1", "==== START logs for container a of pod b/c ====",
	} {
		if !MayBegin([]byte(line)) {
			t.Errorf("%q may begin a document", line)
		}
	}
	for _, line := range []string{
		"$ kubectl get ds -o yaml", "NAME   DESIRED   CURRENT", ", //changed", "Error from server (Forbidden): daemonsets.apps is forbidden", "error: connection lost", "Warning: v1 ComponentStatus is deprecated",
		"[INFO] ready", "{{- if .Values.enabled }}", "}", "]", "Here is the output:", "```yaml", "* a list of Markdown", "| a | table |", "cluster is down",
	} {
		if MayBegin([]byte(line)) {
			t.Errorf("%q begins no document", line)
		}
	}
}

// TestBegins checks lines after other text: some begin an object, others do not.
func TestBegins(t *testing.T) {
	for _, line := range []string{"apiVersion: v1", "kind: DaemonSet", "{", `{"apiVersion": "v1"`, "[", "[{", `"kind": "List",`} {
		if !Begins([]byte(line)) {
			t.Errorf("an object begins with %q", line)
		}
	}
	for _, line := range []string{"{{ .Values }}", "[INFO] x", "Name:   agent", "Labels: app=agent", "a kind: of word", ""} {
		if Begins([]byte(line)) {
			t.Errorf("no object begins with %q", line)
		}
	}
}

// TestIsWords checks that prose has a line that is impossible in YAML, and damaged YAML does not.
func TestIsWords(t *testing.T) {
	for _, text := range []string{"Name:     agent\nDesired Number of Nodes Scheduled: 0\n", "Name: web\nStart Time:  Mon, 01 Jan 2026\n", "NAME  READY\nagent: 1: 2\n"} {
		if !IsWords([]byte(text)) {
			t.Errorf("%q is words", text)
		}
	}
	for _, text := range []string{"a: [1\nb: 2\n", "a: 's3cret\n", "resources: [set.yaml\n", "Desired Number of Nodes: 0\nkind: DaemonSet\n"} {
		if IsWords([]byte(text)) {
			t.Errorf("%q may be a damaged object", text)
		}
	}
}

// TestPasses checks that only text without parts of objects can be ignored.
func TestPasses(t *testing.T) {
	for _, text := range []string{", //changed\n", "$ kubectl get ds -o json\n", "Warning: v1 ComponentStatus is deprecated in v1.19+\n", "I0101 12:00:00.000000       1 main.go:70] starting\n"} {
		if !Passes([]byte(text)) {
			t.Errorf("%q holds nothing", text)
		}
	}
	for _, text := range []string{
		`, {"metadata": {"name": "a"}}]}`, "}", "]", `"REDACTED"`, "kind: Node", `  "kind":"Pod"`, "metadata:\n", "x\x00y", "error: connection lost", "Unable to connect to the server", "Error from server (Timeout): x",
	} {
		if Passes([]byte(text)) {
			t.Errorf("%q may be a part of something", text)
		}
	}
}

// TestIsTemplate checks lines of charts, and objects that quote other templates.
func TestIsTemplate(t *testing.T) {
	for _, text := range []string{"{{- if .Values.a }}\n", "a: 1\nname: {{ .Name }}\n", "labels:\n    {{- include \"x\" . | nindent 4 }}\n", "- {{ . }}\n", "a: b-{{ .X }}\n"} {
		if !IsTemplate([]byte(text)) {
			t.Errorf("%q is a template", text)
		}
	}
	for _, text := range []string{"name: agent\n", "image: \"{{ .Values.image }}\"\n", "summary: '{{ $labels.pod }} is down'\n", "# {{ .Values.a }}\n", "a: {b: {c: d}}\n"} {
		if IsTemplate([]byte(text)) {
			t.Errorf("%q is none", text)
		}
	}
}
