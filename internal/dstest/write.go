package dstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Write returns a state in the notation: a grid, and options as Go source. State returns the state
// again, with lists in the order of the grid. Patch expresses what neither the grid nor another
// option can express.
//
// Some states cannot be expressed, such as one with two revisions of one name. The error names what
// would be lost.
func Write(s *snapshot.Snapshot) (grid string, options []string, err error) {
	r, err := write(s)
	if err != nil {
		return "", nil, err
	}
	for _, o := range r.options {
		options = append(options, o.source())
	}
	return r.grid(), options, nil
}

// Row returns a state as a row of a table in Go source, with its grid, its options and the reason
// for it.
func Row(s *snapshot.Snapshot, why string) (string, error) {
	grid, options, err := Write(s)
	if err != nil {
		return "", err
	}
	list := "nil"
	switch {
	case len(options) == 1:
		list = "options{" + options[0] + "}"
	case len(options) > 1:
		list = "options{\n\t" + strings.Join(options, ",\n\t") + ",\n}"
	}
	return fmt.Sprintf("{%q, %s, %q},", grid, list, why), nil
}

// row is a state in the notation.
type row struct {
	cells   []string // fields of the grid
	options []option
}

// option is a call of a function that returns an Option.
type option struct {
	name  string
	args  []any          // of type string, int32 or int64
	patch map[string]any // second argument of Patch; nil removes the object
}

func (o option) source() string {
	var args []string
	for _, a := range o.args {
		if text, ok := a.(string); ok {
			a = strconv.Quote(text)
		}
		args = append(args, fmt.Sprint(a))
	}
	if o.name == "Patch" {
		text := o.patchText()
		if strings.Contains(text, "`") {
			args = append(args, strconv.Quote(text))
		} else {
			args = append(args, "`"+text+"`")
		}
	}
	return "dstest." + o.name + "(" + strings.Join(args, ", ") + ")"
}

func (o option) patchText() string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(o.patch); err != nil {
		panic(err) // it was decoded from JSON
	}
	return strings.TrimSpace(b.String())
}

func (o option) option() Option {
	text := func(i int) string { return o.args[i].(string) }
	switch o.name {
	case "Version":
		return Version(text(0))
	case "MaxUnavailable":
		return MaxUnavailable(text(0))
	case "MaxSurge":
		return MaxSurge(text(0))
	case "OnDelete":
		return OnDelete()
	case "MinReadySeconds":
		return MinReadySeconds(o.args[0].(int32))
	case "AddRevision":
		return AddRevision(text(0), o.args[1].(int64), text(2))
	case "AddPod":
		return AddPod(text(0))
	case "Rename":
		var pairs []string
		for i := range o.args {
			pairs = append(pairs, text(i))
		}
		return Rename(pairs...)
	}
	return Patch(text(0), o.patchText())
}

func (r *row) add(name string, args ...any) {
	r.options = append(r.options, option{name: name, args: args})
}

func (r *row) patch(object string, patch map[string]any) {
	r.options = append(r.options, option{name: "Patch", args: []any{object}, patch: patch})
}

// grid joins the cells. Three or more equal cells are written as a repetition.
func (r *row) grid() string {
	var fields []string
	for i := 0; i < len(r.cells); {
		times := 1
		for i+times < len(r.cells) && r.cells[i+times] == r.cells[i] {
			times++
		}
		if times < 3 {
			times = 1
			fields = append(fields, r.cells[i])
		} else {
			fields = append(fields, r.cells[i]+"*"+strconv.Itoa(times))
		}
		i += times
	}
	return strings.Join(fields, " ")
}

func (r *row) state() (*snapshot.Snapshot, error) {
	var options []Option
	for _, o := range r.options {
		options = append(options, o.option())
	}
	return Parse(strings.Join(r.cells, " "), options...)
}

// write returns the row of a state. Each step adds what the steps before it do not express.
func write(s *snapshot.Snapshot) (*row, error) {
	l := layoutOf(s)
	c, err := rename(s, l.pairs)
	if err != nil {
		return nil, err
	}
	l = layoutOf(c)
	r := &row{}
	for _, part := range []func(*row, *snapshot.Snapshot) error{(*row).writeDaemonSet, (*row).writeRevisions, l.writeCells, (*row).writeRest} {
		if err := part(r, c); err != nil {
			return nil, err
		}
	}
	if len(l.pairs) > 0 { // names that no grid has
		return nil, fmt.Errorf("no grid has the names %q", l.pairs)
	}
	if pairs := layoutOf(s).pairs; len(pairs) > 0 {
		var back []any
		for i := 0; i < len(pairs); i += 2 {
			back = append(back, pairs[i+1], pairs[i])
		}
		r.add("Rename", back...)
	}
	return r, r.check(s)
}

