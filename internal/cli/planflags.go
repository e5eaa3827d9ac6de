package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// changeFlags are the flags of plan-rollout that say what somebody would
// change, and what is known better than the pods tell it.
type changeFlags struct {
	files        []string
	kustomize    string
	remoteBases  bool
	serverDryRun bool
	apply        source.Applying

	images          []string
	maxUnavailable  string
	maxSurge        string
	minReadySeconds int32
	strategy        string
	toRevision      string
	restart         bool
	tolerations     []string
	nodeSelector    []string

	nodes []nodeFlag // in the order given, whatever the flag
	add   int
	like  string

	groupBy      string
	start        time.Duration
	termination  time.Duration
	requestRate  float64
	requestBurst int
	showValues   bool

	set *pflag.FlagSet // of the command: which flags were given
}

// nodeFlag is one flag that changes nodes.
type nodeFlag struct {
	name string
	kind plan.NodeChangeKind
	text string
}

// nodeValue collects the flags that change nodes in one list, since they are
// applied in the order given.
type nodeValue struct {
	name string
	kind plan.NodeChangeKind
	into *[]nodeFlag
}

func (v nodeValue) String() string { return "" }
func (v nodeValue) Type() string   { return "string" }
func (v nodeValue) Set(text string) error {
	*v.into = append(*v.into, nodeFlag{v.name, v.kind, text})
	return nil
}

func (c *changeFlags) addFlags(f *pflag.FlagSet) {
	c.set = f
	f.StringArrayVarP(&c.files, "filename", "f", nil, "plan the DaemonSets of this file, directory or -; repeatable")
	f.StringVarP(&c.kustomize, "kustomize", "k", "", "plan the DaemonSets of this kustomization directory")
	f.BoolVar(&c.remoteBases, "allow-remote-bases", false, "with -k: let kustomize fetch bases over HTTP and git")
	f.BoolVar(&c.serverDryRun, "server-dry-run", false, "apply the manifest in a dry run of the API server")
	f.BoolVar(&c.apply.ServerSide, "server-side", false, "plan a server-side apply (default: as the object was applied)")
	f.BoolVar(&c.apply.Force, "force-conflicts", false, "take over fields of other field managers in a server-side apply")
	f.StringVar(&c.apply.Manager, "field-manager", "", "field manager of the apply (default: the object's, or kubectl's)")

	f.StringArrayVar(&c.images, "image", nil, "set CONTAINER=IMAGE, *=IMAGE, or IMAGE for a single container; repeatable")
	f.StringVar(&c.maxUnavailable, "max-unavailable", "", "set maxUnavailable to a number or a percentage")
	f.StringVar(&c.maxSurge, "max-surge", "", "set maxSurge to a number or a percentage")
	f.Int32Var(&c.minReadySeconds, "min-ready-seconds", 0, "set minReadySeconds")
	f.StringVar(&c.strategy, "strategy", "", "set the update strategy: RollingUpdate or OnDelete")
	f.StringVar(&c.toRevision, "to-revision", "", "roll back to this revision; 0 is the previous one")
	f.BoolVar(&c.restart, "restart", false, "replace all pods, as kubectl rollout restart does")
	f.StringArrayVar(&c.tolerations, "toleration", nil, "tolerate KEY[=VALUE][:EFFECT], or * for all taints; repeatable")
	f.StringArrayVar(&c.nodeSelector, "node-selector", nil, "add KEY=VALUE to the nodeSelector, or remove KEY-; repeatable")

	for _, n := range []struct {
		name  string
		kind  plan.NodeChangeKind
		usage string
	}{
		{"taint", plan.NodeTaint, "add KEY[=VALUE]:EFFECT to NODES, or remove KEY[:EFFECT]-"},
		{"label", plan.NodeLabel, "add KEY=VALUE to NODES, or remove KEY-"},
		{"cordon", plan.NodeCordon, "make NODES unschedulable"},
		{"uncordon", plan.NodeUncord, "make NODES schedulable"},
		{"node-down", plan.NodeDown, "treat NODES as unreachable"},
		{"remove-nodes", plan.NodeRemove, "remove NODES from the cluster"},
	} {
		f.Var(nodeValue{n.name, n.kind, &c.nodes}, n.name, n.usage+"; repeatable")
	}
	f.IntVar(&c.add, "add-nodes", 0, "add N nodes modeled on --like")
	f.StringVar(&c.like, "like", "", "node that --add-nodes copies")

	f.StringVar(&c.groupBy, "group-by", "", "count per value of this node label what one step affects")
	f.DurationVar(&c.start, "start", 0, "time until a new pod is Ready (default: measured from existing pods)")
	f.DurationVar(&c.termination, "termination", 0, "time until a deleted pod is gone (default: its grace period)")
	f.Float64Var(&c.requestRate, "request-rate", 0, "controller's requests per second (default 20)")
	f.IntVar(&c.requestBurst, "request-burst", 0, "controller's client burst (default 30)")
	f.BoolVar(&c.showValues, "show-values", false, "show literal values of environment variables, which may be secret")
}

