package daemonset

import (
	"fmt"
	"regexp"
	"strconv"
)

// Newest is the newest Kubernetes minor whose rules are known, as "v1.37".
const Newest = "v1.37"

// Oldest is the oldest one.
const Oldest = "v1.17"

const (
	oldestMinor = 17
	newestMinor = 37
)

// Profile is the rule set of one Kubernetes version: everything in which the
// DaemonSet controllers of 1.17 to 1.37 differ, and those of OpenShift that are
// built from them. docs/controller.md has the versions in which each came.
type Profile struct {
	Version string // as asked for: "v1.30.4"
	Beyond  bool   // newer than Newest: the newest known rules are used

	RollingUpdateV2           bool // the rolling update by node slots; before it, one budget over all old pods
	MaxSurge                  bool // maxSurge is honored
	TemplateGenerationCounts  bool // a pod of the current template generation is updated whatever its hash
	OldUnavailableInBudget    bool // a node whose old pod is unavailable counts in the budget
	SunsetInSurge             bool // surge leaves nodes alone that should not run the pod, and fails on vanished ones
	DeleteSucceeded           bool // Succeeded pods are deleted and replaced
	IgnoreTerminalTerminating bool // a Failed or Succeeded pod that is terminating blocks nothing
	StatusAfterError          bool // the status is written even if the step, a create or a delete failed
	AvailableInclusive        bool // available at Ready + minReadySeconds, not only after it
	TemplateWithoutNullTime   bool // a revision's template has no "creationTimestamp": null
	OwnedPodsFirst            bool // pods that are owned come before those to adopt, where only the first one goes
	// tolerations with Lt and Gt compare numbers; behind a gate, see AssumeTolerationComparison
	TolerationComparison bool

	// Where the nodes are of OpenShift, whose controller asks for the node selector of the
	// namespace (see Placement.In) when it creates and deletes pods.
	NamespaceInStatus  bool // it does so too for the numbers of the status
	NamespaceInRollout bool // … and in the rolling update
}

// profileRules says in which versions each field of Profile holds: the first
// is the minor from whose .0 on it does, the others are patch releases of
// older minors that got it as a backport, or had it before it was lost.
//
// Changes of the controller that no single sync shows have no field: those of
// its queue, its expectations, its retries, its cache and its events.
var profileRules = []struct {
	field func(*Profile) *bool
	since []version
	pr    string // the change, with its backports where they have their own
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
// "1.30" (then of its newest patch release) or "v1.30.4-gke.12". A version
// newer than Newest gets the newest rules and Beyond. One older than 1.17, or
// no version at all, is an error.
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

// OldVersionError says that a version is older than Oldest.
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
