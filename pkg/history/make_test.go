package history

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

func limit(n int32) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.Spec.RevisionHistoryLimit = &n })
}

// served sets the version of the API server.
func served(version string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) { s.KubernetesVersion = version })
}

// numbered sets when a revision got its number, in its managed fields.
func numbered(name string, at time.Time) dstest.Option {
	return numberedBy(name, controllerManager, at)
}

func numberedBy(name, manager string, at time.Time) dstest.Option {
	return dstest.Revision(name, func(r *appsv1.ControllerRevision) {
		r.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: manager, Time: &metav1.Time{Time: at}}}
	})
}

// recreated sets when the DaemonSet was created, in minutes like the revisions.
func recreated(at int) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.CreationTimestamp = metav1.NewTime(*minute(at)) })
}

// untimed removes the time from the managed fields, or adds an entry without
// one.
func untimed(name string) dstest.Option {
	return dstest.Revision(name, func(r *appsv1.ControllerRevision) {
		r.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: controllerManager}}
	})
}

// statusBy sets who writes the DaemonSet's status.
func statusBy(manager string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "helm", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{}}}`)},
			{Manager: manager, Subresource: "status"}, // its fields are stripped
		}
	})
}

// statusByField is statusBy as it was before v1.22.
func statusByField(manager string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:numberReady":{}}}`)}}
	})
}

func undated(name string) dstest.Option {
	return dstest.Revision(name, func(r *appsv1.ControllerRevision) { r.CreationTimestamp = metav1.Time{} })
}

