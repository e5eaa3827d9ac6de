package dump

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Dump holds the content of files. ReadFiles creates it; afterwards it does not change.
type Dump struct {
	daemonSets store[appsv1.DaemonSet]
	revisions  store[appsv1.ControllerRevision]
	HeldNodes  store[corev1.Node]
	Pods       store[corev1.Pod]
	events     store[corev1.Event]
	Budgets    store[policyv1.PodDisruptionBudget]
	stores     map[string]putter // the stores above, by kind
	lastKind   string            // the kind of the last object added
	Referable  part.Referable
	snapshots  map[source.Ref]*snapshot.Snapshot
	admission  admissionStores
	attached   map[string][]string // attached CSI volumes, by node
	manager    *object.Manager     // OpenShift's configuration of the controller; nil if there is none
	leases     part.Leases

	options         ReadOptions
	path            string // the given path that is being read
	files           int    // files read so far
	bytes           int64  // bytes of documents read so far
	expectedBytes   int64  // value of bytes after the current file; 0 if unknown
	bytesBeforePods int64  // value of bytes at the first pod
	damageCount     int    // damaged parts that were left out
	unpackedBytes   int64  // bytes unpacked so far, of all files

	Kinds         map[string]int  // number of objects by kind, including kinds that are not read
	inferredKinds map[string]int  // those of Kinds whose kind was inferred from their fields
	unknownKinds  map[string]bool // kinds that Kubernetes does not have
	lists         map[string]bool // kinds with a typed list: if it has no object, there is none
	pages         api.Readings
	Objects       int
	Sums          *document.Sums

	// not read
	skipped        []string // files
	outside        []string // paths that lead out of their archive
	tooDeep        []string // archives
	damaged        []string // errors about objects on which no answer depends
	noFinalNewline []string // files whose last line has no newline
	cut            []string // notes on files that seem to be cut off
	links          int      // links in archives
	macOS          int      // files that macOS adds
	logFiles       int
	removedAPIs    []*source.InputError       // DaemonSets of API versions removed in v1.16
	Lost           map[snapshot.What][]string // errors about damaged objects that may matter, by part

	logs       map[document.LogOf][]logPlace
	versions   []statedVersion
	version    statedVersion // the version in use; its fields are empty if no file states one
	kubelet    string        // the highest kubelet version, if no version is stated
	clusters   []cluster     // objects that identify a cluster, one for each UID
	otherNodes []otherNode
	Gathers    map[string]map[string]*Gathered // by given path and name of the gather
	folders    map[string]bool                 // given paths that are folders

	notes        []string
	clashes      []string // notes on objects with two different copies
	repeatedKeys []string // notes on repeated keys
	unknown      []unknownField

	TakenAt time.Time
	clock   snapshot.Gap
}

func New(how ReadOptions) *Dump {
	how.Most = cmp.Or(how.Most, source.DefaultMaxInput)
	d := &Dump{options: how, Sums: document.NewSums(), Lost: map[snapshot.What][]string{},
		logs: map[document.LogOf][]logPlace{}, Gathers: map[string]map[string]*Gathered{}, folders: map[string]bool{},
		Referable: part.Referable{}, snapshots: map[source.Ref]*snapshot.Snapshot{}, attached: map[string][]string{},
		Kinds: map[string]int{}, inferredKinds: map[string]int{}, unknownKinds: map[string]bool{},
		lists: map[string]bool{},
		pages: api.Readings{}}
	d.stores = map[string]putter{
		"DaemonSet": &d.daemonSets, "ControllerRevision": &d.revisions, "Node": &d.HeldNodes, "Pod": &d.Pods,
		"Event": &d.events, "PodDisruptionBudget": &d.Budgets,
	}
	return d
}

