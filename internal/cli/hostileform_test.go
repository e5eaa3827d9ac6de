package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"sigs.k8s.io/yaml"
)

// forms are the formats of the input.
var forms = []string{
	"List in JSON", "List in JSON", "List in JSON", "compact List in JSON", "List in YAML", "List in YAML", "YAML documents", "JSON documents", "array", "array of Lists", "typed lists", "typed lists in an array",
	"folder", "folder", "standard input", "kind first", "one of several files",
	"List in tar.gz", "List in zip", "List in gzip", "folder in tar", "folder in tar.gz", "folder in zip", "tar.gz in zip", "must-gather", "must-gather in tar.gz", "cluster-info dump", "cluster-info dump", "arrays by their names", "Rancher in zip",
}

// files are the files to write, and the arguments to read them.
type files struct {
	*input
	form    string
	parts   []*part
	from    []string // arguments of --from; all parts if empty
	stdin   bool
	inLog   bool     // a file ends inside a log
	holding []string // names of the files that contain objects
	pack    []string // archives around the damaged parts, innermost first
}

type part struct {
	name  string
	text  []byte
	noise bool // it contains none of the objects
}

// items returns the objects as list items.
func items(objects []object) []any {
	var out []any
	for _, o := range objects {
		if inner, ok := o["array"]; ok && len(o) == 1 {
			out = append(out, inner)
		} else if other, ok := o["instead"]; ok && len(o) == 1 {
			out = append(out, other)
		} else {
			out = append(out, o)
		}
	}
	return out
}

func list(all []any) object {
	return object{"apiVersion": "v1", "kind": "List", "items": all, "metadata": object{"resourceVersion": ""}}
}

func indented(v any) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, write(v), "", "    "); err != nil {
		panic(err)
	}
	return append(b.Bytes(), '\n')
}

// inYAML returns YAML. It returns JSON if the YAML library fails, for example at deep nesting.
func inYAML(v any) []byte {
	raw, err := yaml.JSONToYAML(write(v))
	if err != nil {
		return indented(v)
	}
	return raw
}

// byKind returns typed lists without the kind of their items, as the API server does.
func byKind(objects []object) []any {
	var kinds []string
	lists := map[string][]any{}
	var rest []object
	for _, o := range objects {
		kind, ok := o["kind"].(string)
		version, ok2 := o["apiVersion"].(string)
		if !ok || !ok2 || o["metadata"] == nil {
			rest = append(rest, o)
			continue
		}
		key := version + " " + kind
		if lists[key] == nil {
			kinds = append(kinds, key)
		}
		item := object{}
		for k, v := range o {
			if k != "kind" && k != "apiVersion" {
				item[k] = v
			}
		}
		lists[key] = append(lists[key], item)
	}
	var out []any
	for _, key := range kinds {
		version, kind, _ := strings.Cut(key, " ")
		out = append(out, object{"apiVersion": version, "kind": kind + "List", "metadata": object{}, "items": lists[key]})
	}
	return append(out, items(rest)...)
}

