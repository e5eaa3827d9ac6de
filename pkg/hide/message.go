package hide

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Values are the literal values of environment variables that messages of API
// servers, webhooks, kubelets and programs may quote. The zero Values hides
// nothing.
type Values struct {
	variables []variable
	// values that are recognizable anywhere, in each form in which they are
	// quoted; the longest first
	recognizable []string
}

type variable struct {
	name  string
	forms []string // forms of its value
}

// ValuesOf returns the literal values in some templates, and everything else
// that Replace replaces in them. shown are names that a reader may see, in
// addition to those in the templates.
func ValuesOf(shown []string, templates ...template.Content) *Values {
	v := &Values{}
	var found []string
	open := strings.Join(shown, "\n") + "\n"
	for _, c := range templates {
		left := Replace[corev1.PodTemplateSpec](c, func(value string) string {
			found = append(found, value)
			found = append(found, wordsIn(template.ParseValue(value).Any())...)
			return ""
		})
		open += strings.Join(wordsIn(left), "\n") + "\n"
		v.addVariables(c)
	}
	for _, value := range found {
		if !isPlain(value) && !strings.Contains(open, value) {
			v.recognizable = append(v.recognizable, formsOf(value)...)
		}
	}
	slices.SortFunc(v.recognizable, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	v.recognizable = slices.Compact(v.recognizable)
	return v
}

// addVariables records the names of variables with their values, if the content
// is a template.
func (v *Values) addVariables(c template.Content) {
	t, err := c.Typed()
	if err != nil {
		return
	}
	for _, container := range slices.Concat(t.Spec.Containers, t.Spec.InitContainers) {
		for _, e := range container.Env {
			known := func(other variable) bool { return other.name == e.Name && slices.Contains(other.forms, e.Value) }
			if e.Name != "" && e.Value != "" && !slices.ContainsFunc(v.variables, known) {
				v.variables = append(v.variables, variable{e.Name, formsOf(e.Value)})
			}
		}
	}
}

// wordsIn returns the strings in a parsed value, including keys.
func wordsIn(v any) (words []string) {
	switch v := v.(type) {
	case string:
		words = []string{v}
	case []any:
		for _, member := range v {
			words = append(words, wordsIn(member)...)
		}
	case map[string]any:
		for key, inner := range v {
			words = append(append(words, key), wordsIn(inner)...)
		}
	}
	return words
}

// formsOf returns the forms in which a value may be quoted: unchanged, escaped,
// on one line, and each longer line of several.
func formsOf(value string) []string {
	escaped := func(s string) string { return s[1 : len(s)-1] }
	html, _ := json.Marshal(value) // a string always encodes
	forms := []string{value, escaped(strconv.Quote(value)), escaped(template.ValueOf(value).String()),
		escaped(string(html)), strings.Join(strings.Fields(value), " ")}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); !isPlain(line) {
				forms = append(forms, line)
			}
		}
	}
	slices.Sort(forms)
	return slices.Compact(slices.DeleteFunc(forms, func(f string) bool { return f == "" }))
}

// Hide returns a message with template.Hidden instead of each literal value.
//
// Any value is hidden in the field value of an object, as JSON, YAML and Go
// write it; after the name of its variable and = or a colon; and where the API
// server says that it is invalid. A quoted object is hidden as a whole, because
// its own quotes and brackets do not show where a value ends.
//
// Elsewhere a value is hidden if it is recognizable. It is not if a template
// has the same text in another field, such as an image or a path, or if it
// looks like a name: words, numbers, paths, addresses. A message thus keeps the
// namespace longhorn-system although a variable has the value longhorn. Names
// of objects that the API server quotes are kept.
func (v *Values) Hide(message string) string {
	for _, form := range v.recognizable {
		message = hideForm(message, form)
	}
	message = v.hideCut(message)
	if !strings.ContainsAny(message, "[{|") && !strings.Contains(strings.ToLower(message), "value") {
		return v.hideBehindNames(message)
	}
	for _, place := range places {
		message = place.ReplaceAllString(message, "${1}"+template.Hidden+"${2}")
	}
	return v.hideBehindNames(message)
}

// hideBehindNames hides the values that follow the names of their variables.
func (v *Values) hideBehindNames(message string) string {
	for i := range v.variables {
		message = v.variables[i].hide(message)
	}
	return message
}

const (
	quotedText = `"(?:\\.|[^"\\])*(?:"|$)`
	twiceText  = `\\"(?:[^"\\]|\\\\\\?.)*(?:\\"|$)` // a string of JSON in a string
)

