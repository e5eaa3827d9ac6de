// Package walls tests the architecture: which package may import which, and which may use clocks,
// files, streams and other access to the outside. It contains only tests.
//
// Each rule names a breach of itself. The tests add the breach to the project as it was read and
// expect the rule to find it.
package walls

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/kubectl-ds/kubectl-ds"
	root   = "../.."
)

// TestImports checks which package may import which.
func TestImports(t *testing.T) {
	clients := []string{"k8s.io/client-go/...", "k8s.io/cli-runtime/...", "k8s.io/kubectl/...", "github.com/spf13/cobra/..."}
	world := []string{
		"os/...", "log/...", "net/...", "syscall/...", "io/fs/...", "io/ioutil/...", "path/filepath/...", "embed/...", "plugin/...", "flag/...",
		"database/...", "math/rand/...", "crypto/rand/...", "golang.org/x/sys/...", "golang.org/x/term/...",
	}
	table(t, []row{
		{
			why: "pkg is a library: a controller, a CI job or a web service imports it without a client, kubectl or a command line",
			who: own("pkg/..."), deep: true, never: clients,
			breach: func(p *project) {
				p.edge("pkg/explain", "example.org/innocent")
				p.imports["example.org/innocent"] = []string{"github.com/spf13/cobra"}
			},
		},
		{
			why: "the rules see no files, network, environment, logs or dice: a Snapshot is all that they know",
			who: own("pkg/..."), never: world,
			breach: func(p *project) { p.edge("pkg/plan", "math/rand/v2") },
		},
		{
			why: "beside Go's library and what becomes a part of it, of Kubernetes, the rules need its types, the scheduler's own matching of node affinity, sum of requests and features that a pod needs, and the library of the Pod Security levels, and nothing else",
			who: own("pkg/..."), standard: true,
			only: append(own("pkg/...", "internal/intern"),
				"k8s.io/api/...", "k8s.io/apimachinery/...", "k8s.io/component-helpers/scheduling/corev1", "k8s.io/component-helpers/scheduling/corev1/nodeaffinity", "k8s.io/component-helpers/resource",
				"k8s.io/component-helpers/nodedeclaredfeatures", "k8s.io/component-helpers/nodedeclaredfeatures/types",
				"k8s.io/pod-security-admission/api", "k8s.io/pod-security-admission/policy",
				"github.com/go-json-experiment/json", "github.com/go-json-experiment/json/jsontext", "github.com/go-json-experiment/json/v1"), // encoding/json/v2 from Go 1.27 on
			breach: func(p *project) { p.edge("pkg/daemonset", "k8s.io/component-helpers/apps/poddisruptionbudget") },
		},
		{
			why: "a Snapshot knows nothing of what is made of it; a template, which revisions hold, is a part of it",
			who: own("pkg/snapshot"), project: true, only: own("pkg/template", "pkg/hide", "internal/intern"),
			breach: func(p *project) { p.edge("pkg/snapshot", module+"/pkg/daemonset") },
		},
		{
			why: "comparing two templates takes two templates",
			who: own("pkg/template"), project: true, only: nil,
			breach: func(p *project) { p.edge("pkg/template", module+"/pkg/snapshot") },
		},
		{
			why: "what may be secret is told by the API's types and by its form, wherever it stands",
			who: own("pkg/hide"), project: true, only: own("pkg/template"),
			breach: func(p *project) { p.edge("pkg/hide", module+"/pkg/snapshot") },
		},
		{
			why: "who else writes a DaemonSet stands in its metadata",
			who: own("pkg/managed"), project: true, only: nil,
			breach: func(p *project) { p.edge("pkg/managed", module+"/pkg/snapshot") },
		},
		{
			why: "what a pod's start refers to stands in the pod, and whether it exists in the Snapshot",
			who: own("pkg/refer"), project: true, only: own("pkg/snapshot"),
			breach: func(p *project) { p.edge("pkg/refer", module+"/pkg/daemonset") },
		},
		{
			why: "what nodes have in common stands in the nodes",
			who: own("pkg/split"), project: true, only: nil,
			breach: func(p *project) { p.edge("pkg/split", module+"/pkg/daemonset") },
		},
		{
			why: "the controller's rules stand on the input alone",
			who: own("pkg/daemonset"), project: true, only: own("pkg/snapshot", "pkg/template"),
			breach: func(p *project) { p.edge("pkg/daemonset", module+"/pkg/explain") },
		},
		{
			why: "whether a pod fits depends on the pod, the node and what is on it, and not on whose pod it is",
			who: own("pkg/fit"), project: true, only: own("pkg/snapshot"),
			breach: func(p *project) { p.edge("pkg/fit", module+"/pkg/daemonset") },
		},
		{
			why: "what is wrong on a node, and whose fault it is, does not depend on who asks: explain names it, plan reckons with it, and the two cannot differ; whether a change is at fault, the fields tell in which two templates differ",
			who: own("pkg/cause"), project: true, only: own("pkg/snapshot", "pkg/template", "pkg/daemonset", "pkg/admission", "pkg/fit", "pkg/refer", "pkg/split"),
			breach: func(p *project) { p.edge("pkg/cause", module+"/pkg/explain") },
		},
		{
			why: "why no node is eligible depends on the State alone",
			who: own("pkg/cause/eligible"), project: true, only: own("pkg/snapshot", "pkg/daemonset", "pkg/cause"),
			breach: func(p *project) { p.edge("pkg/cause/eligible", module+"/pkg/plan") },
		},
		{
			why: "what a person can do is a value: plan makes and weighs it, explain hands it on, view shows it, and it knows none of them",
			who: own("pkg/remedy"), project: true, only: own("pkg/daemonset", "pkg/cause"),
			breach: func(p *project) { p.edge("pkg/remedy", module+"/pkg/plan") },
		},
		{
			why: "the API server's answer to a pod depends on the pod and on what it looks up, not on what a DaemonSet is or on who asks",
			who: own("pkg/admission"), project: true, only: own("pkg/snapshot"),
			breach: func(p *project) { p.edge("pkg/admission", module+"/pkg/daemonset") },
		},
		{
			why: "what the API server rejects in a DaemonSet stands in the DaemonSet, and in the one that it replaces",
			who: own("pkg/validate"), project: true, only: nil,
			breach: func(p *project) { p.edge("pkg/validate", module+"/pkg/snapshot") },
		},
		{
			why: "what a change makes of a State does not depend on what is asked of it then",
			who: own("pkg/whatif"), project: true, only: own("pkg/snapshot", "pkg/template", "pkg/hide", "pkg/daemonset", "pkg/validate"),
			breach: func(p *project) { p.edge("pkg/whatif", module+"/pkg/plan") },
		},
		{
			why: "a history is a reading of one State, and none of another",
			who: own("pkg/history"), project: true, only: own("pkg/snapshot", "pkg/template", "pkg/hide", "pkg/daemonset", "pkg/cause", "pkg/managed"),
			breach: func(p *project) { p.edge("pkg/history", module+"/pkg/plan") },
		},
		{
			why: "so is a plan; it tries changes, to weigh remedies",
			who: own("pkg/plan"), project: true, only: own("pkg/snapshot", "pkg/template", "pkg/hide", "pkg/daemonset", "pkg/cause", "pkg/cause/eligible",
				"pkg/remedy", "pkg/managed", "pkg/split", "pkg/whatif", "pkg/validate", "pkg/admission", "pkg/fit", "pkg/refer", "pkg/plan/timing"),
			breach: func(p *project) { p.edge("pkg/plan", module+"/pkg/history") },
		},
		{
			why: "how long pods take is measured before anything is planned",
			who: own("pkg/plan/timing"), project: true, only: own("pkg/daemonset", "pkg/cause"),
			breach: func(p *project) { p.edge("pkg/plan/timing", module+"/pkg/plan") },
		},
		{
			why: "what happens in a rollout does not depend on who watches it",
			who: own("pkg/plan/follow"), project: true,
			only:   own("pkg/snapshot", "pkg/daemonset", "pkg/cause", "pkg/remedy", "pkg/plan", "pkg/plan/timing"),
			breach: func(p *project) { p.edge("pkg/plan/follow", module+"/internal/view") },
		},
		{
			why: "explain is a third one, which says what changed as history does; what helps, it is given",
			who: own("pkg/explain"), project: true, only: own("pkg/snapshot", "pkg/template", "pkg/hide", "pkg/daemonset", "pkg/cause", "pkg/cause/eligible",
				"pkg/remedy", "pkg/managed", "pkg/history", "pkg/admission"),
			breach: func(p *project) { p.edge("pkg/explain", module+"/pkg/plan") },
		},
		{
			why: "what is a name and what a word of Kubernetes stands in the Snapshot, and in what rules read of it",
			who: own("pkg/redact"), project: true, only: own("pkg/snapshot", "pkg/template", "pkg/hide", "pkg/daemonset", "pkg/cause", "pkg/managed", "pkg/split"),
			breach: func(p *project) { p.edge("pkg/redact", module+"/pkg/explain") },
		},
		{
			why: "a new package of pkg gets a row above, which says what it stands on",
			check: func(p *project) []string {
				known := own("pkg/snapshot", "pkg/template", "pkg/hide", "pkg/managed", "pkg/refer", "pkg/split", "pkg/fit", "pkg/daemonset", "pkg/cause", "pkg/cause/eligible",
					"pkg/remedy", "pkg/explain", "pkg/whatif", "pkg/plan", "pkg/plan/timing",
					"pkg/plan/follow", "pkg/history", "pkg/admission", "pkg/redact", "pkg/validate")
				return slices.DeleteFunc(slices.Sorted(maps.Keys(p.own)), func(pkg string) bool {
					return !matches(own("pkg/..."), pkg) || matches(known, pkg)
				})
			},
			breach: func(p *project) { p.source("pkg/forecast", ``) },
		},
		{
			why: "it stores equal values of any type, so it depends on no type of the project",
			who: own("internal/intern"), project: true, only: nil,
			breach: func(p *project) { p.edge("internal/intern", module+"/pkg/snapshot") },
		},
		{
			why: "whether a text is no object stands in the text",
			who: own("internal/source/prose"), project: true, only: nil,
			breach: func(p *project) { p.edge("internal/source/prose", module+"/internal/source") },
		},
		{
			why: "an object is read from its text, wherever that comes from",
			who: own("internal/source/object"), project: true, only: own("pkg/snapshot", "pkg/template", "internal/intern"),
			breach: func(p *project) { p.edge("internal/source/object", module+"/internal/source") },
		},
		{
			why: "whoever reads the input decides nothing about it",
			who: own("internal/source"), project: true, only: own("pkg/snapshot", "pkg/template", "internal/source/object"),
			breach: func(p *project) { p.edge("internal/source", module+"/pkg/daemonset") },
		},
		{
			why: "a file is taken apart into texts of objects, whatever they are for",
			who: own("internal/source/document"), project: true,
			only:   own("pkg/snapshot", "internal/source", "internal/source/object", "internal/source/prose"),
			breach: func(p *project) { p.edge("internal/source/document", module+"/internal/source/dump") },
		},
		{
			why: "one request is bounded and read, whoever sends it",
			who: own("internal/source/api"), project: true,
			only:   own("pkg/snapshot", "internal/intern", "internal/source", "internal/source/document", "internal/source/object"),
			breach: func(p *project) { p.edge("internal/source/api", module+"/internal/source/cluster") },
		},
		{
			why: "what a Snapshot makes of objects does not depend on where they come from",
			who: own("internal/source/part"), project: true,
			only:   own("pkg/snapshot", "internal/source", "internal/source/object"),
			breach: func(p *project) { p.edge("internal/source/part", module+"/internal/source/api") },
		},
		{
			why: "what a manifest leaves out, the API server fills in as pkg/template has it",
			who: own("internal/source/manifest"), project: true,
			only: own("pkg/snapshot", "pkg/template", "pkg/hide", "internal/source", "internal/source/api",
				"internal/source/document", "internal/source/object"),
			breach: func(p *project) { p.edge("internal/source/manifest", module+"/internal/source/cluster") },
		},
		{
			why: "a dump is read without a cluster",
			who: own("internal/source/dump"), project: true,
			only: own("pkg/snapshot", "internal/source", "internal/source/api", "internal/source/document",
				"internal/source/object", "internal/source/part", "internal/source/prose"),
			breach: func(p *project) { p.edge("internal/source/dump", module+"/internal/source/cluster") },
		},
		{
			why: "a cluster is read without a dump",
			who: own("internal/source/cluster"), project: true,
			only: own("pkg/snapshot", "pkg/template", "internal/source", "internal/source/api",
				"internal/source/manifest", "internal/source/object", "internal/source/part"),
			breach: func(p *project) { p.edge("internal/source/cluster", module+"/internal/source/dump") },
		},
		{
			why: "kubectl's flags become a configuration, and nothing is asked yet",
			who: own("internal/source/kubeconfig"), project: true,
			only:   own("internal/source", "internal/source/api"),
			breach: func(p *project) { p.edge("internal/source/kubeconfig", module+"/internal/source/cluster") },
		},

		{
			why: "the plugin stands on kubectl's own libraries, cobra and fatih/color",
			check: func(p *project) (missing []string) {
				for _, library := range []string{"k8s.io/cli-runtime/...", "k8s.io/client-go/...", "k8s.io/kubectl/...", "github.com/spf13/cobra/...", "github.com/fatih/color/..."} {
					if !slices.ContainsFunc(slices.Sorted(maps.Keys(p.own)), func(pkg string) bool {
						return slices.ContainsFunc(p.imports[pkg], func(i string) bool { return matches([]string{library}, i) })
					}) {
						missing = append(missing, library)
					}
				}
				return missing
			},
			breach: func(p *project) {
				for pkg := range p.own {
					p.imports[pkg] = slices.DeleteFunc(slices.Clone(p.imports[pkg]), func(i string) bool { return matches([]string{"github.com/fatih/color/..."}, i) })
				}
			},
		},
		{
			why: "the form of a screen does not depend on what it says",
			who: own("internal/screen"), project: true, only: nil,
			breach: func(p *project) { p.edge("internal/screen", module+"/pkg/daemonset") },
		},
		{
			why: "how a document is encoded does not depend on what it says",
			who: own("internal/encode"), project: true, only: own("internal/screen"),
			breach: func(p *project) { p.edge("internal/encode", module+"/pkg/explain") },
		},
		{
			why: "whoever words an answer cannot ask for more of the input",
			who: own("internal/view/..."), deep: true, never: own("internal/source/...", "internal/cli"),
			breach: func(p *project) {
				p.edge("internal/view", module+"/internal/dstest")
				p.edge("internal/dstest", module+"/internal/source")
			},
		},
		{
			why: "the words for a value do not depend on the screen that shows it",
			who: own("internal/view/wording"), project: true,
			only: own("pkg/snapshot", "pkg/daemonset", "pkg/cause", "pkg/remedy", "pkg/explain", "pkg/plan", "pkg/redact",
				"internal/screen"),
			breach: func(p *project) { p.edge("internal/view/wording", module+"/internal/view/sheet") },
		},
		{
			why: "a map of nodes shows nodes, whoever asks for it",
			who: own("internal/view/nodenames"), project: true, only: own("pkg/plan", "internal/screen"),
			breach: func(p *project) { p.edge("internal/view/nodenames", module+"/internal/view/sheet") },
		},
		{
			why: "how fields differ is told alike in a plan, a history and a fault",
			who: own("internal/view/difftext"), project: true,
			only:   own("pkg/template", "pkg/history", "internal/screen", "internal/view/wording"),
			breach: func(p *project) { p.edge("internal/view/difftext", module+"/internal/view/sheet") },
		},
		{
			why: "what all answers share knows none of them",
			who: own("internal/view/sheet"), never: own("internal/view", "internal/view/diagnosis", "internal/view/difftext"),
			breach: func(p *project) { p.edge("internal/view/sheet", module+"/internal/view/diagnosis") },
		},
		{
			why: "a diagnosis reads alike in explain, plan-rollout and history",
			who: own("internal/view/diagnosis"), never: own("internal/view"),
			breach: func(p *project) { p.edge("internal/view/diagnosis", module+"/internal/view") },
		},
		{
			why: "view learns from Style what the terminal is like, and writes to the writer that it is given",
			who: own("internal/view/..."), never: append(slices.Clone(world), "k8s.io/client-go/..."),
			breach: func(p *project) { p.edge("internal/view", "golang.org/x/term") },
		},
		{
			why: "only source talks to a server",
			who: own("internal/cli", "internal/view/...", "internal/dstest/..."), never: []string{"net/...", "k8s.io/client-go/..."},
			breach: func(p *project) { p.edge("internal/cli", "k8s.io/client-go/kubernetes") },
		},
		{
			why: "nothing but main imports cli, what writes the manual of its commands, and a judge of 20,000 answers: what is worth calling is in pkg",
			who: own("..."), but: own("cmd/kubectl-ds", "internal/cli", "docs/generate/manual", "test/scheduler"), tests: true, never: own("internal/cli"),
			breach: func(p *project) { p.edge("test/e2e", module+"/internal/cli") },
		},
		{
			why: "a generator of states that knew the rules could be wrong as they are",
			who: own("internal/dstest"), project: true, only: own("pkg/snapshot", "pkg/template"),
			breach: func(p *project) { p.edge("internal/dstest", module+"/pkg/daemonset") },
		},
		{
			why: "the binary holds no test states",
			who: own("cmd/..."), deep: true, never: own("internal/dstest/...", "test/..."),
			breach: func(p *project) { p.edge("internal/cli", module+"/internal/dstest") },
		},
		{
			why: "the binary links the types of the groups that it asks for: client-go's clients, scheme and discovery bring those of all, a third of the program, and every start pays for them",
			who: own("cmd/..."), deep: true, never: []string{
				"k8s.io/client-go/kubernetes/...", "k8s.io/client-go/applyconfigurations/...", "k8s.io/client-go/discovery/...", "k8s.io/cli-runtime/pkg/genericclioptions",
				"k8s.io/cli-runtime/pkg/resource",
			},
			breach: func(p *project) { p.edge("internal/source", "k8s.io/client-go/kubernetes/scheme") },
		},
		{
			why: "the shipped binary never links Kubernetes itself",
			who: own("..."), but: own("test/..."), tests: true, deep: true, never: []string{"k8s.io/kubernetes/..."},
			breach: func(p *project) { p.edge("internal/source", "k8s.io/kubernetes/pkg/apis/core") },
		},
	})
}