// ofDaemonSet are the flags that change a DaemonSet, in the order of the help.
var ofDaemonSet = []string{
	"image", "max-unavailable", "max-surge", "min-ready-seconds", "strategy", "to-revision", "restart", "toleration", "node-selector",
}

// ofApply are the flags that say how a manifest is applied.
var ofApply = []string{"server-dry-run", "server-side", "force-conflicts", "field-manager"}

// ofNodes are the flags that change the cluster.
var ofNodes = []string{"taint", "label", "cordon", "uncordon", "node-down", "remove-nodes", "add-nodes"}

// given returns the first of these flags that was given.
func (c *changeFlags) given(names ...string) string {
	for _, n := range names {
		if f := c.set.Lookup(n); f != nil && f.Changed {
			return n
		}
	}
	return ""
}

// manifests reports whether the DaemonSets come from files.
func (c *changeFlags) manifests() bool { return len(c.files) > 0 || c.kustomize != "" }

// allowed is what may be done to read the manifests.
func (c *changeFlags) allowed() []source.Allowed {
	if c.remoteBases {
		return []source.Allowed{source.RemoteBases}
	}
	return nil
}

// mostNodes is how many nodes a plan was tried with.
const mostNodes = 100_000

// asksAnything reports whether any change was asked for.
func (c *changeFlags) asksAnything() bool {
	return c.manifests() || c.given(ofDaemonSet...) != "" || c.given(ofNodes...) != ""
}

// exclude returns an error if both flags were given; why completes it.
func (c *changeFlags) exclude(a, b, why string) error {
	if c.given(a) == "" || c.given(b) == "" {
		return nil
	}
	return hinted{fmt.Errorf("--%s and --%s cannot be combined: %s", a, b, why), "leave out one of them"}
}

// contradictions returns an error for flags that contradict each other.
func (c *changeFlags) contradictions() error {
	for _, e := range [][3]string{
		{"filename", "kustomize", "a kustomization names its own files"},
		{"filename", "to-revision", "the template comes from the manifest or from a revision"},
		{"kustomize", "to-revision", "the template comes from the manifest or from a revision"},
		{"image", "to-revision", "a rollback takes the revision's template as it is"},
		{"restart", "to-revision", "a rollback takes the revision's template as it is"},
		{"toleration", "to-revision", "a rollback takes the revision's template as it is"},
		{"node-selector", "to-revision", "a rollback takes the revision's template as it is"},
	} {
		if err := c.exclude(e[0], e[1], e[2]); err != nil {
			return err
		}
	}
	if c.strategy == "OnDelete" {
		if n := c.given("max-unavailable", "max-surge"); n != "" {
			return hinted{fmt.Errorf("--%s cannot be combined with --strategy OnDelete: with it the controller replaces no pod by itself", n), "leave out --" + n}
		}
	}
	switch {
	case c.given(ofApply...) != "" && !c.manifests():
		return hinted{fmt.Errorf("--%s needs a manifest", c.given(ofApply...)), "add -f FILE"}
	case c.remoteBases && c.kustomize == "":
		return hinted{errors.New("--allow-remote-bases needs a kustomization"), "add -k DIRECTORY"}
	case c.given("add-nodes") != "" && c.like == "":
		return hinted{errors.New("--add-nodes needs a node to copy"), fmt.Sprintf("--add-nodes %d --like NODE", max(1, c.add))}
	case c.given("like") != "" && c.given("add-nodes") == "":
		return hinted{errors.New("--like needs --add-nodes"), "--add-nodes 3 --like " + view.Quote(c.like)}
	case c.given("add-nodes") != "" && (c.add < 1 || c.add > mostNodes):
		return hinted{fmt.Errorf("--add-nodes %d: not between 1 and %d nodes", c.add, mostNodes), "--remove-nodes removes nodes"}
	case slices.Contains(c.files, ""):
		return hinted{errors.New("--filename names no file"), "-f FILE"}
	case c.given("kustomize") != "" && c.kustomize == "":
		return hinted{errors.New("--kustomize names no directory"), "-k DIRECTORY"}
	}
	return nil
}