func TestNotes(t *testing.T) {
	for _, tt := range []struct {
		past    string
		options []dstest.Option
		want    []string
		why     string
	}{
		{"1=a a", nil, []string{}, "the first revision has no trap"},
		{"1=a 2=b 3=c c", nil, []string{}, "nor has one after the other"},
		{"1=a 2=b c", nil, []string{`NotCut {"number":3}`}, "a template without a revision"},
		{"a", nil, []string{`NotCut {"number":1}`}, "no revision at all"},

		{"1=a 2=b a", nil, []string{`NumberRaised 1a {"from":1,"to":3}`}, "a rollback that the controller has not seen yet"},
		{"3=a@1 2=b a", nil, []string{
			`TakenUpAgain 3a {"after":"2026-02-28T12:02:00Z","told":"Order","was":1}`,
			`MissingNumbers {"numbers":["1"],"why":"TakenUpAgain"}`,
		}, "a rollback that it has: made before 2, and so once 1"},
		{"3=a@1+9 2=b a", nil, []string{
			`TakenUpAgain 3a {"after":"2026-02-28T12:02:00Z","told":"ManagedFields","was":1}`,
			`MissingNumbers {"numbers":["1"],"why":"TakenUpAgain"}`,
		}, "the managed fields tell when"},
		{"3=a@1+1 2=b@2+2 a", nil, []string{`MissingNumbers {"numbers":["1"],"why":"Unknown"}`}, "the managed fields tell that its number is its first"},
		{"3=a'@1+1 2=b'@2+2 a", []dstest.Option{served("v1.24.17")}, []string{
			`TakenUpAgain 3a {"after":"2026-02-28T12:02:00Z","told":"Order","was":1}`,
			`MissingNumbers {"numbers":["1"],"why":"TakenUpAgain"}`,
		}, "those of a server before v1.25 tell nothing about values: the order does"},
		{"1=a' 3=b'@2+9 b", []dstest.Option{served("v1.24.17")}, []string{`MissingNumbers {"numbers":["2"],"why":"Unknown"}`}, "nor that a later time is a number's, and not an adoption's"},
		{"1=a' 3=b'@2+9 b", []dstest.Option{served("v1.25.0")}, []string{
			`TakenUpAgain 3b {"told":"ManagedFields","was":2}`, `MissingNumbers {"numbers":["2"],"why":"TakenUpAgain"}`,
		}, "those of v1.25 do"},
		{"5=a@1 4=b@2 b", nil, []string{
			`NumberRaised 4b {"from":4,"to":6}`,
			`TakenUpAgain 5a {"after":"2026-02-28T12:02:00Z","told":"Order","was":0}`,
			`MissingNumbers {"numbers":["1-3"],"why":"Unknown"}`,
		}, "to and fro: which was its first number is not certain, and that 4 was taken up before 5 does not show"},
		{"5=a@1+5 4=b@2+4 b", nil, []string{
			`NumberRaised 4b {"from":4,"to":6}`,
			`TakenUpAgain 5a {"after":"2026-02-28T12:02:00Z","told":"ManagedFields","was":0}`,
			`TakenUpAgain 4b {"told":"ManagedFields","was":0}`,
			`MissingNumbers {"numbers":["1-3"],"why":"Unknown"}`,
		}, "but by the managed fields"},
		{"1=a@1+9 2=b@2+9 b", nil, []string{}, "written later, but with every number below there: somebody else's reason"},
		{"7=d@3 6=c@6 5=b@5 2=a@2 d", nil, []string{
			`TakenUpAgain 7d {"after":"2026-02-28T12:06:00Z","told":"Order","was":0}`,
			`MissingNumbers {"numbers":["1","3-4"],"why":"Unknown"}`,
		}, "3 or 4 was its first number, and the other was deleted, or its second"},
		{"7=d@3 6=c@6 4=b@4 2=a@2 d", []dstest.Option{limit(3)}, []string{
			`TakenUpAgain 7d {"after":"2026-02-28T12:06:00Z","told":"Order","was":3}`,
			`MissingNumbers {"numbers":["3"],"why":"TakenUpAgain"}`,
			`MissingNumbers {"numbers":["5"],"why":"Unknown"}`,
			`RemovedByNextChange 2a {"limit":3}`,
		}, "what clean-up took before is not missing, and 5 may have been its number too"},
		{"5=a@1 4=b@2 a", []dstest.Option{limit(1)}, []string{
			`TakenUpAgain 5a {"after":"2026-02-28T12:02:00Z","told":"Order","was":0}`, `RemovedByNextChange 4b {"limit":1}`,
		}, "in a full history whatever is below was cleaned up, or moved on from"},
		{"1=a 3=b@2+9 b", nil, []string{`TakenUpAgain 3b {"told":"ManagedFields","was":2}`, `MissingNumbers {"numbers":["2"],"why":"TakenUpAgain"}`}, "nothing but the managed fields tells, and one number is missing"},
		{"2=a@1+9 1=b@2 a", nil, []string{}, "what is taken up again leaves a number behind, and none is missing: somebody made these up"},
		{"1=z@4 2=y@3 3=x@2 4=w@1 w", nil, []string{}, "restored in some order, of which no managed fields tell"},
		{"5=w@1 4=x@2 2=y@3 w", []dstest.Option{recreated(30)}, []string{`MissingNumbers {"numbers":["1","3"],"why":"Unknown"}`}, "older than the DaemonSet, they may have been restored in any order"},
		{"6=w@1 5=x@2 3=y@33 w", []dstest.Option{recreated(30)}, []string{
			`TakenUpAgain 6w {"after":"2026-02-28T12:33:00Z","told":"Order","was":0}`, `TakenUpAgain 5x {"after":"2026-02-28T12:33:00Z","told":"Order","was":0}`, `MissingNumbers {"numbers":["1-2","4"],"why":"Unknown"}`,
		}, "one that is younger was not restored"},
		{"1=z@52 2=y@51 4=x@50 x", []dstest.Option{numberedBy("agent-4x", "velero", *minute(50))}, []string{`MissingNumbers {"numbers":["3"],"why":"Unknown"}`}, "nor does one that was restored itself"},
		{"1=a 2=c 4=b@3+9 b", []dstest.Option{undated("agent-2c")}, []string{`TakenUpAgain 4b {"told":"ManagedFields","was":3}`, `MissingNumbers {"numbers":["3"],"why":"TakenUpAgain"}`}, "another without a time is passed over"},
		{"3=a@1+90 2=b@89 a", []dstest.Option{recreated(88)}, []string{
			`TakenUpAgain 3a {"after":"2026-02-28T13:29:00Z","told":"Order","was":1}`, `MissingNumbers {"numbers":["1"],"why":"TakenUpAgain"}`,
		}, "adopted and taken up again: the order tells, but of which the time is does not show"},
		{"3=a@1 2=b a", []dstest.Option{untimed("agent-3a")}, []string{
			`TakenUpAgain 3a {"after":"2026-02-28T12:02:00Z","told":"Order","was":1}`, `MissingNumbers {"numbers":["1"],"why":"TakenUpAgain"}`,
		}, "managed fields without a time are none"},
		{"0=z@0 1=a 3=b@2+9 b", nil, []string{`TakenUpAgain 3b {"told":"ManagedFields","was":2}`, `MissingNumbers {"numbers":["2"],"why":"TakenUpAgain"}`}, "0, which the controller gives to none, fills no gap"},
		{"4=c@4+4 6=d@6+6 8=a@5+9 a", nil, []string{
			`TakenUpAgain 8a {"after":"2026-02-28T12:06:00Z","told":"ManagedFields","was":5}`, `MissingNumbers {"numbers":["5"],"why":"TakenUpAgain"}`, `MissingNumbers {"numbers":["1-3","7"],"why":"Unknown"}`,
		}, "between two that have their first numbers still, by the managed fields"},
		{"5=a 6=b b", []dstest.Option{limit(2)}, []string{`MissingNumbers {"numbers":["1-4"],"why":"Unknown"}`}, "clean-up had no reason yet"},
		{"1=a 3=b@2+9 b", []dstest.Option{numberedBy("agent-3b", "k3s", *minute(9)), statusBy("k3s")}, []string{
			`TakenUpAgain 3b {"told":"ManagedFields","was":2}`, `MissingNumbers {"numbers":["2"],"why":"TakenUpAgain"}`,
		}, "the controller is whoever writes the status"},
		{"1=a 3=b@2+9 b", []dstest.Option{numberedBy("agent-3b", "hyperkube", *minute(9)), statusByField("hyperkube")}, []string{
			`TakenUpAgain 3b {"told":"ManagedFields","was":2}`, `MissingNumbers {"numbers":["2"],"why":"TakenUpAgain"}`,
		}, "before the status was a subresource there"},
		{"1=a 3=b@2+9 b", []dstest.Option{numberedBy("agent-3b", "k3s", *minute(9)), statusBy("kubelite")}, []string{`MissingNumbers {"numbers":["2"],"why":"Unknown"}`}, "and nobody else"},
		{"7=e@5+60 6=d@1 4=c@4 2=b@3 1=a@2 e", []dstest.Option{
			numberedBy("agent-6d", "velero", *minute(1)), numberedBy("agent-4c", "velero", *minute(4)), numberedBy("agent-2b", "velero", *minute(3)), numberedBy("agent-1a", "velero", *minute(2)),
		}, []string{`TakenUpAgain 7e {"told":"ManagedFields","was":0}`, `MissingNumbers {"numbers":["3","5"],"why":"Unknown"}`}, "when others were restored says nothing of its first number"},
		{"1=a 3=b@2+9 b", []dstest.Option{numbered("agent-3b", began.Add(2*time.Minute+time.Second))}, []string{`MissingNumbers {"numbers":["2"],"why":"Unknown"}`}, "a second later is the same write"},
		{"1=a 3=b@2+9 b", []dstest.Option{numbered("agent-3b", began.Add(2*time.Minute+2*time.Second))}, []string{`TakenUpAgain 3b {"told":"ManagedFields","was":2}`, `MissingNumbers {"numbers":["2"],"why":"TakenUpAgain"}`}, "two are not"},
		{"3=a@1 2=b a", []dstest.Option{undated("agent-3a")}, []string{`MissingNumbers {"numbers":["1"],"why":"Unknown"}`}, "without its creation time nothing tells"},
		{"3=a@1 2=b a", []dstest.Option{undated("agent-2b")}, []string{`MissingNumbers {"numbers":["1"],"why":"Unknown"}`}, "nor without the other's"},
		{"1=a 2=b 3=c@3+9 c", nil, []string{}, "no number below is missing"},
		{"7=r@5 6=z@6 4=s@1 3=y@3 2=x@2 r", nil, []string{
			`TakenUpAgain 7r {"after":"2026-02-28T12:06:00Z","told":"Order","was":5}`, `TakenUpAgain 4s {"after":"2026-02-28T12:03:00Z","told":"Order","was":1}`,
			`MissingNumbers {"numbers":["1","5"],"why":"TakenUpAgain"}`,
		}, "two: what one has now was never the other's"},
		{"4=a@1 3=b@3 2=c@2 a", []dstest.Option{undated("agent-2c")}, []string{
			`TakenUpAgain 4a {"after":"2026-02-28T12:03:00Z","told":"Order","was":1}`, `MissingNumbers {"numbers":["1"],"why":"TakenUpAgain"}`,
		}, "one without a creation time bounds nothing"},
		{"11=a@1+90 12=b@2+90 13=c@3+90 c", []dstest.Option{limit(2), recreated(89)}, []string{`RemovedByNextChange 11a {"limit":2}`}, "adopted by a DaemonSet that was made anew: their times moved, not their numbers"},
		{"5=a@1+90 a", []dstest.Option{limit(0), recreated(89)}, []string{`RemovedByNextChange 5a {"limit":0}`}, "the only one, too"},
		{"14=a@1+95 12=b@2+90 13=c@3+90 a", []dstest.Option{limit(2), recreated(89)}, []string{
			`TakenUpAgain 14a {"after":"2026-02-28T12:03:00Z","told":"ManagedFields","was":0}`, `RemovedByNextChange 12b {"limit":2}`,
		}, "a rollback after the adoption"},
		{"11=a@1+90 12=b@2 c", []dstest.Option{limit(2)}, []string{`NotCut {"number":13}`, `RemovedByNextChange 11a {"limit":2}`}, "a number cannot be given after a higher one: the controller wrote something else"},
		{"11=a@1+3 10=b@4 c", []dstest.Option{limit(2)}, []string{
			`NotCut {"number":12}`, `TakenUpAgain 11a {"after":"2026-02-28T12:04:00Z","told":"Order","was":0}`, `RemovedByNextChange 10b {"limit":2}`,
		}, "nor before a lower one: when is not told then"},
		{"1=z@52 2=y@51 3=x@50 x", []dstest.Option{numberedBy("agent-1z", "velero", *minute(52)), numberedBy("agent-2y", "velero", *minute(51)), numberedBy("agent-3x", "velero", *minute(50))}, []string{}, "restored by a backup: when they were made tells nothing"},
		{"1=z@52 2=y@51 4=x@50 x", []dstest.Option{numberedBy("agent-1z", "velero", *minute(52))}, []string{`TakenUpAgain 4x {"after":"2026-02-28T12:51:00Z","told":"Order","was":0}`, `MissingNumbers {"numbers":["3"],"why":"Unknown"}`}, "one that was is nothing to compare with, others are"},
		{"3=a@1+1 2=b@2 a", nil, []string{`MissingNumbers {"numbers":["1"],"why":"Unknown"}`}, "its number is as old as it is: the managed fields know better than the order"},
		{"1=a 7=b@2+9 b", []dstest.Option{numberedBy("agent-7b", "kubectl-edit", *minute(9))}, []string{`MissingNumbers {"numbers":["2-6"],"why":"Unknown"}`}, "a number that somebody edited"},
		{"7=e@3 6=f@6 4=b@2 1=a@1 e", nil, []string{
			`TakenUpAgain 7e {"after":"2026-02-28T12:06:00Z","told":"Order","was":0}`, `MissingNumbers {"numbers":["2-3","5"],"why":"Unknown"}`,
		}, "what may have been raised unseen bounds nothing"},
		{"3=a@1+9 a", nil, []string{`TakenUpAgain 3a {"told":"ManagedFields","was":0}`, `MissingNumbers {"numbers":["1-2"],"why":"Unknown"}`}, "after the other one was deleted"},
		{"1=a 3=b@2 b", nil, []string{`MissingNumbers {"numbers":["2"],"why":"Unknown"}`}, "a revision that somebody deleted"},
		{"3=a@2 2=b@2 a", nil, []string{`MissingNumbers {"numbers":["1"],"why":"Unknown"}`}, "made in one second: the order does not tell"},

		{"1=a 2=a a", nil, []string{`Duplicates 2a 1a {"keep":["agent-2a"],"pods":0,"remove":["agent-1a"]}`}, "two of the live template"},
		{"1=a 2=a a | 1a", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			s.Pods, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Pods, Why: snapshot.Forbidden}}
		})}, []string{`Duplicates 2a 1a {"keep":["agent-2a"],"remove":["agent-1a"]}`}, "whatever is known of the pods"},
		{"1=a 2=a a | 1a 2a 0x", nil, []string{
			`Duplicates 2a 1a {"keep":["agent-2a"],"pods":2,"remove":["agent-1a"]}`, `NoRevision {"hashes":["0x"],"pods":1}`,
		}, "with the pods that are relabelled"},
		{"1=a 2=a 3=b b", nil, []string{`SameContent 2a {"name":"agent-1a","of":1}`}, "two old ones of one content"},
		{"1=a 2=a 3=b 4=b a", nil, []string{
			`NumberRaised 2a {"from":2,"to":5}`, `Duplicates 2a 1a {"keep":["agent-2a"],"pods":0,"remove":["agent-1a"]}`, `SameContent 4b {"name":"agent-3b","of":3}`,
		}, "two that are merged, and two that are not"},
		{"2=a 3=a' 1=b a", nil, []string{`NumberRaised 2a {"from":2,"to":4}`, `SameContent 3a {"name":"agent-2a","of":2}`}, "the current one has a newer likeness, stored differently"},
		{"1=a 2=b 3=c c", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			s.Revisions[0].Data.Raw, s.Revisions[1].Data.Raw = []byte(`{}`), []byte(`{}`)
		})}, []string{
			`Unreadable 2b {"message":"data: not a patch of spec.template alone"}`, `Unreadable 1a {"message":"data: not a patch of spec.template alone"}`,
		}, "two that cannot be read are not alike"},
		{"1=a' 2=b 3=a a", nil, []string{`SameContent 3a {"name":"agent-1a","of":1}`}, "stored differently, and so no duplicate"},
		{"2=a@1 2=b@2 b", nil, []string{
			`NumberRaised 2b {"from":2,"to":3}`, `SharedNumber 2b 2a {"number":2}`, `MissingNumbers {"numbers":["1"],"why":"Unknown"}`,
		}, "two of one number"},

		{"2=a@1 2=b@2 2=c@3 b", nil, []string{
			`NumberRaised 2b {"from":2,"to":3}`, `SharedNumber 2c 2b 2a {"number":2}`, `MissingNumbers {"numbers":["1"],"why":"Unknown"}`,
		}, "or three"},

		{"1=a' a", nil, []string{`CutThoughUnchanged 1a {"like":1,"number":2,"outdated":0}`}, "an upgrade of the controller that writes another form"},
		{"1=a' a | 1ag 1ag 1a", nil, []string{`CutThoughUnchanged 1a {"like":1,"number":2,"outdated":1}`}, "pods of the live generation stay"},
		{"1=a' 2=a a | 1ag 1ag 2a 1a", nil, []string{
			`SameContent 2a {"name":"agent-1a","of":1}`, `SeveralHashes 2a {"hashes":["1a"],"pods":2}`,
		}, "after it: pods of the old hash are up to date"},
		{"1=a a | 1a 0x 0y", nil, []string{`NoRevision {"hashes":["0x","0y"],"pods":2}`}, "pods of a revision that is gone"},

		{"1=a 2=b 3=c 4=d d", []dstest.Option{limit(2)}, []string{`RemovedNext 1a {"limit":2}`, `RemovedByNextChange 2b {"limit":2}`}, "a limit that was lowered"},
		{"1=a 2=b 3=c c", []dstest.Option{limit(2)}, []string{`RemovedByNextChange 1a {"limit":2}`}, "a full history"},
		{"1=a 2=b 3=c c | 1a", []dstest.Option{limit(2)}, []string{`RemovedByNextChange 2b {"limit":2}`}, "one that pods run stays"},
		{"1=a 2=b a", []dstest.Option{limit(1)}, []string{`NumberRaised 1a {"from":1,"to":3}`, `RemovedByNextChange 2b {"limit":1}`}, "the one that is raised next is the newest by then"},
		{"1=a 2=b c", []dstest.Option{limit(2)}, []string{`NotCut {"number":3}`, `RemovedByNextChange 1a {"limit":2}`}, "the one that is made next is old by then, too"},
		{"1=a 2=b b", []dstest.Option{limit(0)}, []string{`RemovedNext 1a {"limit":0}`, `RemovedByNextChange 2b {"limit":0}`}, "nothing is kept"},
		{"1=a 2=a1 3=a2 4=a3 a3", []dstest.Option{limit(3)}, []string{`RemovedByNextChange 1a {"limit":3}`, `MostlyRestarts {"kept":4,"restarts":3}`}, "restarts push out the rest"},
		{"1=a 2=a1 3=a2 4=a3 a3", nil, []string{}, "while there is room they do not"},
		{"1=a 2=b 3=a 4=a1 a1", []dstest.Option{limit(3)}, []string{`SameContent 3a {"name":"agent-1a","of":1}`, `RemovedByNextChange 1a {"limit":3}`}, "one restart is not most"},

		{"~1=a 2=b b", nil, []string{`WillAdopt 1a {}`}, "an orphan"},
		{"!1=a 2=b b", nil, []string{`MissingNumbers {"numbers":["1"],"why":"Unknown"}`, `ForeignRevisions {"names":["agent-1a"]}`}, "somebody else's"},
		{"1=a 2=b b", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions[0].Labels = nil })}, []string{
			`WillRelease {"names":["agent-1a"]}`,
		}, "one that does not match: its number is not missing"},
		{"1=a a", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) { n := int32(2); s.DaemonSet.Status.CollisionCount = &n })}, []string{`HashCollision {"count":2}`}, "collisions"},
		{"1=a 2=b b", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions[0].Data.Raw = []byte(` `) })}, []string{`Unreadable 1a {"message":"data: empty"}`}, "nothing"},
		{"1=a 2=b b", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			s.Revisions[0].Data.Raw = []byte(`{"spec":{"template":{"spec":{"containers":"no"}}}}`)
		})}, []string{
			`Unreadable 1a {"message":"data: spec.template.spec.containers must be a list, not text"}`,
		}, "what is no template of the API's"},
		{"1=a 2=b b", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions[0].Data.Raw = []byte(`{"spec":{}}`) })}, []string{
			`Unreadable 1a {"message":"data: not a patch of spec.template alone"}`,
		}, "what is no template"},
		{"1=a 2=b c", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			s.DaemonSet.Spec.Selector = &metav1.LabelSelector{}
		})}, []string{`SelectsAll {}`}, "an empty selector: the controller does nothing"},
		{"1=a 2=b c", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) { now := metav1.NewTime(s.TakenAt); s.DaemonSet.DeletionTimestamp = &now })}, []string{`BeingDeleted {}`}, "of one that is being deleted nothing comes next"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			h := of(t, past(t, tt.past, tt.options...), Options{})
			if diff := cmp.Diff(tt.want, noted(h)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.past, diff)
			}
		})
	}
}