// TestModule checks all modules in go.mod, because a package that nothing imports on this platform
// may be imported on another one. go.mod lists the modules of all platforms.
func TestModule(t *testing.T) {
	table(t, []row{{
		why: "k8s.io/kubernetes is no module of the main one on any platform",
		check: func(p *project) []string {
			var found []string
			for n, line := range strings.Split(p.goMod, "\n") {
				if slices.Contains(strings.Fields(line), "k8s.io/kubernetes") {
					found = append(found, fmt.Sprintf("go.mod:%d: %s", n+1, strings.TrimSpace(line)))
				}
			}
			return found
		},
		breach: func(p *project) { p.goMod += "\nrequire k8s.io/kubernetes v1.37.1 // indirect\n" },
	}})
}

// TestCalls checks which package may read clocks and streams, and that none sends requests that
// change a cluster.
func TestCalls(t *testing.T) {
	table(t, []row{
		{
			why: "the clock is part of the input: only cli reads one, and hands it on",
			who: own("pkg/...", "internal/..."), but: own("internal/cli"),
			calls: []string{
				"time.Now", "time.Since", "time.Until", "time.After", "time.AfterFunc", "time.Tick", "time.NewTicker", "time.NewTimer", "time.Sleep",
				"k8s.io/apimachinery/pkg/apis/meta/v1.Now", "k8s.io/apimachinery/pkg/apis/meta/v1.NowMicro",
			},
			breach: func(p *project) {
				p.source("pkg/daemonset", `import meta "k8s.io/apimachinery/pkg/apis/meta/v1"; func f() { g(meta.Now) }`)
			},
		},
		{
			why: "streams, arguments, environment and exit belong to main and cli",
			who: own("pkg/...", "internal/..."), but: own("internal/cli", "internal/source/generate"),
			calls:  []string{"os.Stdin", "os.Stdout", "os.Stderr", "os.Args", "os.Exit", "os.Getenv", "os.LookupEnv", "os.Environ", "fmt.Print", "fmt.Printf", "fmt.Println", "print", "println"},
			breach: func(p *project) { p.source("pkg/explain", `import "fmt"; func f() { fmt.Println("here") }`) },
		},
		{
			why: "nobody ends the program but main",
			who: own("..."), but: own("cmd/kubectl-ds", "docs/generate/...", "internal/source/generate", "krew/...", "test/..."),
			calls:  []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "k8s.io/kubectl/pkg/cmd/util.CheckErr", "github.com/spf13/cobra.CheckErr"},
			breach: func(p *project) { p.source("internal/cli", `import "os"; func f() { os.Exit(3) }`) },
		},
		{
			why: "get, list and watch is all that a cluster is asked for, but for the three dry runs; ApplyAs asks none",
			who: own("internal/...", "cmd/..."),
			calls: []string{
				".Create", ".Update", ".UpdateStatus", ".UpdateScale", ".Patch", ".Apply", ".ApplyStatus", ".ApplyScale", ".Delete", ".DeleteCollection",
				".Evict", ".Bind", ".Post", ".Put", ".Verb",
			},
			inside: map[string]string{"internal/source/cluster.dryPatch": ".Patch", "internal/source/cluster.dryCreate": ".Post", "internal/source/cluster.dryCreatePod": ".Create", "internal/source/manifest.ApplyAs": ".Apply"},
			breach: func(p *project) {
				p.source("internal/source", `func f(c *Cluster) { c.apps.DaemonSets("").Patch(nil, "x", o) }`)
			},
		},
	})
}

