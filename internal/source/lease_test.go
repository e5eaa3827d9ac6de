package source_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// led is a cluster with an elected controller.
const led = `
	ds agent
	node n1
	pod p app=agent owner=agent ready
	rev r app=agent owner=agent
	event e about=DaemonSet/agent`

// leaseOfCluster formats a ControllerLease.
func leaseOfCluster(l *snapshot.ControllerLease) string {
	switch {
	case l == nil:
		return "unknown"
	case !l.Exists:
		return "none"
	}
	since := func(at time.Time) string {
		if at.IsZero() {
			return "never"
		}
		return noon.Sub(at).String()
	}
	return fmt.Sprintf("%s since %s renewed %s for %d", l.Holder, since(l.AcquiredAt), since(l.RenewedAt), l.DurationSeconds)
}

func TestAddController(t *testing.T) {
	for _, tt := range []struct{ leases, want, why string }{
		{"lease kube-controller-manager by=cp-1_u before=20\nlease n1 ns=kube-node-lease by=n1", "cp-1_u since 1h0m0s renewed 20s for 15", "that of the controller"},
		{"lease kube-controller-manager", " since never renewed never for 0", "one that nobody has"},
		{"lease kube-scheduler by=cp-2_u\nlease kube-controller-manager by=x ns=apps", "none", "those of others, and one of another namespace"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			w := parseWorld(t, led+"\n"+tt.leases)
			for _, from := range sources {
				all, err := from.open(t, w).AddController(background, []*snapshot.Snapshot{anySnapshot(), anySnapshot()})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range all {
					if got := leaseOfCluster(s.Controller); got != tt.want || len(s.Gaps) > 0 {
						t.Errorf("%s: %q, want %q; %v", from.name, got, tt.want, s.Gaps)
					}
				}
			}
		})
	}
}

// TestAddControllerAsks checks that the Lease is requested by name, once for all Snapshots, and not without a
// Snapshot or by another call.
func TestAddControllerAsks(t *testing.T) {
	server := newAPIServer(t, parseWorld(t, led+"\nlease kube-controller-manager by=x"))
	c := newCluster(t, server)
	s, err := c.Read(background, agent)
	must(t, err)
	if n := server.asked()["lease"] + server.asked()["leases"]; n > 0 || s.Controller != nil {
		t.Errorf("asked for a Lease %d times before somebody needs it", n)
	}
	if _, err := c.AddController(background, nil); err != nil || server.asked()["lease"] > 0 {
		t.Errorf("of no Snapshot: %v", err)
	}
	_, err = c.AddController(background, []*snapshot.Snapshot{s, s})
	must(t, err)
	if got := server.requests[len(server.requests)-1]; got != "GET "+object.LeasePath || server.asked()["lease"] != 1 {
		t.Errorf("%s, %d times", got, server.asked()["lease"])
	}
}

