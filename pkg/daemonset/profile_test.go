package daemonset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// profileFields names the fields of Profile, so that a row can list them.
var profileFields = map[string]func(*Profile) *bool{
	"rolling-v2":     func(p *Profile) *bool { return &p.RollingUpdateV2 },
	"surge":          func(p *Profile) *bool { return &p.MaxSurge },
	"generation":     func(p *Profile) *bool { return &p.TemplateGenerationCounts },
	"old-in-budget":  func(p *Profile) *bool { return &p.OldUnavailableInBudget },
	"sunset":         func(p *Profile) *bool { return &p.SunsetInSurge },
	"succeeded":      func(p *Profile) *bool { return &p.DeleteSucceeded },
	"terminal":       func(p *Profile) *bool { return &p.IgnoreTerminalTerminating },
	"status-anyway":  func(p *Profile) *bool { return &p.StatusAfterError },
	"inclusive":      func(p *Profile) *bool { return &p.AvailableInclusive },
	"no-null-time":   func(p *Profile) *bool { return &p.TemplateWithoutNullTime },
	"owned-first":    func(p *Profile) *bool { return &p.OwnedPodsFirst },
	"compare":        func(p *Profile) *bool { return &p.TolerationComparison },
	"in-status":      func(p *Profile) *bool { return &p.NamespaceInStatus },
	"in-rollout":     func(p *Profile) *bool { return &p.NamespaceInRollout },
	"beyond-newest!": func(p *Profile) *bool { return &p.Beyond },
}

// TestForVersion tests tables 10 and 10.1 of controller.md at every boundary.
func TestForVersion(t *testing.T) {
	const (
		v21 = "rolling-v2"
		v22 = v21 + " surge"
		v24 = v22 + " generation"
		v27 = v24 + " succeeded status-anyway"
		v28 = v27 + " terminal"
		v29 = v28 + " sunset"
		v31 = v29 + " old-in-budget"
		v33 = v31 + " owned-first"
		v34 = v33 + " inclusive no-null-time"
		v35 = v34 + " compare"
	)
	for _, tt := range []struct{ version, want string }{
		{"v1.17.4", ""}, {"v1.18.20", ""}, {"v1.19.16", ""}, {"v1.20.15", ""},
		{"v1.21.0", v21}, {"v1.21.14", v21},
		{"v1.22.0", v22}, {"v1.22.17", v22}, {"v1.23.17", v22},
		{"v1.24.0", v24}, {"v1.24.17", v24},
		{"v1.25.5", v24}, {"v1.25.6", v24 + " status-anyway"}, {"v1.25.14", v24 + " status-anyway"}, {"v1.25.15", v24 + " status-anyway sunset"}, {"v1.25.16", v24 + " status-anyway sunset"},
		{"v1.26.0", v24}, {"v1.26.1", v24 + " status-anyway"}, {"v1.26.4", v24 + " status-anyway"}, {"v1.26.5", v27}, {"v1.26.6", v27}, {"v1.26.7", v28}, {"v1.26.9", v28}, {"v1.26.10", v29}, {"v1.26.15", v29},
		{"v1.27.0", v27}, {"v1.27.3", v27}, {"v1.27.4", v28}, {"v1.27.6", v28}, {"v1.27.7", v29}, {"v1.27.16", v29},
		{"v1.28.0", v28}, {"v1.28.2", v28}, {"v1.28.3", v29}, {"v1.28.14", v29}, {"v1.28.15", v31},
		{"v1.29.0", v29}, {"v1.29.9", v29}, {"v1.29.10", v31}, {"v1.29.15", v31},
		{"v1.30.0", v29}, {"v1.30.5", v29}, {"v1.30.6", v31}, {"v1.30.14", v31},
		{"v1.31.0", v31}, {"v1.32.10", v31}, {"v1.33.0", v33}, {"v1.33.13", v33},
		{"v1.34.0", v34}, {"v1.34.4", v34}, {"v1.35.0", v35}, {"v1.35.4", v35}, {"v1.36.4", v35}, {"v1.37.0", v35}, {"v1.37.1", v35},
		{"v1.38.0", v35 + " beyond-newest!"}, {"v1.100.0", v35 + " beyond-newest!"},

		// Ways to write a version.
		{"1.30.4", v29}, {"v1.30", v31}, {"1.28", v31}, {"v1.30+", v31}, {"v1.30.4-gke.12", v29}, {"v1.30.4+k3s1", v29}, {"v1.28.14-eks-1234567", v29}, {"v1.37.1-rc.0", v35},
	} {
		t.Run(tt.version, func(t *testing.T) {
			want := Profile{Version: tt.version}
			for f := range strings.FieldsSeq(tt.want) {
				*profileFields[f](&want) = true
			}
			got, err := ForVersion(tt.version)
			if err != nil {
				t.Fatal(err)
			}
			want.NamespaceInStatus, want.NamespaceInRollout = got.NamespaceInStatus, got.NamespaceInRollout // see TestOpenShiftRules
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOpenShiftRules tests which parts of OpenShift's controller apply the
// namespace rule, at every boundary.
func TestOpenShiftRules(t *testing.T) {
	for _, tt := range []struct {
		version         string
		status, rollout bool
		why             string
	}{
		{"v1.17.9", false, false, "4.4: only creation and deletion do"},
		{"v1.18.0", true, true, "4.5: one method decides for all of them"},
		{"v1.19.16", true, true, "4.6"}, {"v1.20.0", true, true, "4.7"}, {"v1.21.14", true, true, "4.8"}, {"v1.22.0", true, true, "4.9"},
		{"v1.23.17", true, true, "4.10"},
		{"v1.24.0", true, false, "4.11: the method became a function, which the rolling update calls without the patch"},
		{"v1.32.13", true, false, "4.19"},
		{"v1.33.0", true, true, "4.20: the rolling update calls the patch again"},
		{"v1.99.0", true, true, "the newest rules"},
	} {
		got, err := ForVersion(tt.version)
		if err != nil || got.NamespaceInStatus != tt.status || got.NamespaceInRollout != tt.rollout {
			t.Errorf("%s: status %t, rollout %t, %v: %s", tt.version, got.NamespaceInStatus, got.NamespaceInRollout, err, tt.why)
		}
	}
}

func TestForVersionRefuses(t *testing.T) {
	for _, tt := range []struct{ version, want string }{
		{"v1.16.15", "are not known: 1.17 is the oldest"},
		{"1.5", "are not known: 1.17 is the oldest"},
		{"", `"" is not a Kubernetes version such as v1.37.1`},
		{"v2.0.0", "is not a Kubernetes version"},
		{"latest", "is not a Kubernetes version"},
		{"v1.", "is not a Kubernetes version"},
		{"v1.30.4.5", "is not a Kubernetes version"},
		{"v1.99999999999999999999", "is not a Kubernetes version"},
		{"v1.30.99999999999999999999", "is not a Kubernetes version"},
	} {
		if p, err := ForVersion(tt.version); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ForVersion(%q) = %+v, %v, want an error with %q", tt.version, p, err, tt.want)
		}
	}
}

// TestEveryProfileFieldHasARule fails if a field is added without a row.
func TestEveryProfileFieldHasARule(t *testing.T) {
	if want, got := len(profileFields)-1, len(profileRules); got != want { // Beyond has none
		t.Errorf("%d rules for %d fields", got, want)
	}
	for _, r := range profileRules {
		if r.pr == "" || len(r.since) == 0 {
			t.Errorf("a rule without its change, or without a version: %+v", r.since)
		}
	}
}
