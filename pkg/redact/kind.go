package redact

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// kindOf returns the kind with a name. Kinds that are not in kinds keep no
// words.
func kindOf(name string) kind {
	if domain, is := strings.CutPrefix(name, "key in "); is {
		return kind{
			name: name, separator: "-", part: true,
			form: func(word string, rank, digits int) string {
				return fmt.Sprintf("key-%0*d%s", digits, rank, keySuffix(word))
			},
			stays: func(word string) bool { return keys().has(domain+word) || anyDomainTaints()[word] },
		}
	}
	k, listed := kinds[name]
	if k.name = name; !listed || k.separator == "" && name != "version" {
		k.separator = "-"
	}
	return k
}

// kinds are those that keep some words, or whose stand-ins have their own form.
var kinds = map[string]kind{
	"key": {
		stays: func(word string) bool {
			size, huge := strings.CutPrefix(word, corev1.ResourceHugePagesPrefix)
			return keys().has(word) || domains().has(word) || huge && isQuantity(size)
		},
		form: func(word string, rank, digits int) string {
			if domain, is := strings.CutSuffix(word, "/"); is {
				return fmt.Sprintf("key-%0*d%s/", digits, rank, domainSuffix(domain))
			}
			return fmt.Sprintf("key-%0*d%s", digits, rank, keySuffix(word))
		},
		begins: prefixIf(startupTaint),
	},
	"field": {form: func(word string, rank, digits int) string {
		return fmt.Sprintf("field-%0*d%s", digits, rank, keySuffix(word))
	}},
	"value":    {stays: values.has, form: asLabel("value")},
	"platform": {stays: platforms.has, form: asLabel("platform")},
	"level": {stays: func(word string) bool { return levels.has(word) || levelVersion.MatchString(word) },
		form: asLabel("level")},
	"tool":           {stays: tools.has, form: asLabel("tool")},
	"kind":           {stays: objectKinds.has},
	"manager":        {stays: func(word string) bool { return managers().has(word) }},
	"component":      {stays: components.has},
	"serviceaccount": {stays: words("default").has},
	"priorityclass":  {stays: words("system-cluster-critical system-node-critical").has},
	"tag":            {stays: plainTag.MatchString, unordered: true},
	"version": {stays: versionWords.has,
		form: func(_ string, rank, digits int) string { return inLetters(rank, digits) }},
	"reason": {stays: reasons.has, form: func(word string, rank, digits int) string {
		return fmt.Sprintf("Reason%0*d%s", digits, rank, reasonSuffix(word))
	}},
	"path": {stays: defaulted.has, begins: prefixIf("/")},
	"variable": {form: func(_ string, rank, digits int) string {
		return fmt.Sprintf("VARIABLE_%0*d",
			digits, rank)
	}},
	"resourceVersion": {form: func(_ string, rank, digits int) string { return fmt.Sprintf("%0*d", digits, rank) }},
	"uid": {form: func(_ string, rank,
		_ int) string {
		return fmt.Sprintf("00000000-0000-0000-0000-%012d", rank)
	}},
	"sha256": {form: func(_ string, rank, _ int) string { return fmt.Sprintf("%064d", rank) }, part: true},
	"sha384": {form: func(_ string, rank, _ int) string { return fmt.Sprintf("%096d", rank) }, part: true},
	"sha512": {form: func(_ string, rank, _ int) string { return fmt.Sprintf("%0128d", rank) }, part: true},
	"address": {stays: addresses.has, unordered: true, form: func(word string, rank, _ int) string {
		if strings.Contains(word, ":") {
			return fmt.Sprintf("2001:db8::%x:%x", rank>>16, rank&0xffff)
		}
		// addresses for documentation and benchmarks
		return fmt.Sprintf("198.%d.%d.%d", 18+rank>>16&1, rank>>8&0xff, rank&0xff)
	}},
}

// prefixIf returns a function that returns with for words that begin with it.
func prefixIf(with string) func(string) string {
	return func(word string) string {
		if strings.HasPrefix(word, with) {
			return with
		}
		return ""
	}
}

// startupTaint is the beginning of the keys of taints during a node's start.
const startupTaint = "startup-taint."

// keySuffix returns the suffix of a key that rules read besides its domain:
// whether it ends with not-ready, and whether it needs brackets in a path of
// fields, which affects the order of paths.
func keySuffix(key string) string {
	switch {
	case strings.HasSuffix(key, "not-ready"):
		return "-not-ready"
	case len(validation.IsQualifiedName(key)) > 0:
		return ".-"
	case !plain.MatchString(key):
		return ".x"
	}
	return ""
}

// asLabel returns the form of label values. The stand-in of a value that the
// API rejects is also one that it rejects.
func asLabel(name string) func(word string, rank, digits int) string {
	return func(word string, rank, digits int) string {
		standIn := fmt.Sprintf("%s-%0*d", name, digits, rank)
		if len(validation.IsValidLabelValue(word)) > 0 {
			return standIn + "-"
		}
		return standIn
	}
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// reasonSuffix returns the suffix of a reason that rules read.
func reasonSuffix(reason string) string {
	switch {
	case strings.HasSuffix(reason, "Error"):
		return "Error"
	case strings.Contains(reason, "Error"):
		return "Errors"
	}
	return ""
}

// domainSuffix returns the suffix of the stand-in of a domain: the domain that it
// belongs to if people do not set its labels.
func domainSuffix(domain string) string {
	owned, _ := daemonset.TellingKeys()
	for _, o := range owned {
		if strings.HasSuffix(domain, "."+o) {
			return "." + o
		}
	}
	return ".example"
}

// anyDomainTaints are the names of taints that have the same meaning in each domain.
var anyDomainTaints = sync.OnceValue(func() map[string]bool {
	v := map[string]bool{"not-ready": true}
	_, taints := daemonset.TellingKeys()
	for _, t := range taints {
		if name, is := strings.CutPrefix(t, "/"); is {
			v[name] = true
		}
	}
	return v
})