// serialize writes the objects in a format.
func (in *input) serialize(form string, r *rand.Rand) *files {
	f := &files{input: in, form: form}
	all := items(in.objects)
	one := func(name string, text []byte) *files {
		f.parts = []*part{{name: name, text: text}}
		return f
	}
	var b bytes.Buffer
	if inner, archive, _ := strings.Cut(form, " in "); packers[archive] != nil {
		switch inner {
		case "List":
			inner = pick(r, []string{"List in JSON", "List in YAML"})
		case "tar.gz":
			inner = "folder in tar.gz"
		}
		f = in.serialize(inner, r)
		f.form, f.from, f.pack = form, nil, append(f.pack, archive)
		return f
	}
	switch form {
	case "must-gather":
		return in.mustGather(f)
	case "cluster-info dump":
		return in.clusterInfo(f, r)
	case "arrays by their names":
		return in.arrays(f)
	case "Rancher":
		return in.rancher(f)
	case "List in JSON":
		return one("dump.json", indented(list(all)))
	case "kind first":
		return one("dump.json", []byte(`{"kind":"List","apiVersion":"v1","items":`+string(write(all))+"}\n"))
	case "compact List in JSON":
		return one("dump.json", write(list(all)))
	case "List in YAML":
		return one("dump.yaml", inYAML(list(all)))
	case "YAML documents":
		for _, o := range all {
			b.WriteString("---\n")
			b.Write(inYAML(o))
		}
		in.sequence = true
		return one("dump.yaml", b.Bytes())
	case "JSON documents":
		for _, o := range all {
			b.Write(indented(o))
		}
		in.sequence = true
		return one("dump.json", b.Bytes())
	case "array":
		return one("dump.json", indented(all))
	case "array of Lists":
		cut := r.IntN(len(all) + 1)
		return one("dump.json", indented([]any{list(all[:cut:cut]), list(all[cut:])}))
	case "typed lists":
		for _, l := range byKind(in.objects) {
			b.Write(indented(l))
		}
		in.sequence = true
		return one("dump.json", b.Bytes())
	case "typed lists in an array":
		return one("dump.json", indented(byKind(in.objects)))
	case "standard input":
		f.stdin = true
		return one("dump.json", indented(list(all)))
	case "folder":
		f.from = []string{"folder"}
		in.sequence = true
		for i, o := range all {
			name, text := fmt.Sprintf("folder/sub%d/%d.yaml", i%2, i), inYAML(o)
			switch r.IntN(6) {
			case 0:
				name, text = fmt.Sprintf("folder/%d.json", i), indented(o)
			case 1:
				name = fmt.Sprintf("folder/%d", i) // without an extension
			case 2:
				name = "folder/" + strings.NewReplacer("/", "", "\x00", "", "\n", "").Replace(rawBytes.Replace(pick(r, payloads))) + fmt.Sprintf("%d.yaml", i)
			}
			f.parts = append(f.parts, &part{name: name, text: text})
		}
		for range r.IntN(3) { // files that are not documents
			name := "folder/" + strings.NewReplacer("/", "", "\x00", "").Replace(rawBytes.Replace(pick(r, payloads))) + pick(r, []string{"readme.txt", "note.yaml", "x.json", "log"})
			f.noise(name, []byte(pick(r, []string{"", "hello\n", "a: 1\n", "\x7fELF\x00\x00", "kind of thing\n", "null\n", "[]\n", "- a\n- b\n"})))
		}
		return f
	case "one of several files":
		cut := r.IntN(len(all) + 1)
		in.sequence = true
		f.parts = []*part{{name: "a.json", text: indented(list(all[:cut:cut]))}, {name: "b.yaml", text: inYAML(list(all[cut:]))}}
		return f
	}
	panic(form)
}

// damage is a mutation of text.
type damage struct {
	name       string
	structural bool
	weight     int
	do         func(f *files, p *part, r *rand.Rand) bool // false if it did nothing
}

