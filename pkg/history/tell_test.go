package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// notReady makes a pod not Ready.
func notReady(name string) dstest.Option {
	return pod(name, func(p *corev1.Pod) { p.Status.Conditions = nil })
}

// readySince makes a pod Ready for that many seconds.
func readySince(name string, seconds int) dstest.Option {
	return pod(name, func(p *corev1.Pod) {
		at := metav1.NewTime(dstest.Now.Add(-time.Duration(seconds) * time.Second))
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
	})
}

func terminating(name string) dstest.Option {
	return pod(name, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: dstest.Now} })
}

// renamed renames one of several revisions.
func renamed(name string, at int) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Revisions[at].Name, s.Revisions[at].Labels = name+"-too", map[string]string{"app": "agent"}
	})
}

func lacking(what ...snapshot.What) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		for _, w := range what {
			s.Gaps = append(s.Gaps, snapshot.Gap{What: w, Why: snapshot.NotGiven})
		}
	})
}

// TestRollout tests how far a rollout is, and the numbers of pods behind that.
func TestRollout(t *testing.T) {
	deleted := dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.DeletionTimestamp = &metav1.Time{Time: dstest.Now} })
	ignored := dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.Spec.Selector = &metav1.LabelSelector{} })
	onDelete := dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	})
	minReady := dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.Spec.MinReadySeconds = 60 })
	for _, tt := range []struct {
		past    string
		options []dstest.Option
		want    string // code, and the fields of Rollout in their order
		why     string
	}{
		{"1=a 2=b b | 2b 2b", nil, "Settled 2 2 2 0 0 0", "all pods are updated"},
		{"1=a 2=b b | 2b 1a", nil, "UnderWay 2 1 1 0 0 0", "one is not"},
		{"1=a 2=b b | 2b 1ag", nil, "Settled 2 1 1 0 0 0", "but by its generation"},
		{"1=a 2=b b | 2b 1a", []dstest.Option{onDelete}, "AwaitingDelete 2 1 1 0 0 0", "you delete it"},
		{"1=a 2=b b | 2b 1a", []dstest.Option{onDelete, notReady("p0a")}, "Unavailable 2 1 0 0 1 0", "what is wrong goes before that, as in explain"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{notReady("p0a")}, "Unavailable 2 2 1 0 1 0", "a pod that is not Ready"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{minReady, readySince("p0a", 30), readySince("p1a", 90)}, "Unavailable 2 2 1 1 0 0", "one that is, but not for long enough"},
		{"1=a 2=b b | 2b 1a", []dstest.Option{notReady("p1a")}, "UnderWay 2 1 1 0 0 0", "an old one is no current one"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{terminating("p0a")}, "Unavailable 2 2 1 0 0 1", "one that ends"},
		{"1=a 2=b b | 2b 1a", []dstest.Option{terminating("p1a")}, "Unavailable 2 1 1 0 0 0", "an old one that ends is not replaced any more"},
		{"1=a 2=b b |", nil, "NoPods 0 0 0 0 0 0", "none"},
		{"1=a 2=b c | 2b", nil, "Creates 1 0 0 0 0 0", "a template without a revision"},
		{"1=a 2=b a | 2b", nil, "Renumbers 1 0 0 0 0 0", "one whose revision is an old one"},
		{"1=a' a | 1ag", nil, "CreatesSame 1 0 0 0 0 0", "one that is stored in another form"},
		{"1=a 2=a a | 2a", nil, "Merges 1 1 1 0 0 0", "two hold the template"},
		{"2=a 2=a@3 a | 2a", []dstest.Option{renamed("agent-2a", 1)}, "Merges 1 1 1 0 0 0", "of one number: the controller keeps any"},
		{"1=a 2=b b | 2b", []dstest.Option{deleted}, "BeingDeleted 1 1 1 0 0 0", "the DaemonSet goes"},
		{"1=a 2=b b | 2b", []dstest.Option{ignored}, "Ignored 1 1 1 0 0 0", "the controller ignores it"},
		{"1=a 2=b b | 2b", []dstest.Option{lacking(snapshot.Pods)}, "Unknown - - - - - -", "no pods in the input"},
		{"1=a 2=b b | 2b", []dstest.Option{lacking(snapshot.PodStatus)}, "Unknown 1 1 - - - -", "nor whether they are Ready"},
		{"1=a 2=b c | 2b", []dstest.Option{lacking(snapshot.Pods)}, "Creates - - - - - -", "what the next sync does is known without them"},
		{"a | - -", []dstest.Option{dstest.Edit(lackRevisions)}, "Unknown 2 0 0 0 0 0", "no revisions, and no hash that is the current one"},
	} {
		r := of(t, past(t, tt.past, tt.options...), Options{}).Rollout
		words := []string{string(r.Code)}
		for _, n := range []*int{r.Pods, r.Current, r.Available, r.NotYetAvailable, r.NotReady, r.Terminating} {
			if n == nil {
				words = append(words, "-")
				continue
			}
			words = append(words, fmt.Sprint(*n))
		}
		if got := strings.Join(words, " "); got != tt.want {
			t.Errorf("%s: %s: %s, want %s", tt.why, tt.past, got, tt.want)
		}
	}
}

