package daemonset

import (
	"errors"
	"strings"
	"testing"
)

// FuzzForVersion checks that a version keeps the rules of older ones, except
// for those of patch releases, and that the leading v makes no difference.
func FuzzForVersion(f *testing.F) {
	for _, seed := range []string{"v1.37.1", "1.30", "v1.30.4-gke.12", "v1.16.0", "v1.99", "v1.17+", "1", "", "v2.0", "v1.99999999999999999999", "v1.28.15+k3s1", "v1.030"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v string) {
		p, err := ForVersion(v)
		if err != nil {
			if old := (*OldVersionError)(nil); strings.ContainsAny(err.Error(), "\n\r") || errors.As(err, &old) && old.Version == "" {
				t.Errorf("%q", err)
			}
			return
		}
		if p.Version != v {
			t.Errorf("%q became %q", v, p.Version)
		}
		other := strings.TrimPrefix(v, "v")
		if other == v {
			other = "v" + v
		}
		q, err := ForVersion(other)
		q.Version = p.Version
		if err != nil || q != p {
			t.Errorf("%q has %+v, %q has %+v (%v)", v, p, other, q, err)
		}
		if newest, err := ForVersion(Newest); err != nil || p.Beyond && !func() bool { newest.Version, newest.Beyond = p.Version, true; return newest == p }() {
			t.Errorf("%q is beyond the newest, and has %+v", v, p)
		}
	})
}
