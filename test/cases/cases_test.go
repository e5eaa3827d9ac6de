package cases

import (
	"slices"
	"testing"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		env     string
		n, want int
		least   int // of 5
		rare    int // of 5
		why     string
	}{
		{"1", 250, 250, 5, 0, "as usual"},
		{"20", 250, 5000, 5, 5, "more"},
		{"10", 250, 2500, 5, 5, "as make laws tries"},
		{"9.9", 250, 2475, 5, 0, "not as many as that"},
		{"0.5", 250, 125, 0, 0, "fewer"},
		{"0.001", 250, 1, 0, 0, "one at least"},
	} {
		t.Setenv("LAW_CASES", tt.env)
		if got, least := Of(tt.n), Least(5); got != tt.want || least != tt.least {
			t.Errorf("%s: LAW_CASES=%s makes %d of %d, want %d, and %d of them at least, want %d", tt.why, tt.env, got, tt.n, tt.want, least, tt.least)
		}
		if rare := Rare(5); rare != tt.rare {
			t.Errorf("%s: LAW_CASES=%s: what is rare must come up %d times, want %d", tt.why, tt.env, rare, tt.rare)
		}
	}
	t.Setenv("LAW_CASES", "")
	want := int64(250)
	if testing.Short() {
		want = 25
	}
	if got := Of(int64(250)); got != want {
		t.Errorf("unset, with -short %t: %d of 250, want %d", testing.Short(), got, want)
	}
	for _, bad := range []string{"0", "-1", "many", "NaN"} {
		t.Setenv("LAW_CASES", bad)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("LAW_CASES=%s is taken", bad)
				}
			}()
			Of(250)
		}()
	}
}

func TestSome(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, tt := range []struct {
		env  string
		n    int
		want []int
		why  string
	}{
		{"1", 10, all, "all of them"},
		{"1", 3, []int{0, 3, 6}, "from all parts"},
		{"0.1", 10, []int{0}, "one at least"},
		{"20", 3, all, "each once"},
	} {
		t.Setenv("LAW_CASES", tt.env)
		if got := Some(all, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%s: LAW_CASES=%s: %d of 10: %v, want %v", tt.why, tt.env, tt.n, got, tt.want)
		}
	}
	if got := Some([]int(nil), 3); len(got) != 0 {
		t.Error("of nothing:", got)
	}
}
