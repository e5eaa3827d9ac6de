package main

import (
	"fmt"
	"strings"
	"testing"
)

func listed(all []release) string { return strings.Trim(fmt.Sprint(all), "[]") }

func TestReleases(t *testing.T) {
	for _, tt := range []struct{ versions, want, why string }{
		{"", "", "none"},
		{"v0.37.1 v0.9.0 v0.37.0 v0.36.10 v0.36.9", "v1.9.0 v1.36.9 v1.36.10 v1.37.0 v1.37.1", "by number, not by letter"},
		{"v0.37.1 v1.37.1", "v1.37.1", "each once, whether it is a library's or Kubernetes' own"},
		{"v0.38.0-alpha.2 v0.37.0-rc.1 v11.0.0+incompatible v2.0.0+incompatible v10.0.0 v0.37 latest", "", "no releases: early ones, and what client-go was called before v0.15"},
	} {
		if got := listed(releases(strings.Fields(tt.versions))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}
}

func TestUpTo(t *testing.T) {
	for _, tt := range []struct{ known, all, want, why string }{
		{"", "v1.36.4 v1.37.1", "v1.36.4 v1.37.1", "all are known"},
		{"v1.36", "v1.35.4 v1.36.4 v1.37.1", "v1.35.4 v1.36.4", "no newer minor"},
		{"v1.36.3", "v1.35.9 v1.36.3 v1.36.4 v1.37.1", "v1.35.9 v1.36.3", "no newer release"},
		{"v1.16", "v1.17.4", "", "none is as old"},
	} {
		got, err := upTo(tt.known, releases(strings.Fields(tt.all)))
		if err != nil || listed(got) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.why, listed(got), err, tt.want)
		}
	}
	for _, known := range []string{"1.36", "v1", "newest", "v1.36.4-rc.0"} {
		if got, err := upTo(known, releases([]string{"v1.36.4"})); err == nil {
			t.Errorf("%q: no error, but %s", known, listed(got))
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, tt := range []struct {
		published, known string
		minors           int
		want, why        string
	}{
		{"v1.36.4 v1.37.1", "v1.36.4 v1.37.1", 4, "", "nothing is new"},
		{"v1.36.4 v1.37.0 v1.37.1 v1.37.2", "v1.36.4", 4, "v1.37.2 v1.37.1 v1.37.0", "a new minor, its newest release first"},
		{"v1.36.4 v1.36.5 v1.37.1 v1.37.2", "v1.36.4 v1.37.1", 4, "v1.37.2; v1.36.5", "new releases of known minors"},
		{"v1.36.4 v1.36.5 v1.37.1 v1.37.2", "v1.36.4 v1.37.1", 1, "v1.37.2", "of the newest minor only"},
		{"v1.27.3 v1.27.16 v1.35.0 v1.36.0 v1.37.0", "v1.27.3 v1.35.0 v1.36.0 v1.37.0", 3, "", "an old minor of which the newest release is not known"},
		{"v1.37.0 v1.37.1", "v1.37.0 v1.37.2", 4, "", "known, and not published"},
		{"v1.36.2 v1.36.4", "v1.36.4", 4, "", "older than one that is known"},
	} {
		var got []string
		for _, minor := range unknown(releases(strings.Fields(tt.published)), releases(strings.Fields(tt.known)), tt.minors) {
			got = append(got, listed(minor))
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, text, tt.want)
		}
	}
}

func TestNeighbours(t *testing.T) {
	for _, tt := range []struct{ of, want, why string }{
		{"v1.36.1", "v1.36.1 v1.36.0 v1.36.2", "its own, then that before, then that after"},
		{"v1.37.0", "v1.37.0 v1.37.1", "there is none before the first"},
	} {
		if got := listed(neighbours(releases([]string{tt.of})[0])); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}
}
