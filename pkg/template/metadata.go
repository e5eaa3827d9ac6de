package template

import (
	"encoding/json"
	"strings"
)

// Metadata are the keys of a template's annotations and labels, in the order of
// their paths.
type Metadata struct{ Annotations, Labels []string }

// OnlyMetadata returns the annotations and labels that differ, where nothing else
// of the template at a path does: pods are replaced for them, and run what they
// ran before. It is not ok where something else differs, or nothing does. What
// lies outside of the template does not matter.
func OnlyMetadata(differences []Difference, at string) (m Metadata, ok bool) {
	for _, d := range differences {
		path, within := strings.CutPrefix(d.Path, at+".")
		if !within {
			if d.Path == at {
				return Metadata{}, false
			}
			continue
		}
		if key, is := strings.CutPrefix(path, "metadata.annotations"); is {
			m.Annotations = append(m.Annotations, keyIn(key))
		} else if key, is := strings.CutPrefix(path, "metadata.labels"); is {
			m.Labels = append(m.Labels, keyIn(key))
		} else {
			return Metadata{}, false
		}
	}
	return m, len(m.Annotations)+len(m.Labels) > 0
}

// keyIn returns the key that join appended to a path; empty for none.
func keyIn(path string) string {
	inside, bracketed := strings.CutPrefix(path, "[")
	if !bracketed {
		return strings.TrimPrefix(path, ".")
	}
	inside = strings.TrimSuffix(inside, "]")
	var key string
	if strings.HasPrefix(inside, `"`) && json.Unmarshal([]byte(inside), &key) == nil {
		return key
	}
	return inside
}
