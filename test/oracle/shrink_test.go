package oracle

import (
	"errors"
	"reflect"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestSmallest uses judges without a controller.
func TestSmallest(t *testing.T) {
	refused := errors.New("refused")
	byPods := func(s *snapshot.Snapshot) ([]string, error) {
		switch len(s.Pods) {
		case 0:
			return []string{"status: without pods"}, nil
		case 1:
			return nil, refused
		}
		return []string{"creates: of several pods"}, nil
	}
	for _, tt := range []struct {
		judge func(*snapshot.Snapshot) ([]string, error)
		calls int
		want  Difference
		err   error
		why   string
	}{
		{byPods, 100, Difference{Lines: []string{"creates: of several pods"}, Row: `{"N/N", nil, "TODO: why"},`}, nil, "a difference of another kind is another one, and what is refused is none"},
		{byPods, 1, Difference{Lines: []string{"creates: of several pods"}, Row: `{"!O n/o -", nil, "TODO: why"},`}, nil, "without calls the state stays as it is"},
		{func(*snapshot.Snapshot) ([]string, error) { return nil, refused }, 100, Difference{}, refused, "a state that is refused has nothing to shrink"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := Smallest(dstest.State("!O n/o -"), tt.judge, tt.calls)
			if err != tt.err {
				t.Fatal(err)
			}
			got.State = nil
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
