package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/kubeconfig"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

var (
	errStandardInput = errors.New("standard input is not read while somebody types")
	errNotOne        = errors.New("the command line does not name one DaemonSet")
)

// fileFlags maps each flag that takes a file to the extensions that it accepts. An empty list
// accepts any file.
var fileFlags = map[string][]string{
	"filename": {"yaml", "yml", "json"}, "from": {"yaml", "yml", "json", "tar", "gz", "tgz", "xz", "txz", "zst",
		"bz2", "zip"},
	"redact-map": nil, "kubeconfig": nil, "certificate-authority": nil, "client-certificate": nil, "client-key": nil,
}

// directoryFlags are the flags that take a directory.
var directoryFlags = []string{"kustomize", "cache-dir"}

// flagChoices maps each flag to the finder of its values. All commands share this map.
var flagChoices = map[string]finder{
	"context":   kubeconfigChoices((*kubeconfig.Flags).Contexts),
	"cluster":   kubeconfigChoices((*kubeconfig.Flags).Clusters),
	"user":      kubeconfigChoices((*kubeconfig.Flags).Users),
	"namespace": namespaceChoices,

	"output":             outputChoices,
	"color":              fixedChoices("auto", "always", "never"),
	"kubernetes-version": fixedChoices(versions()...),
	"strategy": fixedChoices(string(appsv1.RollingUpdateDaemonSetStrategyType),
		string(appsv1.OnDeleteDaemonSetStrategyType)),
	"fail-on":  conditionChoices,
	"selector": selectorChoices,

	"node": nodesChoices, "cordon": nodesChoices, "uncordon": nodesChoices, "node-down": nodesChoices,
	"remove-nodes": nodesChoices,
	"taint":        taintChoices, "label": labelChoices,
	"like": nodeChoices, "group-by": labelKeyChoices, "node-selector": nodeSelectorChoices,
	"toleration": tolerationChoices,

	"image":       imageChoices,
	"to-revision": rollbackChoices, "undo": rollbackChoices,
	"revision": revisionChoices, "diff": diffChoices,
}

// versions returns the Kubernetes minor versions that have rules, newest first.
func versions() []string {
	var known []string
	var minor int
	_, _ = fmt.Sscanf(daemonset.Newest, "v1.%d", &minor)
	for ; minor > 0; minor-- {
		v := fmt.Sprintf("v1.%d", minor)
		if _, err := daemonset.ForVersion(v); err != nil {
			break
		}
		known = append(known, v)
	}
	return known
}

func kubeconfigChoices(names func(*kubeconfig.Flags) []string) finder {
	return func(_ context.Context, t *completionRequest) (choices, error) {
		return choices{words: plainChoices(names(t.config)...)}, nil
	}
}

func namespaceChoices(ctx context.Context, t *completionRequest) (choices, error) {
	r, _, err := t.openInput(ctx)
	if err != nil {
		return choices{}, err
	}
	names, err := r.Namespaces(ctx)
	return choices{words: plainChoices(names...)}, err
}

// outputChoices offers the values of -o. A value that ends in = takes a template or a file.
func outputChoices(_ context.Context, t *completionRequest) (choices, error) {
	all := choices{keepOrder: true}
	for _, form := range strings.Split(formats, "|") {
		form, _, more := strings.Cut(form, "…")
		all.words = append(all.words, choice{word: form})
		all.noSpace = all.noSpace || more && t.toComplete != "" && strings.HasPrefix(form, t.toComplete)
	}
	return all, nil
}

// conditionChoices offers the conditions of --fail-on, a comma-separated list.
func conditionChoices(_ context.Context, t *completionRequest) (choices, error) {
	before, _ := splitList(t.toComplete)
	all := choices{noSpace: true, keepOrder: true} // a number or a comma can follow
	for _, c := range conditions {
		word := strings.TrimSuffix(c[0], "N")
		if slices.ContainsFunc(strings.Split(before, ","),
			func(named string) bool { return strings.HasPrefix(named, word) }) {
			continue
		}
		all.words = append(all.words, choice{word: before + word, description: c[1], safe: true})
	}
	return all, nil
}

// splitList splits a comma-separated list before its last element.
func splitList(list string) (before, last string) {
	i := strings.LastIndex(list, ",") + 1
	return list[:i], list[i:]
}

