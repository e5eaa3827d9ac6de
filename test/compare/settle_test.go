package compare

import (
	"strings"
	"testing"
)

// TestSettle checks permitted and other differences. An answer is written as exit status, standard
// output and standard error, separated by bars.
func TestSettle(t *testing.T) {
	field := difference{asked: "^explain", added: "items[*].verdict", why: "field"}
	top := difference{asked: "^explain", added: "suspect", why: "top"}
	words := difference{asked: "-k", was: `cannot build (\w+)`, is: "kustomize failed for $1", why: "words"}
	for _, tt := range []struct {
		asked, old, new string
		allowed         []difference
		same            bool
		needed, why     string
	}{
		{"explain", "0|a|", "0|a|", []difference{field}, true, "", "the same needs nothing"},
		{"explain", "0|a|", "0|b|", nil, false, "", "other words"},
		{"explain", "0|a|", "0|a\n|", nil, false, "", "a byte more"},
		{"explain", "0|a|", "0||a", nil, false, "", "another stream"},
		{"explain", "0|a|", "2|a|", []difference{field, words}, false, "", "another exit status"},
		{"explain", `0|{"a": 1}|`, `0|{"a": 1, "suspect": {"b": 1}}|`, []difference{top}, true, "top", "a field that may be new"},
		{"history", `0|{"a": 1}|`, `0|{"a": 1, "suspect": {"b": 1}}|`, []difference{top}, false, "", "of another command it may not"},
		{"explain", `0|{"a": 1}|`, `0|{"a": 1, "other": 2}|`, []difference{top}, false, "", "another field"},
		{"explain", `0|{"a": 1}|`, `0|{"a": 2, "suspect": 2}|`, []difference{top}, false, "top", "and one that changed"},
		{"explain", `0|{"a": 1, "b": 2}|`, `0|{"b": 2, "suspect": 3, "a": 1}|`, []difference{top}, false, "top", "in another order"},
		{"explain", `0|{"a": 1}|`, `0|{"a": {"suspect": 1}}|`, []difference{top}, false, "", "in another place"},
		{"explain", `0|{"a": 1}|note`, `0|{"a": 1, "suspect": 2}|`, []difference{top}, false, "top", "a note is gone"},
		{"explain", `0|{"items": [{"a": "<"}, {}]}|`, `0|{"items": [{"verdict": [], "a": "<"}, {"verdict": 1}]}|`, []difference{field}, true, "field", "in each of a list"},
		{"explain", `0|{"items": {"a": 1}}|`, `0|{"items": {"verdict": 1, "a": 1}}|`, []difference{field}, false, "", "a list is meant"},
		{"explain", `0|{}|`, `0|{"items": [], "suspect": 1}|`, []difference{top, field}, false, "top", "one of two differences"},
		{"explain", `0|{"items": [{}]}|`, `0|{"items": [{"verdict": 1}], "suspect": 1}|`, []difference{top, field}, true, "top field", "both of two"},
		{"plan -k", "1||error: cannot build x", "1||error: kustomize failed for x", []difference{words}, true, "words", "words that may be other ones"},
		{"plan -k", "1||error: cannot build x", "1||error: kustomize failed for y", []difference{words}, false, "words", "but not of something else"},
		{"plan -k", "1||error: kustomize failed for x", "1||error: cannot build x", []difference{words}, false, "", "nor back"},
		{"plan", "1||error: cannot build x", "1||error: kustomize failed for x", []difference{words}, false, "", "nor of another command"},
	} {
		var answers [2]answer
		for i, text := range []string{tt.old, tt.new} {
			part := strings.Split(text, "|")
			answers[i] = answer{int(part[0][0] - '0'), part[1], part[2]}
		}
		old, new, needed := settle(tt.asked, answers[0], answers[1], tt.allowed)
		if got := strings.Join(needed, " "); (old == new) != tt.same || got != tt.needed {
			t.Errorf("%s: %t, needed %q\n%s\n%s", tt.why, old == new, got, old, new)
		}
	}
}
