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

// Flags holds kubectl's own flags, which select the cluster and the user.
//
// It replaces cli-runtime's ConfigFlags, which would link API discovery and the types of all API
// groups.
type Flags struct {
	overrides  clientcmd.ConfigOverrides
	kubeconfig string
	extra      []string // KEY=VALUE pairs of the impersonated user
	cacheDir   string   // accepted for compatibility with kubectl; nothing is cached
}

// Add adds the flags to a flag set, without help texts.
func (f *Flags) Add(flags *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	// kubectl has neither flag
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	clientcmd.BindOverrideFlags(&f.overrides, flags, names)
	flags.StringVar(&f.kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "")
	flags.StringArrayVar(&f.extra, "as-user-extra", nil, "")
	flags.StringVar(&f.cacheDir, "cache-dir", "", "")
	_ = flags.MarkHidden("cache-dir")
}

// Namespace returns the value of -n, or "".
func (f *Flags) Namespace() string { return f.overrides.Context.Namespace }

// SetNamespace sets the value of -n.
func (f *Flags) SetNamespace(name string) { f.overrides.Context.Namespace = name }

// Timeout returns the value of --request-timeout, or "".
func (f *Flags) Timeout() string { return f.overrides.Timeout }

// CurrentNamespace returns the namespace from the flags, the kubeconfig or the pod that this
// program runs in, in this order, or "default".
func (f *Flags) CurrentNamespace() (string, error) {
	loader, err := f.loader()
	if err != nil {
		return "", err
	}
	namespace, _, err := loader.Namespace()
	return namespace, err
}

// Config returns the configuration for the cluster that the flags or the kubeconfig select, or for
// the cluster of the pod that this program runs in. If no cluster is selected, it returns an error
// that says what is missing, where client-go would use http://localhost:8080. master is the value
// of KUBERNETES_MASTER, which client-go reads as well.
func (f *Flags) Config(master string) (*rest.Config, error) {
	loader, err := f.loader()
	if err != nil {
		return nil, err
	}
	o := &f.overrides
	return restConfig(loader, selection{o.CurrentContext, o.Context.Cluster, o.Context.AuthInfo,
		cmp.Or(o.ClusterInfo.Server, master)})
}

// Contexts returns the sorted names of the contexts in the kubeconfig, or none if it cannot be
// read.
func (f *Flags) Contexts() []string { return slices.Sorted(maps.Keys(f.rawConfig().Contexts)) }

// Clusters returns the sorted names of the clusters in the kubeconfig, or none if it cannot be
// read.
func (f *Flags) Clusters() []string { return slices.Sorted(maps.Keys(f.rawConfig().Clusters)) }

// Users returns the sorted names of the users in the kubeconfig, or none if it cannot be read.
func (f *Flags) Users() []string { return slices.Sorted(maps.Keys(f.rawConfig().AuthInfos)) }

// rawConfig returns the content of the kubeconfig, which is empty if it cannot be read.
func (f *Flags) rawConfig() clientcmdapi.Config {
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