// change returns the what-if that the flags ask for, without manifests; nil if
// they ask for none.
func (c *changeFlags) change() (*plan.Change, error) {
	if err := c.contradictions(); err != nil {
		return nil, err
	}
	out := &plan.Change{Restart: c.restart}
	var err error
	if c.given("to-revision") != "" {
		to, err := parseRollback("--to-revision", c.toRevision)
		if err != nil {
			return nil, err
		}
		out.ToRevision = &to
	}
	if c.given("min-ready-seconds") != "" {
		out.MinReadySeconds = &c.minReadySeconds
	}
	for flag, into := range map[string]**intstr.IntOrString{"max-unavailable": &out.MaxUnavailable, "max-surge": &out.MaxSurge} {
		if c.given(flag) == "" {
			continue
		}
		text := c.set.Lookup(flag).Value.String()
		if !numberOrPercent.MatchString(text) {
			return nil, hinted{fmt.Errorf("--%s %q is neither a number nor a percentage", flag, text), "--" + flag + " 3, or --" + flag + " 10%"}
		}
		v := intstr.Parse(text)
		if v.Type == intstr.String && !strings.HasSuffix(text, "%") {
			return nil, hinted{fmt.Errorf("--%s %q is too large", flag, text), "--" + flag + " 3, or --" + flag + " 10%"}
		}
		*into = &v
	}
	if c.given("strategy") != "" {
		if !slices.Contains([]string{"RollingUpdate", "OnDelete"}, c.strategy) {
			return nil, hinted{fmt.Errorf("--strategy %q is neither RollingUpdate nor OnDelete", c.strategy), "--strategy RollingUpdate"}
		}
		out.Strategy = c.strategy
	}
	if out.Images, err = parseImages(c.images); err != nil {
		return nil, err
	}
	for _, t := range c.tolerations {
		toleration, err := parseToleration(t)
		if err != nil {
			return nil, err
		}
		out.Tolerations = append(out.Tolerations, toleration)
	}
	if err := parseNodeSelector(c.nodeSelector, out); err != nil {
		return nil, err
	}
	for _, n := range c.nodes {
		edits, err := n.edits()
		if err != nil {
			return nil, err
		}
		out.Nodes = append(out.Nodes, edits...)
	}
	if c.add > 0 {
		out.Nodes = append(out.Nodes, plan.NodeEdit{Kind: plan.NodeAdd, Which: c.like, Count: c.add, Said: fmt.Sprintf("--add-nodes %d --like %s", c.add, c.like)})
	}
	if c.given(ofDaemonSet...) == "" && c.given(ofNodes...) == "" {
		return nil, nil
	}
	return out, nil
}

var numberOrPercent = regexp.MustCompile(`^\d+%?$`)

// options returns what the person who asks knows better.
func (c *changeFlags) options() (plan.Options, error) {
	o := plan.Options{RequestRate: c.requestRate, RequestBurst: c.requestBurst, GroupBy: c.groupBy, ShowValues: c.showValues}
	const (
		longest = 365 * 24 * time.Hour // a plan adds them up, once a step
		slowest = 0.01
		most    = 100_000
	)
	for flag, d := range map[string]time.Duration{"start": c.start, "termination": c.termination} {
		if c.given(flag) != "" && (d < 0 || d > longest) {
			return o, hinted{fmt.Errorf("--%s %s: not between 0s and 8760h", flag, d), "--" + flag + " 40s"}
		}
	}
	if c.given("start") != "" {
		o.Starts = []time.Duration{c.start}
	}
	if c.given("termination") != "" {
		o.Termination = &c.termination
	}
	switch {
	case c.given("request-rate") != "" && !(c.requestRate >= slowest && c.requestRate <= most): // NaN is neither
		return o, hinted{fmt.Errorf("--request-rate %v: not between %v and %d requests a second", c.requestRate, slowest, most), "--request-rate 20 (the controller's default)"}
	case c.given("request-burst") != "" && (c.requestBurst < 1 || c.requestBurst > most):
		return o, hinted{fmt.Errorf("--request-burst %d: not between 1 and %d requests", c.requestBurst, most), "--request-burst 30 (the controller's default)"}
	}
	if c.given("group-by") != "" {
		if errs := validation.IsQualifiedName(c.groupBy); len(errs) > 0 {
			return o, hinted{fmt.Errorf("--group-by %q is not a label: %s", c.groupBy, errs[0]), "--group-by " + corev1.LabelTopologyZone}
		}
	}
	return o, nil
}

