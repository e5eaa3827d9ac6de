package template

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Path is the location of a field in an object: the steps from the root.
type Path []Step

// Step leads from an object or a list to a part of it.
type Step struct {
	Kind  StepKind
	Name  string // the name of a Field, a Key, or the merge key of a Member or an Order
	Value string // the value of a Member's merge key
}

// StepKind says what a Step leads to.
type StepKind int

const (
	Field  StepKind = iota // a field, whether or not the type lists it
	Key                    // a key of a map whose keys are data, such as labels
	Member                 // a list member, identified by its merge key
	Order                  // the order of a list's members, by their merge keys
)

// At is the path of the pod template in a DaemonSet.
var At = Fields("spec", "template")

// RestartedAt is the path of the annotation that kubectl rollout restart sets
// in a DaemonSet.
var RestartedAt = At.With(Step{Name: "metadata"}, Step{Name: "annotations"},
	Step{Kind: Key, Name: "kubectl.kubernetes.io/restartedAt"})

// Fields returns the Path with these names of fields.
func Fields(names ...string) Path {
	var p Path
	for _, n := range names {
		p = append(p, Step{Name: n})
	}
	return p
}

// With returns the Path extended by steps.
func (p Path) With(steps ...Step) Path { return append(p[:len(p):len(p)], steps...) }

// Equal reports whether two Paths lead to the same part of an object. A Field
// equals a Key with the same name, because a document does not distinguish
// them.
func (p Path) Equal(other Path) bool {
	return slices.EqualFunc(p, other, func(a, b Step) bool {
		isName := a.Kind <= Key && b.Kind <= Key
		return (a.Kind == b.Kind || isName) && a.Name == b.Name && a.Value == b.Value
	})
}

// Compare orders Paths step by step; a Path precedes its extensions. Keys are
// ordered by their text, regardless of their notation: a before a/b.
func (p Path) Compare(other Path) int {
	return slices.CompareFunc(p, other, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
}

// Below returns the steps from parent to p, and reports whether p begins with
// parent.
func (p Path) Below(parent Path) (rest Path, below bool) {
	if len(p) < len(parent) || !p[:len(parent)].Equal(parent) {
		return nil, false
	}
	return p[len(parent):], true
}

// Last returns the last step, or the zero Step for an empty Path.
func (p Path) Last() Step {
	if len(p) == 0 {
		return Step{}
	}
	return p[len(p)-1]
}

// String returns the notation for the Path, such as
// spec.containers[name=agent].image. A key that has other characters than
// letters, digits, _ and - is in brackets: labels[example.com/tier]. In
// brackets, a key or the value of a merge key is a JSON string if it would be
// ambiguous: options["a=b"], env[name="a]b"]. The order of a list ends with its
// merge key: spec.containers[name].
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

// quoted returns word, as a JSON string if it has control characters or any of
// misread.
func quoted(word, misread string) string {
	if strings.ContainsAny(word, misread) || strings.ContainsFunc(word, unicode.IsControl) {
		return text(word)
	}
	return word
}

// MarshalText returns String.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses the output of MarshalText.
func (p *Path) UnmarshalText(text []byte) error {
	*p = ParsePath(string(text))
	return nil
}

// ParsePath parses the output of String. A key that is not in brackets becomes
// a Field, because the notation does not distinguish them.
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
		s.Name, text = cutBracketWord(text[1:], "=]")
		switch {
		case !isKey && strings.HasPrefix(text, "="):
			s.Kind = Member
			s.Value, text = cutBracketWord(text[1:], "]")
		case !isKey && plainKey.MatchString(s.Name):
			s.Kind = Order
		default:
			s.Kind = Key
		}
		p, text = append(p, s), strings.TrimPrefix(text, "]")
	}
	return p
}

// cutBracketWord splits off the first word in brackets: a JSON string, or everything
// up to one of the characters in ends.
func cutBracketWord(path, ends string) (word, rest string) {
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
