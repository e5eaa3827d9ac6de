package source_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestReadings checks the progress that is reported while a list of 1,200 nodes and a list of pods are read.
func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		why        string
		page       int64
		expire     string // continue token that the server offers instead of the second page of nodes
		expired    bool
		wantNodes  string // nodes read, and their total
		wantListed int    // requests for nodes
	}{
		{"pages, and the server says how many are left", 500, "", false, "0 500/1200 1000/1200 1200/1200!", 3},
		{"smaller pages", 600, "", false, "0 600/1200 1200/1200!", 2},
		{"all at once", 0, "", false, "0 1200/1200!", 1},
		{"a page that expired, and the list goes on", 500, "from-0500", true, "0 500/1200 500/1200 1000/1200 1200/1200!", 4},
		{"a page that expired, and the list begins anew", 500, "", true, "0 500/1200 500/1200 0 500/1200 1000/1200 1200/1200!", 5},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, "ds agent current=3\nnodes 1200\npod p app=agent owner=agent ready"))
			s.answer = func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
				if tt.expired && what == "nodes" && n == 2 {
					s.expire(w, http.StatusGone, metav1.StatusReasonExpired, "expired", tt.expire)
					return true
				}
				return false
			}
			c := newCluster(t, s)
			c.InPagesOf(tt.page)
			var mu sync.Mutex
			said := map[string][]string{}
			c.OnReading(func(r api.Reading) {
				mu.Lock()
				defer mu.Unlock()
				words := fmt.Sprint(r.Read)
				if r.Of > 0 {
					words += fmt.Sprintf("/%d", r.Of)
				}
				if r.Done {
					words += "!"
				}
				said[string(r.What)] = append(said[string(r.What)], words)
			})
			if _, err := c.Read(background, agent); err != nil {
				t.Fatal(err)
			}
			want := map[string][]string{"nodes": strings.Fields(tt.wantNodes), "pods": {"0/3", "1/1!"}}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if n := s.asked()["nodes"]; n != tt.wantListed {
				t.Errorf("%d requests for nodes, want %d", n, tt.wantListed)
			}
			if all := slices.ContainsFunc(s.requests, func(r string) bool { return strings.Contains(r, "/nodes?limit=") }); all != (tt.page > 0) {
				t.Errorf("a limit: %t", all)
			}
		})
	}
}