func TestCurrentSince(t *testing.T) {
	for _, tt := range []struct {
		past    string
		options []dstest.Option
		want    *time.Time
		why     string
	}{
		{"1=a 2=b b", nil, minute(2), "since it was made: no number is missing"},
		{"1=a 3=b@2+9 b", nil, minute(9), "since it was taken up again"},
		{"3=a@1 2=b a", nil, nil, "taken up again, and nothing tells when"},
		{"1=a 4=b@2 5=c@3 c", nil, nil, "it may have been 2 or 3 before: kubectl leaves out the managed fields"},
		{"1=a 4=b@2+8 5=c@3+9 c", nil, minute(9), "with them"},
		{"1=a 4=b@4 5=c@5+5 c", nil, minute(5), "a number is missing, but this one is as old as it is"},
		{"1=a' 4=b'@4 5=c'@5+5 c", []dstest.Option{served("v1.24.17")}, nil, "which those of a server before v1.25 do not tell"},
		{"1=a 4=b@2 5=c@3 b", nil, nil, "nor where an older one is current until the next sync"},
		{"4=b 5=c c", []dstest.Option{limit(1)}, nil, "nor where clean-up explains what is missing: both may have been taken up again"},
		{"1=a 2=b c", nil, nil, "none is current"},
		{"1=b' 2=b b", nil, minute(2), "one is, in the form of now"},
		{"1=b@1 1=b@2 b", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			s.Revisions[0].Name, s.Revisions[0].Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = "agent-x", "x"
		})}, nil, "two are"},
		{"a | 1ag", []dstest.Option{dstest.Edit(lackRevisions)}, nil, "without revisions"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, of(t, past(t, tt.past, tt.options...), Options{}).CurrentSince); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.past, diff)
			}
		})
	}
}