var damages = []damage{
	{"cut off", true, 6, func(f *files, p *part, r *rand.Rand) bool {
		if len(p.text) < 2 {
			return false
		}
		p.text = p.text[:1+r.IntN(len(p.text)-1)]
		f.value = f.value || f.sequence && betweenDocuments(p.text)
		return true
	}},
	{"cut off at a line", true, 3, func(f *files, p *part, r *rand.Rand) bool {
		lines := bytes.SplitAfter(p.text, []byte("\n"))
		p.text = bytes.Join(lines[:r.IntN(len(lines))], nil)
		if f.sequence {
			f.value = true
		}
		return true
	}},
	{"cut off at a byte of interest", true, 6, func(f *files, p *part, r *rand.Rand) bool {
		at := cuts(p.text)
		if len(at) == 0 {
			return false
		}
		i := pick(r, at)
		f.note("before byte %d: %q", i, p.text[max(0, i-20):i])
		p.text = p.text[:i]
		f.inLog = insideLog(p.text) && len(f.pack) == 0
		f.value = f.value || f.sequence && betweenDocuments(p.text)
		return true
	}},
	{"a key twice", true, 5, func(f *files, p *part, r *rand.Rand) bool {
		lines := bytes.SplitAfter(p.text, []byte("\n"))
		keys := regexp.MustCompile(`^\s+("[^"]*"|[\w.-]+): ?[^\s{\[|>].*$`)
		var at []int
		for i, l := range lines {
			if keys.Match(bytes.TrimRight(l, "\n")) && (p.name[len(p.name)-1] == 'l' || bytes.HasSuffix(l, []byte(",\n"))) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return false
		}
		i := pick(r, at)
		again := bytes.Clone(lines[i])
		if r.IntN(2) == 0 { // with a different value
			colon := bytes.IndexByte(again, ':')
			end := "\n"
			if bytes.HasSuffix(again, []byte(",\n")) {
				end = ",\n"
			}
			again = append(again[:colon+1], (pick(r, []string{" null", ` "other"`, " 77", " {}", " []"}) + end)...)
			f.value = true // the later value wins, as in kubectl
		}
		f.note("line %d twice", i+1)
		p.text = bytes.Join(slices.Insert(lines, i+1, again), nil)
		return true
	}},
	{"CR before LF", true, 2, func(f *files, p *part, r *rand.Rand) bool {
		p.text = bytes.ReplaceAll(p.text, []byte("\n"), []byte("\r\n"))
		return true
	}},
	{"CR for LF", true, 1, func(f *files, p *part, r *rand.Rand) bool {
		p.text = bytes.ReplaceAll(p.text, []byte("\n"), []byte("\r"))
		return true
	}},
	{"a byte order mark", true, 2, func(f *files, p *part, r *rand.Rand) bool {
		p.text = append([]byte("\ufeff"), p.text...)
		return true
	}},
	{"UTF-16", true, 2, func(f *files, p *part, r *rand.Rand) bool {
		out := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(string(p.text))) {
			out = append(out, byte(u), byte(u>>8))
		}
		p.text = out
		return true
	}},
	{"something before", true, 3, func(f *files, p *part, r *rand.Rand) bool {
		what := pick(r, []string{"Warning: deprecated\n", "\x1b[33mWarning\x1b[0m: x\n", "\n\n", "# a comment\n", "---\n", "null\n---\n", "{}\n", "[]\n", "%YAML 1.2\n---\n", " ", "\t", "...\n", "$ kubectl get ds -o json\n"})
		f.note("%q before", what)
		p.text = append([]byte(what), p.text...)
		return true
	}},
	{"something after", true, 3, func(f *files, p *part, r *rand.Rand) bool {
		what := pick(r, []string{"\x00", "\x00\x00\x00\x00", "}\n", "]\n", "error: connection lost\n", "---\n", "...\nrest\n", "\x1a", "\"", ",", "null"})
		f.note("%q after", what)
		p.text = append(bytes.Clone(p.text), what...)
		return true
	}},
	{"the first line indented", true, 5, func(f *files, p *part, r *rand.Rand) bool {
		if !strings.HasSuffix(p.name, "yaml") {
			return false
		}
		lines := bytes.SplitAfter(p.text, []byte("\n"))
		to := 1 + r.IntN(len(lines))
		for i := range lines[:to] {
			lines[i] = append([]byte("  "), lines[i]...)
		}
		f.note("the first %d lines", to)
		p.text = bytes.Join(lines, nil)
		return true
	}},
	{"a byte", false, 5, func(f *files, p *part, r *rand.Rand) bool {
		if len(p.text) == 0 {
			return false
		}
		p.text = bytes.Clone(p.text)
		for range 1 + r.IntN(3) {
			i, to := r.IntN(len(p.text)), byte(r.IntN(256))
			f.note("byte %d is %q", i, to)
			p.text[i] = to
		}
		return true
	}},
	{"a piece moved", false, 2, func(f *files, p *part, r *rand.Rand) bool {
		if len(p.text) < 10 {
			return false
		}
		i, j := r.IntN(len(p.text)), r.IntN(len(p.text))
		piece := bytes.Clone(p.text[min(i, j):min(max(i, j), min(i, j)+300)])
		at := r.IntN(len(p.text))
		p.text = slices.Insert(bytes.Clone(p.text), at, piece...)
		return true
	}},
}

