package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
)

// commons say what failing nodes have in common. Beside what the other origins use
// there are: who, how many nodes have it; have, what that is; also, what the same nodes
// have beside it.
var commons = []string{
	"{told=true}{compared=OldPods}the image is not built for {platform}, as the message says: {who} {have} (the healthy ones run {other})[ (the same nodes {also})]",
	"{told=true}the image is not built for {platform}, as the message says: {who} {have}[ (the same nodes {also})]",
	"{compared=OldPods}{who} {have}[ (the same nodes {also})]; the healthy ones run {other}, so revision {current} may be at fault too",
	"likely the nodes: {who} {have}[ (the same nodes {also})]",
}

// inCommon says what the nodes of a problem have in common with others that fail, and
// not with healthy ones; empty where nothing is known.
func (a *answer) inCommon(p *cause.Problem, f daemonset.Facts) string {
	if p.Common == nil {
		return ""
	}
	return fill(a.now, with(f, commonFacts(p.Common, a.now)), commons...)
}

// commonFacts are what the sentences about a Common need.
func commonFacts(c *cause.Common, now time.Time) daemonset.Facts {
	one := c.Properties[0]
	return daemonset.Facts{
		"told": c.Told, "compared": string(c.Compared), "who": shares(&c.Split), "have": haveWords(c.Properties, now), "platform": screen.Clean(one.Value),
		"also": haveWords(c.Also[:min(1, len(c.Also))], now),
	}
}

// shares is "all 8 failing nodes and none of the 40 healthy ones".
func shares(s *split.Split) string {
	failing, healthy := fmt.Sprintf("%d of the %d failing nodes", s.Failing.With, s.Failing.Of), fmt.Sprintf("%d of the %d healthy ones", s.Healthy.With, s.Healthy.Of)
	if s.Failing.With == s.Failing.Of {
		failing = pluralOf(s.Failing.Of, "the failing node", allOf(s.Failing.Of)+"failing nodes")
	}
	if s.Healthy.With == 0 {
		healthy = pluralOf(s.Healthy.Of, "not the healthy one", fmt.Sprintf("none of the %d healthy ones", s.Healthy.Of))
	}
	return failing + " and " + healthy
}

// properties are what nodes with a property do.
var properties = map[split.Kind]map[split.Operator]string{
	split.Taint:            {split.Is: "have taint {key}[={value}]:{effect}", split.Exists: "have taint {key}"},
	split.Label:            {split.Is: "have {key}[={value}]", split.Exists: "have label {key}"},
	split.OSImage:          {split.Is: "run {value}"},
	split.KernelVersion:    {split.Is: "run kernel {value}", split.AtLeast: "run kernel {value} or newer", split.Below: "run a kernel older than {value}"},
	split.ContainerRuntime: {split.Is: "run {value}", split.AtLeast: "run {value} or newer", split.Below: "run a container runtime older than {value}"},
	split.KubeletVersion:   {split.Is: "run kubelet {value}", split.AtLeast: "run kubelet {value} or newer", split.Below: "run a kubelet older than {value}"},
	split.Created:          {split.AtLeast: "were created in the last {value@}", split.Below: "were created more than {value@} ago"},
}

// haveWords says what nodes have, of several properties joined by "and".
func haveWords(all []split.Property, now time.Time) string {
	var words []string
	for _, p := range all {
		sentence, known := properties[p.Kind][p.Operator]
		if !known {
			sentence = properties[split.Label][p.Operator]
		}
		words = append(words, fill(now, daemonset.Facts{"key": p.Key, "value": p.Value, "effect": p.Effect}, sentence))
	}
	return strings.Join(slices.Compact(words), " and ")
}
