package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
)

// selection holds the names from the flags. Empty fields defer to the kubeconfig.
type selection struct{ context, cluster, user, address string }

// restConfig returns the configuration that loader loads, or an error that says what is missing.
func restConfig(loader clientcmd.ClientConfig, n selection) (*rest.Config, error) {
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, loadError(err)
	}
	if err := n.check(&raw); err != nil {
		return nil, err
	}
	config, err := loader.ClientConfig()
	flag, plain := "", error(nil)
	if err != nil {
		flag, plain = reword(err)
	}
	switch {
	case err == nil && (config.Host != withoutServer || n.server(&raw) != ""):
		return config, n.checkUser(&raw, config)
	case err != nil && !isEmpty(&raw):
		return nil, &source.ConfigError{Err: fmt.Errorf("the kubeconfig is not valid: %w", plain),
			HintText: "kubectl config view"}
	case flag != "":
		return nil, &source.ConfigError{Err: fmt.Errorf("--%w", plain), HintText: "--" + flag + " FILE"}
	case len(raw.Contexts) > 0:
		hint := "kubectl config get-contexts, then kubectl config use-context CONTEXT or --context CONTEXT"
		if len(raw.Contexts) == 1 {
			hint = "--context " + slices.Collect(maps.Keys(raw.Contexts))[0]
		}
		return nil, &source.ConfigError{Err: errors.New("no cluster to ask: the kubeconfig has no current context"),
			HintText: hint +
				"; or read a file instead of a cluster: --from FILE"}
	}
	files := loader.ConfigAccess().GetLoadingPrecedence()
	missing := "no kubeconfig found at " + strings.Join(files, ", ")
	if i := slices.IndexFunc(files, exists); i >= 0 {
		missing = "the kubeconfig " + files[i] + " has no cluster"
	}
	return nil, &source.ConfigError{Err: errors.New("no cluster to ask: " + missing),
		HintText: "--kubeconfig FILE names one; --from FILE reads a file instead of a cluster"}
}

// loadError returns an error about a kubeconfig that cannot be read, without the prefixes of
// client-go.
func loadError(err error) error {
	missing := (*fs.PathError)(nil)
	found := loadingError.FindStringSubmatch(err.Error())
	switch {
	case errors.As(err, &missing):
		err = fmt.Errorf("%s: %w", missing.Path, missing.Err)
	case found != nil && (strings.HasPrefix(found[2], "no kind ") ||
		strings.HasPrefix(found[2], "couldn't get version/kind")):
		return &source.ConfigError{Err: fmt.Errorf("%s is not a kubeconfig", found[1]), HintText: otherConfig}
	case found != nil:
		err = fmt.Errorf("%s: %s", found[1], strings.TrimPrefix(found[2], "read "+found[1]+": "))
	}
	return &source.ConfigError{Err: fmt.Errorf("the kubeconfig cannot be read: %w", err), HintText: otherConfig}
}

const otherConfig = "--kubeconfig FILE names another; --from FILE reads a file instead of a cluster"

// Errors of client-go about a damaged kubeconfig and about a missing file with a certificate or
// key.
var (
	loadingError = regexp.MustCompile(`^error loading config file "(.*?)": (.*)`)
	fileError    = regexp.MustCompile(`unable to read (certificate-authority|client-cert|client-key) .*? due to (?:open|read) ([^],]+)`)
)

// reword rewords an error of client-go about a configuration: without its prefix or, if a file
// cannot be read, reduced to the first such file. flag is the name of the flag for that file, or
// "".
func reword(err error) (flag string, plain error) {
	if found := fileError.FindStringSubmatch(err.Error()); found != nil {
		flag = strings.Replace(found[1], "client-cert", "client-certificate", 1)
		return flag, fmt.Errorf("%s %s", flag, found[2])
	}
	return "", errors.New(strings.TrimPrefix(err.Error(), "invalid configuration: "))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// isEmpty reports whether a kubeconfig has no contexts, clusters and users, like one that does not
// exist.
func isEmpty(c *clientcmdapi.Config) bool {
	return len(c.Contexts)+len(c.Clusters)+len(c.AuthInfos) == 0
}

// withoutServer is the address that client-go uses if no server is configured.
const withoutServer = "http://localhost:8080"

// server returns the address from the kubeconfig or the flags, or "".
func (n selection) server(raw *clientcmdapi.Config) string {
	address := n.address
	cluster := n.cluster
	if _, context := n.used(raw); context != nil {
		cluster = cmp.Or(cluster, context.Cluster)
	}
	if found := raw.Clusters[cluster]; found != nil {
		address = cmp.Or(address, found.Server)
	}
	return address
}

// check returns an error if a flag or a context names a context, cluster or user that is not in the
// kubeconfig.
func (n selection) check(raw *clientcmdapi.Config) error {
	if isEmpty(raw) {
		return nil // a missing kubeconfig is reported by the caller
	}
	contexts, clusters, users := slices.Collect(maps.Keys(raw.Contexts)), slices.Collect(maps.Keys(raw.Clusters)),
		slices.Collect(maps.Keys(raw.AuthInfos))
	lacks := func(flag, name, list, said string, have []string) error {
		return &source.ConfigError{Err: fmt.Errorf("the kubeconfig has no %s %q%s", flag, name, said),
			HintText: source.Meant("--"+flag+" ", name, have, "kubectl config "+list)}
	}
	switch current := raw.Contexts[raw.CurrentContext]; {
	case n.context != "" && !slices.Contains(contexts, n.context):
		return lacks("context", n.context, "get-contexts", "", contexts)
	case n.cluster != "" && !slices.Contains(clusters, n.cluster):
		return lacks("cluster", n.cluster, "get-clusters", "", clusters)
	case n.user != "" && !slices.Contains(users, n.user):
		return lacks("user", n.user, "get-users", "", users)
	case n.context == "" && raw.CurrentContext != "" && current == nil && n.cluster == "" && n.address == "":
		return lacks("context", raw.CurrentContext, "get-contexts", ", which is its current context", contexts)
	}
	name, used := n.used(raw)
	if used != nil && n.cluster == "" && n.address == "" && !slices.Contains(clusters, used.Cluster) {
		return lacks("cluster", used.Cluster, "get-contexts",
			fmt.Sprintf(", which its context %q names", name), clusters)
	}
	return nil
}

// used returns the selected context and its name. The context is nil if it does not exist.
func (n selection) used(raw *clientcmdapi.Config) (string, *clientcmdapi.Context) {
	name := cmp.Or(n.context, raw.CurrentContext)
	return name, raw.Contexts[name]
}

// checkUser returns an error if a context names a user that is not in the kubeconfig and there are
// no other credentials. In this case client-go would send requests without credentials.
func (n selection) checkUser(raw *clientcmdapi.Config, config *rest.Config) error {
	name, used := n.used(raw)
	if used == nil || n.user != "" || used.AuthInfo == "" || raw.AuthInfos[used.AuthInfo] != nil ||
		api.CredentialsOf(config).What != "" {
		return nil
	}
	return &source.ConfigError{
		Err: fmt.Errorf("the kubeconfig has no user %q, which its context %q names", used.AuthInfo, name),
		HintText: source.Meant("--user ", used.AuthInfo, slices.Collect(maps.Keys(raw.AuthInfos)),
			"kubectl config get-users"),
	}
}