// TestNames checks that packages are named after their content.
func TestNames(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base", "lib"}
	table(t, []row{{
		why: "a name that says nothing gathers everything",
		check: func(p *project) []string {
			var found []string
			for _, f := range p.files {
				if name := strings.TrimSuffix(f.syntax.Name.Name, "_test"); slices.Contains(empty, name) || slices.Contains(empty, path.Base(f.dir)) {
					found = append(found, fmt.Sprintf("%s: package %s", f.path, name))
				}
			}
			return found
		},
		breach: func(p *project) { p.source("internal/util", ``) },
	}})
}

// row is a rule with a breach of it.
type row struct {
	why string // name of the subtest, and what is lost without the rule

	who []string // packages that the rule applies to
	but []string // exceptions from who

	never    []string // forbidden imports; with deep, also indirect ones
	only     []string // the only permitted imports
	deep     bool
	project  bool     // only applies to packages of this project
	standard bool     // only does not apply to the standard library
	tests    bool     // test files are included
	calls    []string // forbidden: path.Name of a package, .Name of anything else, or a builtin

	inside map[string]string // exceptions: package.function may mention the value

	check func(*project) []string // replaces all of these

	breach func(*project)
}

var whole = sync.OnceValues(read)

func table(t *testing.T, rows []row) {
	p, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if r.why == "" || seen[r.why] {
			t.Errorf("a row says why, and not what another says: %q", r.why)
		}
		seen[r.why] = true
		t.Run(r.why, func(t *testing.T) {
			if found := r.find(p); len(found) > 0 {
				t.Fatalf("broken:\n\t%s", strings.Join(found, "\n\t"))
			}
			broken := p.clone()
			if r.breach(broken); len(r.find(broken)) == 0 {
				t.Error("the breach that this row names is not found: the rule holds nothing back")
			}
		})
	}
}