func parseImages(texts []string) ([]plan.Image, error) {
	var out []plan.Image
	for _, t := range texts {
		container, image, found := strings.Cut(t, "=")
		if !found {
			container, image = "", t
		}
		switch {
		case image == "" || found && container == "" || strings.ContainsAny(t, " \t\n"):
			return nil, hinted{fmt.Errorf("--image %q is neither CONTAINER=IMAGE nor IMAGE", t), "--image agent=example/agent:2"}
		case template.FaultOfImage(image) != "":
			return nil, hinted{fmt.Errorf("--image %q: the kubelet rejects this name (InvalidImageName): %s", t, view.ImageFault(template.FaultOfImage(image))), imageHint(container, image)}
		case slices.ContainsFunc(out, func(i plan.Image) bool { return i.Container == container || i.Container == "*" || container == "*" }):
			return nil, hinted{fmt.Errorf("--image %q: the container already has an image from another --image", t), "give one --image for each container"}
		}
		out = append(out, plan.Image{Container: container, Image: image})
	}
	return out, nil
}

// imageHint offers the image that was meant, where that can be told.
func imageHint(container, image string) string {
	if _, rest, found := strings.Cut(image, "://"); found {
		image = rest
	}
	image = strings.TrimRight(image, ":@/")
	if template.FaultOfImage(image) == template.ImageUppercase {
		image = strings.ToLower(image)
	}
	if template.FaultOfImage(image) != "" {
		return "--image agent=example/agent:2"
	}
	if container != "" {
		image = container + "=" + image
	}
	return "--image " + view.Quote(image)
}

var effects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}

// parseToleration reads KEY[=VALUE][:EFFECT] as a toleration of the taints
// that are written so: without a value, whatever the value is. * is every key.
func parseToleration(text string) (corev1.Toleration, error) {
	bad := func(why string) (corev1.Toleration, error) {
		return corev1.Toleration{}, hinted{fmt.Errorf("--toleration %q: %s", text, why), "--toleration KEY[=VALUE][:EFFECT], such as dedicated=gpu:NoSchedule, or * for all taints"}
	}
	t := corev1.Toleration{Operator: corev1.TolerationOpExists}
	rest, effect, found := strings.Cut(text, ":")
	if found {
		if t.Effect = corev1.TaintEffect(effect); !slices.Contains(effects, t.Effect) {
			return bad(effectWords(effect))
		}
	}
	key, value, equal := strings.Cut(rest, "=")
	if equal {
		t.Operator, t.Value = corev1.TolerationOpEqual, value
		if errs := validation.IsValidLabelValue(value); len(errs) > 0 {
			return bad("the value: " + errs[0])
		}
	}
	switch {
	case (key == "*" || key == "") && !equal:
	case key == "*" || key == "":
		return bad("* takes no value")
	default:
		if errs := validation.IsQualifiedName(key); len(errs) > 0 {
			return bad("the key: " + errs[0])
		}
		t.Key = key
	}
	return t, nil
}

func effectWords(effect string) string {
	return fmt.Sprintf("%q is none of NoSchedule, PreferNoSchedule, NoExecute", effect)
}

