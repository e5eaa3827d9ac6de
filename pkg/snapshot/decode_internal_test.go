package snapshot

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// TestDecoders: what the decoder of encoding/json/v2 reads, encoding/json reads as the same; and it reads what Encode
// writes, so that the other one is not asked.
func TestDecoders(t *testing.T) {
	examples, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples")
	}
	quick, damaged := 0, 0
	for _, path := range examples {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Decode(raw)
		if err != nil {
			continue // an example of something else
		}
		if raw, err = Encode(s); err != nil {
			t.Fatal(err)
		}
		if err := jsonv2.Unmarshal(raw, new(document), jsonv2.RejectUnknownMembers(true)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for i := 0; i < len(raw); i += 1 + len(raw)/12 {
			for _, with := range []string{"", "null", `"`, "{", "7", "Nodes", "\xff", "[]", "1e3", " "} {
				changed := bytes.Join([][]byte{raw[:i], []byte(with), raw[min(len(raw), i+len(with)):]}, nil)
				var a, b document
				if jsonv2.Unmarshal(changed, &a, jsonv2.RejectUnknownMembers(true)) != nil {
					damaged++
					continue
				}
				quick++
				dec := json.NewDecoder(bytes.NewReader(changed))
				dec.DisallowUnknownFields()
				if err := dec.Decode(&b); err != nil {
					t.Fatalf("%s: %q at %d: encoding/json refuses it: %v", path, with, i, err)
				}
				if !reflect.DeepEqual(a, b) {
					t.Fatalf("%s: %q at %d: %s", path, with, i, cmp.Diff(a, b))
				}
			}
		}
	}
	if quick < 100 || damaged < 100 {
		t.Errorf("%d read, %d refused: that tells little", quick, damaged)
	}
}
