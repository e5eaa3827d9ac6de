package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// chosen is what flags name of a kubeconfig; empty is what the kubeconfig itself says.
type chosen struct{ context, cluster, user, address string }

// restConfig returns what loader loads, or an error that says what is missing.
func restConfig(loader clientcmd.ClientConfig, n chosen) (*rest.Config, error) {
	raw, err := loader.RawConfig()
	if err != nil {
		if missing := (*fs.PathError)(nil); errors.As(err, &missing) {
			err = fmt.Errorf("%s: %w", missing.Path, missing.Err)
		}
		return nil, &configError{fmt.Errorf("the kubeconfig cannot be read: %w", err), "--kubeconfig FILE names another; --from FILE reads a file instead of a cluster"}
	}
	if err := n.in(&raw); err != nil {
		return nil, err
	}
	config, err := loader.ClientConfig()
	switch {
	case err == nil && (config.Host != withoutServer || n.server(&raw) != ""):
		return config, nil
	case err != nil && !isEmpty(&raw):
		return nil, &configError{fmt.Errorf("the kubeconfig is not valid: %w", err), "kubectl config view"}
	case len(raw.Clusters) > 0:
		hint := "kubectl config get-contexts, then kubectl config use-context CONTEXT or --context CONTEXT"
		if len(raw.Contexts) == 1 {
			hint = "--context " + slices.Collect(maps.Keys(raw.Contexts))[0]
		}
		return nil, &configError{errors.New("no cluster to ask: the kubeconfig has no current context"), hint + "; or read a file instead of a cluster: --from FILE"}
	}
	files := loader.ConfigAccess().GetLoadingPrecedence()
	missing := "no kubeconfig found at " + strings.Join(files, ", ")
	if i := slices.IndexFunc(files, exists); i >= 0 {
		missing = "the kubeconfig " + files[i] + " has no cluster"
	}
	return nil, &configError{errors.New("no cluster to ask: " + missing), "--kubeconfig FILE names one; --from FILE reads a file instead of a cluster"}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// isEmpty reports whether a kubeconfig names nothing, as one that is not there.
func isEmpty(c *clientcmdapi.Config) bool {
	return len(c.Contexts)+len(c.Clusters)+len(c.AuthInfos) == 0
}

// withoutServer is the address that client-go takes if nothing names a server.
const withoutServer = "http://localhost:8080"

// server returns the address that the kubeconfig or a flag names, or "".
func (n chosen) server(raw *clientcmdapi.Config) string {
	address := n.address
	cluster := n.cluster
	if context := raw.Contexts[cmp.Or(n.context, raw.CurrentContext)]; context != nil {
		cluster = cmp.Or(cluster, context.Cluster)
	}
	if found := raw.Clusters[cluster]; found != nil {
		address = cmp.Or(address, found.Server)
	}
	return address
}

// in returns an error for a context, cluster or user that a flag names and the
// kubeconfig does not have.
func (n chosen) in(raw *clientcmdapi.Config) error {
	if isEmpty(raw) {
		return nil // that there is no kubeconfig says more
	}
	for _, one := range []struct {
		flag, name, list string
		have             []string
	}{
		{"context", n.context, "get-contexts", slices.Collect(maps.Keys(raw.Contexts))},
		{"cluster", n.cluster, "get-clusters", slices.Collect(maps.Keys(raw.Clusters))},
		{"user", n.user, "get-users", slices.Collect(maps.Keys(raw.AuthInfos))},
	} {
		if one.name != "" && !slices.Contains(one.have, one.name) {
			return &configError{fmt.Errorf("the kubeconfig has no %s %q", one.flag, one.name), Meant("--"+one.flag+" ", one.name, one.have, "kubectl config "+one.list)}
		}
	}
	return nil
}

// configError says why the kubeconfig leads to no cluster, and what to name instead.
type configError struct {
	error
	hint string
}

func (e *configError) Hint() string  { return e.hint }
func (e *configError) Unwrap() error { return e.error }

// Meant returns the hint with those of the names that somebody who wrote word may
// have meant, each behind prefix, or otherwise if none is near.
func Meant(prefix, word string, names []string, otherwise string) string {
	near := snapshot.Near(word, names)
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + prefix + strings.Join(near, ", "+prefix) + "?"
}
