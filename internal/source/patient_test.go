package source

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// askLater answers every request for what with 429 and so many seconds.
func askLater(what, seconds string) func(*apiServer, http.ResponseWriter, string, int) bool {
	return func(s *apiServer, w http.ResponseWriter, asked string, _ int) bool {
		if asked != what {
			return false
		}
		w.Header().Set("Retry-After", seconds)
		s.fail(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "too many requests")
		return true
	}
}

func patientCluster(t *testing.T, s *apiServer, timeout time.Duration) *Cluster {
	t.Helper()
	c, err := NewCluster(&rest.Config{Host: s.URL, QPS: -1, Timeout: timeout}, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRetryAfterWithinTheTimeout: what the server asks for is not waited for
// when it is more than a request may take. A wait of hours would end the test.
func TestRetryAfterWithinTheTimeout(t *testing.T) {
	const want = "the server asks to retry in 120m (429 Too Many Requests), but a request may take only 60m"
	s := newAPIServer(t, parseWorld(t, small))
	s.answer = askLater("nodes", "7200")
	got, err := patientCluster(t, s, time.Hour).Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Gaps) != 1 || got.Gaps[0] != (snapshot.Gap{What: snapshot.Nodes, Why: snapshot.Failed, Message: want}) || s.asked()["nodes"] != 1 {
		t.Errorf("a list: gaps %v after %v", got.Gaps, s.asked())
	}
	s.answer = askLater("daemonset", "7200")
	_, err = patientCluster(t, s, time.Hour).Read(background, agent)
	e := (*RequestError)(nil)
	if !errors.As(err, &e) || err.Error() != "daemonset kube-system/agent: "+want || e.Hint() != "try again later, or wait for it with --request-timeout 0" {
		t.Errorf("the DaemonSet: %v", err)
	}
}

// TestRetryAfterIsToldOf: without a timeout the server is waited for, not in
// silence, and until the context ends.
func TestRetryAfterIsToldOf(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, small))
	s.answer = askLater("daemonset", "3600")
	c := patientCluster(t, s, 0)
	ctx, cancel := context.WithCancel(background)
	var said []string
	c.Notify(func(line string) {
		said = append(said, line)
		cancel()
	})
	if _, err := c.Read(ctx, agent); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if len(said) != 1 || said[0] != "the server asks to retry in 60m (429 Too Many Requests): waiting" {
		t.Errorf("said %q", said)
	}
}

// TestRetryAfterAMoment: a short wait is nothing to speak of.
func TestRetryAfterAMoment(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, small))
	s.answer = func(s *apiServer, w http.ResponseWriter, asked string, n int) bool {
		return asked == "nodes" && n == 1 && askLater("nodes", "0")(s, w, asked, n)
	}
	c := patientCluster(t, s, time.Hour)
	c.Notify(func(line string) { t.Errorf("said %q", line) })
	if got, err := c.Read(background, agent); err != nil || len(got.Gaps) != 0 || s.asked()["nodes"] != 2 {
		t.Errorf("%v, %v after %v", got, err, s.asked())
	}
}
