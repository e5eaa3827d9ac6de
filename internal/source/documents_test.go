package source

import (
	"strings"
	"testing"
)

// TestYAMLErrors: an error says where and of what kind it is, and quotes
// nothing of the file.
func TestYAMLErrors(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"a: *s3cret", "unknown anchor referenced", "an alias of nothing"},
		{"a:\n  ? {s3cret: 1}\n  : 2", "invalid map key", "a map as a key"},
		{"s3cret: 1\ns3cret: 2", "line 12: key already set", "a key twice"},
		{"a: !!float s3cret", "cannot decode !!str", "of another type than its tag"},
		{"a: [1", "did not find expected ',' or ']'", "what the parser expected is none of the file"},
	} {
		_, err := yamlToJSON([]byte(tt.text), 10)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

// TestKustomizeErrors: nor does one of kustomize quote a patch or a literal.
func TestKustomizeErrors(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{
			"trouble configuring builtin PatchTransformer with config: `\npatch: 's3cret'\n`: unable to parse SM or JSON patch from [patch: \"env: [{value: s3cret}]\"]",
			"trouble configuring builtin PatchTransformer with config:: unable to parse SM or JSON patch from […]", "a patch",
		},
		{"loading KV pairs: literal sources [s3cret]: invalid literal source s3cret, expected key=value", "loading KV pairs: literal sources […]: invalid literal source …, expected key=value", "a generator's literal"},
		{"accumulating resources from 'r.yaml': unknown anchor 's3cret' referenced", "accumulating resources from 'r.yaml': unknown anchor referenced", "a file of resources"},
		{"no such file: kustomization.yaml", "no such file: kustomization.yaml", "what quotes nothing stays"},
	} {
		if got := withoutPatches(tt.text); got != tt.want {
			t.Errorf("%s: %s", tt.why, got)
		}
	}
}
