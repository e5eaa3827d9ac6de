package kubeconfig

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Flags are kubectl's own flags of which cluster to ask, and as whom.
//
// cli-runtime's ConfigFlags are not used: with them come API discovery and the types
// of all API groups, a third of the program, for what this program never asks.
type Flags struct {
	overrides  clientcmd.ConfigOverrides
	kubeconfig string
	extra      []string // KEY=VALUE, of the user to impersonate
	cacheDir   string   // kubectl takes it, and nothing is cached
}

// Add adds the flags to a set. What they mean is for the caller to say.
func (f *Flags) Add(flags *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	// kubectl has neither
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	clientcmd.BindOverrideFlags(&f.overrides, flags, names)
	flags.StringVar(&f.kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "")
	flags.StringArrayVar(&f.extra, "as-user-extra", nil, "")
	flags.StringVar(&f.cacheDir, "cache-dir", "", "")
	_ = flags.MarkHidden("cache-dir")
}

// Namespace returns what -n says, or "".
func (f *Flags) Namespace() string { return f.overrides.Context.Namespace }

// SetNamespace does what -n does.
func (f *Flags) SetNamespace(name string) { f.overrides.Context.Namespace = name }

// Timeout returns what --request-timeout says, or "".
func (f *Flags) Timeout() string { return f.overrides.Timeout }

// CurrentNamespace returns the namespace of the flags, else of the kubeconfig, else
// of the pod that this program runs in, else "default".
func (f *Flags) CurrentNamespace() (string, error) {
	loader, err := f.loader()
	if err != nil {
		return "", err
	}
	namespace, _, err := loader.Namespace()
	return namespace, err
}

// Config returns how to reach the cluster that the flags and the kubeconfig name, or
// the one of the pod that this program runs in. If there is none, the error says what
// is missing: client-go would take http://localhost:8080. master is the environment's
// KUBERNETES_MASTER, which client-go reads itself.
func (f *Flags) Config(master string) (*rest.Config, error) {
	loader, err := f.loader()
	if err != nil {
		return nil, err
	}
	o := &f.overrides
	return restConfig(loader, chosen{o.CurrentContext, o.Context.Cluster, o.Context.AuthInfo,
		cmp.Or(o.ClusterInfo.Server, master)})
}

// Contexts returns the names of the contexts in the kubeconfig, sorted; none if it cannot
// be read.
func (f *Flags) Contexts() []string { return slices.Sorted(maps.Keys(f.kubeconfigRead().Contexts)) }

// Clusters does what Contexts does, for clusters.
func (f *Flags) Clusters() []string { return slices.Sorted(maps.Keys(f.kubeconfigRead().Clusters)) }

// Users does what Contexts does, for users.
func (f *Flags) Users() []string { return slices.Sorted(maps.Keys(f.kubeconfigRead().AuthInfos)) }

// kubeconfigRead returns what the kubeconfig holds; nothing if it cannot be read.
func (f *Flags) kubeconfigRead() clientcmdapi.Config {
	loader, err := f.loader()
	if err != nil {
		return clientcmdapi.Config{}
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return clientcmdapi.Config{}
	}
	return raw
}

func (f *Flags) loader() (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.DefaultClientConfig = &clientcmd.DefaultClientConfig
	rules.ExplicitPath = f.kubeconfig
	overrides := f.overrides
	overrides.ClusterDefaults = clientcmd.ClusterDefaults
	for _, e := range f.extra {
		key, value, found := strings.Cut(e, "=")
		if !found {
			return nil, &source.ConfigError{Err: fmt.Errorf("--as-user-extra %q is not KEY=VALUE", e),
				HintText: "--as-user-extra KEY=VALUE"}
		}
		if overrides.AuthInfo.ImpersonateUserExtra == nil {
			overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
		}
		overrides.AuthInfo.ImpersonateUserExtra[key] = append(overrides.AuthInfo.ImpersonateUserExtra[key], value)
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides), nil
}
