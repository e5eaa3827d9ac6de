package source

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/resource"
)

// kustomization builds a folder as kubectl apply -k does. Bases that are an
// address are fetched, as there. Of kustomize's words an error has the harmless
// ones, and kubectl kustomize as a hint where there are others.
func (r *manifests) kustomization(folder string) error {
	count := 0
	err := resource.NewLocalBuilder().Unstructured().
		FilenameParam(false, &resource.FilenameOptions{Kustomize: folder}).Do().
		Visit(func(info *resource.Info, err error) error {
			if err != nil {
				return err
			}
			count++
			raw, err := json.Marshal(info.Object)
			if err != nil {
				return err
			}
			o, err := decodeManifest(raw, metav1.TypeMeta{})
			if err == nil {
				o.document = count
				err = r.add(folder, o)
			}
			if e := (*fieldError)(nil); errors.As(err, &e) {
				return &InputError{File: folder, Document: count, Field: e.field, Err: e.err}
			}
			return err
		})
	if err == nil {
		return nil
	}
	if e := (*InputError)(nil); errors.As(err, &e) {
		return e
	}
	said, all := harmless(err.Error())
	if all {
		return &InputError{File: folder, Err: errors.New(said)}
	}
	if said == "" {
		said = "kustomize cannot build it:"
	}
	return &InputError{File: folder, Err: errors.New(said + " …"), hint: "kubectl kustomize " + folder}
}

// harmless returns of an error of kustomize all that stands before the first
// thing which is not known to be harmless, and whether that is all of it.
//
// kustomize quotes patches, the literals of generators and pieces of objects,
// which may be secrets, and it has some hundred ways to put it. So what is known
// here is the sentences that name files, objects and fields alone: those that
// people see most. Any other is cut off, with what follows.
func harmless(s string) (said string, all bool) {
	for _, q := range quotedByKustomize {
		s = q.found.ReplaceAllString(s, q.instead)
	}
	at, sentence := 0, saidByKustomize()
	for next := sentence.FindStringIndex(s); next != nil; next = sentence.FindStringIndex(s[at:]) {
		at += next[1]
	}
	return strings.TrimRight(s[:at], " \n"), at == len(s)
}

// quotedByKustomize are two quotations with harmless words behind them.
var quotedByKustomize = []struct {
	found   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile("(?s)( with config): `.*`: "), "$1: "},
	{regexp.MustCompile(`(?s)literal sources \[.*\]: (invalid literal source) .*(, expected key=value)$`), "$1$2"},
}

// saidByKustomize is one harmless sentence or piece of one, and what parts it
// from the next.
//
// NAME stands for a file, an object or a field. It is of one word, and no
// NAME=value: that is a literal in the wrong place.
var saidByKustomize = sync.OnceValue(func() *regexp.Regexp { // made when it is needed, since that takes a while
	sentences := []string{
		// where
		`accumulating (?:resources|components)`,
		`accumulation err=`,
		`(?:accumulating|merging) resources from 'NAME'`,
		`recursed (?:accumulation of|merging from) path 'NAME'`,
		`loader\.New`,
		`couldn't make target for path 'NAME'`,
		`trouble configuring builtin NAME with config`,
		`plugin NAME fails configuration`,
		`loading generator plugins`,
		`failed to load generator`,
		`loading KV pairs`,
		`(?:env source files|file sources): \[NAME(?: NAME)*\]`,
		`failed to get the patch file from path\(NAME\)`,
		`invalid Kustomization`,
		`MalformedYAMLError`,
		`in File: NAME`,
		`YAML file \[NAME\] encounters a format error\.`,
		`error (?:converting YAML to JSON|unmarshaling JSON)`,
		`while decoding JSON`,

		// files
		`evalsymlink failure on 'NAME'`,
		`(?:lstat|stat|open|read) NAME`,
		`(?:no such file or|is a|not a) directory`,
		`permission denied`,
		`must build at directory`,
		`not a valid directory`,
		`'?NAME': file is not directory`,
		`'?NAME' must resolve to a file`,
		`'?NAME' refers to file 'NAME'; expecting directory`,
		`security; file 'NAME' is not in or below 'NAME'`,
		`cycle detected: candidate root 'NAME' contains visited root 'NAME'`,
		`unable to find one of 'kustomization\.yaml', 'kustomization\.yml' or 'Kustomization' in directory 'NAME'`,
		`Found multiple kustomization files under: NAME`,
		`kustomization\.yaml is empty`,
		`must specify --enable-helm`,

		// syntax
		`yaml: (?:line \d+: )?did not find expected (?:',' or '[\]}]'|'-' indicator|key|node content|alphabetic or numeric character)`,
		`yaml: (?:line \d+: )?did not find expected (?:comment|whitespace) or line break`,
		`yaml: (?:line \d+: )?could not find expected ':'`,
		`yaml: (?:line \d+: )?found (?:character that cannot start any token|unknown escape character|unexpected end of stream)`,
		`yaml: (?:line \d+: )?found a tab character (?:that violates indentation|where an indentation space is expected)`,
		`yaml: (?:line \d+: )?(?:mapping values|block sequence entries|control characters) are not allowed(?: in this context)?`,
		`json: unknown field "NAME"`,
		`json: cannot unmarshal [a-z]+ into Go (?:value|struct field [\w.]+) of type [\w.*\[\]]+`,
		`invalid literal source, expected key=value`,

		// objects and fields
		`(?:no|multiple) matches for Id NAME`,
		`failed to find unique target for patch NAME`,
		`no resource matches strategic merge patch "NAME"`,
		`may not add resource with an already registered id: NAME`,
		`missing (?:kind|metadata\.name) in object`,
		`missing Resource metadata`,
		`configmap NAME illegally repeats the key`,
		`unable to parse SM or JSON patch from(?: \[path: "NAME"\])?`,
		`illegally qualifies as both an SM and JSON patch`,
		`must specify a target for JSON patch`,
		`wrong node kind: expected \w+ but got \w+`,
		`considering field 'NAME' of object NAME`,
		`visit traversal on path: \[NAME(?: NAME)*\]`,
		`expected sequence or mapping node`,
		`(?:add|remove|replace|move|copy|test) operation does not apply`,
		`(?:doc )?is missing (?:from |destination )?(?:path|key): "?NAME"?`,
		`missing value`,
		`testing value NAME failed`,
		`test failed`,
		`(?:nothing selected by|multiple matches for selector) NAME(?::NAME)?`,
		`fieldPath .NAME. is missing for replacement source NAME`,
		`unable to find field "NAME" in replacement target`,
		`options\.index \d+ is out of bounds`,
		`delimiter option can only be used with scalar nodes`,
	}
	const name = `(?:[A-Za-z]:\\)?(?:[\pL\pN_./\\|~+*-]|\[no(?:Grp|Ver|Kind|Name|Ns)\]|\[name=[\pL\pN_.-]+\])+`
	r := regexp.MustCompile(`^(?:` + strings.ReplaceAll(strings.Join(sentences, "|"), "NAME", name) + `)(?:['":;,\s]+|$)`)
	r.Longest() // a sentence with a name goes before the same one without
	return r
})
