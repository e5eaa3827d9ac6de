package agree

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
)

// Renamed compares an answer about a Snapshot with the answer about the redacted Snapshot.
type Renamed struct {
	names    []string            // sorted by descending length
	standIns map[string][]string // by name, one for each kind that has the name
}

// NewRenamed returns a Renamed for Snapshots that were redacted with the same Table.
func NewRenamed(t *redact.Table) *Renamed {
	m := &Renamed{standIns: map[string][]string{}}
	for _, row := range t.Rows {
		inJSON := quotedName(row.Name)
		for _, name := range []string{row.Name, inJSON, inJSON[1 : len(inJSON)-1]} {
			if !slices.Contains(m.standIns[name], row.StandIn) {
				m.standIns[name] = append(m.standIns[name], row.StandIn)
			}
		}
	}
	m.names = slices.SortedFunc(maps.Keys(m.standIns), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return m
}

// quotedName returns a name as it appears in JSON values and field paths.
func quotedName(name string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(name)
	return strings.TrimSpace(b.String())
}

// Answers returns the paths at which document b differs from document a with its names replaced. Of
// messages, it compares only whether they are present.
func (m *Renamed) Answers(a, b any) ([]string, error) {
	var parsed [2]any
	for i, document := range []any{a, b} {
		raw, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &parsed[i]); err != nil {
			return nil, err
		}
	}
	return m.compare(parsed[0], parsed[1], ""), nil
}

// furtherMessages holds messages that differ from the first one. Redacted messages may be equal.
const furtherMessages = "furtherMessages"

func (m *Renamed) compare(a, b any, at string) (diff []string) {
	differ := func() []string {
		short := func(v any) string {
			raw, _ := json.Marshal(v)
			return string(raw[:min(len(raw), 400)])
		}
		return []string{fmt.Sprintf("%s:\n  original %s\n  redacted %s", at, short(a), short(b))}
	}
	switch a := a.(type) {
	case map[string]any:
		b, is := b.(map[string]any)
		if !is {
			return differ()
		}
		delete(a, furtherMessages)
		delete(b, furtherMessages)
		if len(a) != len(b) {
			return differ()
		}
		for key, v := range a {
			if key == "message" {
				if (v == "") != (b[key] == "") || b[key] == nil {
					diff = append(diff, fmt.Sprintf("%s.message: %q, redacted %q", at, v, b[key]))
				}
				continue
			}
			of, found := b[key]
			for other := range b {
				if !found && m.Text(key, other) {
					of, found = b[other], true
				}
			}
			if !found {
				return differ()
			}
			diff = append(diff, m.compare(v, of, at+"."+key)...)
		}
		return diff
	case []any:
		b, is := b.([]any)
		if !is || len(a) != len(b) {
			return differ()
		}
		for i := range a {
			diff = append(diff, m.compare(a[i], b[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return diff
	case string:
		if b, is := b.(string); !is || !m.Text(a, b) {
			return differ()
		}
		return nil
	}
	if a != b {
		return differ()
	}
	return nil
}

// Text reports whether b is a with names replaced.
func (m *Renamed) Text(a, b string) bool {
	failed := map[[2]int]bool{}
	var from func(i, j int) bool
	from = func(i, j int) bool {
		switch {
		case i == len(a) && j == len(b):
			return true
		case failed[[2]int{i, j}]:
			return false
		}
		for _, name := range m.names {
			if !strings.HasPrefix(a[i:], name) {
				continue
			}
			for _, standIn := range m.standIns[name] {
				if strings.HasPrefix(b[j:], standIn) && from(i+len(name), j+len(standIn)) {
					return true
				}
			}
		}
		if i < len(a) && j < len(b) && a[i] == b[j] && from(i+1, j+1) {
			return true
		}
		failed[[2]int{i, j}] = true
		return false
	}
	return from(0, 0)
}