// cuts returns positions at which a file may end: inside logs, and around the separators of
// documents. A crashed writer can stop anywhere, and random positions in a long file rarely hit
// these.
func cuts(text []byte) (at []int) {
	for _, m := range separators.FindAllIndex(text, -1) {
		for _, i := range []int{m[0], (m[0] + m[1]) / 2, m[1], m[1] + (m[1]-m[0])/2} {
			if i > 0 && i < len(text) {
				at = append(at, i)
			}
		}
	}
	return at
}

// separators matches the separators of documents and the lines around a log.
var separators = regexp.MustCompile(`(?m)^(?:---|\}|==== (?:START|END) logs .*|Cluster info dumped .*)\n`)

// betweenDocuments reports whether a text ends after a complete document, so that a reader cannot
// notice the cut. Inside a log or a document, a reader can notice it.
func betweenDocuments(text []byte) bool {
	if insideLog(text) {
		return false
	}
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' && !bytes.Contains(text, []byte("====")) {
		return bytes.HasSuffix(trimmed, []byte("\n}")) // documents with indentation
	}
	return true
}

// insideLog reports whether a text ends between the first and the last line of a log.
func insideLog(text []byte) bool {
	var log []byte // the line that ends the log
	for line := range bytes.Lines(text) {
		words := bytes.TrimSpace(line)
		switch {
		case log != nil && bytes.Equal(words, log):
			log = nil
		case log == nil && bytes.HasPrefix(line, []byte("==== START logs")) && bytes.HasSuffix(line, []byte("====\n")):
			log = bytes.Replace(words, []byte("START"), []byte("END"), 1)
		}
	}
	return log != nil
}

// damaged damages the text of one file, or leaves all files intact.
func (f *files) damaged(r *rand.Rand, structural bool) {
	for _, p := range f.parts {
		if !p.noise {
			f.holding = append(f.holding, p.name)
		}
	}
	defer f.packed(r)
	for _, p := range f.parts {
		p.text = []byte(rawBytes.Replace(string(p.text)))
	}
	if len(f.did) > 0 && r.IntN(4) > 0 || len(f.parts) == 0 || r.IntN(4) == 0 {
		return
	}
	total := 0
	from := damages
	if structural {
		from = slices.DeleteFunc(slices.Clone(from), func(d damage) bool { return !d.structural })
	}
	for _, d := range from {
		total += d.weight
	}
	n := r.IntN(total)
	p := pick(r, f.parts)
	for _, d := range from {
		if n -= d.weight; n < 0 {
			if d.do(f, p, r) {
				f.note("%s: %s", p.name, d.name)
				f.value = f.value || !d.structural
			}
			return
		}
	}
}

// put writes the files to a folder, and returns the flags that read them.
func (f *files) put(folder string) (flags []string, stdin []byte) {
	names := slices.Clone(f.from)
	for _, p := range f.parts {
		path := filepath.Join(folder, p.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, p.text, 0o600); err != nil {
			panic(err)
		}
		if len(f.from) == 0 {
			names = append(names, p.name)
		}
	}
	if f.stdin {
		return []string{"--from", "-"}, f.parts[0].text
	}
	for _, n := range names {
		flags = append(flags, "--from", filepath.Join(folder, n))
	}
	return flags, nil
}