func (r *row) writeDaemonSet(s *snapshot.Snapshot) error {
	if s.KubernetesVersion != Newest {
		r.add("Version", s.KubernetesVersion)
	}
	u := s.DaemonSet.Spec.UpdateStrategy
	zero := intstr.FromInt32(0)
	switch ru := u.RollingUpdate; {
	case u.Type == appsv1.OnDeleteDaemonSetStrategyType:
		r.add("OnDelete")
	case ru == nil || ru.MaxUnavailable == nil || ru.MaxSurge == nil:
	case *ru.MaxSurge == zero && *ru.MaxUnavailable != intstr.FromInt32(1):
		r.add("MaxUnavailable", ru.MaxUnavailable.String())
	case *ru.MaxUnavailable == zero && *ru.MaxSurge != zero:
		r.add("MaxSurge", ru.MaxSurge.String())
	}
	if n := s.DaemonSet.Spec.MinReadySeconds; n != 0 {
		r.add("MinReadySeconds", n)
	}
	base, err := r.state()
	if err != nil {
		return err
	}
	return r.writeObject("daemonset", base.DaemonSet, s.DaemonSet)
}

func (r *row) writeRevisions(s *snapshot.Snapshot) error {
	there := map[string]bool{}
	for i := range s.Revisions {
		there[s.Revisions[i].Name] = true
	}
	for _, name := range []string{Name + "-" + OldHash, Name + "-" + NewHash} {
		if !there[name] {
			r.patch("revisions/"+name, nil)
		}
		delete(there, name)
	}
	for i := range s.Revisions {
		if rev := &s.Revisions[i]; there[rev.Name] {
			r.add("AddRevision", strings.TrimPrefix(rev.Name, Name+"-"), rev.Revision, imageOf(s, rev))
		}
	}
	base, err := r.state()
	if err != nil {
		return err
	}
	return writeNamed(r, "revisions", base.Revisions, s.Revisions)
}

// imageOf returns the image that turns the template into the one that a revision stores, or "" if
// the revision stores the same template or one that differs otherwise.
func imageOf(s *snapshot.Snapshot, rev *appsv1.ControllerRevision) string {
	var data struct {
		Spec struct{ Template corev1.PodTemplateSpec }
	}
	if err := json.Unmarshal(rev.Data.Raw, &data); err != nil || len(data.Spec.Template.Spec.Containers) == 0 {
		return ""
	}
	image, t := data.Spec.Template.Spec.Containers[0].Image, &s.DaemonSet.Spec.Template
	if image == t.Spec.Containers[0].Image || !bytes.Equal(rev.Data.Raw, stored(withImage(t, image), !atLeast(s.KubernetesVersion, 34))) {
		return ""
	}
	return image
}

// layout maps the objects of a state to the places of a grid.
type layout struct {
	nodes []string            // by place in the grid
	pods  map[string][]string // by node, in the order of the grid
	stray []string            // pods without a node
	pairs []string            // names that a grid would not use, each with the name that it would use
}

// layoutOf assigns a place to every node, including nodes that only pods name. If the name of a
// node denotes a place, the node gets it.
func layoutOf(s *snapshot.Snapshot) layout {
	l := layout{pods: map[string][]string{}}
	var names []string
	for i := range s.Nodes {
		names = append(names, s.Nodes[i].Name)
	}
	pods := slices.Clone(s.Pods)
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		if byAge := a.CreationTimestamp.Time.Compare(b.CreationTimestamp.Time); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.Name, b.Name)
	})
	known := map[string]bool{}
	for _, n := range names {
		known[n] = true
	}
	for i := range pods {
		node := nodeOf(&pods[i])
		if node == "" {
			l.stray = append(l.stray, pods[i].Name)
			continue
		}
		if l.pods[node] = append(l.pods[node], pods[i].Name); !known[node] {
			known[node] = true
			names = append(names, node)
		}
	}
	l.place(names)

	to := map[string]string{}
	for i, node := range l.nodes {
		to[node] = fmt.Sprintf("n%d", i)
		for j, pod := range l.pods[node] {
			to[pod] = podName(strconv.Itoa(i), j)
		}
	}
	for i, pod := range l.stray {
		to[pod] = "stray" + string(rune('a'+i))
	}
	l.pairs = permutation(s, to)
	return l
}