func parseNodeSelector(texts []string, into *plan.Change) error {
	for _, t := range texts {
		key, value, found := strings.Cut(t, "=")
		dropped := !found && strings.HasSuffix(t, "-")
		if dropped {
			key = strings.TrimSuffix(t, "-")
		}
		errs := validation.IsQualifiedName(key)
		if found {
			errs = append(errs, validation.IsValidLabelValue(value)...)
		}
		before, again := into.NodeSelector[key]
		switch {
		case strings.Contains(t, ","):
			return hinted{fmt.Errorf("--node-selector %q has more than one key", t), "--node-selector pool=gpu --node-selector zone=eu-1a"}
		case !found && !dropped:
			return hinted{fmt.Errorf("--node-selector %q is neither KEY=VALUE nor KEY-", t), "--node-selector pool=gpu"}
		case len(errs) > 0:
			return hinted{fmt.Errorf("--node-selector %q: %s", t, errs[0]), "--node-selector pool=gpu"}
		case again && found && before != value:
			return hinted{fmt.Errorf("--node-selector %q: contradicts %s=%s", t, key, before), "give each key one value"}
		case dropped:
			into.DropSelector = append(into.DropSelector, key)
			continue
		}
		if into.NodeSelector == nil {
			into.NodeSelector = map[string]string{}
		}
		into.NodeSelector[key] = value
	}
	for _, key := range into.DropSelector {
		if _, both := into.NodeSelector[key]; both {
			return hinted{fmt.Errorf("--node-selector %q is both added and removed", key), "leave out one of them"}
		}
	}
	return nil
}

// edits returns what a flag that changes nodes asks for: several names with
// commas between them are as many edits.
func (n nodeFlag) edits() ([]plan.NodeEdit, error) {
	which, what, found := n.text, "", true
	if n.kind == plan.NodeTaint || n.kind == plan.NodeLabel {
		which, what, found = strings.Cut(n.text, ":")
	}
	form := map[plan.NodeChangeKind]string{plan.NodeTaint: "NODES:KEY=VALUE:EFFECT or NODES:KEY-", plan.NodeLabel: "NODES:KEY=VALUE or NODES:KEY-"}[n.kind]
	if !found || which == "" {
		if form == "" {
			return nil, hinted{fmt.Errorf("--%s names no node", n.name), "--" + n.name + " NODES, such as worker-1, 'worker-*' or pool=gpu"}
		}
		return nil, hinted{fmt.Errorf("--%s %q is not %s", n.name, n.text, form), n.example()}
	}
	edit := plan.NodeEdit{Kind: n.kind, Said: "--" + n.name + " " + n.text}
	if what != "" || form != "" {
		if err := n.what(what, &edit); err != nil {
			return nil, hinted{fmt.Errorf("--%s %q: %w", n.name, n.text, err), n.example()}
		}
	}
	var out []plan.NodeEdit
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
	case plan.NodeTaint:
		return "--taint 'worker-*:dedicated=gpu:NoSchedule', or --taint pool=gpu:dedicated-"
	case plan.NodeLabel:
		return "--label 'worker-*:pool=gpu', or --label worker-1:pool-"
	}
	return "--" + n.name + " worker-1,worker-2"
}

// what reads the taint or label behind the nodes.
func (n nodeFlag) what(text string, into *plan.NodeEdit) error {
	rest, drop := strings.CutSuffix(text, "-")
	if n.kind == plan.NodeLabel {
		var found bool
		into.Key, into.Value, found = strings.Cut(text, "=")
		if drop = drop && !found; drop {
			into.Kind, into.Key = plan.NodeUnlabel, rest
		}
		if errs := validation.IsQualifiedName(into.Key); len(errs) > 0 {
			return errors.New(errs[0])
		}
		if !drop && !found {
			return errors.New("a label needs a value, or a - at its end to be removed")
		}
		if errs := validation.IsValidLabelValue(into.Value); len(errs) > 0 {
			return errors.New(errs[0])
		}
		return nil
	}
	t := &corev1.Taint{}
	keyValue, effect, hasEffect := strings.Cut(rest, ":")
	t.Effect = corev1.TaintEffect(effect)
	key, value, hasValue := strings.Cut(keyValue, "=")
	t.Key, t.Value = key, value
	if errs := validation.IsQualifiedName(key); len(errs) > 0 {
		return errors.New(errs[0])
	}
	switch {
	case hasEffect && !slices.Contains(effects, t.Effect):
		return errors.New(effectWords(effect))
	case drop && hasValue:
		return errors.New("to remove a taint, give its key, and its effect if needed, but no value")
	case drop:
		into.Kind = plan.NodeUntaint
	case !hasEffect:
		return errors.New("a taint needs an effect: NoSchedule, PreferNoSchedule or NoExecute")
	default:
		if errs := validation.IsValidLabelValue(value); len(errs) > 0 {
			return errors.New(errs[0])
		}
	}
	into.Taint = t
	return nil
}

