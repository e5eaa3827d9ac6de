package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestExamples checks that every example has the times of its story and that they are plausible.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(files) != len(stories) {
		t.Errorf("%d examples and %d stories (%v)", len(files), len(stories), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := snapshot.Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			aged, err := snapshot.Encode(stories[filepath.Base(file)].tell(s))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(raw), string(aged)); diff != "" {
				t.Errorf("run go run ./test/age examples (-file +story):\n%s", diff)
			}
			var document any
			if err := json.Unmarshal(raw, &document); err != nil {
				t.Fatal(err)
			}
			times(document, "", func(path string, at time.Time) {
				if at.After(s.TakenAt) {
					t.Errorf("%s: %s is after the recording", path, at)
				}
			})
			oldest := s.TakenAt
			for i := range s.Nodes {
				if at := s.Nodes[i].CreationTimestamp.Time; at.Before(oldest) {
					oldest = at
				}
			}
			if s.DaemonSet.CreationTimestamp.Time.Before(oldest) {
				t.Errorf("the DaemonSet is of %s, and the first node of %s", s.DaemonSet.CreationTimestamp, oldest)
			}
			created := map[string]time.Time{}
			for i := range s.Revisions {
				created[s.Revisions[i].Labels["controller-revision-hash"]] = s.Revisions[i].CreationTimestamp.Time
			}
			for i := range s.Pods {
				p := &s.Pods[i]
				if at := p.CreationTimestamp.Time; at.Before(created[p.Labels["controller-revision-hash"]]) {
					t.Errorf("pod %s is of %s, and its revision of %s", p.Name, at, created[p.Labels["controller-revision-hash"]])
				}
				for _, c := range p.Status.Conditions {
					if c.LastTransitionTime.Before(&p.CreationTimestamp) {
						t.Errorf("pod %s is of %s, and its condition %s of %s", p.Name, p.CreationTimestamp, c.Type, c.LastTransitionTime)
					}
				}
			}
		})
	}
}

// times calls a function for every time in a JSON document.
func times(v any, path string, call func(string, time.Time)) {
	switch v := v.(type) {
	case map[string]any:
		for key, inside := range v {
			times(inside, path+"."+key, call)
		}
	case []any:
		for _, inside := range v {
			times(inside, path+"[]", call)
		}
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			call(path, at)
		}
	}
}