// TestAddControllerGaps checks that a Lease that cannot be read is a Gap, and is not reported as missing.
func TestAddControllerGaps(t *testing.T) {
	answering := func(code int, body string) func(*testing.T) reader {
		return func(t *testing.T) reader {
			server := newAPIServer(t, parseWorld(t, led))
			server.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if what != "lease" {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(code)
				fmt.Fprint(w, body)
				return true
			}
			return newCluster(t, server)
		}
	}
	input := func(text string) func(*testing.T) reader {
		return func(t *testing.T) reader {
			return openText(t, "dump.yaml", []byte(string(asYAML(t, mixedList(parseWorld(t, led))))+"\n---\n"+text))
		}
	}
	const lease = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: %s, namespace: %s}\nspec: {holderIdentity: %s}\n"
	gap := func(why snapshot.Why, message, of string) []snapshot.Gap {
		return []snapshot.Gap{{What: snapshot.Leases, Why: why, Message: message, Of: of}}
	}
	for _, tt := range []struct {
		open func(*testing.T) reader
		want string
		gaps []snapshot.Gap
		why  string
	}{
		{answering(403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no"}`), "unknown", gap(snapshot.Forbidden, "no", ""), "forbidden"},
		{answering(404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"none"}`), "none", nil, "there is none"},
		{answering(200, `{"kind":"Lease","metadata":{"name":"other","namespace":"kube-system"}}`), "unknown", gap(snapshot.Failed, "unusable answer: it is about another object", ""), "another object"},
		{answering(200, `<html>`), "unknown", gap(snapshot.Failed, "unusable answer: it is not JSON", ""), "no object"},
		{input(""), "unknown", gap(snapshot.NotGiven, "the input holds no Lease", ""), "a dump without any"},
		{input(fmt.Sprintf(lease, "n1", "kube-node-lease", "n1")), "unknown", gap(snapshot.NotGiven, "the input holds no Lease of namespace kube-system", "namespace kube-system"), "a dump with those of nodes"},
		{input(fmt.Sprintf(lease, "kube-controller-manager", "kube-system", "[a]")), "unknown", gap(snapshot.Failed, "spec.holderIdentity: must be text, not a list", ""), "a dump with a damaged one"},
		{input(fmt.Sprintf(lease, "other", "kube-system", "a")), "none", nil, "a dump with others of its namespace"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			all, err := tt.open(t).AddController(background, []*snapshot.Snapshot{anySnapshot()})
			must(t, err)
			if got := leaseOfCluster(all[0].Controller); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(tt.gaps, all[0].Gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAddControllerRecorded checks that a recorded Snapshot returns the recorded Lease on request.
func TestAddControllerRecorded(t *testing.T) {
	lease := &snapshot.ControllerLease{Exists: true, Holder: "cp-1_u", AcquiredAt: noon, RenewedAt: noon, DurationSeconds: 15}
	whole, err := newCluster(t, newAPIServer(t, parseWorld(t, led))).Read(background, agent)
	must(t, err)
	forbidden := []snapshot.Gap{{What: snapshot.Leases, Why: snapshot.Forbidden, Message: "no"}}
	for _, tt := range []struct {
		lease *snapshot.ControllerLease
		gaps  []snapshot.Gap
		want  []snapshot.Gap
	}{
		{lease, nil, nil},
		{&snapshot.ControllerLease{}, nil, nil},
		{nil, forbidden, forbidden},
		{nil, nil, []snapshot.Gap{{What: snapshot.Leases, Why: snapshot.NotGiven, Message: "the snapshot was recorded without it"}}},
	} {
		r := recorded(t, whole.ControlledBy(tt.lease, tt.gaps))
		s, err := r.Read(background, agent)
		must(t, err)
		if s.Controller != nil || s.Gap(snapshot.Leases) != nil {
			t.Errorf("%v: %v before it is asked", s.Controller, s.Gaps)
		}
		all, err := r.AddController(background, []*snapshot.Snapshot{s})
		must(t, err)
		if diff := cmp.Diff(tt.lease, all[0].Controller); diff != "" {
			t.Errorf("(-recorded +given back):\n%s", diff)
		}
		if diff := cmp.Diff(tt.want, all[0].Gaps); diff != "" {
			t.Errorf("gaps (-want +got):\n%s", diff)
		}
	}
}

// TestLeaseTwice checks that the copy of a Lease with the later renewTime is used.
func TestLeaseTwice(t *testing.T) {
	of := func(before string) string {
		return "\nlease kube-controller-manager by=x" + before + "_u before=" + before
	}
	for _, order := range []string{of("5") + of("30"), of("30") + of("5")} {
		var b strings.Builder
		for _, o := range parseWorld(t, led+order) {
			b.WriteString("---\n" + string(asYAML(t, typed(o))))
		}
		all, err := openText(t, "dump.yaml", []byte(b.String())).AddController(background, []*snapshot.Snapshot{anySnapshot()})
		must(t, err)
		if got := all[0].Controller; got == nil || got.Holder != "x5_u" {
			t.Errorf("%v", got)
		}
	}
}