// condition is one that --fail-on asks about.
type condition struct {
	name string
	most int // more than so many; not for an outcome
}

// ofOutcome are the conditions that an outcome meets, or does not.
var ofOutcome = map[string]plan.OutcomeCode{"stalls": plan.Stalls, "removesAllPods": plan.RemovesAllPods}

func (c condition) String() string {
	if ofOutcome[c.name] != "" {
		return c.name
	}
	return c.name + ">" + strconv.Itoa(c.most)
}

var countedCondition = regexp.MustCompile(`^(lostNodes|replaces|immediateDeletes)\s*>\s*(\d{1,9})$`)

// parseConditions reads the values of --fail-on.
func parseConditions(texts []string) ([]condition, error) {
	var out []condition
	for _, t := range texts {
		t = strings.TrimSpace(t)
		if ofOutcome[t] != "" {
			out = append(out, condition{name: t})
			continue
		}
		m := countedCondition.FindStringSubmatch(t)
		if m == nil {
			return nil, hinted{fmt.Errorf("--fail-on %q is none of stalls, removesAllPods, lostNodes>N, replaces>N, immediateDeletes>N", t), "--fail-on 'stalls,lostNodes>0'"}
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, err
		}
		out = append(out, condition{m[1], n})
	}
	return out, nil
}

// holds reports whether a plan has what the condition asks about, and how many.
// It is not known of a plan that a gap leaves open.
func (c condition) holds(p *plan.Plan) (number int, holds, known bool) {
	if code := ofOutcome[c.name]; code != "" {
		holds = p.Outcome.Code == code || code == plan.RemovesAllPods && p.LeavesNoPod()
		return p.Outcome.Left, holds, holds || p.Outcome.Code != plan.Unknown && p.Next.Exact && p.TemplateKnown()
	}
	switch c.name {
	case "lostNodes":
		number = len(p.Lost) // also of a rollout that a value which was not compared may start
	case "replaces":
		number = p.Replaces
	case "immediateDeletes":
		number = immediateDeletes(p)
	}
	return number, number > c.most, p.Next.Exact && p.TemplateKnown()
}

// words returns the sentence that the condition holds for a DaemonSet, and with
// which number.
func (c condition) words(p *plan.Plan, of string, number int) string {
	switch c.name {
	case "removesAllPods":
		return "no node runs the pod of " + of + " at the end"
	case "stalls":
		return "the rollout of " + of + " stalls" + leftOver(&p.Outcome)
	case "lostNodes":
		return of + ": " + many(number, "node loses its pod", "nodes lose their pod")
	case "replaces":
		return of + ": " + many(number, "pod is replaced", "pods are replaced")
	}
	return of + ": " + many(number, "pod is deleted immediately", "pods are deleted immediately")
}

// leftOver returns the words for what a stalled rollout leaves undone.
func leftOver(o *plan.Outcome) string {
	words := ""
	if o.Left > 0 {
		words += ", " + many(o.Left, "pod is not updated", "pods are not updated")
	}
	if o.Terminating > 0 {
		words += ", " + many(o.Terminating, "pod stays terminating", "pods stay terminating")
	}
	if n := len(o.Holders) + o.FurtherHolders; words == "" && n > 0 {
		words = ", " + many(n, "node stays without an available pod", "nodes stay without an available pod")
	}
	if o.AtWorst {
		words += " at worst"
	}
	return words
}

func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// immediateDeletes counts the pods that go at once: those that the next step
// deletes, with what it leaves to further syncs for the limit of 250, and those
// of nodes that lose theirs and are not among them.
func immediateDeletes(p *plan.Plan) int {
	there := map[string]bool{}
	for _, i := range p.Next.Deletes.Certain {
		there[i.Node] = true
	}
	for _, ch := range p.Next.Deletes.Choices {
		for _, i := range ch.From {
			there[i.Node] = true
		}
	}
	n := p.Next.Deletes.Len() + p.Next.Deletes.Deferred
	for _, l := range p.Placement.Lose {
		if !there[l.Node] {
			n++
		}
	}
	return n
}
