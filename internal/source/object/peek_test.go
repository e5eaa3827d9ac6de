package object

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sjson "sigs.k8s.io/json"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestPeekKind checks that PeekKind returns the same kind as the parser, and leaves doubtful cases to the parser.
func TestPeekKind(t *testing.T) {
	for _, tt := range []struct {
		text, want string // the kind and its apiVersion; "?" if only the parser can tell
		why        string
	}{
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`, "Pod v1", "an object"},
		{" { \"apiVersion\" : \"v1\" ,\n \"kind\" : \"Pod\" } ", "Pod v1", "with spaces"},
		{`{"metadata":{"kind":"x","a":["}",{"]":"{"}]},"kind":"Pod","n":-1.5e3,"t":true,"z":null,"apiVersion":"v1"}`, "Pod v1", "values of all forms before it"},
		{`{"s":"a\\\"},\"kind\":\"No\"","kind":"Pod"}`, "Pod ", "a text that looks like more"},
		{`{"metadata":{"kind":"Pod"}}`, " ", "a kind of something else"},
		{`{}`, " ", "nothing"},
		{`{"kind":"Pod","kind":"Node"}`, "?", "the later of two counts, and a note says so"},
		{`{"a":1,"a":2}`, "?", "any key twice"},
		{`{"k\u0069nd":"Pod"}`, "?", "an escape in a key"},
		{`{"kind":"P\u006fd"}`, "?", "and in the kind"},
		{`{"kind":5}`, "?", "no text"},
		{`{"kind":null}`, "?", "nor nothing"},
		{`[]`, "?", "no object"},
	} {
		kind, plain := PeekKind([]byte(tt.text))
		got := kind.Kind + " " + kind.APIVersion
		if !plain {
			got = "?"
		}
		if got != tt.want {
			t.Errorf("%s: %s: %q, want %q", tt.why, tt.text, got, tt.want)
		}
		if begun := LeadingKind([]byte(tt.text)); begun != (metav1.TypeMeta{}) && plain && begun != kind {
			t.Errorf("%s: %s: it begins as %v", tt.why, tt.text, begun)
		}
	}
	for text, begins := range map[string]bool{
		`{"apiVersion":"v1","kind":"Pod","a":1,"a":2}`: true, ` { "kind" : "Pod" , "apiVersion" : "v1" }`: true,
		`{"apiVersion":"v1","metadata":{},"kind":"Pod"}`: false, `{"apiVersion":"v1"}`: false, `{"kind":"Pod","apiVersion":1}`: false, ``: false, `[]`: false,
	} {
		if got, want := LeadingKind([]byte(text)), (metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}); (got == want) != begins || !begins && got.Kind != "" && got.APIVersion != "" {
			t.Errorf("%s begins as %v", text, got)
		}
	}
	for text, want := range map[string]metav1.TypeMeta{ // truncated or invalid
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a`: {APIVersion: "v1", Kind: "Pod"},
		`{"metadata":{"kind":"Pod`:                              {},
		`{"items":[{"kind":"Pod"}`:                              {},
		`{"metadata":{"name":}},"kind":"Pod"}`:                  {},
		`{"a":},"kind":"Pod"}`:                                  {},
		`{"kind":"Pod","kind":"Node","apiVersion":"v1"}`:        {APIVersion: "v1", Kind: "Node"},
		`{"kind":"Pod`:                                          {},
	} {
		if got, _ := PeekKind([]byte(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	words := []string{`{`, `}`, `[`, `]`, `,`, `:`, `"kind"`, `"apiVersion"`, `"Pod"`, `"v1"`, `"a"`, `"\""`, `"}"`, `1`, `null`, ` `, "\n", `"kind":"Pod"`, `"a":{}`, `"b":[{"kind":"No"}]`}
	valid := 0
	for range cases.Of(200_000) {
		var b strings.Builder
		b.WriteString(`{`)
		for range r.IntN(6) {
			b.WriteString(words[r.IntN(len(words))])
		}
		for range r.IntN(3) {
			b.WriteString(`,"k` + string(rune('a'+r.IntN(3))) + `":` + []string{`{"x":"}"}`, `[1,[2],"]"]`, `"\\"`, `"a\"b"`, `0`}[r.IntN(5)])
		}
		b.WriteString(`}`)
		text := []byte(b.String())
		if !json.Valid(text) {
			_, _ = PeekKind(text) // any result is fine, but it must not panic
			continue
		}
		valid++
		kind, plain := PeekKind(text)
		var want metav1.TypeMeta
		odd, err := sjson.UnmarshalStrict(text, &want, sjson.DisallowDuplicateFields)
		if plain && (err != nil || len(odd) > 0 || kind != want) {
			t.Fatalf("%s: %v, the parser says %v, %v, %v", text, kind, want, odd, err)
		}
	}
	if valid < 1000 {
		t.Errorf("only %d texts are JSON", valid)
	}
}