// nameChoices offers the DaemonSets: by name, or as NAMESPACE/NAME or ds/NAME if the user typed a
// slash. If the current namespace has no DaemonSets, it offers those of all namespaces.
func nameChoices(ctx context.Context, t *completionRequest) (choices, error) {
	r, namespace, err := t.openInput(ctx)
	if err != nil {
		return choices{}, err
	}
	asked, before := t.config.Namespace(), ""
	if first, _, found := strings.Cut(t.toComplete, "/"); found {
		before = first + "/"
		if !slices.Contains(kinds, strings.ToLower(first)) {
			if asked != "" && asked != first {
				return choices{}, nil
			}
			namespace = first
		}
	}
	found, err := r.DaemonSets(ctx, namespace)
	if err != nil {
		return choices{}, err
	}
	var all choices
	add := func(word, about string) {
		if strings.HasPrefix(word, t.toComplete) && !slices.Contains(t.args, word) {
			all.words = append(all.words, choice{word: word, description: about})
		}
	}
	of := map[string]int{}
	for i := range found {
		of[found[i].Name]++
	}
	for i := range found {
		ds := &found[i]
		if of[ds.Name] == 1 {
			add(before+ds.Name, wording.DaemonSetChoice(&ds.Status))
			continue
		}
		// the input has several namespaces, and no flag selects one
		add(before+ds.Name, wording.NamespacesChoice(of[ds.Name]))
		if before == "" {
			add(ds.Namespace+"/"+ds.Name, wording.DaemonSetChoice(&ds.Status))
		}
	}
	if len(all.words) > 0 || before != "" || asked != "" || namespace == "" {
		return all, nil
	}
	if found, err = r.DaemonSets(ctx, ""); err != nil {
		return choices{}, err
	}
	for i := range found {
		add(found[i].Namespace+"/"+found[i].Name, wording.DaemonSetChoice(&found[i].Status))
	}
	return all, nil
}

// selectorChoices offers the labels of the DaemonSets as KEY=VALUE, in a comma-separated list.
func selectorChoices(ctx context.Context, t *completionRequest) (choices, error) {
	r, namespace, err := t.openInput(ctx)
	if err != nil {
		return choices{}, err
	}
	if t.flags.Changed("all-namespaces") {
		namespace = ""
	}
	found, err := r.DaemonSets(ctx, namespace)
	before, _ := splitList(t.toComplete)
	var all choices
	for i := range found {
		for k, v := range found[i].Labels {
			all.words = append(all.words, choice{word: before + k + "=" + v})
		}
	}
	return all, err
}

// namedDaemonSet returns a reader, and the only DaemonSet that the command line names.
func (t *completionRequest) namedDaemonSet(ctx context.Context) (reader, source.Ref, error) {
	refs, err := t.program.names(t.args, t.config.Namespace())
	if err != nil || len(refs) != 1 {
		return nil, source.Ref{}, errNotOne
	}
	r, namespace, err := t.openInput(ctx)
	return r, withNamespace(namespace, refs)[0], err
}

// daemonSet reads the DaemonSet that the command line names.
func (t *completionRequest) daemonSet(ctx context.Context) (*appsv1.DaemonSet, error) {
	r, ref, err := t.namedDaemonSet(ctx)
	if err != nil {
		return nil, err
	}
	all, err := r.DaemonSets(ctx, ref.Namespace)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == ref.Name {
			return &all[i], nil
		}
	}
	return nil, errNotOne
}

// imageChoices offers each container as CONTAINER=. After the =, it offers the current image, with
// and without its tag.
func imageChoices(ctx context.Context, t *completionRequest) (choices, error) {
	ds, err := t.daemonSet(ctx)
	if err != nil {
		return choices{}, err
	}
	all := choices{noSpace: true}
	spec := &ds.Spec.Template.Spec
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		if !strings.Contains(t.toComplete, "=") {
			all.words = append(all.words, choice{word: c.Name + "=", description: c.Image})
			continue
		}
		all.words = append(all.words, choice{word: c.Name + "=" + untagged(c.Image) + ":"},
			choice{word: c.Name + "=" + c.Image})
	}
	return all, nil
}

// untagged returns an image without its tag and digest.
func untagged(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		image = image[:i]
	}
	return image
}

