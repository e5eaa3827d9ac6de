package cause

import (
	"maps"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// OfReference returns why no pod of a template starts that refers to what does not exist: a
// container cannot be created, a volume cannot be mounted or, without its claim, the pod is
// not scheduled.
func OfReference(m *refer.Missing) *Cause {
	return &Cause{Code: codeOf(m), Severity: SeverityError, Facts: FactsOf(m)}
}

func codeOf(m *refer.Missing) daemonset.Reason {
	switch {
	case m.Kind == snapshot.Claim:
		return PendingUnschedulable
	case m.Volume != "":
		return FailedMount
	}
	return ContainerConfig
}

// FactsOf returns what does not exist, and what refers to it.
func FactsOf(m *refer.Missing) daemonset.Facts {
	f := daemonset.Facts{"kind": string(m.Kind), "name": m.Name, "field": m.Field}
	for key, value := range map[string]string{"container": m.Container, "variable": m.Variable, "volume": m.Volume} {
		if value != "" {
			f[key] = value
		}
	}
	if m.Container != "" {
		f["init"] = m.Init
	}
	if m.Fault == refer.NoKey {
		f["key"] = m.Key
	}
	return f
}

// named adds to a cause of a pod of the current revision what the template refers to and
// does not exist, where that is why. A volume that cannot be mounted is told also before an
// event says so.
func (cs *Causes) named(p *daemonset.Pod, c *Cause) *Cause {
	if c == nil || !p.Updated {
		return c
	}
	code := c.Code
	if code == ContainerCreating {
		code = FailedMount
	}
	for _, m := range cs.unmet() {
		container := c.Facts.Text("container")
		if codeOf(&m) != code || code == ContainerConfig && m.Container != container {
			continue
		}
		with := *c
		with.Code, with.Facts = code, maps.Clone(c.Facts)
		maps.Copy(with.Facts, FactsOf(&m))
		return &with
	}
	return c
}