// TestRestart tests which changes of the restart annotation are restarts.
func TestRestart(t *testing.T) {
	const early, late = "2026-11-20T15:00:00+01:00", "2026-11-20T10:00:00-05:00" // an hour apart
	for _, tt := range []struct {
		old, new string
		want     ChangeKind
		why      string
	}{
		{"", early, ChangeRestart, "the first"},
		{early, late, ChangeRestart, "later, in another time zone: by their letters it is earlier"},
		{late, early, ChangeTemplate, "a rollback to before the restart"},
		{"yes", early, ChangeRestart, "somebody wrote something else there before"},
		{early, "yes", ChangeTemplate, "and after"},
		{early, "", ChangeTemplate, "taken away"},
		{early, "2026-11-20T14:00:00Z", ChangeTemplate, "the same time"},
	} {
		again := func(key string, want ChangeKind) {
			s := past(t, "1=a 2=b b")
			for i, at := range []string{tt.old, tt.new} {
				tmpl := contentOf(s, "a")
				if at != "" {
					metav1.SetMetaDataAnnotation(&tmpl.ObjectMeta, key, at)
				}
				s.Revisions[i].Data = storedData(t, &tmpl, false)
			}
			if got := of(t, s, Options{}).Revisions[0].Kind; got != want {
				t.Errorf("%s %q -> %q: %s, want %s", key, tt.old, tt.new, got, want)
			}
		}
		t.Run(tt.why, func(t *testing.T) {
			again("kubectl.kubernetes.io/restartedAt", tt.want)
			again("example.com/restartedAt", ChangeTemplate) // another annotation
		})
	}
}