// revisionsOf offers the revisions of the DaemonSet that the command line names, latest first. It
// adds prefix to each word, so that the shell keeps the text typed so far.
func (t *completionRequest) revisionsOf(ctx context.Context, prefix string, more ...choice) (choices, error) {
	r, ref, err := t.namedDaemonSet(ctx)
	if err != nil {
		return choices{}, err
	}
	found, at, err := r.Revisions(ctx, ref)
	all := choices{keepOrder: true}
	for i := range found {
		o := &found[i]
		old := at.Sub(o.CreationTimestamp.Time)
		if o.CreationTimestamp.IsZero() {
			old = -1
		}
		cause := o.Annotations["kubernetes.io/change-cause"]
		if hide.MayHoldValues("kubernetes.io/change-cause", cause) {
			cause = ""
		}
		all.words = append(all.words, choice{word: prefix + strconv.FormatInt(o.Revision, 10),
			description: wording.RevisionChoice(old, cause, imagesOf(o))})
	}
	for _, w := range more {
		w.word = prefix + w.word
		all.words = append(all.words, w)
	}
	return all, err
}

// imagesOf returns the images of a revision's containers.
func imagesOf(r *appsv1.ControllerRevision) []string {
	stored, err := template.Stored(r.Data.Raw)
	if err != nil {
		return nil
	}
	spec, _ := stored["spec"].(map[string]any)
	list, _ := spec["containers"].([]any)
	var images []string
	for _, c := range list {
		container, _ := c.(map[string]any)
		if image, ok := container["image"].(string); ok {
			images = append(images, image)
		}
	}
	return images
}

func rollbackChoices(ctx context.Context, t *completionRequest) (choices, error) {
	return t.revisionsOf(ctx, "", choice{word: "0", description: wording.PreviousChoice})
}

func revisionChoices(ctx context.Context, t *completionRequest) (choices, error) {
	return t.revisionsOf(ctx, "", choice{word: "live", description: wording.LiveChoice})
}

// diffChoices offers the first revision of --diff, or, after a comma, the second one.
func diffChoices(ctx context.Context, t *completionRequest) (choices, error) {
	before, _ := splitList(t.toComplete)
	all, err := t.revisionsOf(ctx, before, choice{word: "live", description: wording.LiveChoice})
	all.noSpace = before == ""
	all.words = slices.DeleteFunc(all.words,
		func(w choice) bool { return before != "" && w.word == before+strings.TrimSuffix(before, ",") })
	return all, err
}

// nodeLabels counts the nodes by label key and value.
func nodeLabels(nodes []part.Labeled) map[string]map[string]int {
	values := map[string]map[string]int{}
	for _, n := range nodes {
		for k, v := range n.Labels {
			if values[k] == nil {
				values[k] = map[string]int{}
			}
			values[k][v]++
		}
	}
	return values
}

func (t *completionRequest) nodes(ctx context.Context) ([]part.Labeled, error) {
	r, _, err := t.openInput(ctx)
	if err != nil {
		return nil, err
	}
	return r.Nodes(ctx)
}

// nodeChoices offers the names of the nodes.
func nodeChoices(ctx context.Context, t *completionRequest) (choices, error) {
	nodes, err := t.nodes(ctx)
	var all choices
	for _, n := range nodes {
		all.words = append(all.words, choice{word: n.Name})
	}
	return all, err
}

// nodesChoices offers NODES: a comma-separated list of names, patterns for nodes with a common
// prefix, or labels of nodes.
func nodesChoices(ctx context.Context, t *completionRequest) (choices, error) {
	nodes, err := t.nodes(ctx)
	if err != nil {
		return choices{}, err
	}
	return nodesIn(nodes, t.toComplete), nil
}

func nodesIn(nodes []part.Labeled, toComplete string) choices {
	if strings.Contains(toComplete, "=") {
		return valuesIn(nodes, "", toComplete)
	}
	before, last := splitList(toComplete)
	taken := strings.Split(before, ",")
	var all choices
	for _, n := range nodes {
		if strings.HasPrefix(n.Name, last) && !slices.Contains(taken, n.Name) {
			all.words = append(all.words, choice{word: before + n.Name})
		}
	}
	if len(all.words) == 0 && before == "" {
		return valuesIn(nodes, "", toComplete)
	}
	for prefix, count := range groups(all.words) {
		if len(prefix) > len(toComplete) && shellSafe.MatchString(prefix) {
			all.words = append(all.words, choice{word: prefix + "*", description: wording.NodesChoice(count),
				safe: true})
		}
	}
	return all
}

