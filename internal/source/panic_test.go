package source_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// panicking panics on each request except the calm ones.
type panicking struct {
	http.RoundTripper
	calm func(*http.Request) bool
}

func (p panicking) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.calm(r) {
		return p.RoundTripper.RoundTrip(r)
	}
	var none []error
	return nil, none[0]
}

// TestPanics checks that a panic in a goroutine becomes an error of the call that started it.
func TestPanics(t *testing.T) {
	daemonSetOnly := func(r *http.Request) bool {
		return strings.Contains(r.URL.Path, "daemonsets") || r.URL.Path == "/version"
	}
	c := func(t *testing.T) *cluster.Cluster {
		s := newAPIServer(t, parseWorld(t, "ds agent\nnode w-1\npod agent-1 app=agent owner=agent"))
		c, err := cluster.NewCluster(&rest.Config{Host: s.URL, QPS: -1, WrapTransport: func(rt http.RoundTripper) http.RoundTripper { return panicking{rt, daemonSetOnly} }}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ref := source.Ref{Namespace: "kube-system", Name: "agent"}
	for _, tt := range []struct {
		why string
		do  func(*testing.T) error
	}{
		{"the lists of one DaemonSet", func(t *testing.T) error { _, err := c(t).Read(background, ref); return err }},
		{"the lists of all", func(t *testing.T) error { _, err := c(t).ReadAll(background, source.Filter{}); return err }},
		{"what is followed", func(t *testing.T) error { _, err := c(t).Watch(background, ref); return err }},
		{"a decoder of a file's objects", func(t *testing.T) error {
			d := &document.Documents{
				From:   strings.NewReader(`[{"kind":"A","apiVersion":"v1"},{"kind":"B","apiVersion":"v1"}]`),
				Decode: func([]byte, metav1.TypeMeta) (object.Object, error) { panic("odd") }, Emit: func(object.Object) error { return nil },
			}
			return d.Read(background)
		}},
		{"standard input", func(t *testing.T) error {
			_, err := dump.ReadFiles(background, []string{"-"}, oddReader{}, time.Now, dump.ReadOptions{})
			return err
		}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			ctx, stop := context.WithTimeout(background, time.Minute)
			defer stop()
			done := make(chan error, 1)
			go func() { done <- tt.do(t) }()
			select {
			case err := <-done:
				if p := (*source.PanicError)(nil); !errors.As(err, &p) || !strings.Contains(string(p.Stack), "internal/source") {
					t.Errorf("the error is %v\n%s", err, p.Stack)
				}
			case <-ctx.Done():
				t.Fatal("no answer")
			}
		})
	}
}

type oddReader struct{}

func (oddReader) Read([]byte) (int, error) { panic("odd") }