func TestRows(t *testing.T) {
	for _, tt := range []struct {
		past    string
		options []dstest.Option
		want    []string
		why     string
	}{
		{"1=a 2=b b | 1a 2b 2b", nil, []string{"2* 2b 2/2 Template", "1 1a 1/1 First"}, "newest first, the current one marked"},
		{"1=a 2=a1 a1", nil, []string{"2* 2a1 0/0 Restart", "1 1a 0/0 First"}, "a restart"},
		{"1=a1 2=a a", nil, []string{"2* 2a 0/0 Template", "1 1a1 0/0 First"}, "a restart that is taken back is none"},
		{"1=a2 2=a1 a1", nil, []string{"2* 2a1 0/0 Template", "1 1a2 0/0 First"}, "nor is an earlier one"},
		{"1=a1 2=a2 a2", nil, []string{"2* 2a2 0/0 Restart", "1 1a1 0/0 First"}, "another restart"},
		{"1=a 2=b1 b1", nil, []string{"2* 2b1 0/0 Template", "1 1a 0/0 First"}, "an image and a restart"},
		{"1=a' 2=a a", nil, []string{"2* 2a 0/0 SameContent", "1 1a 0/0 First"}, "another form of the same"},
		{"1=a 2=b c | 1a 2b", nil, []string{"2 2b 1/1 Template", "1 1a 1/1 First"}, "none is current before the next sync"},
		{"1=a 2=b b | 1a/2b 2b/1a", nil, []string{"2* 2b 1/2 Template", "1 1a 1/2 First"}, "a node counts for its oldest pod, in a surge too"},
		{"1=a a | 0x 0x/1a 1a 0y", nil, []string{"1* 1a 1/2 First", "0 0x 2/2 Unknown", "0 0y 1/1 Unknown"}, "pods whose hash no revision has"},
		{"1=a a | 1a 1a", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			const hash = appsv1.DefaultDaemonSetUniqueLabelKey
			s.Revisions[0].Labels[hash], s.Pods[0].Labels[hash] = "", ""
			delete(s.Pods[1].Labels, hash)
		})}, []string{"1*  0/0 First", "0  2/2 Unknown"}, "no hash is nobody's, as in the status"},
		{"1=a 2=b 4=c@3 c", nil, []string{"4* 4c 0/0 Template", "2 2b 0/0 Template", "1 1a 0/0 First"}, "against the one below, whatever its number"},
		{"a | 1ag 1ag 2b 3c", []dstest.Option{dstest.Edit(lackRevisions)}, []string{"0* 1a 2/2 Template", "0 2b 1/1 Template", "0 3c 1/1 First"}, "without revisions, by hash; the highest generation is the newest"},
		{"a | 1a 2a", []dstest.Option{dstest.Edit(lackRevisions)}, []string{"0 1a 1/1 Unknown", "0 2a 1/1 First"}, "of equal images nothing is known"},
		{"1=a 2=b b | 1a", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) {
			s.Pods, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Pods, Why: snapshot.Forbidden}}
		})}, []string{"2* 2b -1/-1 Template", "1 1a -1/-1 First"}, "no count where pods could not be read"},
		{"1=a 2=b 3=c c", []dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions[1].Data.Raw = []byte(`[]`) })}, []string{
			"3* 3c 0/0 Unknown", "2 2b 0/0 Unknown", "1 1a 0/0 First",
		}, "one that cannot be read leaves two changes unknown"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rows(of(t, past(t, tt.past, tt.options...), Options{}))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.past, diff)
			}
		})
	}
}

func lackRevisions(s *snapshot.Snapshot) {
	s.Revisions, s.Gaps = nil, append(s.Gaps, snapshot.Gap{What: snapshot.Revisions, Why: snapshot.NotGiven})
}