// places match values in context; the groups are the text before and after the
// value.
var places = []*regexp.Regexp{
	// an object that was sent
	regexp.MustCompile(`(")(?:map\[|\{)(?:\\.|[^"\\]){2,}("|$)`),
	// JSON
	regexp.MustCompile(`("(?i:value)"\s*:\s*)(?:` + quotedText + `|[^\s"\\,}\]]+)()`),
	// JSON in a string
	regexp.MustCompile(`(\\"(?i:value)\\"\s*:\s*)(?:` + twiceText + `|[^\s"\\,}\]]+)()`),
	// Go's %#v
	regexp.MustCompile(`(\bValue:\s*)` + quotedText + `()`),
	// and %+v
	regexp.MustCompile(`(\bName:\S*\sValue:)[^"].*?(\sValueFrom:|\}|$)`),
	// a map
	regexp.MustCompile(`(\bmap\[(?:[^\]]*\s)?value:)[^\]]+?(\svalueFrom:|\]|$)`),
	// a server-side apply
	regexp.MustCompile(`(Unstructured\{Value:)[^}]*(\}|$)`),
	// YAML
	regexp.MustCompile(`(\bname:\s*["']?[A-Z0-9_]+["']?,?\s+value:\s*)(?:` + quotedText +
		`|'[^']*(?:'|$)|[^\s,}\]"']+)()`),
	// validation
	regexp.MustCompile(`(\benv\[[^\]]*\]\.value: (?:Invalid|Unsupported|Duplicate) value: )(?:` + quotedText +
		`|[^\s"]\S*?)(:\s|$)`),
	//
	regexp.MustCompile(`(\benv\[[^\]]*\]\.value: (?:Invalid|Unsupported|Duplicate) value: )` + quotedText + `()`),
	// what a decoder of older servers has read
	regexp.MustCompile(`(\.\.\.\|).*?(\|\.\.\.|$)`),
}

// named matches quoted names of objects, and other quotations that are not
// values. The name of a Secret counts only after certain words.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:(?:namespace|node|pod|configmap|serviceaccount|service account|daemonset|deployment|replicaset|statefulset|service|endpoint|container|volume|claim|` +
		`persistentvolume|persistentvolumeclaim|storageclass|priorityclass|runtimeclass|csidriver|resourcequota|limitrange|role|clusterrole|rolebinding|clusterrolebinding|user|group|ingress|job|cronjob|` +
		`controllerrevision|webhook|policy|image|plugin|driver)(?:e?s)?(?:\.[a-z0-9.-]+)?:? "[^"]*"` +
		`|secrets? "[^"]*" (?:not found|is forbidden|already exists))`)
})

// hideForm hides a recognizable value. A short one is hidden only if it is not
// part of something longer.
func hideForm(message, form string) string {
	const unmistakable = 12
	if !strings.Contains(message, form) {
		return message
	}
	names := named().FindAllStringIndex(message, -1)
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(message[at:], form)
		if i < 0 {
			return b.String() + message[at:]
		}
		i += at
		end := i + len(form)
		isName := slices.ContainsFunc(names, func(n []int) bool { return n[0] < i && end < n[1] })
		if isName || len(form) < unmistakable && (joined(message[:i], false) || joined(message[end:], true)) {
			b.WriteString(message[at:end])
		} else {
			b.WriteString(message[at:i] + template.Hidden)
		}
		at = end
	}
}

// joined reports whether a text continues, in the given direction, with
// characters that form one word with its neighbor.
func joined(text string, after bool) bool {
	first := func(s string) (rune, string) {
		r, size := utf8.DecodeRuneInString(s)
		return r, s[size:]
	}
	if !after {
		first = func(s string) (rune, string) {
			r, size := utf8.DecodeLastRuneInString(s)
			return r, s[:len(s)-size]
		}
	}
	r, rest := first(text)
	if strings.ContainsRune("-._/", r) {
		r, _ = first(rest)
	}
	return unicode.IsLetter(r) && r != utf8.RuneError || unicode.IsDigit(r)
}

// hideCut hides a value at the end of a truncated message.
func (v *Values) hideCut(message string) string {
	const least, long = 6, 500
	body := strings.TrimRight(message, "….")
	if body == message && len(message) < long {
		return message
	}
	for _, form := range v.recognizable {
		for n := min(len(form)-1, len(body)); n >= least; n-- {
			if strings.HasSuffix(body, form[:n]) && !isPlain(form[:n]) {
				return body[:len(body)-n] + template.Hidden + message[len(body):]
			}
		}
	}
	return message
}

// hide hides the value where it follows the name of its variable.
func (v *variable) hide(message string) string {
	var b strings.Builder
	for {
		i := strings.Index(message, v.name)
		if i < 0 {
			return b.String() + message
		}
		alone := !joined(message[:i], false)
		end := i + len(v.name)
		b.WriteString(message[:end])
		message = message[end:]
		sign := assigned().FindString(message)
		if !alone || sign == "" {
			continue
		}
		b.WriteString(sign)
		message = message[len(sign):]
		for _, form := range slices.Backward(v.forms) { // of two forms with the same beginning, the longer one is later
			if rest, found := strings.CutPrefix(message, form); found && !joined(rest, true) {
				b.WriteString(template.Hidden)
				message = rest
				break
			}
		}
	}
}

var assigned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^["'\\]*\s*(?:=>?|:)\s*["'\\]*`)
})

// isPlain reports whether a value looks like the names in messages, so that it
// is not recognizable: it is short, or it consists of words, numbers and names
// with joining characters.
func isPlain(value string) bool {
	const short = 6
	if len(value) < short {
		return true
	}
	if ipv6().MatchString(value) {
		return true
	}
	const longest = 13 // longer text is not a word of a message
	return !slices.ContainsFunc(strings.FieldsFunc(value, isJoiner), func(piece string) bool {
		return len(piece) > longest || !plainWord().MatchString(piece)
	})
}

var ipv6 = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}$`)
})

func isJoiner(r rune) bool { return strings.ContainsRune("-_./:,", r) }

// plainWord matches a word in one case, with one or several capitals; a number
// with its unit; or a short name with a number, such as v1, ipv4 and csi2.
var plainWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[a-z]+|[A-Z]+|[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*|[a-z]{1,5}[0-9]{1,2}|[0-9]{1,5}[A-Za-z]{0,2})$`)
})