// add adds an object that was read from the file at p.
func (d *Dump) add(p location, o object.Object) error {
	d.Objects++
	if o.Again {
		return nil
	}
	file := p.name
	d.recordGather(p, o)
	if o.Note != "" {
		d.notes = append(d.notes, fmt.Sprintf("%s: document %d: %s", file, o.Document, o.Note))
	}
	for _, r := range o.Repeats {
		d.noteRepeatedKey(file, o.Document, r)
	}
	if o.List {
		d.pages.Add(o.Kind, o.Page)
	}
	if kind := object.ItemKind(o.Kind); kind.Kind != "" && o.List {
		d.lists[object.KindName(kind)] = true
		if object.Strange(kind) && d.Kinds[object.KindName(kind)] == 0 { // the items have no kind and were not read
			d.Kinds[object.KindName(o.Kind)]++
			d.unknownKinds[object.KindName(o.Kind)] = true
		}
		return nil
	}
	if o.Kind.Kind == "List" || o.Kind.Kind == "" { // the end of a list without a kind
		return nil
	}
	d.Kinds[object.KindName(o.Kind)]++
	if o.ByFields {
		d.inferredKinds[object.KindName(o.Kind)]++
	}
	if object.Strange(o.Kind) {
		d.unknownKinds[object.KindName(o.Kind)] = true
	}
	if o.Newest.After(d.TakenAt) {
		d.TakenAt = o.Newest
	}
	at := document.Position{File: file, Document: o.Document, Path: o.Path}
	for _, field := range o.Unknown {
		d.noteUnknownField(o.Kind.Kind, field, at)
	}
	if o.Manager != nil {
		d.manager = o.Manager
	}
	if o.Cluster != "" && !slices.ContainsFunc(d.clusters, func(c cluster) bool { return c.uid == o.Cluster }) {
		d.clusters = append(d.clusters, cluster{o.Kind, o.Cluster, at})
	}
	if o.Lease != nil {
		d.lease(o.Lease)
	}
	if o.Referred != nil {
		d.Referable[o.Referred.Namespace] = append(d.Referable[o.Referred.Namespace], o.Referred.Referred)
	}
	switch {
	case o.Is != nil:
		if o.Attached != nil {
			d.attached[o.Is.GetName()] = o.Attached
		}
		if o.Kind.Kind != d.lastKind { // usually the first object of the next kind
			for _, s := range d.stores {
				s.compact(true)
			}
			d.lastKind = o.Kind.Kind
		}
		why, from := d.stores[o.Kind.Kind].put(o.Is, o.Bare, at)
		d.expectPods()
		if why == otherUID && o.Kind.Kind == "Node" && o.Is.GetUID() != "" &&
			!slices.ContainsFunc(d.otherNodes, func(n otherNode) bool { return n.name == o.Is.GetName() }) {
			d.otherNodes = append(d.otherNodes, otherNode{o.Is.GetName(), from, at})
		}
		if why != "" {
			d.clashes = append(d.clashes, fmt.Sprintf("%s: a second %s %s: the one in %s %s; the one that comes last "+
				"is used", at, o.Kind.Kind,
				source.Ref{Namespace: o.Is.GetNamespace(), Name: o.Is.GetName()}, from, why))
		}
	case o.Operator != nil:
		d.noteOperatorVersion(o.Operator, at)
	case o.Asked != nil:
		d.admission.put(o, at)
	case o.Snapshot != nil:
		ref := source.Ref{Namespace: o.Snapshot.DaemonSet.Namespace, Name: o.Snapshot.DaemonSet.Name}
		old := d.snapshots[ref]
		if old != nil {
			d.notes = append(d.notes,
				fmt.Sprintf("%s: a second snapshot of daemonset %s: the one taken last is used", file, ref))
		}
		if old == nil || !old.TakenAt.After(o.Snapshot.TakenAt) {
			d.snapshots[ref] = o.Snapshot
		}
	}
	return nil
}

// expectPods reserves memory for the pods that are expected in the rest of the file, once enough
// pods show their average size. This avoids copying them at the end.
func (d *Dump) expectPods() {
	switch n := int64(len(d.Pods.Items)); {
	case n == 1:
		d.bytesBeforePods = d.bytes
	case n == DirectItems && d.Pods.fresh.Size == 0 && d.bytes > d.bytesBeforePods:
		more := (d.expectedBytes - d.bytes) * n / (d.bytes - d.bytesBeforePods)
		d.Pods.Items = slices.Grow(d.Pods.Items, int(min(max(0, more+more/20), MaxPods)))
	}
}

// MaxPods is the maximum number of pods for which expectPods reserves memory. The rest of a file
// may hold other objects.
const MaxPods = 20_000

// recordGather records to which gather an object belongs.
func (d *Dump) recordGather(p location, o object.Object) {
	if d.Gathers[d.path] == nil {
		d.Gathers[d.path] = map[string]*Gathered{}
	}
	of := d.Gathers[d.path][p.gather]
	if of == nil {
		of = &Gathered{}
		d.Gathers[d.path][p.gather] = of
	}
	if o.Is != nil {
		of.objects++
	}
	if o.Newest.After(of.Newest) {
		of.Newest = o.Newest
	}
}