func (r *row) find(p *project) []string {
	switch {
	case r.check != nil:
		return r.check(p)
	case r.calls != nil:
		return r.findCalls(p)
	}
	return r.findImports(p)
}

func (r *row) about(pkg string) bool { return matches(r.who, pkg) && !matches(r.but, pkg) }

func (r *row) findImports(p *project) []string {
	var found []string
	for _, from := range slices.Sorted(maps.Keys(p.own)) {
		if !r.about(from) {
			continue
		}
		if r.deep {
			if way := p.way(from, r.never); way != nil {
				found = append(found, strings.Join(way, " -> "))
			}
		}
		direct := p.imports[from]
		if r.tests {
			direct = slices.Concat(direct, p.testImports[from])
		}
		for _, to := range direct {
			bad := matches(r.never, to)
			if r.never == nil {
				bad = !matches(r.only, to) && to != from && !(r.project && !matches(own("..."), to)) && !(r.standard && standard(to))
			}
			if bad && !(r.deep && slices.Contains(p.imports[from], to)) {
				found = append(found, from+" -> "+to)
			}
		}
	}
	return found
}

func (r *row) findCalls(p *project) []string {
	var found []string
	for _, f := range p.files {
		if f.test || !r.about(f.pkg) {
			continue
		}
		note := func(at token.Pos, name string) {
			if may, ok := r.inside[strings.TrimPrefix(f.pkg, module+"/")+"."+f.function(at)]; slices.Contains(r.calls, name) && !(ok && may == name) {
				found = append(found, fmt.Sprintf("%s: %s", p.fset.Position(at), name))
			}
		}
		names := f.names()
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && names[x.Name] != "" {
					note(n.Pos(), names[x.Name]+"."+n.Sel.Name)
				} else {
					note(n.Sel.Pos(), "."+n.Sel.Name)
				}
			case *ast.CallExpr:
				if fun, ok := n.Fun.(*ast.Ident); ok {
					note(n.Pos(), fun.Name)
				}
			}
			return true
		})
	}
	return found
}

