package source

import (
	"bytes"
	"hash/maphash"
	"regexp"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// skimmed is what the lines of an object in YAML say before anything is converted. To
// convert YAML takes nearly all of the time that a dump takes, and of most dumps more than
// half is of kinds that no answer looks at.
type skimmed struct {
	text   []byte
	indent int // of the object's own keys
	kind   metav1.TypeMeta
	at     map[string][2]int // where the lines below a key of the object begin and end
	inline map[string]string // what stands beside the key
}

// blockKey matches a line with a key that needs no parser to be read.
var blockKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9_./-]+):(?: (.*))?$`)
})

// skim reads the keys of an object that is laid out as kubectl lays it out: each key of
// its own on a line of its own. ok is false for any other text, which has to be converted.
func skim(text []byte) (s skimmed, ok bool) {
	s = skimmed{text: text, indent: -1, at: map[string][2]int{}, inline: map[string]string{}}
	open := ""
	end := func(at int) {
		if open != "" {
			s.at[open] = [2]int{s.at[open][0], at}
		}
	}
	for at := 0; at < len(text); {
		begin := at
		line := text[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
			at += i + 1
		} else {
			at = len(text)
		}
		content := bytes.TrimLeft(line, " ")
		lead := len(line) - len(content)
		content = bytes.TrimRight(content, " \r")
		if len(content) == 0 || content[0] == '#' {
			continue
		}
		if s.indent < 0 {
			if rest, dash := bytes.CutPrefix(content, []byte("- ")); dash { // the dash of an item
				trimmed := bytes.TrimLeft(rest, " ")
				lead += 2 + len(rest) - len(trimmed)
				content = trimmed
			}
			s.indent = lead
		}
		switch {
		case lead > s.indent:
			continue
		case lead < s.indent:
			return s, false
		case open != "" && content[0] == '-' && (len(content) == 1 || content[1] == ' '): // an item of the key's list
			continue
		}
		m := blockKey().FindSubmatch(content)
		if m == nil {
			return s, false
		}
		end(begin)
		open = string(m[1])
		if _, twice := s.at[open]; twice {
			return s, false
		}
		s.at[open], s.inline[open] = [2]int{at, len(text)}, string(m[2])
		switch open {
		case "kind", "apiVersion":
			value, plain := plainScalar(m[2])
			if !plain {
				return s, false
			}
			if open == "kind" {
				s.kind.Kind = value
			} else {
				s.kind.APIVersion = value
			}
		case "metadata":
			if len(m[2]) > 0 {
				return s, false
			}
		}
	}
	end(len(text))
	return s, s.indent >= 0 && open != ""
}

// plainScalar returns the value of a line, if it is one word, in quotes or not.
func plainScalar(raw []byte) (string, bool) {
	m := plainWord().FindSubmatch(raw)
	if m == nil || otherThanText[string(bytes.ToLower(m[1]))] {
		return "", false
	}
	return string(slices.Concat(m[1], m[2], m[3])), true
}

// otherThanText are words that YAML reads as something else.
var otherThanText = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

var plainWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:([A-Za-z][A-Za-z0-9_./-]*)|"([A-Za-z0-9_./-]+)"|'([A-Za-z0-9_./-]+)')$`)
})

// below returns the lines below a key.
func (s *skimmed) below(key string) []byte {
	at, ok := s.at[key]
	if !ok {
		return nil
	}
	return s.text[at[0]:at[1]]
}

// keys returns the keys of the object below a key, and their values as they stand there,
// if each is on a line of its own. ok is false where that cannot be told.
func (s *skimmed) keys(key string) (found map[string]string, ok bool) {
	found = map[string]string{}
	switch _, there := s.at[key]; {
	case !there, s.inline[key] == "{}", s.inline[key] == "null":
		return found, true
	case s.inline[key] != "":
		return nil, false
	}
	indent := -1
	for line := range bytes.Lines(s.below(key)) {
		content := bytes.TrimLeft(line, " ")
		lead := len(line) - len(content)
		content = bytes.TrimRight(content, " \r\n")
		if len(content) == 0 || content[0] == '#' {
			continue
		}
		if indent < 0 {
			indent = lead
		}
		if lead > indent || lead == indent && content[0] == '-' && len(found) > 0 {
			continue
		}
		m := blockKey().FindSubmatch(content)
		if lead <= s.indent || lead < indent || m == nil {
			return nil, false
		}
		found[string(m[1])] = string(m[2])
	}
	return found, indent >= 0
}

