package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
)

// kinds are the words that can precede the name of a DaemonSet.
var kinds = []string{"ds", "daemonset", "daemonsets", "ds.apps", "daemonset.apps", "daemonsets.apps",
	"daemonset.v1.apps", "daemonsets.v1.apps"}

// otherKinds are kinds that users may confuse with DaemonSets. The value is true if "kubectl
// rollout status" supports the kind.
var otherKinds = map[string]bool{
	"deploy": true, "deployment": true, "deployments": true, "sts": true, "statefulset": true, "statefulsets": true,
	"rs": false, "replicaset": false, "replicasets": false, "job": false, "jobs": false, "cj": false, "cronjob": false,
	"cronjobs": false,
}

// isOtherKind reports whether kind is in otherKinds.
func isOtherKind(kind string) bool {
	_, other := otherKinds[kind]
	return other
}

// wrongKind returns the error for an object of another kind. The hint is the kubectl command for
// that kind, if there is one.
func wrongKind(kind, name, namespace string) error {
	err := fmt.Errorf("%q is not a DaemonSet: this plugin is for DaemonSets only", kind+"/"+name)
	plain, _, _ := strings.Cut(strings.ToLower(kind), ".")
	if !otherKinds[plain] || name == "" || strings.Contains(name, "/") {
		return err
	}
	hint := "kubectl rollout status " + string(screen.Quote(kind+"/"+name))
	if namespace != "" {
		hint += " -n " + string(screen.Quote(namespace))
	}
	return hinted{err, hint}
}

// names returns the DaemonSets that the arguments name, without duplicates. It accepts NAME,
// NAMESPACE/NAME, ds/NAME and similar forms, and "ds NAME". namespace is the value of -n, or empty;
// it applies to names without a namespace.
func (p program) names(args []string, namespace string) ([]source.Ref, error) {
	if len(args) > 1 {
		plain, _, _ := strings.Cut(strings.ToLower(args[0]), ".")
		if isOtherKind(plain) {
			return nil, wrongKind(args[0], args[1], namespace)
		}
		if slices.Contains(kinds, strings.ToLower(args[0])) {
			args = args[1:]
		}
	}
	var out []source.Ref
	for _, a := range args {
		ref, err := p.refOf(a, namespace)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out, nil
}

// refOf returns the DaemonSet that one argument names.
func (p program) refOf(arg, namespace string) (source.Ref, error) {
	first, name, found := strings.Cut(arg, "/")
	ref := source.Ref{Namespace: namespace, Name: name}
	_, below, deeper := strings.Cut(name, "/")
	isKind := slices.Contains(kinds, strings.ToLower(first))
	switch {
	case !found:
		ref.Name = arg
	case isKind && deeper:
		return ref, hinted{fmt.Errorf("%q has a kind and a namespace: write NAMESPACE/NAME", arg),
			string(screen.Quote(name))}
	case deeper && below != "":
		return ref, hinted{fmt.Errorf("%q is neither NAME nor NAMESPACE/NAME", arg),
			p.own("explain -n kube-system node-agent")}
	case isKind:
	case len(validation.IsDNS1123Label(first)) > 0: // a namespace has no dots or upper case letters
		return ref, wrongKind(first, name, namespace)
	case namespace != "" && namespace != first:
		return ref, hinted{fmt.Errorf("%q is in namespace %q, but -n is %q", arg, first, namespace), "leave out -n"}
	default:
		ref.Namespace = first
	}
	switch {
	case found && ref.Name == "":
		return ref, hinted{fmt.Errorf("%q has no name after the slash", arg), arg + "NAME"}
	case !found && strings.Count(arg, ":") == 1 &&
		len(validation.IsDNS1123Subdomain(strings.Replace(arg, ":", ".", 1))) == 0:
		return ref, hinted{fmt.Errorf("%q is neither NAME nor NAMESPACE/NAME", arg), "did you mean " +
			strings.Replace(arg, ":", "/", 1) + "?"}
	case len(validation.IsDNS1123Subdomain(ref.Name)) > 0:
		const rule = "use lower-case letters, digits, dots and dashes"
		return ref, fmt.Errorf("%q is not a name of a DaemonSet: %s", ref.Name, rule)
	}
	return ref, nil
}

// wrongKindOr returns err, or a better error if the user wrote another kind in the place of the
// namespace, as in deployment/web.
func wrongKindOr(ref source.Ref, err error) error {
	none := (*source.NotFoundError)(nil)
	if !isOtherKind(ref.Namespace) || !errors.As(err, &none) {
		return err
	}
	wrong := wrongKind(ref.Namespace, ref.Name, "")
	if len(none.Elsewhere) > 0 { // a DaemonSet with this name exists
		return hinted{fmt.Errorf("%w", wrong), none.Hint()}
	}
	return wrong
}
