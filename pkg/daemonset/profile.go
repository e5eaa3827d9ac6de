package daemonset

import (
	"fmt"
	"regexp"
	"strconv"
)

// Newest is the newest Kubernetes minor version whose rules are known.
const Newest = "v1.37"

// Oldest is the oldest Kubernetes minor version whose rules are known.
const Oldest = "v1.17"

const (
	oldestMinor = 17
	newestMinor = 37
)

// Profile is the rule set of one Kubernetes version: every difference between
// the DaemonSet controllers of 1.17 to 1.37, and of the OpenShift controllers
// built from them. docs/controller.md lists the versions that introduced each
// rule.
type Profile struct {
	Version string // as requested: "v1.30.4"
	Beyond  bool   // newer than Newest, so the newest known rules are used

	RollingUpdateV2           bool // the rolling update by node slots; before it, one budget over all old pods
	MaxSurge                  bool // maxSurge is honored
	TemplateGenerationCounts  bool // a pod of the current template generation is updated whatever its hash
	OldUnavailableInBudget    bool // a node whose old pod is unavailable counts in the budget
	SunsetInSurge             bool // surge leaves nodes alone that should not run the pod, and fails on vanished ones
	DeleteSucceeded           bool // Succeeded pods are deleted and replaced
	IgnoreTerminalTerminating bool // a terminating Failed or Succeeded pod blocks nothing
	StatusAfterError          bool // the status is written even if the step, a create or a delete failed
	AvailableInclusive        bool // available at Ready + minReadySeconds, not only after it
	TemplateWithoutNullTime   bool // a revision's template has no "creationTimestamp": null
	OwnedPodsFirst            bool // owned pods precede pods to adopt if only the first one is deleted
	// tolerations with Lt and Gt compare numbers; behind a gate, see AssumeTolerationComparison
	TolerationComparison bool

	// On OpenShift the controller applies the node selector of the namespace
	// (see Placement.In) when it creates and deletes pods.
	NamespaceInStatus  bool // it also does so for the numbers of the status
	NamespaceInRollout bool // it also does so in the rolling update
}

// profileRules lists the versions in which each field of Profile is true. The
// first version is the minor that introduced the rule; the others are patch
// releases of older minors that got a backport, or had the rule before it was
// lost.
//
// Changes of the controller that do not affect a single sync have no field:
// those of its queue, expectations, retries, cache and events.
var profileRules = []struct {
	field func(*Profile) *bool
	since []version
	pr    string // the change, with its backports if they have their own
}{
	{func(p *Profile) *bool { return &p.RollingUpdateV2 }, []version{{21, 0}}, "#96441"},
	{func(p *Profile) *bool { return &p.MaxSurge }, []version{{22, 0}}, "#101742; alpha and off in 1.21, #96441"},
	{func(p *Profile) *bool { return &p.TemplateGenerationCounts }, []version{{24, 0}}, "#107241"},
	{func(p *Profile) *bool { return &p.OldUnavailableInBudget }, []version{{31, 0}, {30, 6}, {29, 10}, {28, 15}},
		"#123233; #127774, #127775, #127776"},
	{func(p *Profile) *bool { return &p.SunsetInSurge }, []version{{29, 0}, {28, 3}, {27, 7}, {26, 10}, {25, 15}},
		"#119317; #120785, #120786, #120789, #120792"},
	{func(p *Profile) *bool { return &p.DeleteSucceeded }, []version{{27, 0}, {26, 5}}, "#117073; #117496"},
	{func(p *Profile) *bool { return &p.IgnoreTerminalTerminating }, []version{{28, 0}, {27, 4}, {26, 7}},
		"#118716; #118911, #118912"},
	{func(p *Profile) *bool { return &p.StatusAfterError }, []version{{27, 0}, {26, 1}, {25, 6}}, "#113787"},
	{func(p *Profile) *bool { return &p.OwnedPodsFirst }, []version{{33, 0}}, "#130859"},
	{func(p *Profile) *bool { return &p.AvailableInclusive }, []version{{34, 0}}, "#132122"},
	{func(p *Profile) *bool { return &p.TemplateWithoutNullTime }, []version{{34, 0}}, "#130989"},
	{func(p *Profile) *bool { return &p.TolerationComparison }, []version{{35, 0}},
		"#134665; alpha and off by default"},
	{func(p *Profile) *bool { return &p.NamespaceInStatus }, []version{{18, 0}},
		"openshift/origin: one method for all of it, from OpenShift 4.5 on"},
	{func(p *Profile) *bool { return &p.NamespaceInRollout }, []version{{33, 0}, {23, 0}, {22, 0}, {21, 0}, {20, 0},
		{19, 0}, {18, 0}}, "openshift/kubernetes; lost with the method in 4.11 (1.24), and back in 4.20 (1.33)"},
}

type version struct{ minor, patch int }

var versionPattern = regexp.MustCompile(`^v?1\.(\d+)(?:\.(\d+))?(?:[-+].*)?\+?$`)

// ForVersion returns the rules of a Kubernetes version such as "v1.30.4",
// "v1.30.4-gke.12" or "1.30", which means the newest patch release. A version
// newer than Newest gets the newest rules, with Beyond set. ForVersion returns
// an error for a version older than 1.17, and for text that is not a version.
func ForVersion(v string) (Profile, error) {
	m := versionPattern.FindStringSubmatch(v)
	if m == nil {
		return Profile{}, fmt.Errorf("%q is not a Kubernetes version such as v1.37.1", v)
	}
	minor, err := strconv.Atoi(m[1])
	if err != nil {
		return Profile{}, fmt.Errorf("%q is not a Kubernetes version: %w", v, err)
	}
	patch := 1 << 30 // a minor alone means its newest patch release
	if m[2] != "" {
		if patch, err = strconv.Atoi(m[2]); err != nil {
			return Profile{}, fmt.Errorf("%q is not a Kubernetes version: %w", v, err)
		}
	}
	if minor < oldestMinor {
		return Profile{}, &OldVersionError{v}
	}
	p := Profile{Version: v, Beyond: minor > newestMinor}
	for _, r := range profileRules {
		*r.field(&p) = holds(version{minor, patch}, r.since)
	}
	return p, nil
}

// OldVersionError reports that a version is older than Oldest.
type OldVersionError struct{ Version string }

func (e *OldVersionError) Error() string {
	return fmt.Sprintf("the rules of Kubernetes %s are not known: 1.%d is the oldest", e.Version, oldestMinor)
}

func holds(v version, since []version) bool {
	for i, s := range since {
		if i == 0 && v.minor > s.minor || v.minor == s.minor && v.patch >= s.patch {
			return true
		}
	}
	return false
}
