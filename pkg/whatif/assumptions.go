package whatif

import (
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Assumptions about a change that could not be checked.
const (
	// AssumeTemplateNotChecked: the API server accepts the pod template of the
	// manifest; only a part of it was checked, and `--server-dry-run` checks all of it
	// Source: `Manifest`
	AssumeTemplateNotChecked daemonset.AssumptionCode = "TemplateNotChecked"
	// AssumeNoServerWarnings: the API server has no warnings about the manifest; `--server-dry-run` asks for them
	// Source: `Manifest`
	AssumeNoServerWarnings daemonset.AssumptionCode = "NoServerWarnings"
	// AssumeNoConflicts: the server-side apply conflicts with no field manager;
	// the input has no managed fields to check this
	// Value: the field manager that applies
	// Source: `Manifest`
	AssumeNoConflicts daemonset.AssumptionCode = "NoConflicts"
	// AssumeEnvValues: this many literal values of the manifest's environment variables, and annotations that
	// may hold copies of them, equal the values in the cluster. The Snapshot has only digests of these. If no
	// other difference creates a revision, `--fail-on` cannot be evaluated, and the status with `--exit-code`
	// is 5
	// Value: how many
	// Source: `Manifest`
	AssumeEnvValues daemonset.AssumptionCode = "EnvValuesNotCompared"
	// AssumeUnknownFields: the API server drops this many fields that differ between the revision of a
	// rollback and the live template. This program's API types do not list them. kubectl sends them, and a
	// newer API server may keep them, so the template may be different. `--fail-on` cannot be evaluated, and
	// the status with `--exit-code` is 5
	// Value: how many
	// Source: `Revision`
	AssumeUnknownFields daemonset.AssumptionCode = "UnknownFieldsDropped"
)

// Assumptions lists every AssumptionCode of a Result.
var Assumptions = []daemonset.AssumptionCode{AssumeTemplateNotChecked, AssumeNoServerWarnings, AssumeNoConflicts,
	AssumeEnvValues, AssumeUnknownFields}

// MethodServerDryRun is the Summary's Method if the API server itself merged a
// manifest with the live object, and thus checked it.
const MethodServerDryRun = "ServerDryRun"

// MethodOverlay is the Method if neither an annotation nor field managers show
// the contents of the previous manifest.
const MethodOverlay = "Overlay"

func (c *Change) assumptions(before *daemonset.State, sum *Summary) []daemonset.Assumption {
	out := c.ofManifest(sum)
	if c.DaemonSet != nil {
		if n := keepDigests(before.Snapshot, c.DaemonSet.DeepCopy()); n > 0 {
			out = append(out, daemonset.Assumption{Code: AssumeEnvValues, Value: strconv.Itoa(n), Source: "Manifest"})
		}
	}
	if n := c.unlistedFields(before.Snapshot, before.History); n > 0 {
		out = append(out, daemonset.Assumption{Code: AssumeUnknownFields, Value: strconv.Itoa(n), Source: "Revision"})
	}
	return out
}

// ofManifest returns the assumptions about a manifest that the API server did not
// check.
func (c *Change) ofManifest(sum *Summary) []daemonset.Assumption {
	var out []daemonset.Assumption
	assume := func(code daemonset.AssumptionCode, value string) {
		out = append(out, daemonset.Assumption{Code: code, Value: value, Source: "Manifest"})
	}
	if c.DaemonSet == nil || c.Method == MethodServerDryRun {
		return nil
	}
	if sum.TemplateChanged {
		assume(AssumeTemplateNotChecked, "")
	}
	if sum.TemplateChanged || len(sum.Fields) > 0 {
		assume(AssumeNoServerWarnings, "")
	}
	if c.FieldManager != "" && c.Method == MethodOverlay {
		assume(AssumeNoConflicts, c.FieldManager)
	}
	return out
}