// own returns import path patterns of this project's packages.
func own(patterns ...string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = module + "/" + p
	}
	return out
}

// matches reports whether a package matches a pattern: "a/b" matches itself, "a/b/..." also
// everything below it.
func matches(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		above, all := strings.CutSuffix(pattern, "/...")
		return pkg == above || all && strings.HasPrefix(pkg, above+"/")
	})
}

func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

// project is the source tree, including nested modules. Files for all platforms are read, but the
// imports of packages of other modules are those on this platform.
type project struct {
	fset        *token.FileSet
	files       []file
	own         map[string]bool
	imports     map[string][]string // without tests
	testImports map[string][]string
	goMod       string
}

type file struct {
	path   string
	dir    string
	pkg    string // import path; for a nested module, below that of the main module
	test   bool
	syntax *ast.File
}

// read reads every Go file in this process, so that "go test" invalidates its cached result when
// one changes. It does not track what "go list" reads.
func read() (*project, error) {
	p := &project{fset: token.NewFileSet(), own: map[string]bool{}, imports: map[string][]string{}, testImports: map[string][]string{}}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return p.add(filepath.ToSlash(rel), src)
	})
	if err != nil {
		return nil, err
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	p.goMod = string(goMod)
	return p, p.list()
}

func (p *project) add(name string, src []byte) error {
	syntax, err := parser.ParseFile(p.fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := file{path: name, dir: path.Dir(name), pkg: path.Join(module, path.Dir(name)), test: strings.HasSuffix(name, "_test.go"), syntax: syntax}
	p.files = append(p.files, f)
	p.own[f.pkg] = true
	to := p.imports
	if f.test {
		to = p.testImports
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if !slices.Contains(to[f.pkg], imported) {
			to[f.pkg] = append(to[f.pkg], imported)
		}
	}
	return nil
}

// list adds the imports of packages of other modules.
func (p *project) list() error {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w\n%s", err, &errs)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if !p.own[pkg.ImportPath] {
			p.imports[pkg.ImportPath] = pkg.Imports
		}
	}
}

