package encode

import (
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestYAMLIsReadBack checks that YAML decodes to the original text, whatever characters it
// contains, and leaves nothing unescaped.
func TestYAMLIsReadBack(t *testing.T) {
	signs := []string{"a", "b c", " ", "  ", "\n", "\t", ":", "#", "-", `\`, `"`, "'", "\x01", "\x02", "\x1b", "\u007f", "\u0085", "\u009b", "\u00a0", "\u00ad", "\u200b", "\u2028", "\u202e", "\ufeff", "\ufffd", "\U000e0041", "😀", `\u200b`, `\x01200b`, `\x0100200b`, strings.Repeat("long words ", 12)}
	for seed := range cases.Of(uint64(3000)) {
		r := rand.New(rand.NewPCG(seed, 9))
		text := ""
		for range 1 + r.IntN(8) {
			text += signs[r.IntN(len(signs))]
		}
		written, err := YAML(map[string]any{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(written, isControl) {
			t.Fatalf("seed %d: %q was written with what a terminal obeys: %q", seed, text, written)
		}
		var got map[string]string
		if err := yaml.Unmarshal([]byte(written), &got); err != nil || got["text"] != text {
			t.Fatalf("seed %d: %v: %q was written as\n%s\nand is read as %q", seed, err, text, written, got["text"])
		}
	}
}

// TestLine checks that Line escapes like JSON.
func TestLine(t *testing.T) {
	got, err := Line(map[string]any{"a": []string{"x\ny", "\u202e<"}, "b": nil})
	if want := `{"a":["x\ny","\u202e<"],"b":null}` + "\n"; err != nil || got != want {
		t.Errorf("%q, want %q: %v", got, want, err)
	}
}
