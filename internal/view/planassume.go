package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// shownAssumptions are those that matter: where nothing is to happen, not
// those of its course.
func shownAssumptions(p *plan.Plan) []daemonset.Assumption {
	if len(p.Waves) > 0 || p.Outcome.Code == plan.Stalls || p.IfTemplateChanged != nil && p.IfTemplateChanged.Outcome.Code != plan.NotRolling {
		return p.Assumptions
	}
	return slices.DeleteFunc(slices.Clone(p.Assumptions), func(a daemonset.Assumption) bool {
		return slices.Contains(plan.Assumptions, a.Code) && !slices.Contains(ofManifest, a.Code)
	})
}

// ofManifest are the assumptions that matter even where nothing is to happen.
var ofManifest = []daemonset.AssumptionCode{plan.AssumeTemplateNotChecked, plan.AssumeNoServerWarnings, plan.AssumeNoConflicts, plan.AssumeEnvValues, plan.AssumeUnknownFields}

// assumptionLines says in few sentences what is assumed: how long pods take,
// which of them come up, how fast the controller is, and whose rules hold.
func assumptionLines(all []daemonset.Assumption) []string {
	given := assumptionsByCode{}
	for _, a := range all {
		given[a.Code] = a
	}
	var lines []string
	say := func(parts ...string) {
		if parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" }); len(parts) > 0 {
			lines = append(lines, strings.Join(parts, "; "))
		}
	}
	timing := []string{given.start(), given.termination(), given.minReady()}
	say(timing...)
	say(given.newPods(), given.take(plan.AssumeReadyPods, func(a daemonset.Assumption) string {
		n, _ := strconv.Atoi(a.Value)
		return pluralVerb(n, "pod that is ready becomes", "pods that are ready become") + " available"
	}), given.take(plan.AssumeLatePods, func(a daemonset.Assumption) string {
		n, _ := strconv.Atoi(a.Value)
		return pluralVerb(n, "pod that is not ready yet becomes", "pods that are not ready yet become") + " ready, although " + pluralOnly(n, "it takes", "they take") + " longer than any other did"
	}), given.take(plan.AssumeNodesStay, nodesStay), given.take(plan.AssumeRefused, func(daemonset.Assumption) string {
		return "the API server keeps rejecting pods"
	}), given.take(plan.AssumeHostPorts, func(daemonset.Assumption) string {
		return "no second pod is scheduled beside the old one, which uses the host port"
	}), given.take(plan.AssumeCollected, func(a daemonset.Assumption) string {
		return "pods of deleted nodes are gone after " + assumedTime(a.Value)
	}))
	given.pace()
	say(given.server())
	say(given.take(plan.AssumeNoConflicts, func(a daemonset.Assumption) string {
		return "server-side apply as field manager " + clean(a.Value) + " has no conflicts: the input has no managed fields, which would tell"
	}))
	say(given.take(plan.AssumeEnvValues, func(a daemonset.Assumption) string {
		n, _ := strconv.Atoi(a.Value)
		return pluralVerb(n, "literal value of the manifest, of an environment variable or in an annotation, is", "literal values of the manifest, of environment variables or in annotations, are") +
			" taken for what is in the cluster: the snapshot holds digests, which cannot be compared (snapshot --show-values)"
	}))
	say(given.take(plan.AssumeUnknownFields, func(a daemonset.Assumption) string {
		n, _ := strconv.Atoi(a.Value)
		return "the API server drops " + pluralVerb(n, "field that differs", "fields that differ") + " between the revision and the live template: this version of kubectl ds does not know " + pluralOnly(n, "it", "them")
	}))
	say(given.take(daemonset.AssumeCurrentRevision, currentRevision))
	for _, a := range all {
		if _, left := given[a.Code]; left {
			lines = append(lines, assumption(a))
		}
	}
	return lines
}

// assumptionsByCode are those that no sentence has told yet.
type assumptionsByCode map[daemonset.AssumptionCode]daemonset.Assumption

// take removes an assumption, and returns its words.
func (g assumptionsByCode) take(code daemonset.AssumptionCode, words func(daemonset.Assumption) string) string {
	a, found := g[code]
	if !found {
		return ""
	}
	delete(g, code)
	return words(a)
}

