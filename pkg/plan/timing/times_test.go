package timing

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// How long pods take to start is what fresh ones took; while they are few, others count
// too. The median is in whole seconds, by hand where one of the three alone tells.
func TestStartTimes(t *testing.T) {
	ten := slices.Repeat([]float64{10}, 10)
	for _, tt := range []struct {
		fresh, waiting, old []float64
		median              int
		why                 string
	}{
		{nil, nil, nil, 0, "nothing tells"},
		{nil, []float64{5}, nil, 0, "one that has not started tells nothing alone"},
		{nil, nil, []float64{20, 30}, 0, "two pods of another revision are too few"},
		{nil, nil, []float64{20, 30, 40}, 30, "three are not"},
		{[]float64{12}, nil, nil, 12, "one fresh pod, and no other"},
		{slices.Repeat([]float64{12}, 8), nil, []float64{90, 90, 90}, 12, "of enough fresh ones no other counts"},
		{[]float64{5, 5, 5, 5, 50, 50, 50, 50}, nil, nil, 50, "of enough fresh ones each counts as it is: none takes what is between"},
		{slices.Repeat([]float64{12}, 8), []float64{400}, []float64{90, 90, 90}, 12, "nor does one that is late"},
		{[]float64{10, 10, 10}, []float64{1, 1, 1, 1, 1}, ten, 10, "those that have just begun can still be as fast"},
		{[]float64{10, 10, 10}, []float64{400}, ten, 10, "one that is late tells nothing of the others, among few either"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := 0
			if s := startTimes(tt.fresh, tt.waiting, tt.old).Seconds; len(s) > 0 {
				got = int(math.Round(s[len(s)/2]))
			}
			if got != tt.median {
				t.Errorf("median %d s, want %d s", got, tt.median)
			}
		})
	}
}

// The first that are ready are the fastest: those that are waiting for longer make all
// of them longer, the more the more they are, and by less than they are old.
func TestWaitingMakesStartsLonger(t *testing.T) {
	before := 0.
	for n := range 12 {
		s := startTimes([]float64{8, 9, 10}, slices.Repeat([]float64{14}, n), []float64{10, 12, 14, 16, 18})
		median := s.Seconds[len(s.Seconds)/2]
		if !slices.IsSorted(s.Seconds) || s.spread <= 0 || s.doubt <= 0 {
			t.Fatalf("%d waiting: %+v", n, s)
		}
		if median <= before {
			t.Errorf("%d waiting: median %.1f s, %.1f s with one less", n, median, before)
		}
		if median > 25 {
			t.Errorf("%d waiting: median %.1f s: no pod was seen to take so long", n, median)
		}
		before = median
	}
	if before < 14 {
		t.Errorf("11 of 14 pods take longer than 14 s, and half of all are to take less than %.1f s", before)
	}
}

func TestLonger(t *testing.T) {
	measured := Times{Seconds: []float64{10, 20}, spread: 0.4, doubt: 0.3}
	for _, tt := range []struct {
		t          Times
		deviations float64
		row        int
		want       string
		why        string
	}{
		{measured, 0, 1, "[10 20]", "as expected"},
		{measured, 1, 1, "[16.5 33]", "exp(sqrt(0.3² + 0.4²)) = exp(0.5) = 1.65 times as long"},
		{measured, -1, 1, "[6.07 12.1]", "1.65 times as short"},
		{measured, 1, 16, "[13.7 27.4]", "of 16 in a row the short and the long level out, the doubt does not: exp(sqrt(0.09 + 0.01)) = 1.37"},
		{measured, 1, 0, "[16.5 33]", "what is under way counts as one"},
		{Exact([]float64{30}), 1.7, 1, "[30]", "what a person said is taken as said"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := fmt.Sprintf("%.3g", tt.t.Longer(tt.deviations, tt.row).Seconds); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// What is as old as this takes one of the times that are longer, in turn; where none is,
// what is longer in their log-normal distribution, of which 18.2 s is the middle; and where
// there is next to nothing longer, up to 5 times what one of a hundred takes, 52.3 s.
func TestBeyond(t *testing.T) {
	three := Exact([]float64{10, 20, 30})
	for _, tt := range []struct {
		t    Times
		age  float64
		want string
		why  string
	}{
		{three, 0, "20 10 30 20", "any of them, evenly"},
		{three, 10, "30 20 30 20", "one of the two that are longer"},
		{three, 25, "30 30 30 30", "the only one"},
		{three, 30, "38 32 46 35", "of all, 14% are longer than 30 s: 5% than 38 s, 11% than 32 s, 2% than 46 s"},
		{three, 100, "181 125 227 157", "less than 1%: any time up to 262 s is as likely as one twice as long"},
		{three, 300, "336 313 351 327", "even longer: for a fifth of its age"},
		{three.within(40), 30, "40 40 40 40", "what ends within its grace period uses all of it then"},
		{three.within(40), 80, "166 106 220 140", "what has not ended then goes on as if nothing bounded it"},
		{Exact([]float64{30}), 30, "31 30 32 31", "what is said is said, and hardly longer"},
	} {
		turn := InTurn{Times: tt.t}
		var got []string
		for range 4 {
			got = append(got, fmt.Sprintf("%.0f", turn.Beyond(tt.age)))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%g s old: %s, want %s: %s", tt.age, got, tt.want, tt.why)
		}
	}
}

// A pod that was not ready for a while looks as if it had started for as long.
func TestCredible(t *testing.T) {
	for _, tt := range []struct {
		starts, fresh, want []float64
		why                 string
	}{
		{[]float64{10, 20, 30}, nil, []float64{10, 20, 30}, "nothing is wrong with them"},
		{[]float64{10, 20, 7200}, nil, []float64{10, 20}, "one of three lost readiness"},
		{[]float64{10, 400, 7200}, nil, []float64{10, 400, 7200}, "most take so long: perhaps they do"},
		{[]float64{10, 400, 7200}, []float64{12}, []float64{10}, "a fresh one did not"},
		{[]float64{400, 500}, []float64{301}, []float64{400, 500}, "a fresh one did"},
		{nil, nil, nil, "none"},
	} {
		if diff := cmp.Diff(tt.want, credible(tt.starts, tt.fresh)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}
