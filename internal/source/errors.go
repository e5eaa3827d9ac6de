package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// NotFoundError says that there is no DaemonSet of this name, or without a name that there is
// none of those that were asked for, of a Dump that is not whole. The rest is help
// for a person: Near and Elsewhere are empty when nothing is near, and also
// when the user may not list.
type NotFoundError struct {
	Ref
	Near      []string // at most three names of that namespace, the nearest first
	Elsewhere []string // namespaces that do have a DaemonSet of this name, sorted
	Far       []Ref    // where there is neither: at most three of other namespaces with a name like it
	Held      []Ref    // where there is none of these: all that a Dump holds, sorted
	Partial   string   // what is missing of a Dump's DaemonSets
}

func (e *NotFoundError) Error() string {
	s := "no DaemonSet found"
	if e.Name != "" {
		s = fmt.Sprintf("daemonset %q not found", e.Name)
	}
	if e.Namespace != "" {
		s += fmt.Sprintf(" in namespace %q", e.Namespace)
	}
	if e.Partial != "" {
		s += ": " + e.Partial
	}
	return s
}

// Hint names the DaemonSets that may have been meant.
func (e *NotFoundError) Hint() string {
	switch {
	case len(e.Elsewhere) > 0:
		refs := make([]Ref, len(e.Elsewhere))
		for i, namespace := range e.Elsewhere {
			refs[i] = Ref{namespace, e.Name}
		}
		return "did you mean " + listed(refs) + "?"
	case len(e.Near) > 0:
		return "did you mean " + strings.Join(e.Near, ", ") + "?"
	case len(e.Far) > 0:
		return "did you mean " + listed(e.Far) + "?"
	case len(e.Held) > 0:
		const most = 5
		if more := len(e.Held) - most; more > 0 {
			return fmt.Sprintf("the input has %s +%d more", listed(e.Held[:most]), more)
		}
		return "the input has " + listed(e.Held)
	case e.Partial != "":
		return GetHint
	}
	return ""
}

func listed(refs []Ref) string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.String()
	}
	return strings.Join(names, ", ")
}

// AmbiguousError says that a name without a namespace fits several
// DaemonSets of a Dump.
type AmbiguousError struct {
	Name string
	Refs []Ref // at least two, by namespace
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d daemonsets are named %q: %s", len(e.Refs), e.Name, listed(e.Refs))
}

// Hint names a flag that decides.
func (e *AmbiguousError) Hint() string { return "choose one with -n " + e.Refs[0].Namespace }

// RequestError says that a request failed without which there is no answer:
// the server does not know the user, or does not let the DaemonSet be read.
type RequestError struct {
	What     string // what was asked for: "daemonset kube-system/agent"
	Err      error
	HintText string
}

func (e *RequestError) Error() string { return fmt.Sprintf("%s: %s", e.What, InWords(e.Err)) }

func (e *RequestError) Unwrap() error { return e.Err }

// Hint returns the command that shows what this user may do.
func (e *RequestError) Hint() string { return e.HintText }

// ConflictError says that the API server rejects a server-side apply: other
// field managers own fields with other values. Then nothing is applied.
type ConflictError struct {
	Ref
	Manager   string     // in whose name it was applied
	Conflicts []Conflict // at least one, by manager and field
}

// Conflict is one field, both as the API server words them.
type Conflict struct {
	Field string // .spec.template.spec.containers[name="agent"].image
	With  string // "kubectl" using apps/v1
}

func (e *ConflictError) Error() string {
	n := "1 field belongs"
	if len(e.Conflicts) > 1 {
		n = fmt.Sprintf("%d fields belong", len(e.Conflicts))
	}
	return fmt.Sprintf("the API server rejects the server-side apply of daemonset %s by field manager %q, and "+
		"nothing is applied: %s to other managers", e.Ref, e.Manager, n)
}

// Details returns a line for each manager, and below it one for each of its
// fields; then who may apply nevertheless.
func (e *ConflictError) Details() []string {
	fields := map[string][]string{}
	var managers []string
	for _, c := range e.Conflicts {
		if fields[c.With] == nil {
			managers = append(managers, c.With)
		}
		fields[c.With] = append(fields[c.With], c.Field)
	}
	var lines []string
	for _, m := range managers {
		lines = append(lines, "conflict with "+m+":")
		for _, f := range fields[m] {
			lines = append(lines, "  "+f)
		}
	}
	return append(lines, "Flux and Argo CD may apply with force, which takes these fields over")
}

