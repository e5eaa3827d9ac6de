package daemonset

import (
	"encoding/json"
	"testing"
)

func TestFactsAreNeverNull(t *testing.T) {
	for _, tt := range []struct {
		facts Facts
		want  string
	}{
		{nil, `{"ok":false,"reason":"NotReady","facts":{}}`},
		{Facts{}, `{"ok":false,"reason":"NotReady","facts":{}}`},
		{Facts{"others": 2}, `{"ok":false,"reason":"NotReady","facts":{"others":2}}`},
	} {
		got, err := json.Marshal(Verdict{Reason: NotReady, Facts: tt.facts})
		if err != nil || string(got) != tt.want {
			t.Errorf("%v: %s, %v, want %s", tt.facts, got, err, tt.want)
		}
	}
}
