package dstest

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// mostTries is the maximum number of calls of differs.
const mostTries = 1500

// Shrink returns the smallest state that it finds for which differs returns true: first with as few
// nodes, pods and revisions as possible, then with as short a row as possible; see Write. It does
// not modify s, and it is deterministic.
//
// Unless mostTries is reached, differs returns false without any single part of the result, but
// perhaps not without two of them. If differs returns false for s, the result is a copy of s.
func Shrink(s *snapshot.Snapshot, differs func(*snapshot.Snapshot) bool) *snapshot.Snapshot {
	k := &shrinker{differs: differs, asked: map[[sha256.Size]byte]bool{}, best: s}
	if k.try(s) {
		for before := 0; before != k.found; {
			before = k.found
			k.objects()
			k.row()
		}
	}
	return clone(k.best)
}

type shrinker struct {
	differs func(*snapshot.Snapshot) bool
	asked   map[[sha256.Size]byte]bool // keys of the states that were tried, each once
	found   int                        // number of states that differ
	best    *snapshot.Snapshot
}

// try replaces the best state by s if s is new and differs.
func (k *shrinker) try(s *snapshot.Snapshot) bool {
	if snapshot.Validate(s) != nil {
		return false
	}
	id := key(s)
	if k.asked[id] || len(k.asked) >= mostTries {
		return false
	}
	k.asked[id] = true
	if !k.differs(s) {
		return false
	}
	k.best = s
	k.found++
	return true
}

// key returns a digest that identifies a state.
func key(s *snapshot.Snapshot) [sha256.Size]byte {
	raw, err := snapshot.Encode(s)
	if err != nil {
		panic(err) // only what JSON cannot represent
	}
	return sha256.Sum256(raw)
}

// tryRow tries the state of a row. If it equals the best state, that is a success, because the row
// is simpler.
func (k *shrinker) tryRow(r *row) bool {
	if len(k.asked) >= mostTries {
		return false
	}
	s, err := r.state()
	return err == nil && (key(s) == key(k.best) || k.try(s))
}

// thin returns a list without the members it can do without while holds returns true. It tries to
// remove all members, then halves, quarters, and so on, and finally single members.
func thin[T any](list []T, holds func(rest []T) bool) []T {
	for size := len(list); size > 0; size /= 2 {
		for i := 0; i < len(list); {
			rest := slices.Concat(list[:i], list[min(i+size, len(list)):])
			if holds(rest) {
				list = rest
				continue
			}
			i += size
		}
	}
	return list
}

// objects removes objects from the best state: nodes with all their pods, then pods, then
// revisions, except for the two of every grid.
func (k *shrinker) objects() {
	nodes := layoutOf(k.best).nodes
	thin(nodes, func(rest []string) bool {
		c := *k.best
		c.Nodes = keep(c.Nodes, func(n *corev1.Node) bool { return slices.Contains(rest, n.Name) })
		c.Pods = keep(c.Pods, func(p *corev1.Pod) bool { return nodeOf(p) == "" || slices.Contains(rest, nodeOf(p)) })
		return k.try(&c)
	})
	thin(k.best.Pods, func(rest []corev1.Pod) bool { c := *k.best; c.Pods = rest; return k.try(&c) })
	spare := keep(k.best.Revisions, func(r *appsv1.ControllerRevision) bool { return !inEveryGrid(r) })
	needed := keep(k.best.Revisions, inEveryGrid)
	thin(spare, func(rest []appsv1.ControllerRevision) bool {
		c := *k.best
		c.Revisions = slices.Concat(needed, rest)
		return k.try(&c)
	})
}

func inEveryGrid(r *appsv1.ControllerRevision) bool {
	return r.Name == Name+"-"+OldHash || r.Name == Name+"-"+NewHash
}