// Hint returns the ways out.
func (e *ConflictError) Hint() string {
	return "--force-conflicts plans an apply that takes these fields over; or remove them from the manifest, or give " +
		"them their live values"
}

// InputError says where a file is damaged, or not what --from reads.
type InputError struct {
	File     string // as it was given; "standard input" for -
	Document int    // counted from 1; 0: the file as a whole
	Field    string // as items[17].spec.taints; empty: the document as a whole
	Err      error
	HintText string
	Settled  bool // that it is not passed over

	Address       bool // File is a URL, given as a manifest
	Kustomization bool // File is that of a kustomization, given as a manifest
	Markdown      bool // File, given as a manifest, is Markdown
	Template      bool // File, given as a manifest, is a template, or a chart with templates
}

func (e *InputError) Error() string {
	s := e.File + ": "
	if e.Document > 0 {
		s += fmt.Sprintf("document %d: ", e.Document)
	}
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + InWords(e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// Hint returns the command that makes a file that can be read.
func (e *InputError) Hint() string { return e.HintText }

// InWords is what an error says, in one line, and without the words of Go for what
// cannot be decoded.
func InWords(err error) string { return object.OneLine(template.Misfit(err).Error()) }

// StandardInput is the path of standard input.
const StandardInput = "-"

// GetHint is the command that writes what ReadFiles reads.
var GetHint = DumpCommand() + " > dump.yaml"

// DumpCommand returns kubectl's own command that writes what a Dump is read from, with
// the kinds that hold further parts. It asks for no Secrets, whose values it would write.
func DumpCommand(further ...snapshot.What) string {
	kinds := []string{"ds", "nodes", "pods", "controllerrevisions", "events", "pdb"}
	for _, what := range further {
		for of := range strings.SplitSeq(dumpedFor[what], ",") {
			if of != "" && !slices.Contains(kinds, of) {
				kinds = append(kinds, of)
			}
		}
	}
	return "kubectl get " + strings.Join(kinds, ",") + " -A -o yaml"
}

// dumpedFor are kubectl's names of the kinds that hold a part, of those that not every
// question needs. Before v1.36 servers have no mutating policies, and kubectl rejects a
// command that names a kind which the server does not have.
var dumpedFor = map[snapshot.What]string{
	snapshot.Namespaces: "ns", snapshot.NamespaceNodeSelector: "ns", snapshot.ServiceAccounts: "sa",
	snapshot.PriorityClasses: "pc", snapshot.RuntimeClasses: "runtimeclasses",
	snapshot.LimitRanges: "limits", snapshot.ResourceQuotas: "quota",
	snapshot.Webhooks:   "validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings",
	snapshot.ConfigMaps: "cm", snapshot.Claims: "pvc", snapshot.PersistentVolumes: "pvc,pv",
	snapshot.CSINodes: "csinodes",
	snapshot.Leases:   "leases",
}

// ConfigError says why the kubeconfig leads to no cluster, and what to name instead.
type ConfigError struct {
	Err      error
	HintText string
}

func (e *ConfigError) Hint() string { return e.HintText }

func (e *ConfigError) Error() string { return e.Err.Error() }

func (e *ConfigError) Unwrap() error { return e.Err }

// Meant returns the hint with those of the names that somebody who wrote word may
// have meant, each behind prefix, or otherwise if none is near.
func Meant(prefix, word string, names []string, otherwise string) string {
	near := snapshot.Near(word, names)
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + prefix + strings.Join(near, ", "+prefix) + "?"
}

// Words reports whether it is text, and nothing of an object.
func (e *InputError) Words() bool { return errors.Is(e, ErrWords) || errors.Is(e, ErrBeside) }

var (
	ErrCutOff   = errors.New("ends in the middle of an object: the file is cut off")
	ErrChanged  = errors.New("it became shorter while it was read: run the command again, or copy the file first")
	ErrNotText  = errors.New("not text")
	ErrListEnd  = errors.New("a list without a kind: the file may be cut off")
	ErrTwoLists = errors.New("items: appears twice")
	ErrNotJSON  = errors.New("not JSON")
	ErrWords    = fmt.Errorf("%w: it is text", object.ErrNotKubernetes)
	ErrBeside   = fmt.Errorf("%w: it is text", object.ErrNotKubernetes) // that can be left out without losing anything
	ErrTemplate = errors.New("a template that is not rendered: it has {{ }}")
	ErrTooOld   = errors.New("a list as kubectl before v1.9 wrote it, whose objects do not say what they are: it is " +
		"too old to be read")
)