func TestFind(t *testing.T) {
	h := of(t, past(t, "1=a 3=b@2 4=c@3 c | 0x"), Options{})
	shared := of(t, past(t, "2=c@2 2=b@3 2=a@1 c"), Options{})
	for i, row := range shared.Revisions {
		if got, err := Find(shared, Which{Number: 2}); err != nil || got.Name != "agent-2a" {
			t.Errorf("of three with one number: %v, %v", got, err)
		}
		if got, err := Find(shared, Which{Number: int64(-i)}); i > 0 && (err != nil || got.Name != row.Name) {
			t.Errorf("counted back %d: %v, %v", i, got, err)
		}
	}
	for _, tt := range []struct {
		which Which
		want  string
		why   string
	}{
		{Which{Number: 3}, "agent-3b", "by number"},
		{Which{Number: -1}, "agent-3b", "the one before the latest"},
		{Which{Number: -2}, "agent-1a", "two before"},
		{Which{Live: true}, "live", "the live template"},
		{Which{Number: 2}, "daemonset kube-system/agent has no revision 2: it has 4, 3, 1", "a number that is missing"},
		{Which{Number: -3}, "daemonset kube-system/agent has no revision 3 before the latest: it has 4, 3, 1", "rows of pods are no revisions"},
		{Which{}, "daemonset kube-system/agent has no revision 0: it has 4, 3, 1", "0 is none"},
	} {
		row, err := Find(h, tt.which)
		got := "live"
		switch {
		case err != nil:
			got = err.Error()
		case row != nil:
			got = row.Name
		}
		if got != tt.want {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
}

func TestAskedDiff(t *testing.T) {
	number := func(n int64) *Which { return &Which{Number: n} }
	for _, tt := range []struct {
		past string
		ask  Between
		want string
		why  string
	}{
		{"1=a 2=b 3=c c", Between{number(1), number(3)}, "1 to 3: a to c", "two revisions"},
		{"1=a 2=b 3=c c", Between{number(3), number(1)}, "3 to 1: c to a", "the other way round"},
		{"1=a 2=b 3=c c", Between{nil, number(2)}, "1 to 2: a to b", "against the one before"},
		{"1=a 2=b 3=c c", Between{nil, number(-1)}, "1 to 2: a to b", "counted back"},
		{"1=a 2=b 3=c c", Between{nil, &Which{Live: true}}, "2 to 0: b to c", "the live template is the newest revision's: against the one before that"},
		{"1=a 2=b c", Between{nil, &Which{Live: true}}, "2 to 0: b to c", "no revision has it: against the newest"},
		{"1=a 2=b a", Between{nil, &Which{Live: true}}, "2 to 0: b to a", "an older one has it, and is about to be taken up again: against the newest"},
		{"1=a a", Between{nil, &Which{Live: true}}, "revision 1 is the oldest that is kept: there is none before it", "it is the only one's"},
		{"1=a a", Between{nil, number(1)}, "revision 1 is the oldest that is kept: there is none before it", "before the oldest"},
		{"1=a a | 0x", Between{nil, number(1)}, "revision 1 is the oldest that is kept: there is none before it", "pods are nothing to compare with"},
		{"a", Between{nil, &Which{Live: true}}, "daemonset kube-system/agent has no revision before the live template: it has none yet", "nothing to compare with"},
		{"1=a 2=b b", Between{number(1), number(7)}, "daemonset kube-system/agent has no revision 7: it has 2, 1", "one that is not there"},
		{"1=a 2=b b", Between{number(2), number(2)}, "2 to 2: ", "with itself"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			h, err := try(past(t, tt.past), Options{Diff: &tt.ask})
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = fmt.Sprintf("%d to %d: ", h.Diff.From.Revision, h.Diff.To.Revision)
				for _, c := range h.Diff.Change {
					old, _ := c.Old.Text()
					new, _ := c.New.Text()
					got += old[len(old)-1:] + " to " + new[len(new)-1:]
				}
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestOwners tests who owns a field of the live template.
func TestOwners(t *testing.T) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":` + fields + `}}`)}
	}
	const container = `{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":`
	fields := []metav1.ManagedFieldsEntry{
		entry("image", container+`{".":{},"f:name":{},"f:image":{}}}}}`),
		entry("env", container+`{"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}}}`),
		entry("port", container+`{"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{"f:containerPort":{}}}}}}}`),
		entry("tolerations", `{"f:spec":{"f:tolerations":{}}}`),
		entry("restart", `{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{}}}}`),
		entry("both", `{"f:spec":{"f:dnsPolicy":{}}}`), entry("also", `{"f:spec":{"f:dnsPolicy":{},"f:dnsConfig":{}}}`),
		{Manager: "status", Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{"f:hostNetwork":{}}}}}`)},
		{Manager: "unread"}, {Manager: "broken", FieldsV1: metav1.NewFieldsV1(`{`)},
		entry("odd", `{"f:spec":{"f:volumes":{"k:{":{},"v:1":{}}}}`),
		entry("image", `{"f:spec":{"f:priority":{}}}`),
		entry("creator", container+`{"f:resources":{"f:limits":{}}}}}}`), entry("setter", container+`{"f:resources":{"f:limits":{"f:memory":{}}}}}}}`),
	}
	ds := &appsv1.DaemonSet{}
	ds.ManagedFields = fields
	owners := ownersIn(ds)
	for _, tt := range []struct {
		path string
		want []string
		why  string
	}{
		{"spec.template.spec.containers[name=agent].image", []string{"image"}, "a field of a member"},
		{"spec.template.spec.containers[name=agent]", []string{"creator", "env", "image", "port", "setter"}, "all who own something in it"},
		{"spec.template.spec.containers[name=other].image", []string{}, "of another member"},
		{"spec.template.spec.containers[name=agent].env[name=A].value", []string{"env"}, "a list in a list"},
		{"spec.template.spec.containers[name=agent].ports[containerPort=80].hostPort", []string{}, "a field that nobody owns of a member that somebody does"},
		{"spec.template.spec.containers[name=agent].ports[containerPort=80].containerPort", []string{"port"}, "a member that has two keys, and the path one"},
		{"spec.template.spec.tolerations", []string{"tolerations"}, "a whole list"},
		{"spec.template.spec.tolerations[0]", []string{"tolerations"}, "what is in a whole list"},
		{"spec.template.spec.dnsConfig.nameservers", []string{"also"}, "what is in a whole object"},
		{"spec.template.spec.tolerationsMore", []string{}, "a field that begins with the same letters"},
		{"spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]", []string{"restart"}, "a key with dots"},
		{"spec.template.spec.dnsPolicy", []string{"also", "both"}, "two owners, by name"},
		{"spec.template.spec.hostNetwork", []string{}, "who writes the status owns none of it"},
		{"spec.template.spec.priority", []string{"image"}, "a manager with two entries"},
		{"spec.template.spec.containers[name=agent].resources.limits.memory", []string{"setter"}, "who still has the empty rest owns nothing in it"},
		{"spec.template.spec.volumes", []string{"odd"}, "keys that cannot be read are passed over"},
	} {
		if diff := cmp.Diff(tt.want, owners.ownersOf(template.Difference{Path: template.ParsePath(tt.path)})); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.path, tt.why, diff)
		}
	}
}

// TestManagers tests who wrote the DaemonSet, the last first.
func TestManagers(t *testing.T) {
	one, two := dstest.Now.Add(-2*time.Hour), dstest.Now.Add(-time.Hour)
	entry := func(manager string, op metav1.ManagedFieldsOperationType, at *time.Time, fields string) metav1.ManagedFieldsEntry {
		m := metav1.ManagedFieldsEntry{Manager: manager, Operation: op}
		if at != nil {
			m.Time = &metav1.Time{Time: *at}
		}
		if fields != "" {
			m.FieldsV1 = metav1.NewFieldsV1(fields)
		}
		return m
	}
	const tmpl, labels = `{"f:spec":{"f:template":{"f:spec":{"f:hostNetwork":{}}}}}`, `{"f:metadata":{"f:labels":{"f:x":{}}}}`
	status := entry("kube-controller-manager", "Update", &two, tmpl)
	status.Subresource = "status"
	s := past(t, "1=a a", dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{
			entry("unknown", "Update", nil, labels), entry("b", "Update", &one, tmpl), entry("b", "Apply", &one, labels), entry("a", "Update", &one, ""),
			status, entry("last", "Update", &two, `{`), entry("another", "Update", nil, tmpl),
		}
	}))
	want := []Manager{{"last", "Update", &two, false}, {"a", "Update", &one, false}, {"b", "Apply", &one, false}, {"b", "Update", &one, true}, {"another", "Update", nil, true}, {"unknown", "Update", nil, false}}
	if diff := cmp.Diff(want, of(t, s, Options{}).Managers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChangeManagers checks that a change has managers only if it leads to the
// live template.
func TestChangeManagers(t *testing.T) {
	with := func(text string) *snapshot.Snapshot {
		return past(t, text, dstest.Edit(func(s *snapshot.Snapshot) {
			s.DaemonSet.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "helm", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{}}}`)}}
		}))
	}
	two := with("1=a 2=b 3=c c")
	for _, tt := range []struct {
		change []FieldChange
		want   int
		why    string
	}{
		{of(t, two, Options{}).Revisions[0].Change, 1, "to the current revision"},
		{of(t, two, Options{}).Revisions[1].Change, 0, "to an older one"},
		{of(t, with("1=b1 2=b b"), Options{}).Revisions[0].Change, 0, "of what is gone nobody"},
		{of(t, with("1=a b"), Options{}).Uncut.Change, 1, "to a live template that no revision has"},
		{of(t, two, Options{Diff: &Between{From: &Which{Number: 1}, To: &Which{Live: true}}}).Diff.Change, 1, "to the live template, as asked"},
		{of(t, two, Options{Diff: &Between{From: &Which{Number: 1}, To: &Which{Number: 3}}}).Diff.Change, 1, "to the current revision, as asked"},
		{of(t, two, Options{Diff: &Between{From: &Which{Number: 3}, To: &Which{Number: 1}}}).Diff.Change, 0, "the way back"},
	} {
		if len(tt.change) != 1 || len(tt.change[0].Managers) != tt.want {
			t.Errorf("%s: %v", tt.why, tt.change)
		}
	}
	s := with("a | 1ag 2b")
	lackRevisions(s)
	if c := of(t, s, Options{}).Revisions[0].Change; len(c) != 1 || len(c[0].Managers) != 0 {
		t.Errorf("what pods tell is nobody's: %v", c)
	}
}