// groups counts the words by their prefix up to the last dash. It omits prefixes of fewer than
// three words, and returns nil if more than 20 prefixes are left.
func groups(words []choice) map[string]int {
	const most, least = 20, 3
	count := map[string]int{}
	for _, w := range words {
		if i := strings.LastIndex(w.word, "-"); i > 0 {
			count[w.word[:i+1]]++
		}
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n < least })
	if len(count) > most {
		return nil
	}
	return count
}

// valuesIn offers the labels of nodes as KEY=, and after the = as KEY=VALUE. It adds prefix to each
// word.
func valuesIn(nodes []part.Labeled, prefix, toComplete string) choices {
	key, _, hasKey := strings.Cut(toComplete, "=")
	var all choices
	for k, values := range nodeLabels(nodes) {
		switch {
		case !hasKey:
			all.noSpace = true
			all.words = append(all.words,
				choice{word: prefix + k + "=", description: wording.ValuesChoice(len(values))})
		case k == key:
			for v, n := range values {
				all.words = append(all.words, choice{word: prefix + k + "=" + v, description: wording.NodesChoice(n)})
			}
		}
	}
	return all
}

// labelKeyChoices offers the label keys of the nodes.
func labelKeyChoices(ctx context.Context, t *completionRequest) (choices, error) {
	nodes, err := t.nodes(ctx)
	var all choices
	for k, values := range nodeLabels(nodes) {
		all.words = append(all.words, choice{word: k, description: wording.ValuesChoice(len(values))})
	}
	return all, err
}

// nodeSelectorChoices offers labels of nodes to add to the node selector.
func nodeSelectorChoices(ctx context.Context, t *completionRequest) (choices, error) {
	nodes, err := t.nodes(ctx)
	return valuesIn(nodes, "", t.toComplete), err
}

// labelChoices offers NODES:KEY=VALUE.
func labelChoices(ctx context.Context, t *completionRequest) (choices, error) {
	nodes, err := t.nodes(ctx)
	if err != nil {
		return choices{}, err
	}
	which, what, found := strings.Cut(t.toComplete, ":")
	if !found {
		all := nodesIn(nodes, t.toComplete)
		all.noSpace = true
		return all, nil
	}
	return valuesIn(nodes, which+":", what), nil
}

// taintChoices offers NODES:KEY=VALUE:EFFECT. The metadata of nodes does not include their taints,
// so it offers the keys that Kubernetes sets.
func taintChoices(ctx context.Context, t *completionRequest) (choices, error) {
	which, what, found := strings.Cut(t.toComplete, ":")
	if found {
		return taintsIn(which+":", what), nil
	}
	nodes, err := t.nodes(ctx)
	all := nodesIn(nodes, t.toComplete)
	all.noSpace = true
	return all, err
}

// tolerationChoices offers KEY:EFFECT, and * for all taints.
func tolerationChoices(_ context.Context, t *completionRequest) (choices, error) {
	all := taintsIn("", t.toComplete)
	if t.toComplete == "" {
		all.words = append(all.words, choice{word: "*", description: wording.AllTaints, safe: true})
	}
	return all, nil
}

// taintsIn offers the keys of taints as KEY:, and after the colon their effects.
func taintsIn(prefix, toComplete string) choices {
	keyValue, _, hasKey := strings.Cut(toComplete, ":")
	var all choices
	if hasKey {
		for _, e := range effects {
			all.words = append(all.words, choice{word: prefix + keyValue + ":" + string(e)})
		}
		return all
	}
	all.noSpace = true
	for _, k := range taintKeys {
		all.words = append(all.words, choice{word: prefix + k + ":"})
	}
	return all
}

// taintKeys are the keys of taints that Kubernetes, kubeadm or cloud providers set.
var taintKeys = []string{
	corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeUnschedulable,
	corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure,
	corev1.TaintNodePIDPressure, corev1.TaintNodeNetworkUnavailable, corev1.TaintNodeOutOfService,
	"node-role.kubernetes.io/control-plane",
}
