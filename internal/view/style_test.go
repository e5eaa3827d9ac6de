package view

import (
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
)

func TestBrief(t *testing.T) {
	for _, tt := range []struct {
		all     bool
		message string
		want    string
		why     string
	}{
		{false, "short", "short", "a text that fits is not changed"},
		{false, `Back-off pulling image "a:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "a:1": failed to resolve reference "a:1": a:1: not found`, "ErrImagePull: a:1: not found", "the phrases of kubelet and runtime are removed"},
		{true, "rpc error: code = Unknown desc = x", "rpc error: code = Unknown desc = x", "--all shows whole messages"},
		{false, "begin with what was tried " + strings.Repeat("and ", 50) + "end with what failed", "begin with what was … and end with what failed", "the middle is removed, at spaces"},
		{false, strings.Repeat("x", 60), strings.Repeat("x", 20) + " … " + strings.Repeat("x", 27), "a word without spaces is cut"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := (wording.Style{All: tt.all}).Brief(tt.message, 50); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlural(t *testing.T) {
	for _, tt := range []struct {
		n          int
		word, want string
	}{{0, "node", "0 nodes"}, {1, "node", "1 node"}, {2, "node", "2 nodes"}} {
		if got := wording.Plural(tt.n, tt.word); got != tt.want {
			t.Errorf("Plural(%d, %q) = %q, want %q", tt.n, tt.word, got, tt.want)
		}
	}
}