func TestUncut(t *testing.T) {
	image := func(old, new string) []FieldChange {
		return []FieldChange{{Difference: template.Difference{Path: template.ParsePath("spec.template.spec.containers[name=agent].image"), Old: template.ValueOf("example/agent:" + old), New: template.ValueOf("example/agent:" + new)}, Kind: FieldSet, Managers: []string{}}}
	}
	for _, tt := range []struct {
		past string
		want *Diff
		why  string
	}{
		{"1=a 2=b b", nil, "the live template has its revision"},
		{"1=a 2=b a", nil, "an old one"},
		{"1=a 2=b c", &Diff{From: Side{Revision: 2, Name: "agent-2b"}, To: Side{Live: true}, Kind: ChangeTemplate, Change: image("b", "c")}, "against the newest"},
		{"1=a' a", &Diff{From: Side{Revision: 1, Name: "agent-1a"}, To: Side{Live: true}, Kind: ChangeNone, Change: []FieldChange{}}, "stored in another form"},
		{"a", nil, "there is nothing to compare it with"},
		{"a | 1x", nil, "nor are pods"},
	} {
		if diff := cmp.Diff(tt.want, of(t, past(t, tt.past), Options{}).Uncut); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.past, tt.why, diff)
		}
	}
}

// TestDefaults checks that a field that an API server added as a default does
// not count as a change by a user.
func TestDefaults(t *testing.T) {
	s := past(t, "1=a 2=a a")
	for i, policy := range []corev1.DNSPolicy{"", corev1.DNSClusterFirst} {
		tmpl := contentOf(s, "a")
		tmpl.Spec.DNSPolicy = policy
		s.Revisions[i].Data = storedData(t, &tmpl, false)
	}
	row := of(t, s, Options{}).Revisions[0]
	want := []FieldChange{{Difference: template.Difference{Path: template.ParsePath("spec.template.spec.dnsPolicy"), New: template.ValueOf("ClusterFirst")}, Kind: FieldDefault, Managers: []string{}}}
	if diff := cmp.Diff(want, row.Change); diff != "" || row.Kind != ChangeDefaults || row.From != 1 {
		t.Errorf("%s from %d (-want +got):\n%s", row.Kind, row.From, diff)
	}
}

