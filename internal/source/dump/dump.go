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

// Dump is what files hold. It is filled by ReadFiles, and not changed after
// that.
type Dump struct {
	daemonSets store[appsv1.DaemonSet]
	revisions  store[appsv1.ControllerRevision]
	HeldNodes  store[corev1.Node]
	Pods       store[corev1.Pod]
	events     store[corev1.Event]
	Budgets    store[policyv1.PodDisruptionBudget]
	stores     map[string]putter // all of these, by kind
	before     string            // the kind of the object that was put last
	Referable  part.Referable
	snapshots  map[source.Ref]*snapshot.Snapshot
	admission  admissionStores
	attached   map[string][]string // CSI volumes, by node
	manager    *object.Manager     // of OpenShift; nil if there is none
	leases     part.Leases

	how           How
	path          string // the one that is being read, of those that were given
	files         int    // read so far
	bytes         int64  // of documents
	end           int64  // what bytes will be when the file is read that is being read; 0 where that is not known
	podsFrom      int64  // what bytes was when the first pod came
	harms         int    // how often something damaged was left out
	unpackedBytes int64  // of everything

	Kinds   map[string]int  // how many objects there are of each kind, of any kind
	unsaid  map[string]int  // of them, those whose fields alone show the kind
	strange map[string]bool // kinds that Kubernetes does not have
	lists   map[string]bool // kinds of which there is a typed list: empty means none, not "not given"
	pages   api.Readings
	Objects int
	Sums    *document.Sums
	sharer  *object.Sharer // of nodes and pods

	// what was not read
	skipped  []string // files
	leading  []string // out of their archive
	tooDeep  []string // archives
	damaged  []string // errors
	ragged   []string // files whose last line has no newline
	cut      []string // notes on files that end inside something
	links    int      // in archives
	macOS    int      // files
	logFiles int
	gone     []*source.InputError       // DaemonSets as servers before v1.16 had them
	Lost     map[snapshot.What][]string // errors of what may count

	logs       map[document.LogOf][]logPlace
	versions   []saidVersion
	version    saidVersion // that is used; of no version, if none is said
	kubelet    string      // the highest, where no version is said
	clusters   []cluster   // of different UIDs
	otherNodes []otherNode
	Gathers    map[string]map[string]*Gathered // of each path that was given
	folders    map[string]bool                 // of these paths

	notes   []string
	clashes []string // notes on objects of which two copies differ
	twice   []string // notes on keys that stand twice
	unknown []unknownField

	TakenAt time.Time
	clock   snapshot.Gap
}

func New(how How) *Dump {
	how.Most = cmp.Or(how.Most, source.DefaultMaxInput)
	d := &Dump{how: how, Sums: document.NewSums(), sharer: object.NewSharer(), Lost: map[snapshot.What][]string{},
		logs: map[document.LogOf][]logPlace{}, Gathers: map[string]map[string]*Gathered{}, folders: map[string]bool{},
		Referable: part.Referable{}, snapshots: map[source.Ref]*snapshot.Snapshot{}, attached: map[string][]string{},
		Kinds: map[string]int{}, unsaid: map[string]int{}, strange: map[string]bool{}, lists: map[string]bool{},
		pages: api.Readings{}}
	d.stores = map[string]putter{
		"DaemonSet": &d.daemonSets, "ControllerRevision": &d.revisions, "Node": &d.HeldNodes, "Pod": &d.Pods,
		"Event": &d.events, "PodDisruptionBudget": &d.Budgets,
	}
	return d
}

