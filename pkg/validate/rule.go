// Package validate returns the errors with which the API server rejects a DaemonSet.
//
// Rules lists the checks, which are the validation rules that users break most often. Each rule is a row of a table
// with its field, its requirement and its check. Errors have the messages and the field names of the API server. The
// API server may reject a DaemonSet that satisfies all rules, because the rules do not cover every field, and
// webhooks and policies add more rules.
//
// The rules are those of the newest Kubernetes version. A row with a version applies from that version on. Set
// defaults first; see template.DefaultDaemonSet.
package validate

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule is a validation rule of the API server.
type Rule struct {
	Field string // path in a DaemonSet; [] means any item of a list
	Must  string // the requirement, for documentation

	row string
}

// Rules lists all rules, by table.
func Rules() []Rule {
	var all []Rule
	for _, t := range tables {
		all = append(all, t.list(t.at)...)
	}
	return all
}

// table holds the rules for values of type T.
type table[T any] []row[T]

type row[T any] struct {
	field string // relative to the value; empty for the value itself
	must  string
	since int // the minor version of Kubernetes that introduced the rule; 0 if all versions have it
	check func(c *check, v T, at *field.Path)
}

// name returns the unique name of a row.
func (r *row[T]) name() string { return r.field + ": " + r.must }

// run applies the rules to a value.
func (t table[T]) run(c *check, v T, at *field.Path) {
	for i := range t {
		if r := &t[i]; c.minor >= r.since && r.name() != c.skipped {
			r.check(c, v, at)
		}
	}
}

func (t table[T]) list(at string) []Rule {
	var out []Rule
	for _, r := range t {
		out = append(out, Rule{strings.Trim(at+"."+r.field, "."), r.must, r.name()})
	}
	return out
}

// check is the state of one validation.
type check struct {
	old, new *appsv1.DaemonSet
	minor    int
	skipped  string // the name of a row that a test disables, or empty

	volumes map[string]*corev1.VolumeSource // valid volumes by name
	errs    field.ErrorList
}

func (c *check) add(errs ...*field.Error) { c.errs = append(c.errs, errs...) }

func (c *check) required(at *field.Path, why string)  { c.add(field.Required(at, why)) }
func (c *check) forbidden(at *field.Path, why string) { c.add(field.Forbidden(at, why)) }

// invalid adds an error for each reason.
func (c *check) invalid(at *field.Path, value any, why ...string) {
	for _, w := range why {
		c.add(field.Invalid(at, value, w))
	}
}

// needs adds an error if text is empty, otherwise the errors that form returns for it.
func (c *check) needs(at *field.Path, text string, form func(string) []string) {
	switch {
	case text == "":
		c.required(at, "")
	case form != nil:
		c.invalid(at, text, form(text)...)
	}
}

// fits adds the errors that form returns for text, unless text is empty.
func (c *check) fits(at *field.Path, text string, form func(string) []string) {
	if text != "" {
		c.invalid(at, text, form(text)...)
	}
}

func (c *check) notNegative(at *field.Path, n int64) {
	if n < 0 {
		c.invalid(at, n, "must be greater than or equal to 0")
	}
}

// oneOf adds an error if value is not in known.
func oneOf[T ~string](c *check, at *field.Path, value T, known ...T) {
	if !slices.Contains(known, value) {
		c.add(field.NotSupported(at, value, known))
	}
}

// orDefault is like oneOf, but accepts an empty value, which means the default.
func orDefault[T ~string](c *check, at *field.Path, value T, known ...T) {
	if value != "" {
		oneOf(c, at, value, known...)
	}
}

// unique adds an error if name is in seen, and adds name to seen.
func (c *check) unique(at *field.Path, name string, seen map[string]bool) {
	if name != "" && seen[name] {
		c.add(field.Duplicate(at, name))
	}
	seen[name] = true
}

func isTrue(b *bool) bool  { return b != nil && *b }
func isFalse(b *bool) bool { return b != nil && !*b }
