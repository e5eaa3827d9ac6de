package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// owners maps field managers to the paths that they own in the live template.
type owners map[string]paths

// paths are the paths of one manager. leaves are those that it owns as a whole,
// such as a list without a merge key; ways are the leaves and everything that
// contains them.
type paths struct{ ways, leaves map[string]bool }

// ownersOf returns who owns a field or something in it or, if nobody does, who owns
// something that contains it. Managed fields do not distinguish a container
// without owners from an empty one.
func (o owners) ownersOf(d template.Difference) []string {
	own, whole := []string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		switch p := o[name]; {
		case p.ways[d.Path.String()]:
			own = append(own, name)
		case p.within(d.Path):
			whole = append(whole, name)
		}
	}
	if len(own) > 0 {
		return own
	}
	return whole
}

// within reports whether a leaf contains the path.
func (p paths) within(path template.Path) bool {
	for i := 1; i < len(path); i++ {
		if p.leaves[path[:i].String()] {
			return true
		}
	}
	return false
}

func ownersIn(ds *appsv1.DaemonSet) owners {
	out := owners{}
	for _, m := range ds.ManagedFields {
		if m.Subresource != "" {
			continue
		}
		p := pathsOf(m.FieldsV1)
		if other, both := out[m.Manager]; both {
			maps.Copy(p.ways, other.ways)
			maps.Copy(p.leaves, other.leaves)
		}
		out[m.Manager] = p
	}
	return out
}

// pathsOf returns the paths of one entry, or none if it is missing or cannot be
// decoded.
func pathsOf(owned *metav1.FieldsV1) paths {
	p := paths{ways: map[string]bool{}, leaves: map[string]bool{}}
	var fields map[string]any
	if json.Unmarshal(owned.GetRawBytes(), &fields) == nil {
		p.add(nil, fields)
	}
	return p
}

// add adds managed fields below a path: f: is a field, k: a list member by its
// keys, any of which may occur in the path of a Difference.
func (p paths) add(path template.Path, fields map[string]any) {
	p.ways[path.String()] = true
	if len(fields) == 0 {
		p.leaves[path.String()] = true
	}
	for key, v := range fields {
		inner, _ := v.(map[string]any)
		kind, rest, _ := strings.Cut(key, ":")
		switch kind {
		case "f":
			p.add(path.With(template.Step{Name: rest}), inner)
		case "k":
			var keys map[string]any
			if json.Unmarshal([]byte(rest), &keys) == nil {
				for k, value := range keys {
					p.add(path.With(template.Step{Kind: template.Member, Name: k, Value: fmt.Sprint(value)}), inner)
				}
			}
		}
	}
}

// managers returns who wrote the DaemonSet, the last first. tells says whether
// the times of managed fields entries are those of the last write.
func managers(ds *appsv1.DaemonSet, tells bool) []Manager {
	out := []Manager{}
	for _, m := range ds.ManagedFields {
		if m.Subresource != "" {
			continue
		}
		one := Manager{Manager: m.Manager, Operation: string(m.Operation),
			Template: pathsOf(m.FieldsV1).ways[template.At.String()]}
		if m.Time != nil && tells {
			t := m.Time.UTC()
			one.Time = &t
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Manager) int {
		return cmp.Or(timeOf(b.Time).Compare(timeOf(a.Time)), strings.Compare(a.Manager, b.Manager),
			strings.Compare(a.Operation, b.Operation))
	})
	return out
}

// timeOf returns *t. For nil, it returns the zero time, which sorts first.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
