package daemonset

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// BudgetKind names what limits a rolling update.
type BudgetKind string

const (
	BudgetUnavailable BudgetKind = "Unavailable" // maxUnavailable: nodes without an available pod
	BudgetSurge       BudgetKind = "Surge"       // maxSurge: nodes with a second pod
	BudgetNone        BudgetKind = "None"        // OnDelete: the controller replaces nothing, so nothing limits it
)

// Field returns the name of the field that sets the limit, or "" for
// BudgetNone.
func (k BudgetKind) Field() string {
	return map[BudgetKind]string{BudgetUnavailable: "maxUnavailable", BudgetSurge: "maxSurge"}[k]
}

// Budget is the resolved limit of a rolling update, with its arithmetic.
type Budget struct {
	Kind           BudgetKind `json:"kind"`           // what limits the rolling update
	MaxUnavailable int        `json:"maxUnavailable"` // as a number of nodes; 0 under OnDelete
	MaxSurge       int        `json:"maxSurge"`       // as a number of nodes; 0 in versions without it

	// the value that applies, as written: `5%`, `1`; empty if there is none
	Spec string `json:"spec"`

	// a percentage before rounding up: `14.4`; empty for a plain number
	Scaled string `json:"scaled"`
	Of     int    `json:"of"` // the number of desired nodes that the percentage refers to

	// `Computed`; `Reported` if the nodes could not be read; `Unknown` if the
	// status could not be read either
	OfSource string `json:"ofSource"`
	Fallback bool   `json:"fallback"` // both limits came to 0, so the controller uses maxUnavailable 1

	// the field and the value that cannot be resolved, so that the step of a rollout fails; otherwise empty
	Invalid string `json:"invalid"`
}

// resolveBudget returns the budget of a rolling update over desired nodes.
//
// Percentages are rounded up, and an absolute number may exceed desired.
// Without a rollingUpdate block, and if both limits come to 0 although desired
// is above 0, one node may be unavailable (1.21, #96441). Up to 1.20 there is
// no such fallback.
func resolveBudget(ds *appsv1.DaemonSet, desired int, profile Profile) Budget {
	b := Budget{Kind: BudgetNone, Of: desired}
	if ds.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return b
	}
	b.Kind = BudgetUnavailable
	if ru := ds.Spec.UpdateStrategy.RollingUpdate; ru != nil {
		if ru.MaxUnavailable == nil { // the API server fills it in, but what is read need not come from there
			b.Invalid = "spec.updateStrategy.rollingUpdate.maxUnavailable (not set)"
			return b
		}
		unavailable, err := scale(ru.MaxUnavailable, desired)
		if err != nil {
			b.Invalid = fmt.Sprintf("spec.updateStrategy.rollingUpdate.maxUnavailable: %q", ru.MaxUnavailable.String())
			return b
		}
		b.MaxUnavailable, b.Spec, b.Scaled = unavailable, ru.MaxUnavailable.String(), scaled(ru.MaxUnavailable, desired)
		if profile.MaxSurge {
			surge, err := scale(ru.MaxSurge, desired)
			if err != nil {
				b.Invalid = fmt.Sprintf("spec.updateStrategy.rollingUpdate.maxSurge: %q", ru.MaxSurge.String())
				return b
			}
			if b.MaxSurge = surge; surge > 0 {
				b.Kind, b.Spec, b.Scaled = BudgetSurge, ru.MaxSurge.String(), scaled(ru.MaxSurge, desired)
			}
		}
	}
	if profile.RollingUpdateV2 && desired > 0 && b.MaxUnavailable == 0 && b.MaxSurge == 0 {
		b.MaxUnavailable, b.Fallback = 1, true
	}
	return b
}

// allowsSurge reports whether manage keeps an old and a new pod side by side:
// maxSurge is above 0 for a single node, so any percentage above 0 is.
// maxUnavailable, even one that cannot be resolved, does not matter here.
func allowsSurge(ds *appsv1.DaemonSet, profile Profile) bool {
	u := ds.Spec.UpdateStrategy
	if !profile.MaxSurge || u.Type != appsv1.RollingUpdateDaemonSetStrategyType || u.RollingUpdate == nil {
		return false
	}
	surge, err := scale(u.RollingUpdate.MaxSurge, 1)
	return err == nil && surge > 0
}

func scale(v *intstr.IntOrString, of int) (int, error) {
	if v == nil {
		return 0, nil
	}
	return intstr.GetScaledValueFromIntOrPercent(v, of, true)
}

// scaled returns a percentage of a number to at most two decimals, or "" for
// a value that is not a percentage.
func scaled(v *intstr.IntOrString, of int) string {
	percent, found := strings.CutSuffix(v.StrVal, "%")
	if !found {
		return ""
	}
	n, err := strconv.Atoi(percent)
	if err != nil {
		return ""
	}
	hundredths := n * of
	s := fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