func (l *layout) place(names []string) {
	l.nodes = make([]string, len(names))
	var rest []string
	for _, name := range names {
		i, err := strconv.Atoi(strings.TrimPrefix(name, "n"))
		if err != nil || i < 0 || i >= len(names) || name != fmt.Sprintf("n%d", i) {
			rest = append(rest, name)
			continue
		}
		l.nodes[i] = name
	}
	for i := range l.nodes {
		if l.nodes[i] == "" {
			l.nodes[i], rest = rest[0], rest[1:]
		}
	}
}

// permutation returns a renaming as pairs that can be undone. An existing object with one of the
// new names gets one of the old names.
func permutation(s *snapshot.Snapshot, to map[string]string) []string {
	var free, taken, pairs []string
	given := map[string]bool{}
	for _, name := range to {
		given[name] = true
	}
	for _, from := range slices.Sorted(maps.Keys(to)) {
		if from != to[from] {
			pairs = append(pairs, from, to[from])
		}
		if !given[from] {
			free = append(free, from)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, moves := to[name]; !moves {
			taken = append(taken, name)
		}
	}
	if len(taken) == 0 {
		return pairs
	}
	raw, err := snapshot.Encode(s)
	if err != nil {
		return pairs // renaming fails in the same way
	}
	for i, name := range taken { // as many as there are free names
		if bytes.Contains(raw, []byte(strconv.Quote(name))) {
			pairs = append(pairs, name, free[i])
		}
	}
	return pairs
}

// nodeOf returns the node that a pod is bound to, or the one that its affinity names.
func nodeOf(p *corev1.Pod) string {
	if p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range t.MatchFields {
			if f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

func (l *layout) writeCells(r *row, s *snapshot.Snapshot) error {
	nodes, pods := map[string]*corev1.Node{}, map[string]*corev1.Pod{}
	for i := range s.Nodes {
		nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for i := range s.Pods {
		pods[s.Pods[i].Name] = &s.Pods[i]
	}
	for _, name := range l.nodes {
		marks := "~"
		if n := nodes[name]; n != nil {
			marks = marksOf(n)
		}
		var letters []string
		for _, pod := range l.pods[name] {
			letters = append(letters, lettersOf(s, pods[pod]))
		}
		if len(letters) == 0 {
			letters = []string{"-"}
		}
		r.cells = append(r.cells, marks+strings.Join(letters, "/"))
	}
	for _, name := range l.stray {
		r.add("AddPod", name)
	}
	base, err := r.state()
	if err != nil {
		return err
	}
	if err := writeNamed(r, "nodes", base.Nodes, s.Nodes); err != nil {
		return err
	}
	return writeNamed(r, "pods", base.Pods, s.Pods)
}

// marksOf returns the marks that express exactly the taints of a node, or "".
func marksOf(n *corev1.Node) string {
	known := map[corev1.Taint]string{
		{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}:                   "!",
		{Key: "dedicated", Effect: corev1.TaintEffectNoExecute}:                    "#",
		{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}: "^",
	}
	marks := ""
	for _, t := range n.Spec.Taints {
		m, ok := known[t]
		if !ok || strings.Contains(marks, m) {
			return ""
		}
		marks += m
	}
	return marks
}

// lettersOf returns the letter and flags that describe a pod best.
func lettersOf(s *snapshot.Snapshot, p *corev1.Pod) string {
	letter := map[[2]bool]string{{false, false}: "O", {true, true}: "N", {false, true}: "G", {true, false}: "H"}[[2]bool{
		p.Labels[hashLabel] == NewHash, p.Labels[generationLabel] == NewGeneration,
	}]
	flags := ""
	if p.DeletionTimestamp != nil {
		flags += "t"
	}
	switch phase := p.Status.Phase; {
	case phase == corev1.PodFailed:
		flags += "f"
	case phase == corev1.PodSucceeded:
		flags += "s"
	case phase == corev1.PodPending && p.Spec.NodeName == "":
		flags += "p"
	}
	ready := false
	for _, c := range p.Status.Conditions {
		if c.Type != corev1.PodReady || c.Status != corev1.ConditionTrue {
			continue
		}
		ready = true
		justNow := ago(time.Second)
		if s.DaemonSet.Spec.MinReadySeconds >= 2 && c.LastTransitionTime.Equal(&justNow) {
			letter = map[string]string{"O": "V", "N": "W", "G": "G", "H": "H"}[letter]
		}
	}
	if !ready || strings.ContainsAny(flags, "fsp") {
		letter = map[string]string{"O": "o", "N": "n", "G": "g", "H": "h", "V": "o", "W": "n"}[letter]
	}
	switch ref := metav1.GetControllerOf(p); {
	case ref == nil && p.Labels["app"] == Name:
		flags += "a"
	case ref != nil && ref.UID == uid && p.Labels["app"] == "other":
		flags += "r"
	case ref != nil && ref.UID != uid && p.Labels["app"] == Name:
		flags += "x"
	}
	return letter + flags
}

// writeRest writes what does not belong to an object.
func (r *row) writeRest(s *snapshot.Snapshot) error {
	before, err := parts(newSnapshot(newDaemonSet(), s.KubernetesVersion))
	if err != nil {
		return err
	}
	after, err := parts(s)
	if err != nil {
		return err
	}
	patch := map[string]any{}
	for key, value := range after {
		if !reflect.DeepEqual(before[key], value) {
			patch[key] = value
		}
	}
	if len(patch) > 0 {
		r.patch("snapshot", patch)
	}
	return nil
}

// parts returns the fields of the encoded Snapshot that Patch of "snapshot" can change.
func parts(s *snapshot.Snapshot) (map[string]any, error) {
	raw, err := snapshot.Encode(s)
	if err != nil {
		return nil, err
	}
	fields, err := tree(raw)
	if err != nil {
		return nil, err
	}
	for _, object := range []string{"daemonSet", "revisions", "nodes", "pods", "kubernetesVersion"} {
		delete(fields, object)
	}
	return fields, nil
}

// writeNamed writes the difference between each object and the one of the same name.
func writeNamed[T any, P interface {
	*T
	metav1.Object
}](r *row, kind string, before, after []T) error {
	by := map[string]P{}
	for i := range before {
		by[P(&before[i]).GetName()] = &before[i]
	}
	for i := range after {
		name := P(&after[i]).GetName()
		if by[name] == nil {
			return fmt.Errorf("%s/%s: the notation has no such object", kind, name)
		}
		if err := r.writeObject(kind+"/"+name, by[name], P(&after[i])); err != nil {
			return err
		}
	}
	return nil
}

func (r *row) writeObject(object string, before, after any) error {
	from, oldData, err := split(before)
	if err != nil {
		return err
	}
	to, data, err := split(after)
	if err != nil {
		return err
	}
	patch := difference(from, to)
	if !bytes.Equal(oldData, data) {
		patch["data"] = json.RawMessage(data)
	}
	if len(patch) > 0 {
		r.patch(object, patch)
	}
	return nil
}

// difference returns the merge patch that turns from into to.
func difference(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range from {
		if _, there := to[key]; !there {
			patch[key] = nil
		}
	}
	for key, value := range to {
		old, had := from[key]
		oldPart, wasTree := old.(map[string]any)
		part, isTree := value.(map[string]any)
		switch {
		case had && reflect.DeepEqual(old, value):
		case wasTree && isTree:
			patch[key] = difference(oldPart, part)
		default:
			patch[key] = value
		}
	}
	return patch
}

// check parses the row. If the result differs from s, it returns an error that names the objects
// that differ.
func (r *row) check(s *snapshot.Snapshot) error {
	back, err := r.state()
	if err != nil {
		return err
	}
	want, err := lines(s)
	if err != nil {
		return err
	}
	got, err := lines(back)
	if err != nil {
		return err
	}
	var lost []string
	for name := range want {
		if want[name] != got[name] {
			lost = append(lost, name)
		}
		delete(got, name)
	}
	if lost = slices.Sorted(slices.Values(slices.AppendSeq(lost, maps.Keys(got)))); len(lost) > 0 {
		return fmt.Errorf("the notation cannot say %s", strings.Join(lost, ", "))
	}
	return nil
}

// lines returns the content of a state by object, independent of the order of lists.
func lines(s *snapshot.Snapshot) (map[string]string, error) {
	out := map[string]string{}
	note := func(name string, o any) error {
		raw, err := json.Marshal(o)
		out[name] += string(raw) + "\n"
		return err
	}
	for i := range s.Nodes {
		if err := note("nodes/"+s.Nodes[i].Name, &s.Nodes[i]); err != nil {
			return nil, err
		}
	}
	for i := range s.Pods {
		if err := note("pods/"+s.Pods[i].Name, &s.Pods[i]); err != nil {
			return nil, err
		}
	}
	for i := range s.Revisions {
		if err := note("revisions/"+s.Revisions[i].Name, &s.Revisions[i]); err != nil {
			return nil, err
		}
	}
	if err := note("daemonset", s.DaemonSet); err != nil {
		return nil, err
	}
	rest, err := parts(s)
	if err != nil {
		return nil, err
	}
	return out, note("snapshot "+s.KubernetesVersion, rest)
}
