package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzDecode checks that Encode has one form for whatever Decode accepts, and
// that it decodes to the same Snapshot.
func FuzzDecode(f *testing.F) {
	recorded, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(recorded) == 0 {
		f.Fatal("no examples")
	}
	for _, path := range recorded[:2] {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	const least = `{"apiVersion":"kubectl-ds/v1alpha1","kind":"Snapshot","takenAt":"2026-11-20T12:00:00Z","daemonSet":{"metadata":{"name":"agent","namespace":"n"},"spec":{"selector":{}}}`
	for _, more := range []string{`}`, `,"nodes":[{"metadata":{"name":"n1"}}],"pods":[]}`, `,"otherPods":{"nodes":null,"pods":[{"namespace":"a","name":"b","node":"c"}]}}`, `,"envValues":"digest"}`, `,"references":{"objects":[{"kind":"Secret","name":"s","keys":[]}]}}`, `,"gaps":[{"what":"nodes","why":"NotGiven"}]}`, `,"nosuch":1}`, `}{}`} {
		f.Add([]byte(least + more))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || strings.Contains(err.Error(), "Go ") && !bytes.Contains(data, []byte("Go ")) {
				t.Errorf("%q", err)
			}
			return
		}
		once, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(once)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, once)
		}
		twice, err := Encode(again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("written again as\n%s\nwas\n%s (%v)", twice, once, err)
		}
	})
}