// way returns a shortest chain of imports from a package to one that matches.
func (p *project) way(from string, to []string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range p.imports[queue[0]] {
			if _, seen := before[next]; seen {
				continue
			}
			before[next] = queue[0]
			if matches(to, next) {
				var chain []string
				for at := next; at != ""; at = before[at] {
					chain = append(chain, at)
				}
				slices.Reverse(chain)
				return chain
			}
			queue = append(queue, next)
		}
	}
	return nil
}

// names returns the packages that a file imports, by the names used in the file.
func (f *file) names() map[string]string {
	names := map[string]string{}
	for _, spec := range f.syntax.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}

// function returns the name of the function at a position.
func (f *file) function(at token.Pos) string {
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Pos() <= at && at < fn.End() {
			return fn.Name.Name
		}
	}
	return ""
}

func (p *project) clone() *project {
	c := *p
	c.files, c.own = slices.Clone(p.files), maps.Clone(p.own)
	c.imports, c.testImports = maps.Clone(p.imports), maps.Clone(p.testImports)
	return &c
}

// edge adds an import from one package of this project to another.
func (p *project) edge(from, to string) {
	from = path.Join(module, from)
	p.own[from] = true
	p.imports[from] = append(slices.Clone(p.imports[from]), to)
}

// source adds a file to a package of this project.
func (p *project) source(dir, body string) {
	if err := p.add(dir+"/breach.go", []byte("package "+path.Base(dir)+"\n"+body)); err != nil {
		panic(err)
	}
}
