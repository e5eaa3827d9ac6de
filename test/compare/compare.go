// Package compare holds the JSON of two builds of the plugin against each other:
// that of a commit and that of the working tree, on the same input files.
//
//	go test ./test/compare -base REF [-seed 1] [-states 500] [-keep FOLDER]
//
// Everything but an addition is a difference: a field that is gone, another value,
// another number of elements, another exit status. Renames and justified differences
// are listed in allowed.go, each with its reason; one that a whole run does not need
// is a fault, too.
package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// answer is what a build printed.
type answer struct {
	status int
	out    string // standard output: one JSON document, or nothing
}

// difference is one place in which the answers of two builds differ.
type difference struct {
	at       string // as problems[*].code, or "exit status"
	old, new string // as JSON; "" where there is nothing
}

// differences returns where the new answer is not the old one with additions, after
// the renames. added counts the fields that are new, by place.
func differences(old, new answer, added map[string]int, used map[string]int) ([]difference, error) {
	if old.status != new.status {
		return []difference{{"exit status", fmt.Sprint(old.status), fmt.Sprint(new.status)}}, nil
	}
	if old.out == "" && new.out == "" {
		return nil, nil
	}
	var a, b any
	if err := json.Unmarshal([]byte(old.out), &a); err != nil {
		return nil, fmt.Errorf("the old answer is not a JSON document: %w\n%s", err, old.out)
	}
	if err := json.Unmarshal([]byte(new.out), &b); err != nil {
		return nil, fmt.Errorf("the new answer is not a JSON document: %w\n%s", err, new.out)
	}
	c := &comparison{added: added, used: used}
	c.compare("", a, b)
	return c.found, nil
}

type comparison struct {
	added, used map[string]int
	found       []difference
}

func (c *comparison) compare(at string, old, new any) {
	switch old := old.(type) {
	case map[string]any:
		if new, ok := new.(map[string]any); ok {
			c.objects(at, old, new)
			return
		}
	case []any:
		if new, ok := new.([]any); ok {
			c.lists(at, old, new)
			return
		}
	case string:
		if to := renames[old]; to != "" && new == any(to) {
			c.used[old]++
			return
		}
		if old == new {
			return
		}
	default:
		if old == new {
			return
		}
	}
	c.differ(at, old, new)
}

func (c *comparison) objects(at string, old, new map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(old)) {
		below := strings.TrimPrefix(at+"."+key, ".")
		if value, ok := new[key]; ok {
			c.compare(below, old[key], value)
		} else {
			c.found = append(c.found, difference{below, written(old[key]), ""})
		}
	}
	for key := range new {
		if _, ok := old[key]; !ok {
			c.added[strings.TrimPrefix(at+"."+key, ".")]++
		}
	}
}

func (c *comparison) lists(at string, old, new []any) {
	if len(old) != len(new) {
		c.differ(at, old, new)
		return
	}
	for i := range old {
		c.compare(at+"[*]", old[i], new[i])
	}
}

func (c *comparison) differ(at string, old, new any) {
	c.found = append(c.found, difference{at, written(old), written(new)})
}

func written(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}
