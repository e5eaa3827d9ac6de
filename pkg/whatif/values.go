package whatif

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// keepDigests replaces the literal values of a manifest's environment
// variables, and its annotations that may contain copies of them, by the
// digests in the live object, if it has digests there. It returns how many it
// replaced. It keeps empty values, which are known to differ, and digests,
// which come from the same Snapshot.
func keepDigests(s *snapshot.Snapshot, m *appsv1.DaemonSet) int {
	if s.EnvValues != snapshot.EnvDigest {
		return 0
	}
	n := 0
	for key, value := range m.Annotations {
		if live := s.DaemonSet.Annotations[key]; hide.IsDigest(live) && hide.MayHoldValues(key, value) {
			m.Annotations[key] = live
			n++
		}
	}
	live, spec := &s.DaemonSet.Spec.Template.Spec, &m.Spec.Template.Spec
	return n + keepDigestsOf(live.Containers, spec.Containers) + keepDigestsOf(live.InitContainers, spec.InitContainers)
}

func keepDigestsOf(live, containers []corev1.Container) int {
	left := map[[2]string][]string{} // by container and variable; a variable may occur several times
	for _, c := range live {
		for _, v := range c.Env {
			at := [2]string{c.Name, v.Name}
			left[at] = append(left[at], v.Value)
		}
	}
	n := 0
	for _, c := range containers {
		for i := range c.Env {
			v, at := &c.Env[i], [2]string{c.Name, c.Env[i].Name}
			if len(left[at]) == 0 {
				continue
			}
			was := left[at][0]
			left[at] = left[at][1:]
			if v.Value != "" && !hide.IsDigest(v.Value) && hide.IsDigest(was) {
				v.Value = was
				n++
			}
		}
	}
	return n
}

// unlistedFields returns the number of fields that this program's API types do not
// list and that differ between the revision of a rollback and the live
// template. kubectl sends them to the API server, which may know them.
func (c *Change) unlistedFields(s *snapshot.Snapshot, h *daemonset.History) int {
	if c.ToRevision == nil {
		return 0
	}
	r, err := findRevision(s.DaemonSet, h, *c.ToRevision)
	if err != nil {
		return 0
	}
	then, now := unknownFields(s, r.Name), map[string]string{}
	if len(h.Current) > 0 {
		now = unknownFields(s, h.Current[0])
	}
	n := 0
	for path, v := range then {
		if now[path] != v {
			n++
		}
	}
	for path := range now {
		if then[path] == "" {
			n++
		}
	}
	return n
}

func unknownFields(s *snapshot.Snapshot, revision string) map[string]string {
	c, err := template.Stored(s.RevisionData(revision))
	if err != nil {
		return nil
	}
	return hide.Unlisted(c)
}
