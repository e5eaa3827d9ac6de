package source_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// TestReadAhead checks that the next page is requested while a page is read, that its objects come after those of the
// page, and that a request for an unwanted page ends.
func TestReadAhead(t *testing.T) {
	failed := errors.New("no")
	for _, tt := range []struct {
		pages string // objects of each page; ! if the page cannot be read
		stop  int    // number of pages after which the caller stops; 0 reads all pages
		want  string // the events whose order is certain
		err   error
		why   string
	}{
		{"ab cd e", 0, "ask 0, ask 1, a, b, ask 2, c, d, e", nil, "each page is asked for while the one before is read"},
		{"ab", 0, "ask 0, a, b", nil, "nothing follows"},
		{"ab ! e", 0, "ask 0, ask 1, a, b", failed, "a page that cannot be read, though the one before can"},
		{"! cd", 0, "ask 0", failed, "the first one"},
		{"ab cd e", 1, "ask 0, ask 1, a, b, ended 1", nil, "nobody asks for the second page"},
	} {
		var mu sync.Mutex
		var got []string
		say := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprintf(format, args...))
		}
		pages := strings.Fields(tt.pages)
		began := make([]chan struct{}, len(pages)+1)
		for i := range began {
			began[i] = make(chan struct{})
		}
		ask := func(ctx context.Context, o metav1.ListOptions, each func(*string) error) (metav1.ListMeta, error) {
			at := len(o.Continue)
			say("ask %d", at)
			close(began[at])
			var page metav1.ListMeta
			if at+1 < len(pages) {
				page.Continue = o.Continue + "+"
			}
			own, _ := ctx.Value(api.ContextKey[api.Turn]{}).(api.Turn)
			if err := own.Wait(ctx); err != nil {
				say("ended %d", at)
				return page, err
			}
			if pages[at] == "!" {
				return page, failed
			}
			if tells, ok := ctx.Value(api.ContextKey[api.TellsNext]{}).(api.TellsNext); ok {
				tells(page)
			}
			if at+1 < len(pages) {
				<-began[at+1] // the page is requested before this one has been read
			}
			for _, obj := range strings.Split(pages[at], "") {
				if err := each(&obj); err != nil {
					return page, err
				}
			}
			return page, nil
		}
		read, stop := api.ReadAhead(ask)
		o, err := metav1.ListOptions{}, error(nil)
		for n := 1; ; n++ {
			var page metav1.ListMeta
			page, err = read(t.Context(), o, func(obj *string) error { say("%s", *obj); return nil })
			if o.Continue = page.Continue; err != nil || o.Continue == "" || n == tt.stop {
				break
			}
		}
		stop()
		if diff := cmp.Diff(strings.Split(tt.want, ", "), got); diff != "" || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v (-want +got):\n%s", tt.why, err, diff)
		}
	}
}

// TestReadAheadOnce checks that reading ahead sends each request only once.
func TestReadAheadOnce(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "ds agent\nnodes 1700\npod p app=agent"))
	if _, err := newCluster(t, s).Read(background, agent); err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, r := range s.requests {
		if strings.Contains(r, "/nodes?") {
			asked = append(asked, r)
		}
	}
	slices.Sort(asked)
	if len(slices.Compact(slices.Clone(asked))) != 4 || len(asked) != 4 {
		t.Errorf("nodes are asked for with %v", asked)
	}
}

// TestReadAheadInVain checks that no object is read from a page that was requested ahead and not wanted.
func TestReadAheadInVain(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "ds agent\nnodes 900"))
	c := newCluster(t, s)
	read, stop := api.ReadAhead(api.Of[corev1.Node](c.Clients, "").Kept)
	got := 0
	page, err := read(background, metav1.ListOptions{Limit: 500}, func(*corev1.Node) error { got++; return nil })
	if err != nil || page.Continue == "" {
		t.Fatal(page, err)
	}
	stop()
	if got != 500 {
		t.Errorf("%d nodes, want those of the first page", got)
	}
}

// TestReadAheadOnASlowLink checks that a list of several pages can be read over one slow link if each page alone
// takes less than --request-timeout.
func TestReadAheadOnASlowLink(t *testing.T) {
	const limit, ofPage = 2 * time.Second, 1200 * time.Millisecond
	s := newAPIServer(t, parseWorld(t, "ds agent\nnodes 1200\npod p app=agent"))
	var link sync.Mutex
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		link.Lock()
		defer link.Unlock()
		body := answer.Body.Bytes()
		if head := 1000; len(body) > 10*head { // a page of the list
			_, _ = w.Write(body[:head])
			w.(http.Flusher).Flush()
			time.Sleep(ofPage)
			body = body[head:]
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(slow.Close)
	c, err := cluster.NewCluster(&rest.Config{Host: slow.URL, QPS: -1, Timeout: limit}, func() time.Time { return noon })
	must(t, err)
	got, err := c.Read(background, agent)
	must(t, err)
	if len(got.Nodes) != 1200 || len(got.Gaps) > 0 {
		t.Errorf("%d nodes, gaps %v", len(got.Nodes), got.Gaps)
	}
}