// TestAvailableAt tests when the last of the waiting pods becomes available.
func TestAvailableAt(t *testing.T) {
	minReady := dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.Spec.MinReadySeconds = 60 })
	for _, tt := range []struct {
		past    string
		options []dstest.Option
		want    string // from now; - for none
		why     string
	}{
		{"1=a 2=b b | 2b 2b", []dstest.Option{minReady, readySince("p0a", 50), readySince("p1a", 20)}, "40s", "the last one"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{minReady, readySince("p0a", 20), readySince("p1a", 50)}, "40s", "in any order"},
		{"1=a 2=b b | 2b 1a", []dstest.Option{minReady, readySince("p0a", 50), readySince("p1a", 20)}, "10s", "not one of an old revision"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{minReady, readySince("p0a", 50), readySince("p1a", 20), terminating("p1a")}, "10s", "nor one that ends"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{minReady, readySince("p0a", 90), readySince("p1a", 90)}, "-", "none waits"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{minReady, lacking(snapshot.PodStatus)}, "-", "nobody knows"},
	} {
		got := "-"
		if at := of(t, past(t, tt.past, tt.options...), Options{}).Rollout.AvailableAt; at != nil {
			got = at.Sub(dstest.Now).String()
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestTells tests the rows in their order, with what each is compared with,
// what to compare first, and what to roll back to.
func TestTells(t *testing.T) {
	for _, tt := range []struct {
		past    string
		options []dstest.Option
		rows    string // NUMBER<FROM; behind a number =NOW where a rollback gave another one, + where it is pending, # for a hash
		compare string
		back    string
		why     string
	}{
		{"1=a 2=b 3=c c | 3c 2b", nil, "3<2 2<1 1<0", "2,3", "2", "one after the other"},
		{"1=a 2=b 4=c c | 4c", nil, "4<2 2<1 1<0", "2,4", "2", "a number that nobody knows is passed over"},
		{"1=a 3=c 4=b@2+9 b | 4b", nil, "4<3 3<2 2=4<1 1<0", "3,4", "3", "one that a rollback renumbered is not"},
		{"2=c 3=a@1+9 a | 3a", nil, "3<2 2<1 1=3<0", "2,3", "2", "even below all others"},
		{"1=a 4=d 6=c@2+80 c | 6c", nil, "6<4 4<1 1<0", "4,6", "4", "where which it was is not certain, it stays out"},
		{"1=a 2=b 3=c c | 3c 1a 1a 2b", nil, "3<2 2<1 1<0", "2,3", "1", "a rollback goes to where most pods are"},
		{"1=a a | 1a", nil, "1<0", "", "", "one revision alone"},
		{"2=c 3=a@1+9 a | 3a 0x", nil, "3<2 2<1 1=3<0 0#0x<0", "2,3", "2", "a hash that no revision has stands last"},
		{"a", nil, "1+<0", "", "", "none yet"},
		{"1=a ~2=b 3=c c | 3c", nil, "3<2 2<1 1<0", "2,3", "", "kubectl rolls back to no orphan"},
		{"1=a 2=b 3=c d | 3c", nil, "4+<3 3<2 2<1 1<0", "", "", "the next sync creates a revision first"},
		{"1=a 2=b 3=c a | 3c", nil, "3<2 2<1 1<0", "", "", "or renumbers one"},
		{"1=a 2=b 2=d 3=c c | 3c", nil, "3<2 2<2 2<1 1<0", "", "", "two have the number"},
	} {
		h := of(t, past(t, tt.past, tt.options...), Options{})
		var rows []string
		for _, r := range h.Rows() {
			words := map[RowKind]string{RowRevision: "%d<%d", RowRenumbered: fmt.Sprintf("%%d=%d<%%d", r.Revision.Revision), RowPending: "%d+<%d", RowHash: "%d#" + r.Hash + "<%d"}[r.Is]
			rows = append(rows, fmt.Sprintf(words, r.Number, r.From))
		}
		if got := strings.Join(rows, " "); got != tt.rows {
			t.Errorf("%s: %s: rows %s, want %s", tt.why, tt.past, got, tt.rows)
		}
		compare, back := "", ""
		if from, to := h.Compares(); to != nil {
			compare = fmt.Sprintf("%d,%d", from.Revision, to.Revision)
		}
		if to := h.RollsBackTo(); to != nil {
			back = fmt.Sprint(to.Revision)
		}
		if compare != tt.compare || back != tt.back {
			t.Errorf("%s: %s: compares %q, rolls back to %q; want %q, %q", tt.why, tt.past, compare, back, tt.compare, tt.back)
		}
	}
}

// TestRestored tests how a revision got its number.
func TestRestored(t *testing.T) {
	for _, tt := range []struct {
		past, want, why string
	}{
		{past: "1=a 3=c 4=b@2+9 b", want: "was 2 at 9", why: "by its managed fields"},
		{past: "1=a 3=c 4=b@2 b", want: "was 2 after 3", why: "by the order: after the one that was made later"},
		{past: "1=a 2=b b", want: "none", why: "a new one"},
	} {
		h := of(t, past(t, tt.past), Options{})
		got, row := "none", h.RowOf(h.Current()[0])
		if b := h.Began(&row); b.How == BeganRestored {
			how := map[bool]string{false: "at", true: "after"}[b.After]
			got = fmt.Sprintf("was %d %s %d", b.Was, how, b.At.Sub(began)/time.Minute)
		}
		if got != tt.want {
			t.Errorf("%s: %s: %s, want %s", tt.why, tt.past, got, tt.want)
		}
	}
}

// TestRenumberedHasNoWriter checks that the current owner of a field is not
// named as the writer of an earlier change.
func TestRenumberedHasNoWriter(t *testing.T) {
	h := of(t, past(t, "1=a 3=c 4=b@2+9 b", dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "helm", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":{".":{},"f:image":{}}}}}}}`)}}
	})), Options{})
	if got := h.Current()[0].Change[0].Managers; len(got) != 1 {
		t.Errorf("revision 4 was written by %v, want helm", got)
	}
	if got := h.Renumbered[0].Change[0].Managers; len(got) != 0 {
		t.Errorf("revision 2 was written by %v", got)
	}
}