func keep[T any](list []T, wanted func(*T) bool) []T {
	var out []T
	for i := range list {
		if wanted(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

// row shortens and simplifies the row of the best state.
func (k *shrinker) row() {
	r, err := write(k.best)
	if err != nil {
		return
	}
	if !k.tryRow(r) {
		return // differs depends on the order of lists
	}
	thin(r.words(), func(rest []word) bool { return k.tryRow(r.only(rest)) })
	if r, err = write(k.best); err != nil {
		return
	}
	if r.patches() {
		k.tryRow(r.turned())
	}
	if r.ages() > 1 {
		c := clone(k.best)
		for i := range c.Pods {
			c.Pods[i].CreationTimestamp = ago(100 * time.Hour) // the age of the first pod of a cell
		}
		k.try(c)
	}
	for _, part := range []struct {
		count   func(*row) int
		plainer func(*row, int) []*row
	}{
		{func(r *row) int { return len(r.cells) }, (*row).plainerCell},
		{func(r *row) int { return len(r.options) }, (*row).plainerOption},
	} {
		if r, err = write(k.best); err != nil {
			return
		}
		for i := range part.count(r) {
			for {
				variants := part.plainer(r, i)
				better := slices.IndexFunc(variants, k.tryRow)
				if better < 0 {
					break
				}
				r = variants[better]
			}
		}
	}
}

// word is a part of the options of a row that can be removed: an option, a pair of Rename, or a
// value of Patch.
type word struct {
	option int
	path   []string
}

func (r *row) words() []word {
	var out []word
	for i, o := range r.options {
		switch {
		case o.name == "Rename":
			for pair := 0; pair < len(o.args); pair += 2 {
				out = append(out, word{i, []string{strconv.Itoa(pair)}})
			}
		case o.patch != nil:
			for _, path := range paths(o.patch) {
				out = append(out, word{i, path})
			}
		default:
			out = append(out, word{option: i})
		}
	}
	return out
}

// paths returns the path of every leaf of a tree.
func paths(of map[string]any) [][]string {
	var out [][]string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		part, ok := of[key].(map[string]any)
		if !ok || len(part) == 0 {
			out = append(out, []string{key})
			continue
		}
		for _, path := range paths(part) {
			out = append(out, append([]string{key}, path...))
		}
	}
	return out
}

// only returns the row with only the given words.
func (r *row) only(words []word) *row {
	short := &row{cells: r.cells}
	for i, o := range r.options {
		c := option{name: o.name, args: o.args}
		there := false
		for _, w := range words {
			if w.option != i {
				continue
			}
			switch {
			case o.name == "Rename":
				pair, _ := strconv.Atoi(w.path[0])
				if !there {
					c.args = nil
				}
				c.args = append(c.args, o.args[pair], o.args[pair+1])
			case o.patch != nil:
				if !there {
					c.patch = map[string]any{}
				}
				put(c.patch, w.path, at(o.patch, w.path))
			}
			there = true
		}
		if there {
			short.options = append(short.options, c)
		}
	}
	return short
}

func at(t map[string]any, path []string) any {
	if len(path) == 1 {
		return t[path[0]]
	}
	return at(t[path[0]].(map[string]any), path[1:])
}

func put(t map[string]any, path []string, value any) {
	if len(path) == 1 {
		t[path[0]] = value
		return
	}
	part, ok := t[path[0]].(map[string]any)
	if !ok {
		part = map[string]any{}
		t[path[0]] = part
	}
	put(part, path[1:], value)
}

// patches reports whether the row has a Patch.
func (r *row) patches() bool {
	return slices.ContainsFunc(r.options, func(o option) bool { return o.name == "Patch" })
}

// ages returns the number of pods whose age a grid cannot express.
func (r *row) ages() int {
	count := 0
	for _, o := range r.options {
		metadata, _ := o.patch["metadata"].(map[string]any)
		if _, there := metadata["creationTimestamp"]; there {
			count++
		}
	}
	return count
}

// turned returns the row without patches and with old and new pods exchanged, because patches can
// reverse the meaning of the letters.
func (r *row) turned() *row {
	c := &row{}
	for _, cell := range r.cells {
		c.cells = append(c.cells, strings.NewReplacer("O", "N", "o", "n", "N", "O", "n", "o", "V", "W", "W", "V").Replace(cell))
	}
	for _, o := range r.options {
		if o.name != "Patch" {
			c.options = append(c.options, o)
		}
	}
	return c
}

// plain lists the letters of a grid from the simplest to the most special.
const plain = "NOnoGHghWV"

// plainerCell returns rows in which one cell, or all equal cells, are simpler: without a mark,
// without a flag, or with a letter that is earlier in plain.
func (r *row) plainerCell(i int) []*row {
	var out []*row
	become := func(cell string) {
		one := &row{cells: slices.Clone(r.cells), options: r.options}
		one.cells[i] = cell
		all := &row{cells: slices.Clone(r.cells), options: r.options}
		for j := range all.cells {
			if all.cells[j] == r.cells[i] {
				all.cells[j] = cell
			}
		}
		if !slices.Equal(one.cells, all.cells) {
			out = append(out, all)
		}
		out = append(out, one)
	}
	pods := strings.TrimLeft(r.cells[i], "!#^~")
	marks := r.cells[i][:len(r.cells[i])-len(pods)]
	for j := range marks {
		become(marks[:j] + marks[j+1:] + pods)
	}
	list := strings.Split(pods, "/")
	for j, pod := range list {
		other := func(pod string) {
			with := slices.Clone(list)
			with[j] = pod
			become(marks + strings.Join(with, "/"))
		}
		for flag := 1; flag < len(pod); flag++ {
			other(pod[:flag] + pod[flag+1:])
		}
		for letter := range max(0, strings.Index(plain, pod[:1])) {
			other(plain[letter:letter+1] + pod[1:])
		}
	}
	return out
}

// plainerOption returns rows in which one option is simpler: a smaller number, a shorter list, or a
// letter or mark of a cell in its place.
func (r *row) plainerOption(i int) []*row {
	var out []*row
	become := func(o option) {
		c := &row{cells: r.cells, options: slices.Clone(r.options)}
		c.options[i] = o
		out = append(out, c)
	}
	o := r.options[i]
	switch o.name {
	case "MaxUnavailable", "MaxSurge":
		limit, err := strconv.Atoi(o.args[0].(string))
		if err != nil { // a percentage
			limit = 6
		}
		for smaller := 1; smaller < min(limit, 6); smaller++ {
			become(option{name: o.name, args: []any{strconv.Itoa(smaller)}})
		}
	case "MinReadySeconds":
		for _, smaller := range []int32{2, 10, 30, 60} {
			if smaller < o.args[0].(int32) {
				become(option{name: o.name, args: []any{smaller}})
			}
		}
	case "Patch":
		if len(o.patch) == 0 { // expressed by a letter
			return nil
		}
		for _, cells := range r.said(o.args[0].(string)) {
			c := &row{cells: cells, options: slices.Clone(r.options)}
			c.options[i] = option{name: o.name, args: o.args, patch: map[string]any{}}
			out = append(out, c)
		}
		for _, path := range paths(o.patch) {
			for _, value := range shorter(at(o.patch, path)) {
				c := r.only(r.words()).options[i]
				put(c.patch, path, value)
				become(c)
			}
		}
	}
	return out
}

// said returns cells with another letter or one more mark that could express what a patch of the
// object does.
func (r *row) said(object string) [][]string {
	var out [][]string
	kind, name, _ := strings.Cut(object, "/")
	for i, cell := range r.cells {
		become := func(cell string) {
			c := slices.Clone(r.cells)
			c[i] = cell
			out = append(out, c)
		}
		number := strconv.Itoa(i)
		if kind == "nodes" && name == "n"+number {
			for _, mark := range []string{"!", "#", "^"} {
				become(mark + cell)
			}
		}
		pods := strings.TrimLeft(cell, "!#^~")
		for j, pod := range strings.Split(pods, "/") {
			if kind != "pods" || name != podName(number, j) {
				continue
			}
			for letter := range len(plain) {
				with := strings.Split(pods, "/")
				with[j] = plain[letter:letter+1] + pod[1:]
				become(cell[:len(cell)-len(pods)] + strings.Join(with, "/"))
			}
		}
	}
	return out
}

// shorter returns copies of value in which one list, at any depth, has one member less. No list
// becomes empty.
func shorter(value any) []any {
	var out []any
	switch value := value.(type) {
	case []any:
		for i, member := range value {
			if len(value) > 1 {
				out = append(out, slices.Concat(value[:i], value[i+1:]))
			}
			for _, less := range shorter(member) {
				c := slices.Clone(value)
				c[i] = less
				out = append(out, c)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			for _, less := range shorter(value[key]) {
				c := maps.Clone(value)
				c[key] = less
				out = append(out, c)
			}
		}
	}
	return out
}

func clone(s *snapshot.Snapshot) *snapshot.Snapshot {
	c := *s
	c.DaemonSet = s.DaemonSet.DeepCopy()
	c.Nodes, c.Pods, c.Revisions, c.Events, c.PodDisruptionBudgets = slices.Clone(s.Nodes), slices.Clone(s.Pods), slices.Clone(s.Revisions), slices.Clone(s.Events), slices.Clone(s.PodDisruptionBudgets)
	for i := range c.Nodes {
		c.Nodes[i] = *s.Nodes[i].DeepCopy()
	}
	for i := range c.Pods {
		c.Pods[i] = *s.Pods[i].DeepCopy()
	}
	for i := range c.Revisions {
		c.Revisions[i] = *s.Revisions[i].DeepCopy()
	}
	for i := range c.Events {
		c.Events[i] = *s.Events[i].DeepCopy()
	}
	for i := range c.PodDisruptionBudgets {
		c.PodDisruptionBudgets[i] = *s.PodDisruptionBudgets[i].DeepCopy()
	}
	c.Gaps = slices.Clone(s.Gaps)
	return &c
}