// add adds what was read from a file.
func (d *Dump) add(p location, o object.Object) error {
	d.Objects++
	if o.Again {
		return nil
	}
	file := p.name
	d.sees(p, o)
	if o.Note != "" {
		d.notes = append(d.notes, fmt.Sprintf("%s: document %d: %s", file, o.Document, o.Note))
	}
	for _, r := range o.Repeats {
		d.repeated(file, o.Document, r)
	}
	if o.List {
		d.pages.Add(o.Kind, o.Page)
	}
	if kind := object.ItemKind(o.Kind); kind.Kind != "" && o.List {
		d.lists[object.KindName(kind)] = true
		if object.Strange(kind) && d.Kinds[object.KindName(kind)] == 0 { // its items, which say no kind, were not read
			d.Kinds[object.KindName(o.Kind)]++
			d.strange[object.KindName(o.Kind)] = true
		}
		return nil
	}
	if o.Kind.Kind == "List" || o.Kind.Kind == "" { // the end of a list of anything
		return nil
	}
	d.Kinds[object.KindName(o.Kind)]++
	if o.ByFields {
		d.unsaid[object.KindName(o.Kind)]++
	}
	if object.Strange(o.Kind) {
		d.strange[object.KindName(o.Kind)] = true
	}
	if o.Newest.After(d.TakenAt) {
		d.TakenAt = o.Newest
	}
	at := document.Position{File: file, Document: o.Document, Path: o.Path}
	for _, field := range o.Unknown {
		d.unread(o.Kind.Kind, field, at)
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
		d.sharer.Share(o.Is)
		if o.Kind.Kind != d.before { // mostly, the next kind begins
			for _, s := range d.stores {
				s.settle(true)
			}
			d.before = o.Kind.Kind
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
		d.operator(o.Operator, at)
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

// expectPods makes room for the pods that are still to come, once many have told how long one is: so they need not be
// copied at the end. What a dump has besides comes before them, or is little.
func (d *Dump) expectPods() {
	switch n := int64(len(d.Pods.Items)); {
	case n == 1:
		d.podsFrom = d.bytes
	case n == InOnePiece && d.Pods.fresh.Size == 0 && d.bytes > d.podsFrom:
		more := (d.end - d.bytes) * n / (d.bytes - d.podsFrom)
		d.Pods.Items = slices.Grow(d.Pods.Items, int(min(max(0, more+more/20), MostPods)))
	}
}

// MostPods is for how many pods there is room before they have come: what follows in the file may be something else.
const MostPods = 20_000

// sees notes of which reading an object is.
func (d *Dump) sees(p location, o object.Object) {
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

// repeated notes a key that appears twice in one object.
func (d *Dump) repeated(file string, doc int, r object.Repeat) {
	key := "a key"
	if r.Key != "" {
		key = "the key " + r.Key
	}
	note := fmt.Sprintf("%s: document %d, line %d: %s appears twice in one object; the last value is used", file,
		doc, r.Line, key)
	if !slices.Contains(d.twice, note) { // several objects may stand in one line, or in one text
		d.twice = append(d.twice, note)
	}
}

// unknownField is a field of objects of one kind that is not read.
type unknownField struct {
	kind, field string
	first       document.Position
	objects     int
}

// unread notes a field that its kind does not have: it is misspelled, or of a newer
// version of Kubernetes.
func (d *Dump) unread(kind, field string, at document.Position) {
	if i := slices.IndexFunc(d.unknown, func(u unknownField) bool {
		return u.kind == kind &&
			u.field == field
	}); i >= 0 {
		d.unknown[i].objects++
	} else if len(d.unknown) < mostUnknown {
		d.unknown = append(d.unknown, unknownField{kind, field, at, 1})
	}
}

// mostUnknown bounds how many unknown fields are kept, to be counted.
const mostUnknown = 100

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

// folded returns some of the notes, and how many more there are of what.
func folded(notes []string, what string) []string {
	if n := len(notes) - document.Most; n > 0 {
		return append(notes[:document.Most:document.Most], fmt.Sprintf("%d more %s", n, what))
	}
	return notes
}

// Finish sorts what was read and decides on the clock.
func (d *Dump) Finish(paths []string, clock func() time.Time) error {
	d.HeldNodes.at, d.Pods.at = nil, nil // of which there are many, and nobody asks for one
	for _, s := range slices.Concat(slices.Collect(maps.Values(d.stores)),
		slices.Collect(maps.Values(d.admission.stores()))) {
		s.settle(false)
	}
	d.sharer = nil
	d.noteUnread()
	if len(d.gone) > 0 && len(d.daemonSets.Items) == 0 {
		return d.gone[0]
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
	for _, kind := range slices.Sorted(maps.Keys(d.strange)) {
		d.notes = append(d.notes, fmt.Sprintf("ignored: %d %s, a kind that Kubernetes does not have",
			d.Kinds[kind], kind))
	}
	if len(d.unsaid) > 0 {
		d.notes = append(d.notes,
			"objects that do not say their kind are read by their fields: "+strings.Join(object.Each(d.unsaid), ", "))
	}
	var unread []string
	for _, u := range d.unknown {
		unread = append(unread, u.note())
	}
	d.notes = slices.Concat(d.notes, folded(d.clashes, "objects appear twice in the input, with different content"),
		folded(d.twice, "keys appear twice in one object"), folded(unread, "fields are ignored"))
	d.notePodless()
	d.decideVersion()
	return nil
}

// notePodless notes which DaemonSets are taken to have no pods, though no list says so: see rejected.
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

// Notes returns what a person should know of how the input was read, one line
// each: files that were passed over, objects that stand there twice.
func (d *Dump) Notes() []string { return slices.Clone(d.notes) }

// names returns the names of the namespace's DaemonSets, sorted, each once; of
// all namespaces when it is empty.
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

// Refs returns all DaemonSets, by namespace and name.
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

// Read returns the Snapshot of one DaemonSet. Without a namespace the name
// must be that of one DaemonSet only, or the error is an [*AmbiguousError].
//
// A recorded Snapshot is returned as it was taken, without its OtherPods, its
// Admission, its References, its Volumes and its Controller, which AddOtherPods,
// AddAdmission, AddReferences, AddVolumes and AddController give back. Of a plain dump
// the Snapshot holds more pods than Cluster.Read asks for: those, too, that the
// DaemonSet owns but does not select.
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
			if e.Far = source.Far(ref.Name, d.Refs()); len(e.Far) == 0 {
				e.Held = d.Refs()
			}
		}
		return nil, e
	case 1:
		return d.snapshot(fit[0])
	}
	return nil, &source.AmbiguousError{Name: ref.Name, Refs: fit}
}

// ReadAll returns the Snapshots of all DaemonSets that the filter lets
// through, ordered by namespace and name; there may be none. Those that are
// not recorded Snapshots share their Nodes.
func (d *Dump) ReadAll(ctx context.Context, f source.Filter) ([]*snapshot.Snapshot, error) {
	return source.Collect(ctx, f, d.ReadEach)
}

// ReadEach calls each with the Snapshots that ReadAll returns, one after the other.
func (d *Dump) ReadEach(ctx context.Context, f source.Filter, each func([]*snapshot.Snapshot) error) error {
	partial := "" // of all DaemonSets; those that were named are there, or not
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
	if partial != "" && !found { // to find none says nothing
		return &source.NotFoundError{Ref: source.Ref{Namespace: f.Namespace}, Held: d.Refs(), Partial: partial}
	}
	return nil
}

func (d *Dump) labels(r source.Ref) map[string]string {
	if s := d.snapshots[r]; s != nil {
		return s.DaemonSet.Labels
	}
	return d.daemonSets.Items[d.daemonSets.at[r.Namespace+"/"+r.Name]].Labels
}

func (d *Dump) snapshot(r source.Ref) (*snapshot.Snapshot, error) {
	if s := d.snapshots[r]; s != nil {
		// until it is asked for
		s = s.Holding(nil, nil).Admitting(nil, nil).Referring(nil, nil).Reaching(nil, nil).ControlledBy(nil, nil)
		return part.Selected(s, r.Namespace), nil
	}
	rel, err := object.Relate(&d.daemonSets.Items[d.daemonSets.at[r.Namespace+"/"+r.Name]])
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

// rejected reports whether the API server rejects all pods of a DaemonSet: its status counts none,
// an event says that one was rejected, and none says that one was created.
func (d *Dump) rejected(r object.Relation) bool {
	status, fails := &r.Ds.Status, false
	if d.daemonSets.bare[object.Key(&r.Ds.ObjectMeta)] || status.CurrentNumberScheduled+status.NumberMisscheduled > 0 {
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

// assemble makes a Snapshot without its events, not yet in order.
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

// ReadFor returns the Snapshot of a DaemonSet that the input does not hold: the
// one given, with the nodes, and with the pods and revisions that its selector
// matches. A dump without any of them has no Gap for it. Where the input is recorded
// Snapshots, the nodes are those of the one that was taken last.
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

// last returns the recorded Snapshot that was taken last; nil if there is none.
func (d *Dump) last() *snapshot.Snapshot {
	var last *snapshot.Snapshot
	for _, r := range d.Refs() {
		if s := d.snapshots[r]; s != nil && (last == nil || s.TakenAt.After(last.TakenAt)) {
			last = s
		}
	}
	return last
}

// gaps returns what the input lacks for a DaemonSet. A kind is given when there
// is one object of it, or a list of none; but a dump may hold other namespaces,
// or other owners. So where the status says that there are pods, there must be
// one of its namespace; and where it says that the controller has seen the
// DaemonSet, and so has made a revision, there must be one that is the
// DaemonSet's or that it would adopt. A dump without any Pod lacks none where all
// pods of the DaemonSet are rejected. PodDisruptionBudgets may be missing: no number
// depends on them, and few dumps have them. If the List of a kind is not whole, nothing is known
// for sure about that kind.
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
	unknown := d.daemonSets.bare[object.Key(&r.Ds.ObjectMeta)] // what its controller has seen and done
	if unknown {
		add(snapshot.DaemonSetStatus, snapshot.NotGiven, "the input holds no status of "+of, of)
	}
	hasRevision := len(object.Filter(d.revisions.Items, r.Owns)) > 0
	for _, p := range []struct {
		what   snapshot.What
		kind   string
		lacked bool   // though the status says that there is one
		of     string // what it is lacked of
	}{
		{snapshot.Nodes, "Node", false, ""},
		{snapshot.Pods, "Pod", (unknown || status.CurrentNumberScheduled+status.NumberMisscheduled > 0) &&
			d.Pods.in[r.Ds.Namespace] == 0, "namespace " + r.Ds.Namespace},
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
