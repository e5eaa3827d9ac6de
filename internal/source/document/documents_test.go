package document

import (
	"strings"
	"testing"
)

// TestYAMLErrors checks that an error states the line and the problem, and quotes nothing from the file.
func TestYAMLErrors(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"a: *s3cret", "line 11: an alias without an anchor before it in the same document", "an alias of nothing"},
		{"a:\n  ? {s3cret: 1}\n  : 2", "invalid map key", "a map as a key"},
		{"a: !!float s3cret", "cannot decode !!str", "of another type than its tag"},
		{"a: [1", "did not find expected ',' or ']'", "what the parser expected is none of the file"},
	} {
		_, _, err := yamlToJSON([]byte(tt.text), 10)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}