func (g assumptionsByCode) value(code daemonset.AssumptionCode) string {
	return g.take(code, func(a daemonset.Assumption) string { return clean(a.Value) })
}

func (g assumptionsByCode) start() string {
	fast, slow := g.value(plan.AssumeStartFast), g.value(plan.AssumeStartSlow)
	return g.take(plan.AssumeStart, func(a daemonset.Assumption) string {
		about := "median"
		switch {
		case a.Source == "Flag":
			about = "--start"
		case fast != "" && slow != "" && assumedTime(fast) != assumedTime(slow):
			about += fmt.Sprintf("; 8 of 10 took %s to %s", assumedTime(fast), assumedTime(slow))
		}
		return "a new pod is Ready " + assumedTime(a.Value) + " after its creation" + inBrackets(about)
	})
}

func (g assumptionsByCode) termination() string {
	return g.take(plan.AssumeTermination, func(a daemonset.Assumption) string {
		words := "a deleted pod is gone after " + assumedTime(a.Value)
		switch a.Source {
		case "GracePeriod":
			return words + " at the latest (its grace period)"
		case "Flag":
			return words + " (--termination)"
		case "Events":
			return words + " (like the last ones)"
		}
		return words
	})
}

func (g assumptionsByCode) minReady() string {
	return g.take(plan.AssumeMinReadySeconds, func(a daemonset.Assumption) string {
		return "available after minReadySeconds " + clean(a.Value)
	})
}

func (g assumptionsByCode) newPods() string {
	return cmp.Or(g.take(plan.AssumeNewPods, func(daemonset.Assumption) string { return "every new pod becomes available" }),
		g.take(plan.AssumeRevisionFails, func(a daemonset.Assumption) string {
			n, _ := strconv.Atoi(a.Value)
			return fmt.Sprintf("no pod of the new revision becomes available, as none has yet and %s%s", pluralVerb(n, "pod fails", "pods fail"),
				g.take(plan.AssumeReadyPods, func(a daemonset.Assumption) string {
					n, _ := strconv.Atoi(a.Value)
					return ", but for " + pluralVerb(n, "pod that is ready already", "pods that are ready already")
				}))
		}), g.take(plan.AssumeInvalidImage, func(a daemonset.Assumption) string {
			return `no pod of the new revision becomes available, as a kubelet does not start "` + clean(a.Value) + `"`
		}))
}

// server is what the API server was not asked for.
func (g assumptionsByCode) server() string {
	template := g.take(plan.AssumeTemplateNotChecked, func(daemonset.Assumption) string {
		return "the API server accepts the pod template, of which only a part was checked"
	})
	warnings := g.take(plan.AssumeNoServerWarnings, func(daemonset.Assumption) string { return "the API server's warnings were not asked for" })
	switch {
	case template != "" && warnings != "":
		return template + "; its warnings were not asked for (--server-dry-run asks for both)"
	case template+warnings == "":
		return ""
	}
	return template + warnings + " (--server-dry-run asks for them)"
}

// currentRevision says how the current revision was told without revisions.
func currentRevision(a daemonset.Assumption) string {
	switch a.Source {
	case "None":
		return "no revision could be read, and no pod tells the current one: all pods count as old"
	case "TemplateGeneration":
		return "no revision could be read: the newest template generation of the pods tells the current one, " + clean(a.Value)
	case "Status":
		return "no revision could be read: the numbers of the status tell the current one, " + clean(a.Value)
	}
	return assumption(a)
}

func nodesStay(a daemonset.Assumption) string {
	n, _ := strconv.Atoi(a.Value)
	return pluralVerb(n, "node stays broken", "nodes stay broken") + ": such problems do not resolve by themselves"
}

// pace drops the controller's own pace, which -o wide shows.
func (g assumptionsByCode) pace() {
	for _, code := range []daemonset.AssumptionCode{plan.AssumeRequestRate, plan.AssumeStepBurst, plan.AssumeRequestBurst, plan.AssumeSlowStart} {
		delete(g, code)
	}
}

// assumedTime writes a duration, which the document has as Go writes it.
func assumedTime(value string) string {
	d, err := time.ParseDuration(value)
	if err != nil {
		return clean(value)
	}
	return seconds(d.Seconds())
}

// pluralOnly is the word that goes with a number.
func pluralOnly(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func pluralVerb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
