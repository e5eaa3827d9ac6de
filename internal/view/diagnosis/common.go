package diagnosis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
)

// inCommon describes the property that the failing nodes share and healthy nodes lack. It returns "" if none is known.
func (a *Answer) inCommon(p *cause.Problem) string {
	if p.Common == nil {
		return ""
	}
	c := p.Common
	oldPods := c.Compared == cause.ComparedOld
	also := wording.Phrase(" (the same nodes ", haveWords(c.Also[:min(1, len(c.Also))], a.Now), ")")
	have := sharedBy(c, a.Now) + also
	platform := screen.Clean(c.Properties[0].Value)
	switch {
	case c.Told && oldPods:
		return "the image is not built for " + platform + ", as the message says: " + sharedBy(c, a.Now) +
			" (the healthy ones run " + a.olderOnes() + ")" + also
	case c.Told:
		return "the image is not built for " + platform + ", as the message says: " + have
	case oldPods:
		return have + "; the healthy ones run " + a.olderOnes() + ", so revision " +
			strconv.FormatInt(a.Current(), 10) + " may be at fault too"
	}
	return "likely the nodes: " + have
}

// sharedBy returns a clause such as "both failing nodes and none of the 4 healthy ones run linux".
func sharedBy(c *cause.Common, now time.Time) string {
	return shares(&c.Split) + " " + haveWords(c.Properties, now)
}

// shares returns a phrase such as "all 8 failing nodes and none of the 40 healthy ones".
func shares(s *split.Split) string {
	failing, healthy := fmt.Sprintf("%d of the %d failing nodes", s.Failing.With, s.Failing.Of),
		fmt.Sprintf("%d of the %d healthy ones", s.Healthy.With, s.Healthy.Of)
	if s.Failing.With == s.Failing.Of {
		failing = wording.PluralOf(s.Failing.Of, "the failing node", AllOf(s.Failing.Of)+"failing nodes")
	}
	if s.Healthy.With == 0 {
		healthy = wording.PluralOf(s.Healthy.Of, "not the healthy one",
			fmt.Sprintf("none of the %d healthy ones", s.Healthy.Of))
	}
	return failing + " and " + healthy
}

// haveWords returns a predicate for each property, joined by "and".
func haveWords(all []split.Property, now time.Time) string {
	var words []string
	for _, p := range all {
		words = append(words, propertyWords(&p, now))
	}
	return strings.Join(slices.Compact(words), " and ")
}

// propertyWords returns the predicate for nodes with a property.
func propertyWords(p *split.Property, now time.Time) string {
	value := screen.Clean(p.Value)
	run := map[split.Kind]string{
		split.KernelVersion: "kernel", split.ContainerRuntime: "container runtime", split.KubeletVersion: "kubelet",
	}[p.Kind]
	program := value // the version of a container runtime contains its name
	if p.Kind != split.ContainerRuntime {
		program = run + " " + value
	}
	equals := wording.Phrase("=", value)
	switch {
	case p.Kind == split.Taint && p.Operator == split.Exists:
		return "have taint " + screen.Clean(p.Key)
	case p.Kind == split.Taint:
		return "have taint " + screen.Clean(p.Key) + equals + ":" + screen.Clean(p.Effect)
	case p.Kind == split.OSImage:
		return "run " + value
	case p.Kind == split.Created:
		age := wording.Known{Facts: daemonset.Facts{"value": p.Value}, Now: now}.Age("value")
		return wording.Either(p.Operator == split.AtLeast, "were created in the last "+age,
			"were created more than "+age+" ago")
	case run != "" && p.Operator == split.Below:
		return "run a " + run + " older than " + value
	case run != "":
		return "run " + program + wording.Either(p.Operator == split.AtLeast, " or newer", "")
	case p.Operator == split.Exists:
		return "have label " + screen.Clean(p.Key)
	}
	return "have " + screen.Clean(p.Key) + equals
}
