package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// nodeFlag is one use of a flag that changes nodes.
type nodeFlag struct {
	name string
	kind whatif.NodeChangeKind
	text string
}

// nodeValue collects all flags that change nodes in one list, because their order matters.
type nodeValue struct {
	name string
	kind whatif.NodeChangeKind
	into *[]nodeFlag
}

func (v nodeValue) String() string { return "" }
func (v nodeValue) Type() string   { return "string" }
func (v nodeValue) Set(text string) error {
	*v.into = append(*v.into, nodeFlag{v.name, v.kind, text})
	return nil
}

// edits returns the node changes of a flag: one for each name in a comma-separated list.
func (n nodeFlag) edits() ([]whatif.NodeEdit, error) {
	which, what, found := n.text, "", true
	if n.kind == whatif.NodeTaint || n.kind == whatif.NodeLabel {
		which, what, found = strings.Cut(n.text, ":")
	}
	form := map[whatif.NodeChangeKind]string{whatif.NodeTaint: "NODES:KEY=VALUE:EFFECT or NODES:KEY-",
		whatif.NodeLabel: "NODES:KEY=VALUE or NODES:KEY-"}[n.kind]
	if !found || which == "" {
		if form == "" {
			return nil, hinted{fmt.Errorf("--%s names no node", n.name), "--" + n.name +
				" NODES, such as worker-1, 'worker-*' or pool=gpu"}
		}
		return nil, hinted{fmt.Errorf("--%s %q is not %s", n.name, n.text, form), n.example()}
	}
	edit := whatif.NodeEdit{Kind: n.kind, Said: "--" + n.name + " " + n.text}
	if what != "" || form != "" {
		if err := n.parseValue(what, &edit); err != nil {
			return nil, hinted{fmt.Errorf("--%s %q: %w", n.name, n.text, err), n.example()}
		}
	}
	var out []whatif.NodeEdit
	for _, name := range nodesOf(which) {
		if name = strings.TrimSpace(name); name == "" {
			return nil, hinted{fmt.Errorf("--%s %q has an empty name", n.name, n.text), n.example()}
		}
		e := edit
		e.Which = name
		out = append(out, e)
	}
	return out, nil
}

func (n nodeFlag) example() string {
	switch n.kind {
	case whatif.NodeTaint:
		return "--taint 'worker-*:dedicated=gpu:NoSchedule', or --taint pool=gpu:dedicated-"
	case whatif.NodeLabel:
		return "--label 'worker-*:pool=gpu', or --label worker-1:pool-"
	}
	return "--" + n.name + " worker-1,worker-2"
}

// parseValue parses the taint or label that follows NODES.
func (n nodeFlag) parseValue(text string, into *whatif.NodeEdit) error {
	rest, drop := strings.CutSuffix(text, "-")
	if n.kind == whatif.NodeLabel {
		var found bool
		into.Key, into.Value, found = strings.Cut(text, "=")
		if drop = drop && !found; drop {
			into.Kind, into.Key = whatif.NodeUnlabel, rest
		}
		if err := firstFault(validation.IsQualifiedName(into.Key)); err != nil {
			return err
		}
		if !drop && !found {
			return errors.New("a label needs a value, or a - at its end to be removed")
		}
		return firstFault(validation.IsValidLabelValue(into.Value))
	}
	keyValue, effect, hasEffect := strings.Cut(rest, ":")
	key, value, hasValue := strings.Cut(keyValue, "=")
	into.Taint = &corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	if err := firstFault(validation.IsQualifiedName(key)); err != nil {
		return err
	}
	switch {
	case hasEffect && !slices.Contains(effects, into.Taint.Effect):
		return errors.New(effectWords(effect))
	case drop && hasValue:
		return errors.New("to remove a taint, give its key, and its effect if needed, but no value")
	case drop:
		into.Kind = whatif.NodeUntaint
	case !hasEffect:
		return errors.New("a taint needs an effect: NoSchedule, PreferNoSchedule or NoExecute")
	}
	return firstFault(validation.IsValidLabelValue(value))
}

// nodesOf splits a NODES argument at its commas, unless it is a label selector.
func nodesOf(text string) []string {
	parts := strings.Split(text, ",")
	if strings.ContainsAny(text, "=()") ||
		slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(strings.TrimSpace(p), "!") }) {
		return []string{text} // a label selector
	}
	return parts
}

// chosenNodes returns the names of the nodes that --node selects, without duplicates. If the nodes
// could not be read, the States know only nodes with a pod, so any other valid name is accepted
// too.
func chosenNodes(flags []string, states []*daemonset.State) ([]string, error) {
	if len(states) == 0 {
		return nil, nil
	}
	read, known := true, map[string]corev1.Node{}
	for _, st := range states {
		read = read && st.NodesRead
		for i := range st.Nodes {
			n := &st.Nodes[i]
			if _, again := known[n.Name]; n.Object != nil {
				known[n.Name] = *n.Object
			} else if !again {
				known[n.Name] = corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
			}
		}
	}
	var nodes []corev1.Node
	for _, name := range slices.Sorted(maps.Keys(known)) {
		nodes = append(nodes, known[name])
	}
	var names []string
	has := map[string]bool{}
	add := func(name string) {
		if !has[name] {
			has[name], names = true, append(names, name)
		}
	}
	for _, flag := range flags {
		for _, which := range nodesOf(flag) {
			which = strings.TrimSpace(which)
			chosen, err := whatif.ChooseNodes(nodes, which)
			switch {
			case err != nil && !read && len(validation.IsDNS1123Subdomain(which)) == 0:
				add(which)
			case err != nil && !read:
				return nil, hinted{fmt.Errorf("--node %s: the nodes could not be read, so only names can be looked up",
					flag), "--node worker-7"}
			case err != nil:
				return nil, fmt.Errorf("--node %s: %w", flag, err)
			}
			for _, i := range chosen {
				add(nodes[i].Name)
			}
		}
	}
	return names, nil
}
