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

// NotFoundError reports that no DaemonSet has the requested name or, if Name is empty, that an
// incomplete Dump has no DaemonSet that matches the filter.
//
// Near, Elsewhere, Far and Held are suggestions. They are empty if nothing is similar or the user
// may not list DaemonSets.
type NotFoundError struct {
	Ref
	Near      []string // at most three similar names in the namespace, the most similar first
	Elsewhere []string // sorted namespaces that have a DaemonSet of this name
	Far       []Ref    // at most three similar names in other namespaces, if Near and Elsewhere are empty
	Held      []Ref    // all DaemonSets of a Dump, sorted, if there is no other suggestion
	Partial   string   // what is missing from the DaemonSets of a Dump
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

// Hint returns a suggestion of DaemonSets, or the command that writes a complete dump. It may be
// empty.
func (e *NotFoundError) Hint() string {
	switch {
	case len(e.Elsewhere) > 0:
		refs := make([]Ref, len(e.Elsewhere))
		for i, namespace := range e.Elsewhere {
			refs[i] = Ref{namespace, e.Name}
		}
		return "did you mean " + joinRefs(refs) + "?"
	case len(e.Near) > 0:
		return "did you mean " + strings.Join(e.Near, ", ") + "?"
	case len(e.Far) > 0:
		return "did you mean " + joinRefs(e.Far) + "?"
	case len(e.Held) > 0:
		const most = 5
		if more := len(e.Held) - most; more > 0 {
			return fmt.Sprintf("the input has %s +%d more", joinRefs(e.Held[:most]), more)
		}
		return "the input has " + joinRefs(e.Held)
	case e.Partial != "":
		return GetHint
	}
	return ""
}

func joinRefs(refs []Ref) string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.String()
	}
	return strings.Join(names, ", ")
}

// AmbiguousError reports that a name without a namespace matches several DaemonSets of a Dump.
type AmbiguousError struct {
	Name string
	Refs []Ref // at least two, sorted by namespace
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d daemonsets are named %q: %s", len(e.Refs), e.Name, joinRefs(e.Refs))
}

// Hint returns the flag that selects one of the DaemonSets.
func (e *AmbiguousError) Hint() string { return "choose one with -n " + e.Refs[0].Namespace }

// RequestError reports that a required request failed: for example, the server rejects the
// credentials, or the user may not get the DaemonSet.
type RequestError struct {
	What     string // the request, such as "daemonset kube-system/agent"
	Err      error
	HintText string
}

func (e *RequestError) Error() string { return fmt.Sprintf("%s: %s", e.What, InWords(e.Err)) }

func (e *RequestError) Unwrap() error { return e.Err }

// Hint returns the command to run next, such as one that shows the user's permissions.
func (e *RequestError) Hint() string { return e.HintText }

// ConflictError reports that the API server rejects a server-side apply because other field
// managers own fields with other values. Nothing is applied.
type ConflictError struct {
	Ref
	Manager   string     // the field manager of the apply
	Conflicts []Conflict // at least one, sorted by manager and field
}

// Conflict is one field of a ConflictError. Both values are as the API server words them.
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

// Details returns one line for each manager, followed by one line for each of its fields, and a
// last line that names tools which may apply anyway.
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

// Hint returns the ways to resolve the conflict.
func (e *ConflictError) Hint() string {
	return "--force-conflicts plans an apply that takes these fields over; or remove them from the manifest, or give " +
		"them their live values"
}

// InputError reports that a file is damaged or is not valid input, and where.
type InputError struct {
	File     string // as given; "standard input" for -
	Document int    // counted from 1; 0 stands for the whole file
	Field    string // such as items[17].spec.taints; empty for the whole document
	Err      error
	HintText string
	Settled  bool // never ignored, even if damage is tolerated

	Address       bool // File is a URL given as a manifest
	Kustomization bool // File is a kustomization file given as a manifest
	Markdown      bool // File is Markdown given as a manifest
	Template      bool // File is a template, or a chart with templates, given as a manifest
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

// Hint returns the command that writes a readable file.
func (e *InputError) Hint() string { return e.HintText }

// InWords returns the message of err on one line. It rewords the errors of Go's decoders.
func InWords(err error) string { return object.OneLine(template.Misfit(err).Error()) }

// StandardInput is the path that stands for standard input.
const StandardInput = "-"

// GetHint is the command that writes a file for --from.
var GetHint = DumpCommand() + " > dump.yaml"

// DumpCommand returns the kubectl command that writes a file for --from, including the kinds that
// hold the further parts. It never requests Secrets, because the output would contain their values.
func DumpCommand(further ...snapshot.What) string {
	kinds := []string{"ds", "nodes", "pods", "controllerrevisions", "events", "pdb"}
	for _, what := range further {
		for of := range strings.SplitSeq(kindsOfPart[what], ",") {
			if of != "" && !slices.Contains(kinds, of) {
				kinds = append(kinds, of)
			}
		}
	}
	return "kubectl get " + strings.Join(kinds, ",") + " -A -o yaml"
}

// kindsOfPart maps each optional part to kubectl's names of the kinds that hold it. Mutating policies
// are not included: servers before v1.36 do not have them, and kubectl rejects a command that names
// an unknown kind.
var kindsOfPart = map[snapshot.What]string{
	snapshot.Namespaces: "ns", snapshot.NamespaceNodeSelector: "ns", snapshot.ServiceAccounts: "sa",
	snapshot.PriorityClasses: "pc", snapshot.RuntimeClasses: "runtimeclasses",
	snapshot.LimitRanges: "limits", snapshot.ResourceQuotas: "quota",
	snapshot.Webhooks:   "validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings",
	snapshot.ConfigMaps: "cm", snapshot.Claims: "pvc", snapshot.PersistentVolumes: "pvc,pv",
	snapshot.CSINodes: "csinodes",
	snapshot.Leases:   "leases",
}

// ConfigError reports why the kubeconfig leads to no cluster.
type ConfigError struct {
	Err      error
	HintText string
}

func (e *ConfigError) Hint() string { return e.HintText }

func (e *ConfigError) Error() string { return e.Err.Error() }

func (e *ConfigError) Unwrap() error { return e.Err }

// Meant returns a hint that suggests the names similar to word, each with prefix in front. It
// returns otherwise if no name is similar.
func Meant(prefix, word string, names []string, otherwise string) string {
	near := snapshot.Near(word, names)
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + prefix + strings.Join(near, ", "+prefix) + "?"
}

// Words reports whether the document is plain text and not part of an object.
func (e *InputError) Words() bool { return errors.Is(e, ErrWords) || errors.Is(e, ErrBeside) }

var (
	ErrCutOff   = errors.New("ends in the middle of an object: the file is cut off")
	ErrChanged  = errors.New("it became shorter while it was read: run the command again, or copy the file first")
	ErrNotText  = errors.New("not text")
	ErrListEnd  = errors.New("a list without a kind: the file may be cut off")
	ErrTwoLists = errors.New("items: appears twice")
	ErrNotJSON  = errors.New("not JSON")
	ErrWords    = fmt.Errorf("%w: it is text", object.ErrNotKubernetes)
	ErrBeside   = fmt.Errorf("%w: it is text", object.ErrNotKubernetes) // text that can be left out without loss
	ErrTemplate = errors.New("a template that is not rendered: it has {{ }}")
	ErrTooOld   = errors.New("a list as kubectl before v1.9 wrote it, whose objects do not say what they are: it is " +
		"too old to be read")
)
