package source_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/metrics"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// askLater responds to each request for what with status 429 and this Retry-After.
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

func patientCluster(t *testing.T, s *apiServer, timeout time.Duration) *cluster.Cluster {
	t.Helper()
	c, err := cluster.NewCluster(&rest.Config{Host: s.URL, QPS: -1, Timeout: timeout}, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRetryAfterWithinTheTimeout checks that the client does not wait longer than a request may take. A wait of hours
// would end the test.
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
	e := (*source.RequestError)(nil)
	if !errors.As(err, &e) || err.Error() != "daemonset kube-system/agent: "+want || e.Hint() != "try again later, or wait for it with --request-timeout 0" {
		t.Errorf("the DaemonSet: %v", err)
	}
}

// TestRetryAfterIsToldOf checks that without a timeout the client waits as long as the server asks, reports it, and
// stops when the context ends.
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

// TestRetryAfterAMoment checks that a short wait is not reported.
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

// longest records the longest request to each server, as measured by client-go. It includes retries and reading the
// response.
type longest struct {
	mu sync.Mutex
	by map[string]time.Duration
}

func (l *longest) Observe(_ context.Context, _ string, u url.URL, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by[u.Host] = max(l.by[u.Host], d)
}

func (l *longest) of(s *apiServer) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.by[strings.TrimPrefix(s.URL, "http://")]
}

// hangUp closes or resets the connection before a response.
func hangUp(w http.ResponseWriter, reset bool) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	if reset {
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	c.Close()
}

// TestNoRequestTakesLonger checks that no request exceeds the timeout, including retries, whatever the server does,
// and that the error does not have Go's message.
func TestNoRequestTakesLonger(t *testing.T) {
	const timeout, slack = 3 * time.Second, 2500 * time.Millisecond // a second try would take as long again
	counted, before := &longest{by: map[string]time.Duration{}}, metrics.RequestLatency
	metrics.RequestLatency = counted
	t.Cleanup(func() { metrics.RequestLatency = before })

	later := func(code int, seconds string) func(*apiServer, http.ResponseWriter, *http.Request) {
		return func(s *apiServer, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", seconds)
			s.fail(w, code, metav1.StatusReasonTooManyRequests, "busy")
		}
	}
	const over = "the time for the request is over"
	for _, tt := range []struct {
		answer    func(*apiServer, http.ResponseWriter, *http.Request)
		want, why string
	}{
		{func(_ *apiServer, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, over, "no answer at all"},
		{func(_ *apiServer, w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, over, "nothing but headers"},
		{func(_ *apiServer, w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(w, " ")
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}, over, "an answer that comes byte by byte"},
		{func(s *apiServer, w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, over, "an error that does not end"},
		{later(http.StatusTooManyRequests, "1"), "the server asks to retry in 1s (429 Too Many Requests), but the time for the request is over by then", "one second, again and again"},
		{later(http.StatusServiceUnavailable, "1"), "the server asks to retry in 1s (503 Service Unavailable), but the time for the request is over by then", "the same of one that starts"},
		{later(http.StatusTooManyRequests, "0"), "busy", "no time at all, ten times"},
		{func(_ *apiServer, w http.ResponseWriter, _ *http.Request) { cut(w) }, "the connection was closed before the end of the answer", "an answer that ends too early"},
		{func(_ *apiServer, w http.ResponseWriter, _ *http.Request) { hangUp(w, false) }, over, "a connection that is closed, again and again"},
		{func(_ *apiServer, w http.ResponseWriter, _ *http.Request) { hangUp(w, true) }, over, "a connection that is reset, again and again"},
	} {
		for _, of := range []string{"nodes", "daemonset", "version"} {
			t.Run(tt.why+"/"+of, func(t *testing.T) {
				t.Parallel()
				s := newAPIServer(t, parseWorld(t, small))
				handler := s.Config.Handler
				// without the lock of apiServer
				s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, of) {
						tt.answer(s, w, r)
						return
					}
					handler.ServeHTTP(w, r)
				})
				got, err := patientCluster(t, s, timeout).Read(background, agent)
				said := fmt.Sprint(err)
				if err == nil {
					said = fmt.Sprint(got.Gaps)
				}
				if !strings.Contains(said, tt.want) {
					t.Errorf("%s, want %s", said, tt.want)
				}
				if d := counted.of(s); d == 0 || d > timeout+slack {
					t.Errorf("a request takes %s", d)
				}
			})
		}
	}
}