// newest returns the newest time in the object's metadata: when it was made and written.
func (s *skimmed) newest() (newest time.Time) {
	meta := s.below("metadata")
	for line := range bytes.Lines(meta) {
		content := bytes.TrimLeft(line, " ")
		lead := len(line) - len(content)
		value, ok := bytes.CutPrefix(content, []byte("creationTimestamp: "))
		if ok = ok && lead == s.indent+2; !ok {
			if value, ok = bytes.CutPrefix(content, []byte("time: ")); !ok || lead != s.indent+4 {
				continue
			}
		}
		if t, err := time.Parse(time.RFC3339, string(bytes.Trim(value, "\"' \r\n"))); err == nil && t.After(newest) {
			newest = t.UTC()
		}
	}
	return newest
}

// ofObject returns what is kept of an object without converting it, if that can be told
// from its lines.
func (s *skimmed) ofObject() (object, bool) {
	o := object{kind: s.kind, newest: s.newest()}
	if o.kind.Kind == "" || o.kind.APIVersion == "" || isList(o.kind) || s.at["items"] != [2]int{} || read(o.kind) || mistaken(o.kind) != nil || s.holdsOthers() {
		return o, false
	}
	of := snapshot.ReferredKind(o.kind.Kind)
	if o.kind.APIVersion != "v1" || !slices.Contains(snapshot.ReferredKinds, of) {
		return o, true
	}
	meta, ok := s.keys("metadata")
	data, okData := s.keys("data")
	binary, okBinary := s.keys("binaryData")
	more, okMore := s.keys("stringData")
	name, okName := plainScalar([]byte(meta["name"]))
	namespace, okNamespace := plainScalar([]byte(meta["namespace"]))
	okNamespace = okNamespace || meta["namespace"] == ""
	if !ok || !okData || !okBinary || !okMore || !okName || !okNamespace {
		return o, false
	}
	o.referred = referredAs(of, namespace, name, sortedKeys(data, more), sortedKeys(binary))
	return o, true
}

// sortedKeys returns the keys of the maps, each once.
func sortedKeys(all ...map[string]string) []string {
	var keys []string
	for _, m := range all {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// read reports whether an answer, or a note, needs more of an object of this kind than
// that there is one.
func read(k metav1.TypeMeta) bool {
	switch {
	case heldTypes[k] != nil, admissionTypes[k] != nil, k == ofOperators, k == ofManagers, k == ofLeases, k == ofStatus, k.Kind == snapshot.Kind:
		return true
	}
	return false
}

var (
	ofOperators = metav1.TypeMeta{APIVersion: "config.openshift.io/v1", Kind: "ClusterOperator"}
	ofLeases    = metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	ofStatus    = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
)

var (
	countedKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[ -]+"?kind"?: ["']?(?:DaemonSet|Node|Pod|ControllerRevision|Event|PodDisruptionBudget)(?:List)?["']?\s*$`)
	})
	metadataKey = []byte("metadata:")
)

// holdsOthers reports whether objects that count may stand inside this one.
func (s *skimmed) holdsOthers() bool {
	return bytes.Count(s.text, metadataKey) > 1 && countedKey().Match(s.text)
}

// sums tells texts that were read before. It is safe for concurrent use.
type sums struct {
	sync.Mutex
	seed maphash.Seed
	seen map[uint64]bool
}

func newSums() *sums { return &sums{seed: maphash.MakeSeed(), seen: map[uint64]bool{}} }

// again reports whether an object of the same lines was read before, wherever it stood:
// the collectors of dumps write each pod twice, in a list and in a file of its own.
func (all *sums) again(s *skimmed) bool {
	from, ok := s.at["metadata"]
	if !ok || heldTypes[s.kind] == nil {
		return false
	}
	var h maphash.Hash
	h.SetSeed(all.seed)
	_, _ = h.WriteString(s.kind.APIVersion + "/" + s.kind.Kind + "\n")
	for line := range bytes.Lines(s.text[from[0]:]) {
		lead := min(s.indent, len(line)-len(bytes.TrimLeft(line, " ")))
		_, _ = h.Write(bytes.TrimRight(line[lead:], "\r\n"))
		_ = h.WriteByte('\n')
	}
	sum := h.Sum64()
	all.Lock()
	defer all.Unlock()
	if all.seen[sum] {
		return true
	}
	all.seen[sum] = true
	return false
}