// TestWriters checks that only those who wrote something new are named.
func TestWriters(t *testing.T) {
	owns := func(manager, fields string, minutes int) metav1.ManagedFieldsEntry {
		at := metav1.NewTime(*minute(minutes))
		return metav1.ManagedFieldsEntry{Manager: manager, Time: &at, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const image = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":{".":{},"f:image":{}}}}}}}`
	const other = `{"f:spec":{"f:template":{"f:spec":{"f:hostNetwork":{}}}}}`
	const outside = `{"f:metadata":{"f:labels":{"f:team":{}}}}`
	for _, tt := range []struct {
		past     string
		managers []metav1.ManagedFieldsEntry
		want     []string
		why      string
	}{
		{"1=a 2=b b", []metav1.ManagedFieldsEntry{owns("helm", other, 1), owns("kubectl-set", image, 2)}, []string{"kubectl-set@2"}, "who owns the field that is new"},
		{"1=a 2=b b", []metav1.ManagedFieldsEntry{owns("helm", image, 1), owns("argocd", image, 2)}, []string{"argocd@2", "helm@1"}, "two of them, the last first"},
		{"1=a 2=b b", []metav1.ManagedFieldsEntry{owns("helm", other, 2)}, []string{"helm@2"}, "who wrote the template at that moment"},
		{"1=a 2=b b", []metav1.ManagedFieldsEntry{owns("helm", other, 1)}, nil, "one who wrote it before did not"},
		{"1=a 2=b b", []metav1.ManagedFieldsEntry{owns("labeller", outside, 2)}, nil, "nor one who writes no template"},
		{"1=a 2=b c", []metav1.ManagedFieldsEntry{owns("helm", image, 9)}, []string{"helm@9"}, "of a template without a revision"},
		{"1=a 2=b b", []metav1.ManagedFieldsEntry{owns("kubectl", image, 2), owns("kubectl", outside, 5)}, []string{"kubectl@2"}, "what it wrote later is not the template"},
		{"1=a 2=b b", nil, nil, "nobody knows"},
	} {
		s := past(t, tt.past, dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.ManagedFields = tt.managers }))
		var got []string
		for _, m := range of(t, s, Options{}).Writers() {
			got = append(got, fmt.Sprintf("%s@%d", m.Manager, m.Time.Sub(began)/time.Minute))
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}

// TestDiffManagers checks that a manager of several fields is named once.
func TestDiffManagers(t *testing.T) {
	d := &Diff{Change: []FieldChange{{Managers: []string{"kubectl", "argocd"}}, {}, {Managers: []string{"argocd"}}}}
	if diff := cmp.Diff([]string{"argocd", "kubectl"}, d.Managers()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCourse tests the progress of the rollout of the current revision.
func TestCourse(t *testing.T) {
	onDelete := dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	})
	for _, tt := range []struct {
		past    string
		options []dstest.Option
		want    string // code, how many pods are left
		why     string
	}{
		{"1=a 2=b b | 2b 1a", nil, "UnderWay 1", "an old pod is left"},
		{"1=a 2=b b | 2b 1a", []dstest.Option{onDelete}, "AwaitingDelete 1", "you delete it"},
		{"1=a 2=b b | 2b 1a", []dstest.Option{onDelete, notReady("p0a")}, "AwaitingDelete 1", "also where a pod is unavailable"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{onDelete}, "Settled 0", "there is none to delete"},
		{"1=a 2=b b | 2b 2b", []dstest.Option{notReady("p0a")}, "Settled 0", "all have the template, available or not"},
		{"1=a 2=b b |", nil, "Settled 0", "no pods, so none is left"},
		{"1=a 2=b c | 2b", nil, "-", "the next sync creates the revision: it has not begun"},
		{"1=a 2=a a | 2a", nil, "-", "two are current"},
		{"1=a 2=b b | 2b", []dstest.Option{lacking(snapshot.Pods)}, "-", "no pods in the input"},
		{"a | - -", []dstest.Option{dstest.Edit(lackRevisions)}, "-", "no revisions in the input"},
	} {
		got := "-"
		if c := of(t, past(t, tt.past, tt.options...), Options{}).Course(); c != nil {
			got = fmt.Sprint(c.Code, " ", c.Left)
		}
		if got != tt.want {
			t.Errorf("%s: %s: %s, want %s", tt.why, tt.past, got, tt.want)
		}
	}
	at := func(minute int) *time.Time { t := dstest.Now.Add(time.Duration(minute) * time.Minute); return &t }
	n := 1
	for _, tt := range []struct {
		since, newest, want *time.Time
		why                 string
	}{
		{at(1), at(2), at(2), "a pod was created since"},
		{at(2), at(2), at(2), "at once"},
		{at(2), at(1), nil, "it had the template before a rollback"},
		{nil, at(1), at(1), "nobody knows when it began"},
		{at(1), nil, nil, "it has no pod"},
	} {
		h := History{CurrentSince: tt.since, Rollout: Rollout{Code: Settled, Pods: &n, Current: &n}}
		h.Revisions = []Revision{{Current: true, NewestPodAt: tt.newest}}
		if c := h.Course(); fmt.Sprint(c.Newest) != fmt.Sprint(tt.want) || c.Since != tt.since {
			t.Errorf("%s: %v, want %v", tt.why, c.Newest, tt.want)
		}
	}
}

// TestFold tests which rows are omitted. A row is written as c if it is
// current, o with pods, and - without; a number stands for that many omitted
// rows.
func TestFold(t *testing.T) {
	zero, one := 0, 1
	for _, tt := range []struct {
		rows string
		most int
		want string
		why  string
	}{
		{"c--", 3, "c--", "there is room for all"},
		{"c---", 3, "c---", "and for one more, in the place of the row that would say so"},
		{"c----", 3, "c--2", "but not for two"},
		{"c---o--", 3, "c--1o2", "one with pods stays, with its place"},
		{"------c", 3, "---3c", "and the current one"},
		{"o---", 0, "o3", "none stands for its place alone"},
		{"---", 0, "3", "from the first row on"},
		{"", 3, "", "nothing"},
	} {
		var rows []Row
		for _, r := range tt.rows {
			pods := &zero
			if r == 'o' {
				pods = &one
			}
			rows = append(rows, Row{Revision: &Revision{Current: r == 'c', Pods: pods}})
		}
		got := ""
		for _, r := range Fold(rows, tt.most) {
			switch {
			case r.Is == RowsFolded:
				got += fmt.Sprint(r.Number)
			case r.Current:
				got += "c"
			case *r.Pods > 0:
				got += "o"
			default:
				got += "-"
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s in %d: %s, want %s", tt.why, tt.rows, tt.most, got, tt.want)
		}
	}
}

// TestRollsBackToOneOf tests which of several revisions a rollback goes to.
func TestRollsBackToOneOf(t *testing.T) {
	h := of(t, past(t, "1=a 2=b 3=c c | 3c 1a"), Options{})
	current, second, first := &h.Revisions[0], &h.Revisions[1], &h.Revisions[2]
	for _, tt := range []struct {
		of   []*Revision
		want *Revision
		why  string
	}{
		{[]*Revision{first, second}, first, "the first of them"},
		{[]*Revision{current, second}, second, "not to the current one"},
		{[]*Revision{nil, first}, first, "nor to none"},
		{[]*Revision{current, nil}, nil, "to neither"},
		{nil, nil, "there is none"},
	} {
		if got := h.RollsBackToOneOf(tt.of...); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}

// TestDifferences tests the selection of fields by kind.
func TestDifferences(t *testing.T) {
	change := func(path string, kind FieldKind) FieldChange {
		return FieldChange{Difference: template.Difference{Path: template.ParsePath(path)}, Kind: kind}
	}
	changes := []FieldChange{change("a", FieldSet), change("b", FieldDefault), change("c", FieldSet), change("d", FieldRestart)}
	for _, tt := range []struct {
		kinds []FieldKind
		want  string
		why   string
	}{
		{nil, "abcd", "all"},
		{[]FieldKind{FieldSet}, "ac", "those of one kind, in their order"},
		{[]FieldKind{FieldDefault, FieldRestart}, "bd", "or of two"},
	} {
		got := ""
		for _, d := range Differences(changes, tt.kinds...) {
			got += d.Path.String()
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestFoldAlike tests which neighbors share a row. A letter is a revision
// without pods and names its change; o is one with pods, c the current one, r a
// former number, and . a missing number.
func TestFoldAlike(t *testing.T) {
	for _, tt := range []struct{ rows, want, why string }{
		{"caab", "9 8-7 6", "two that are alike"},
		{"caaabb", "9 8-6 5-4", "as many as there are"},
		{"caba", "9 8 7 6", "not those with another between them"},
		{"caoa", "9 8 7 6", "nor with pods between them"},
		{"ca.a", "9 8 6", "nor where a number is missing"},
		{"cara", "9 8 7 6", "nor around a number that a revision had"},
		{"", "", "nothing"},
	} {
		zero, one := 0, 1
		var rows []Row
		for i, r := range tt.rows {
			row := Row{Revision: &Revision{Current: r == 'c', Pods: &zero, Name: string(r)}, Number: int64(9 - i)}
			switch r {
			case 'o':
				row.Pods = &one
			case 'r':
				row.Is = RowRenumbered
			case '.':
				continue
			}
			rows = append(rows, row)
		}
		var got []string
		stands := int64(0)
		for _, r := range FoldAlike(rows, func(a, b *Row) bool { return a.Name == b.Name }) {
			words := fmt.Sprint(r.Number)
			if r.Is == RowsAlike {
				words += fmt.Sprint("-", r.Last.Number)
			}
			got, stands = append(got, words), stands+r.Stands()
		}
		if strings.Join(got, " ") != tt.want || int(stands) != len(rows) {
			t.Errorf("%s: %s: %s, for %d rows, want %s", tt.why, tt.rows, got, stands, tt.want)
		}
	}
	alike := Row{Revision: &Revision{}, Is: RowsAlike, Number: 8, Last: &Row{Number: 4}}
	if got := Fold([]Row{alike, alike}, 0); len(got) != 1 || got[0].Stands() != 10 {
		t.Errorf("of two rows that stand for five each, %+v", got)
	}
}

// TestIdleSince tests since when a rollout has created no pod.
func TestIdleSince(t *testing.T) {
	at := func(before time.Duration) *time.Time { t := dstest.Now.Add(-before); return &t }
	n := func(n int) *int { return &n }
	for _, tt := range []struct {
		why           string
		code          RolloutCode
		since, newest *time.Time
		young, broken int
		want          *time.Time
	}{
		{"since the last pod", UnderWay, at(2 * time.Hour), at(time.Hour), 0, 0, at(time.Hour)},
		{"stuck too", Stuck, at(2 * time.Hour), at(time.Hour), 0, 1, at(time.Hour)},
		{"or since it began", UnderWay, at(2 * time.Hour), nil, 0, 0, at(2 * time.Hour)},
		{"for a minute", UnderWay, nil, at(time.Minute), 0, 0, at(time.Minute)},
		{"not for less", UnderWay, nil, at(59 * time.Second), 0, 0, nil},
		{"it is not known", UnderWay, nil, nil, 0, 0, nil},
		{"new pods have to be Ready for longer", UnderWay, nil, at(time.Hour), 2, 0, nil},
		{"but one is not Ready", UnderWay, nil, at(time.Hour), 2, 1, at(time.Hour)},
		{"none is in progress", Settled, nil, at(time.Hour), 0, 0, nil},
		{"you delete the pods", AwaitingDelete, nil, at(time.Hour), 0, 0, nil},
	} {
		h := History{CurrentSince: tt.since}
		h.Rollout = Rollout{Code: tt.code, Pods: n(3), Current: n(1), NotYetAvailable: &tt.young, NotReady: &tt.broken}
		h.Snapshot.TakenAt, h.Revisions = dstest.Now, []Revision{{Current: true, NewestPodAt: tt.newest}}
		if got := h.IdleSince(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}

// TestDecides tests which notes affect what comes next.
func TestDecides(t *testing.T) {
	of := map[NoteCode]bool{RemovedNext: true, Duplicates: true, RemovedByNextChange: false, MostlyRestarts: false}
	for code, want := range of {
		if n := (&Note{Code: code}); n.Decides() != want {
			t.Errorf("%s: %t", code, n.Decides())
		}
	}
}