// noteRepeatedKey adds a note on a key that appears twice in an object.
func (d *Dump) noteRepeatedKey(file string, doc int, r object.Repeat) {
	key := "a key"
	if r.Key != "" {
		key = "the key " + r.Key
	}
	note := fmt.Sprintf("%s: document %d, line %d: %s appears twice in one object; the last value is used", file,
		doc, r.Line, key)
	if !slices.Contains(d.repeatedKeys, note) { // the same line or text may hold several objects
		d.repeatedKeys = append(d.repeatedKeys, note)
	}
}

// unknownField is a field that objects of one kind have and that is not read.
type unknownField struct {
	kind, field string
	first       document.Position
	objects     int
}

// noteUnknownField records a field that its kind does not have: it is misspelled or belongs to a newer
// version of Kubernetes.
func (d *Dump) noteUnknownField(kind, field string, at document.Position) {
	if i := slices.IndexFunc(d.unknown, func(u unknownField) bool {
		return u.kind == kind &&
			u.field == field
	}); i >= 0 {
		d.unknown[i].objects++
	} else if len(d.unknown) < maxUnknown {
		d.unknown = append(d.unknown, unknownField{kind, field, at, 1})
	}
}

// maxUnknown is the maximum number of unknown fields that are recorded.
const maxUnknown = 100

func (u unknownField) note() string {
	s := fmt.Sprintf("%s: %s %s is ignored: this version of the plugin does not know the field", u.first,
		u.kind, u.field)
	if right := object.NearField(u.kind, u.field); right != "" {
		s += ", did you mean " + right + "?"
	}
	switch u.objects {
	case 1:
	case 2:
		s += " (also in 1 more object)"
	default:
		s += fmt.Sprintf(" (also in %d more objects)", u.objects-1)
	}
	return s
}

// limited returns the first notes and, if there are more, a line with the number of the others.
func limited(notes []string, what string) []string {
	if n := len(notes) - document.Most; n > 0 {
		return append(notes[:document.Most:document.Most], fmt.Sprintf("%d more %s", n, what))
	}
	return notes
}

// Finish completes the Dump after all files have been read. It returns an error if the input holds
// no DaemonSet, or objects of several clusters.
func (d *Dump) Finish(paths []string, clock func() time.Time) error {
	d.HeldNodes.index, d.Pods.index = nil, nil // large, and no longer needed
	for _, s := range slices.Concat(slices.Collect(maps.Values(d.stores)),
		slices.Collect(maps.Values(d.admission.stores()))) {
		s.compact(false)
	}
	d.noteUnread()
	if len(d.removedAPIs) > 0 && len(d.daemonSets.Items) == 0 {
		return d.removedAPIs[0]
	}
	if len(d.daemonSets.Items) == 0 && len(d.snapshots) == 0 && !d.lists["DaemonSet"] &&
		len(d.Lost[snapshot.DaemonSets]) == 0 {
		return &source.InputError{File: strings.Join(paths, ", "), Err: document.NoDaemonSet(d.Kinds),
			HintText: source.GetHint}
	}
	if err := cmp.Or(d.severalGathers(), d.severalClusters()); err != nil {
		return err
	}
	object.SortByName(d.HeldNodes.Items)
	d.clock = snapshot.Gap{What: snapshot.Clock, Why: snapshot.NotGiven,
		Message: "the input does not say when it was taken: the newest time in it is used"}
	if d.TakenAt.IsZero() {
		d.TakenAt = clock().UTC()
		d.clock.Message = "the input holds no time at all: this machine's clock is used"
	}
	for _, kind := range slices.Sorted(maps.Keys(d.unknownKinds)) {
		d.notes = append(d.notes, fmt.Sprintf("ignored: %d %s, a kind that Kubernetes does not have",
			d.Kinds[kind], kind))
	}
	if len(d.inferredKinds) > 0 {
		d.notes = append(
			d.notes,
			"objects that do not say their kind are read by their fields: "+strings.Join(
				object.Each(d.inferredKinds),
				", ",
			),
		)
	}
	var unread []string
	for _, u := range d.unknown {
		unread = append(unread, u.note())
	}
	d.notes = slices.Concat(d.notes, limited(d.clashes, "objects appear twice in the input, with different content"),
		limited(d.repeatedKeys, "keys appear twice in one object"), limited(unread, "fields are ignored"))
	d.notePodless()
	d.decideVersion()
	return nil
}

