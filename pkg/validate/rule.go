// Package validate says what the API server rejects in a DaemonSet.
//
// Rules lists what it checks: the part of the API's own validation that people
// break. Each rule is a row with its field, what the API server requires of it,
// and the check. An error has the API server's words and its name of the field.
// Where no rule finds anything, the API server may still reject the DaemonSet:
// no rule covers every field, and webhooks and policies have rules of their own.
//
// The rules are those of the newest Kubernetes, but for a row that says since
// which version the API server has it. Defaults are set before: see
// template.DefaultDaemonSet.
package validate

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule is one thing that the API server requires.
type Rule struct {
	Field string // of a DaemonSet; [] stands for each item of a list
	Must  string // what it must be, or may not be

	row string
}

// Rules lists what is checked, by table.
func Rules() []Rule {
	var all []Rule
	for _, t := range tables {
		all = append(all, t.list(t.at)...)
	}
	return all
}

// table holds rules of one type of value, and where a DaemonSet has such values.
type table[T any] []row[T]

type row[T any] struct {
	field string // below the value; empty for the value itself
	must  string
	since int // the minor version of the first Kubernetes that requires it; 0 for every one
	check func(c *check, v T, at *field.Path)
}

// name is what tells a row from all others.
func (r *row[T]) name() string { return r.field + ": " + r.must }

// run applies the rules to a value.
func (t table[T]) run(c *check, v T, at *field.Path) {
	for i := range t {
		if r := &t[i]; c.minor >= r.since && r.name() != c.without {
			r.check(c, v, at)
		}
	}
}

func (t table[T]) list(at string) []Rule {
	var out []Rule
	for _, r := range t {
		path := at
		if r.field != "" {
			path += "." + r.field
		}
		out = append(out, Rule{path, r.must, r.name()})
	}
	return out
}

// check is the validation of one DaemonSet.
type check struct {
	old, new *appsv1.DaemonSet
	minor    int
	without  string // the name of a row that is left out, as a test breaks it; empty for none

	volumes map[string]*corev1.VolumeSource // those that are valid
	errs    field.ErrorList
}

func (c *check) add(errs ...*field.Error) { c.errs = append(c.errs, errs...) }

func (c *check) required(at *field.Path, why string)  { c.add(field.Required(at, why)) }
func (c *check) forbidden(at *field.Path, why string) { c.add(field.Forbidden(at, why)) }

// invalid adds an error for each reason why the value is invalid.
func (c *check) invalid(at *field.Path, value any, why ...string) {
	for _, w := range why {
		c.add(field.Invalid(at, value, w))
	}
}

// needs adds an error where a text is empty, or else those of its form.
func (c *check) needs(at *field.Path, text string, form func(string) []string) {
	switch {
	case text == "":
		c.required(at, "")
	case form != nil:
		c.invalid(at, text, form(text)...)
	}
}

// fits adds the errors of a text's form, where it is not empty.
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

// oneOf adds an error where the value is none of those that the API has.
func oneOf[T ~string](c *check, at *field.Path, value T, known ...T) {
	if !slices.Contains(known, value) {
		c.add(field.NotSupported(at, value, known))
	}
}

// orDefault does so where the value is not empty, for which the API server sets the default.
func orDefault[T ~string](c *check, at *field.Path, value T, known ...T) {
	if value != "" {
		oneOf(c, at, value, known...)
	}
}

// unique adds an error for a name that was seen before, and notes it.
func (c *check) unique(at *field.Path, name string, seen map[string]bool) {
	if name != "" && seen[name] {
		c.add(field.Duplicate(at, name))
	}
	seen[name] = true
}

func isTrue(b *bool) bool  { return b != nil && *b }
func isFalse(b *bool) bool { return b != nil && !*b }
