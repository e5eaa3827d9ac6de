package template

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Path is where a field stands in an object, step by step from the root.
type Path []Step

// Step leads from an object or a list to a part of it.
type Step struct {
	Kind  StepKind
	Name  string // the name of a Field, a Key, or the merge key of a Member or an Order
	Value string // what the merge key of a Member is
}

// StepKind says what a Step leads to.
type StepKind int

const (
	Field  StepKind = iota // a field that the type lists, or that is unknown to it
	Key                    // a key of a map, such as labels, whose keys are data
	Member                 // a member of a list, told by its merge key
	Order                  // the order of a list's members, by their merge keys
)

// At is where a DaemonSet has its pod template.
var At = Fields("spec", "template")

// RestartedAt is where kubectl rollout restart leaves the time, in a DaemonSet.
var RestartedAt = At.With(Step{Name: "metadata"}, Step{Name: "annotations"},
	Step{Kind: Key, Name: "kubectl.kubernetes.io/restartedAt"})

// Fields returns the Path through fields of these names.
func Fields(names ...string) Path {
	var p Path
	for _, n := range names {
		p = append(p, Step{Name: n})
	}
	return p
}

// With returns a Path that goes on from this one.
func (p Path) With(steps ...Step) Path { return append(p[:len(p):len(p)], steps...) }

// Equal reports whether two Paths lead to the same part of an object. What tells
// a Field from a Key is its type, which a document does not have.
func (p Path) Equal(other Path) bool {
	return slices.EqualFunc(p, other, func(a, b Step) bool {
		isName := a.Kind <= Key && b.Kind <= Key
		return (a.Kind == b.Kind || isName) && a.Name == b.Name && a.Value == b.Value
	})
}

// Compare orders Paths step by step, a part after what it is a part of. The keys of a map
// have the order of their text, however a document writes them: a before a/b.
func (p Path) Compare(other Path) int {
	return slices.CompareFunc(p, other, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
}

// Below returns the steps from another Path to this one, and reports whether
// that is the beginning of this one.
func (p Path) Below(parent Path) (rest Path, below bool) {
	if len(p) < len(parent) || !p[:len(parent)].Equal(parent) {
		return nil, false
	}
	return p[len(parent):], true
}

// Last returns the last step; the zero Step of an empty Path.
func (p Path) Last() Step {
	if len(p) == 0 {
		return Step{}
	}
	return p[len(p)-1]
}

// String returns the Path as documents have it, such as
// spec.containers[name=agent].image. A key stands in brackets unless it is made
// of letters, digits, _ and - alone: labels[example.com/tier]. It is a JSON
// string there, as is the value of a merge key, where it could be misread:
// options["a=b"], env[name="a]b"]. The order of a list ends with its merge key:
// spec.containers[name].
func (p Path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.Kind == Member:
			b.WriteString("[" + s.Name + "=" + quoted(s.Value, `]"`) + "]")
		case s.Kind == Order:
			b.WriteString("[" + s.Name + "]")
		case s.Name == "":
			b.WriteString(`[""]`)
		case !plainKey.MatchString(s.Name):
			b.WriteString("[" + quoted(s.Name, `]="`) + "]")
		case b.Len() == 0:
			b.WriteString(s.Name)
		default:
			b.WriteString("." + s.Name)
		}
	}
	return b.String()
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// quoted returns a word, as a JSON string where it holds what would be misread.
func quoted(word, misread string) string {
	if strings.ContainsAny(word, misread) || strings.ContainsFunc(word, unicode.IsControl) {
		return text(word)
	}
	return word
}

// MarshalText returns the Path as documents have it.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (p *Path) UnmarshalText(text []byte) error {
	*p = ParsePath(string(text))
	return nil
}

// ParsePath reads what String wrote. A key that is not in brackets is a Field:
// the text does not tell a map by it.
func ParsePath(text string) Path {
	var p Path
	for text != "" {
		text = strings.TrimPrefix(text, ".")
		if !strings.HasPrefix(text, "[") {
			end := strings.IndexAny(text, ".[")
			if end < 0 {
				end = len(text)
			}
			p, text = append(p, Step{Name: text[:end]}), text[end:]
			continue
		}
		var s Step
		isKey := strings.HasPrefix(text, `["`)
		s.Name, text = nextWord(text[1:], "=]")
		switch {
		case !isKey && strings.HasPrefix(text, "="):
			s.Kind = Member
			s.Value, text = nextWord(text[1:], "]")
		case !isKey && plainKey.MatchString(s.Name):
			s.Kind = Order
		default:
			s.Kind = Key
		}
		p, text = append(p, s), strings.TrimPrefix(text, "]")
	}
	return p
}

// nextWord splits behind a word in brackets: a JSON string, or all that is not
// one of the ends.
func nextWord(path, ends string) (word, rest string) {
	if strings.HasPrefix(path, `"`) {
		d := json.NewDecoder(strings.NewReader(path))
		if d.Decode(&word) == nil {
			return word, path[d.InputOffset():]
		}
	}
	end := strings.IndexAny(path, ends)
	if end < 0 {
		end = len(path)
	}
	return path[:end], path[end:]
}