// TestNone tests the reasons why a revision does not exist.
func TestNone(t *testing.T) {
	gap := func(what snapshot.What, why snapshot.Why, message string) dstest.Option {
		return dstest.Edit(func(s *snapshot.Snapshot) {
			s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: why, Message: message})
		})
	}
	for _, tt := range []struct {
		past    string
		options []dstest.Option
		want    *Error
		why     string
	}{
		{"1=a 3=b@2 b", nil, &Error{NoSuchRevision, "kube-system", "", "daemonset kube-system/agent has no revision 2: it has 3, 1"}, "a number that is not there"},
		{"1=a 1=b@2 b", nil, &Error{NoSuchRevision, "kube-system", "", "daemonset kube-system/agent has no revision 2: it has 1"}, "a number that two share, once"},
		{"a", nil, &Error{NoSuchRevision, "kube-system", "", "daemonset kube-system/agent has no revision 2: it has none yet"}, "none at all"},
		{"a", []dstest.Option{gap(snapshot.Revisions, snapshot.Forbidden, "no")}, &Error{NotReadable, "kube-system", snapshot.Forbidden, "the revisions of daemonset kube-system/agent could not be read: no"}, "not allowed"},
		{"a", []dstest.Option{gap(snapshot.Revisions, snapshot.NotGiven, "")}, &Error{NotReadable, "kube-system", snapshot.NotGiven, "the revisions of daemonset kube-system/agent could not be read: NotGiven"}, "not in the dump"},
		{"a", []dstest.Option{gap(snapshot.Revisions, snapshot.Failed, "timeout")}, &Error{NotReadable, "kube-system", snapshot.Failed, "the revisions of daemonset kube-system/agent could not be read: timeout"}, "a request that failed"},
		{"1=a a", []dstest.Option{gap(snapshot.Revisions, snapshot.Moved, ""), gap(snapshot.Pods, snapshot.Failed, "")}, &Error{NoSuchRevision, "kube-system", "", "daemonset kube-system/agent has no revision 2: it has 1"}, "they are there, only of another moment"},
	} {
		_, err := Find(of(t, past(t, tt.past, tt.options...), Options{}), Which{Number: 2})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if diff := cmp.Diff(tt.want, e, cmp.AllowUnexported(Error{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

func TestObject(t *testing.T) {
	s := past(t, "1=a 2=b b", dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", appsv1.DeprecatedTemplateGeneration: "2", "x": "y"}
		s.DaemonSet.ResourceVersion, s.DaemonSet.Status.NumberReady = "7", 3
	}))
	h := of(t, s, Options{})
	row, err := Find(h, Which{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Object(h, s, row)
	if err != nil {
		t.Fatal(err)
	}
	want := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent", Labels: s.DaemonSet.Labels, Annotations: map[string]string{"x": "y"}},
		Spec:       *s.DaemonSet.Spec.DeepCopy(),
	}
	want.Spec.Template = contentOf(s, "a")
	fields, err := template.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	delete(fields, "status")
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.DaemonSet.Annotations[appsv1.DeprecatedTemplateGeneration] != "2" {
		t.Error("the snapshot was changed")
	}
}

// TestChangeCause checks that a command that sets variables is hidden unless
// values are shown.
func TestChangeCause(t *testing.T) {
	const sets, rolls = "kubectl set env daemonset/agent KEY=s3cret", "release 1.8"
	for _, tt := range []struct {
		cause string
		show  bool
		want  string
	}{
		{sets, false, template.Hidden},
		{sets, true, sets},
		{rolls, false, rolls},
		{rolls, true, rolls},
	} {
		s := past(t, "1=a a", dstest.Revision("agent-1a", func(r *appsv1.ControllerRevision) {
			metav1.SetMetaDataAnnotation(&r.ObjectMeta, "kubernetes.io/change-cause", tt.cause)
		}))
		if got := of(t, s, Options{ShowValues: tt.show}).Revisions[0].ChangeCause; got != tt.want {
			t.Errorf("%q, shown %t: %q, want %q", tt.cause, tt.show, got, tt.want)
		}
	}
}

// TestHeader checks that a History has no assumptions about nodes and
// tolerations.
func TestHeader(t *testing.T) {
	s := past(t, "1=a a", dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "level", Operator: corev1.TolerationOpGt, Value: "3"}}
		s.VersionSource, s.KubernetesVersion = snapshot.VersionFlag, dstest.Newest
		s.Gaps = append(s.Gaps, snapshot.Gap{What: snapshot.Nodes, Why: snapshot.Forbidden})
	}))
	for _, a := range of(t, s, Options{}).Assumptions {
		if a.Code != daemonset.AssumeControllerVersion {
			t.Errorf("assumes %+v", a)
		}
	}
}

// TestGrouped checks that notes that say the same about several revisions are
// merged.
func TestGrouped(t *testing.T) {
	note := func(code NoteCode, revisions ...string) Note { return Note{Code: code, Revisions: revisions} }
	h := &History{Notes: []Note{note(RemovedNext, "a-1"), note(RemovedNext, "a-2"), note(SharedNumber, "a-3"), note(SharedNumber, "a-4"), note(WillAdopt, "a-1"), note(WillAdopt, "a-5")}}
	want := []Note{note(RemovedNext, "a-1", "a-2"), note(SharedNumber, "a-3"), note(SharedNumber, "a-4"), note(WillAdopt, "a-1", "a-5")}
	if got := h.Grouped(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if len(h.Notes) != 6 || len(h.Notes[0].Revisions) != 1 {
		t.Errorf("the History was changed: %v", h.Notes)
	}
}
