package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
)

// TestExpectPods checks that memory for the pods of a file is reserved before they are read, but only up to a limit,
// so that none is copied at the end. The same pods are kept whatever comes before and after them, and if the size of
// the input is unknown.
func TestExpectPods(t *testing.T) {
	items := func(kind string, n int, more string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"%s-%d"%s`, kind, strings.ToLower(kind), i, more))
		}
		return strings.Join(all, ",\n")
	}
	pods := func(from string, n int, images int) string {
		containers := strings.Repeat(`,{"name":"agent","image":"registry.example.com/agent:v1"}`, images)
		return strings.ReplaceAll(items("Pod", n, `,"namespace":"kube-system","labels":{"app":"agent"}},"spec":{"nodeName":"node-1","containers":[`+containers[1:]+`]}}`), "pod-", from)
	}
	const many = 3 * dump.DirectItems
	for _, tt := range []struct {
		why  string
		list []string
		room bool // memory is reserved for all pods in advance
	}{
		{"pods come last", []string{dsJSON, items("Node", 500, "}}"), pods("pod-", many, 30)}, true},
		{"nodes follow", []string{dsJSON, pods("pod-", many, 30), items("Node", 500, "}}")}, true},
		{"very much follows", []string{dsJSON, pods("pod-", many, 30), items("Node", 5*dump.DirectItems, "}}")}, true},
		{"later ones are shorter", []string{dsJSON, pods("pod-", dump.DirectItems, 100), pods("later-", many, 1)}, false},
		{"they are few", []string{dsJSON, pods("pod-", dump.DirectItems/2, 1)}, true},
	} {
		t.Run(tt.why, func(t *testing.T) {
			text := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(tt.list, ",\n") + `]}`
			file := filepath.Join(t.TempDir(), "dump.json")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			of, err := dump.ReadFiles(background, []string{file}, nil, func() time.Time { return noon }, dump.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			unknown, err := readText(text)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(unknown.Pods.Items, of.Pods.Items) {
				t.Error("other pods than of an input of unknown length")
			}
			n, room := len(of.Pods.Items), cap(of.Pods.Items)
			if had := room > n; had != tt.room || room > dump.MaxPods+2*dump.DirectItems {
				t.Errorf("%d pods, room for %d: without a copy: %t, want %t", n, room, had, tt.room)
			}
		})
	}
}