// notePodless adds a note for each DaemonSet that is assumed to have no pods; see rejected.
func (d *Dump) notePodless() {
	if d.Kinds["Pod"] > 0 || d.lists["Pod"] || d.Partial("Pod") != "" {
		return
	}
	for i := range d.daemonSets.Items {
		if r, err := object.Relate(&d.daemonSets.Items[i]); err == nil && d.rejected(r) {
			const why = "no Pod in the input: daemonset %s is taken to have none, because its status counts none and " +
				"its events say that all are rejected"
			d.notes = append(d.notes, fmt.Sprintf(why, source.Ref{Namespace: r.Ds.Namespace, Name: r.Ds.Name}))
		}
	}
}

// Notes returns lines about how the input was read, such as ignored files and duplicate objects.
func (d *Dump) Notes() []string { return slices.Clone(d.notes) }

// names returns the sorted names of the DaemonSets in a namespace, or in all namespaces if it is
// empty, without duplicates.
func (d *Dump) names(namespace string) []string {
	var names []string
	for _, r := range d.Refs() {
		if namespace == "" || r.Namespace == namespace {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Refs returns all DaemonSets, sorted by namespace and name.
func (d *Dump) Refs() []source.Ref {
	refs := slices.Collect(maps.Keys(d.snapshots))
	for i := range d.daemonSets.Items {
		o := &d.daemonSets.Items[i]
		refs = append(refs, source.Ref{Namespace: o.Namespace, Name: o.Name})
	}
	slices.SortFunc(refs, func(a, b source.Ref) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(refs)
}

// Read returns the Snapshot of one DaemonSet. If ref has no namespace and several DaemonSets have
// the name, the error is a [*source.AmbiguousError].
//
// A recorded Snapshot is returned without its optional parts: AddOtherPods, AddAdmission,
// AddReferences, AddVolumes and AddController add them. Otherwise the Snapshot, unlike that of
// Cluster.Read, includes pods that the DaemonSet owns but does not select.
func (d *Dump) Read(_ context.Context, ref source.Ref) (*snapshot.Snapshot, error) {
	var fit []source.Ref
	var elsewhere []string
	for _, r := range d.Refs() {
		switch {
		case r.Name != ref.Name:
		case ref.Namespace == "" || r.Namespace == ref.Namespace:
			fit = append(fit, r)
		default:
			elsewhere = append(elsewhere, r.Namespace)
		}
	}
	switch len(fit) {
	case 0:
		e := &source.NotFoundError{Ref: ref, Near: snapshot.Near(ref.Name, d.names(ref.Namespace)),
			Elsewhere: elsewhere,
			Partial:   d.Partial("DaemonSet")}
		if len(e.Near) == 0 && len(e.Elsewhere) == 0 {
			if e.Far = source.SimilarRefs(ref.Name, d.Refs()); len(e.Far) == 0 {
				e.Held = d.Refs()
			}
		}
		return nil, e
	case 1:
		return d.snapshot(fit[0])
	}
	return nil, &source.AmbiguousError{Name: ref.Name, Refs: fit}
}

// ReadAll returns the Snapshots of all DaemonSets that match the filter, sorted by namespace and
// name. Unless they are recorded, the Snapshots share their Nodes.
func (d *Dump) ReadAll(ctx context.Context, f source.Filter) ([]*snapshot.Snapshot, error) {
	return source.Collect(ctx, f, d.ReadEach)
}

// ReadEach calls each with the Snapshots that ReadAll returns, one by one.
func (d *Dump) ReadEach(ctx context.Context, f source.Filter, each func([]*snapshot.Snapshot) error) error {
	partial := "" // what is missing from all DaemonSets; irrelevant for DaemonSets given by name
	if len(f.Names) == 0 {
		partial = d.Partial("DaemonSet")
	}
	found := false
	for _, r := range d.Refs() {
		if f.Namespace != "" && r.Namespace != f.Namespace || !f.Matches(r.Name, d.labels(r)) {
			continue
		}
		found = true
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := d.snapshot(r)
		if err != nil {
			return err
		}
		if partial != "" {
			c := *s
			c.Gaps = object.Ordered(append(slices.Clone(s.Gaps),
				snapshot.Gap{What: snapshot.DaemonSets, Why: snapshot.Partial,
					Message: partial}))
			s = &c
		}
		if err := each([]*snapshot.Snapshot{s}); err != nil {
			return err
		}
	}
	if partial != "" && !found { // incomplete input proves nothing
		return &source.NotFoundError{Ref: source.Ref{Namespace: f.Namespace}, Held: d.Refs(), Partial: partial}
	}
	return nil
}

func (d *Dump) labels(r source.Ref) map[string]string {
	if s := d.snapshots[r]; s != nil {
		return s.DaemonSet.Labels
	}
	return d.daemonSets.Items[d.daemonSets.index[r.Namespace+"/"+r.Name]].Labels
}

func (d *Dump) snapshot(r source.Ref) (*snapshot.Snapshot, error) {
	if s := d.snapshots[r]; s != nil {
		// the Add methods add these parts on request
		s = s.Holding(nil, nil).Admitting(nil, nil).Referring(nil, nil).Reaching(nil, nil).ControlledBy(nil, nil)
		return part.Selected(s, r.Namespace), nil
	}
	rel, err := object.Relate(&d.daemonSets.Items[d.daemonSets.index[r.Namespace+"/"+r.Name]])
	if err != nil {
		return nil, err
	}
	s := d.assemble(rel)
	whose := object.TroubledOf(s.Pods)
	s.Events = object.NewestOfEach(object.Filter(d.events.Items, func(o metav1.Object) bool {
		return rel.Concerns(o) || whose.Concerned(o)
	}))
	s.Gaps = object.Ordered(s.Gaps)
	object.Order(s)
	return s, snapshot.Validate(s)
}

// rejected reports whether the API server rejects all pods of a DaemonSet: its status counts no
// pods, an event reports a rejected pod, and no event reports a created one.
func (d *Dump) rejected(r object.Relation) bool {
	status, fails := &r.Ds.Status, false
	if d.daemonSets.noStatus[object.Key(&r.Ds.ObjectMeta)] ||
		status.CurrentNumberScheduled+status.NumberMisscheduled > 0 {
		return false
	}
	for i := range d.events.Items {
		e := &d.events.Items[i]
		switch {
		case !r.Concerns(e):
		case e.Reason == "SuccessfulCreate":
			return false
		case e.Reason == "FailedCreate":
			fails = true
		}
	}
	return fails
}

// assemble returns a Snapshot without events. It is not sorted.
func (d *Dump) assemble(r object.Relation) *snapshot.Snapshot {
	budgets := object.Filter(d.Budgets.Items, r.SelectedBy)
	for i := range budgets {
		object.Strip(&budgets[i])
	}
	known, from := d.version.version, snapshot.VersionDump
	if known == "" {
		known, from = d.kubelet, snapshot.VersionKubelet
	}
	if known == "" {
		from = snapshot.VersionDefault
	}
	selecting := d.openShift(r.Ds.Namespace)
	return &snapshot.Snapshot{
		KubernetesVersion: known,
		DaemonSet:         r.Ds, Revisions: object.Filter(d.revisions.Items, r.Takes), Nodes: d.HeldNodes.Items,
		Pods:                 object.Those(d.Pods.Items, r.Takes),
		PodDisruptionBudgets: budgets, TakenAt: d.TakenAt, VersionSource: from,
		OpenShift: selecting.Of, Gaps: slices.Concat(d.gaps(r), selecting.Gaps),
	}
}

// ReadFor returns the Snapshot of ds, a DaemonSet that the input does not contain, with the nodes
// and with the pods and revisions that its selector matches. Missing pods, revisions and events are
// no Gap. If the input consists of recorded Snapshots, the nodes are those of the latest one.
func (d *Dump) ReadFor(_ context.Context, ds *appsv1.DaemonSet) (*snapshot.Snapshot, error) {
	rel, err := object.Relate(ds)
	if err != nil {
		return nil, err
	}
	s := d.assemble(rel)
	if last := d.last(); last != nil && len(s.Nodes) == 0 {
		s.Nodes, s.TakenAt, s.KubernetesVersion, s.VersionSource, s.Gaps = last.Nodes, last.TakenAt,
			last.KubernetesVersion, last.VersionSource, last.Holding(nil, nil).Admitting(nil, nil).Referring(nil,
				nil).Reaching(nil, nil).ControlledBy(nil, nil).Gaps
		s.OpenShift = last.OpenShift
		s = part.Selected(s, last.DaemonSet.Namespace)
	}
	s.Gaps = object.Ordered(slices.DeleteFunc(s.Gaps, func(g snapshot.Gap) bool {
		return g.Why != snapshot.Partial &&
			slices.Contains([]snapshot.What{snapshot.Pods, snapshot.Revisions, snapshot.Events}, g.What)
	}))
	object.Order(s)
	return s, snapshot.Validate(s)
}

// last returns the recorded Snapshot with the latest TakenAt, or nil if there is none.
func (d *Dump) last() *snapshot.Snapshot {
	var last *snapshot.Snapshot
	for _, r := range d.Refs() {
		if s := d.snapshots[r]; s != nil && (last == nil || s.TakenAt.After(last.TakenAt)) {
			last = s
		}
	}
	return last
}

// gaps returns the Gaps of the input for a DaemonSet.
//
// A kind is given if the input has an object of it or a typed list. Because a dump may be
// restricted to other namespaces or owners, there must also be a pod in the DaemonSet's namespace
// if the status counts pods, and a revision of the DaemonSet if the status shows that the
// controller has seen it. Missing pods are no Gap if all pods of the DaemonSet are rejected, and
// missing PodDisruptionBudgets never are: no number depends on them, and few dumps contain them. An
// incomplete list is a Gap for its kind.
func (d *Dump) gaps(r object.Relation) []snapshot.Gap {
	gaps := []snapshot.Gap{d.clock}
	add := func(what snapshot.What, why snapshot.Why, message, of string) {
		if message != "" {
			gaps = append(gaps, snapshot.Gap{What: what, Why: why, Message: message, Of: of})
		}
	}
	switch {
	case d.version.version != "":
	case d.kubelet != "":
		add(snapshot.Version, snapshot.NotGiven, "the input does not say which version of Kubernetes it is from; its "+
			"highest kubelet is "+d.kubelet+", and no kubelet is newer than the control plane", "")
	default:
		add(snapshot.Version, snapshot.NotGiven, "the input does not say which version of Kubernetes it is from", "")
	}
	add(snapshot.NodeStatus, snapshot.NotGiven, d.HeldNodes.without(func(metav1.Object) bool { return true }), "")
	add(snapshot.PodStatus, snapshot.NotGiven, d.Pods.without(r.Takes), "")
	add(snapshot.PodDisruptionBudgets, snapshot.Partial, d.Partial("PodDisruptionBudget"), "")
	status, of := &r.Ds.Status, "daemonset "+source.Ref{Namespace: r.Ds.Namespace, Name: r.Ds.Name}.String()
	unknown := d.daemonSets.noStatus[object.Key(&r.Ds.ObjectMeta)] // what its controller has seen and done is unknown
	if unknown {
		add(snapshot.DaemonSetStatus, snapshot.NotGiven, "the input holds no status of "+of, of)
	}
	hasRevision := len(object.Filter(d.revisions.Items, r.Owns)) > 0
	for _, p := range []struct {
		what   snapshot.What
		kind   string
		lacked bool   // although the status shows that one exists
		of     string // where one is missing
	}{
		{snapshot.Nodes, "Node", false, ""},
		{snapshot.Pods, "Pod", (unknown || status.CurrentNumberScheduled+status.NumberMisscheduled > 0) &&
			d.Pods.perNamespace[r.Ds.Namespace] == 0, "namespace " + r.Ds.Namespace},
		{snapshot.Revisions, "ControllerRevision", (unknown || status.ObservedGeneration > 0) && !hasRevision, of},
		{snapshot.Events, "Event", false, ""},
	} {
		partial := d.Partial(p.kind)
		switch given := d.Kinds[p.kind] > 0 || d.lists[p.kind]; {
		case partial != "":
			add(p.what, snapshot.Partial, partial, "")
		case !given && p.what == snapshot.Pods && d.rejected(r):
		case !given:
			add(p.what, snapshot.NotGiven, "the input holds no "+p.kind, "")
		case p.lacked:
			add(p.what, snapshot.NotGiven, "the input holds no "+p.kind+" of "+p.of, p.of)
		}
	}
	return gaps
}
