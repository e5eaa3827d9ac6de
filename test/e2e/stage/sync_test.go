package stage

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// line returns a line of kube-controller-manager's log.
func line(at, source, message string) string {
	return "I" + at + "   11905 " + source + "] " + message + "\n"
}

func creating(at, name, nodes, count string) string {
	return line(at, "daemon_controller.go:1060", `"Nodes needing daemon pods for daemon set, creating" daemonset="`+name+`" needCount=`+nodes+` createCount=`+count)
}

func deleting(at, name, pods, count string) string {
	return line(at, "daemon_controller.go:1122", `"Pods to delete for daemon set, deleting" daemonset="`+name+`" toDeleteCount=`+pods+` deleteCount=`+count)
}

func finished(at, name, took string) string {
	return line(at, "daemon_controller.go:1283", `"Finished syncing daemon set" daemonset="`+name+`" time="`+took+`"`)
}

func TestParseSyncs(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC)
	at := func(milliseconds int) time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, milliseconds*1e6, time.UTC)
	}
	const first = "0101 00:00:00.010000"
	for _, tt := range []struct {
		log  []string
		want []Sync
		why  string
	}{
		{nil, nil, "an empty log"},
		{[]string{finished(first, "ns/a", "10ms")}, []Sync{{Start: at(0), End: at(10)}}, "a sync that waited"},
		{[]string{
			creating("0101 00:00:00.004000", "ns/a", `["n1","n2"]`, "2"), deleting("0101 00:00:00.005000", "ns/a", `["a-1"]`, "1"),
			creating("0101 00:00:00.006000", "ns/a", "null", "0"), deleting("0101 00:00:00.007000", "ns/a", `["a-2","a-3","a-4"]`, "3"),
			finished(first, "ns/a", "9ms"),
			finished("0101 00:00:00.012000", "ns/a", "500µs"),
		}, []Sync{
			{Start: at(1), End: at(10), Acts: []Act{{Time: at(4), Creates: 2, Deletes: 1}, {Time: at(6), Deletes: 3}}},
			{Start: at(11).Add(500 * time.Microsecond), End: at(12)},
		}, "both acts are one sync's, and not the next one's"},
		{[]string{
			creating("0101 00:00:00.004000", "ns/a", "null", "0"), deleting("0101 00:00:00.005000", "ns/a", "null", "0"),
			finished(first, "ns/a", "3ms"),
		}, []Sync{{Start: at(4), End: at(10), Acts: []Act{{Time: at(4)}}}}, "its last line came late: it had begun by its first act"},
		{[]string{
			creating("0101 00:00:00.004000", "ns/b", `["n1"]`, "1"), deleting("0101 00:00:00.005000", "ns/b", "null", "0"),
			finished(first, "ns/a", "10ms"), finished("0101 00:00:00.012000", "ns/b", "10ms"),
		}, []Sync{{Start: at(0), End: at(10)}}, "another DaemonSet's, in between"},
		{[]string{
			line(first, "daemon_controller.go:605", `"Pod added" pod="ns/a-1"`), line(first, "event.go:389", `"Event occurred" object="ns/a" message="a: \"b\""`),
			"goroutine 1 [running]:\n", finished(first, "ns/a", "10ms"),
		}, []Sync{{Start: at(0), End: at(10)}}, "what else a log holds"},
		{[]string{creating(first, "ns/a", "null", "0"), deleting(first, "ns/a", "null", "0")}, nil, "a sync that has not ended"},
		{[]string{
			line("0101 00:00:00.004000", "daemon_controller.go:967", "Nodes needing daemon pods for daemon set a: [n1 n2], creating 2"),
			line("0101 00:00:00.005000", "daemon_controller.go:1029", "Pods to delete for daemon set a: [a-1], deleting 1"),
			line("0101 00:00:00.006000", "daemon_controller.go:967", "Nodes needing daemon pods for daemon set b: [n1 n2], creating 2"),
			line("0101 00:00:00.007000", "daemon_controller.go:1112", "Updating daemon set status"),
			line(first, "daemon_controller.go:1172", `Finished syncing daemon set "ns/a" (9ms)`),
			line("0101 00:00:00.012000", "daemon_controller.go:1172", `Finished syncing daemon set "ns-2/a" (9ms)`),
		}, []Sync{{Start: at(1), End: at(10), Acts: []Act{{Time: at(4), Creates: 2, Deletes: 1}}}}, "of v1.24, which names no namespace before the end"},
		{[]string{finished("1231 23:59:59.010000", "ns/a", "10ms")}, []Sync{{Start: at(-1000), End: at(-990)}}, "last year's, which the log does not tell"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := parseSyncs(strings.Join(tt.log, ""), "ns/a", now)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestParseHeard(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC)
	at := func(milliseconds int) time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, milliseconds*1e6, time.UTC)
	}
	hears := func(milliseconds int, message string) string {
		return line(fmt.Sprintf("0101 00:00:00.%03d000", milliseconds), "daemon_controller.go:605", message)
	}
	for _, tt := range []struct {
		log  []string
		want map[string][]time.Time
		why  string
	}{
		{nil, map[string][]time.Time{}, "an empty log"},
		{[]string{
			hears(1, `"Adding daemon set" daemonset="ns/a"`), hears(2, `"Pod added" pod="ns/a-1"`), hears(3, `"Pod updated" pod="ns/a-1"`),
			hears(4, `"Updating daemon set" daemonset="ns/a"`), hears(5, `"Pod deleted" pod="ns/a-1"`), hears(6, `"Pod deleted" pod="ns/a-1"`),
		}, map[string][]time.Time{"daemonset/a": {at(1), at(4)}, "pod/a-1": {at(2), at(3), at(5), at(6)}},
			"a pod's deletion is heard of when it begins and when it has ended"},
		{[]string{hears(1, `"Pod added" pod="other/a-1"`), hears(2, `"Adding daemon set" daemonset="ns-2/a"`)}, map[string][]time.Time{}, "other namespaces"},
		{[]string{hears(1, `"Queuing node update" node="a"`), finished("0101 00:00:00.010000", "ns/a", "10ms"), creating("0101 00:00:00.004000", "ns/a", `["n1"]`, "1")},
			map[string][]time.Time{}, "what it does, and what it hears of nodes, is no change of these"},
		{[]string{
			hears(1, "Adding daemon set a"), hears(2, "Pod a-1 added."), hears(3, "Pod a-1 updated."), hears(4, "Orphan Pod b-1 updated."),
			hears(5, "Updating daemon set a"), hears(6, "Pod a-1 deleted."), hears(7, "ControllerRevision a-1 added."),
		}, map[string][]time.Time{"daemonset/a": {at(1), at(5)}, "pod/a-1": {at(2), at(3), at(6)}}, "of v1.24, which names no namespace"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := parseHeard(strings.Join(tt.log, ""), "ns", now)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestParseSyncsRefuses(t *testing.T) {
	const at = "0101 00:00:00.010000"
	for _, tt := range []struct{ log, why string }{
		{deleting(at, "ns/a", "null", "0"), "deletes without creates before them"},
		{creating(at, "ns/a", "null", ""), "no number of creates"},
		{creating(at, "ns/a", "null", "0") + deleting(at, "ns/a", "null", ""), "no number of deletes"},
		{finished(at, "ns/a", "soon"), "a time that is none"},
		{finished("1301 00:00:00.010000", "ns/a", "10ms"), "a date that is none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got, err := parseSyncs(tt.log, "ns/a", time.Now()); err == nil {
				t.Errorf("no error, but %v", got)
			}
		})
	}
}
