package cli_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// hostileWords are values for flags.
var hostileWords = []string{
	"", " ", "-", "--", "-1", "0", "1", "NaN", "Inf", "-Inf", "+Inf", "1e308", "1e-308", "99999999999999999999", "2147483647", "2147483648", "9223372036854775807", "-9223372036854775808", "0x10", "1_000", "1.5",
	"100%", "101%", "99999999999%", "-5%", "%", "<nil>", "null", "nil", "1h", "-1h", "9999999h", "1ns", "x", "a=b", "a=b:NoSchedule", "=", ":", "::", "=:", "a:b:c:d", ",", ",,", "*", "**", "[", "[a", "a/b", "/", "a/b/c", "../x",
	"\x1b[31mx", "x\u202ey", "x\ny", "\xff", "x\x00y", strings.Repeat("x", 300), "{{", "{{.x}}", "jsonpath=", "go-template={{", "jsonpath={", "custom-columns=x", "true", "v1.37.1", "v99.99", "v1", "v0.0.0", "1,2", "2,1", "1,", ",1", "0,0",
	"stalls", "stalls,stalls", "lostNodes>0", "replaces>-1", "pool in (a,b)", "pool=", "!pool", "pool==gpu", "ds/agent", "deploy/agent", "2026-01-31T15:04:05Z", "0000-00-00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
	"http://127.0.0.1:1/", "https://127.0.0.1:1/x?ref=y", "git@127.0.0.1:x/y.git", "file:///etc/passwd", "/dev/null", "/nonexistent", ".", "..",
}

// command returns a command line for the input in flags. It may write more files to the folder
// files.
func command(in *input, r *rand.Rand, folder string, flags []string, stdin bool) []string {
	d := dice{r, in}
	about := slices.Concat([]string{"-n", in.namespace, in.name}, flags)
	if r.IntN(100) < 15 {
		about = slices.Concat(pick(r, [][]string{{"-A"}, {"-n", in.namespace}, {}, {in.name}, {"-n", in.namespace, "-l", "app"}, {"-n", in.namespace, in.name, "nosuch"}, {"-n", "nosuch"}, {"-A", "-l", "app=agent"}}), flags)
	}
	if r.IntN(100) < 80 {
		about = append(about, "--now", clock)
	}
	about = append(about, d.maybe(15, "--keep-going")...)
	node := func() string {
		if names := in.names("Node"); len(names) > 0 && r.IntN(6) > 0 {
			return pick(r, names)
		}
		return pick(r, hostileWords)
	}
	output := func(more ...string) []string {
		return d.maybe(60, "-o", pick(r, append(more, "markdown", "html", "wide", "json", "json", "yaml", "yaml", "name", "jsonpath={.verdict}", "jsonpath={.problems}{.items[*].problems}{.daemonSet.name}", "jsonpath={range .nodes[*]}{.name}{\"\\n\"}{end}",
			"go-template={{.}}", "go-template={{range .nodes}}{{.name}} {{end}}", "jsonpath={.revisions[*]}", "jsonpath={.nosuch[0]}", "jsonpath={.spec.template}", "jsonpath={.next}{.change}{.outcome}")))
	}
	color := d.maybe(15, "--color", "always")
	word := func() string { return pick(r, hostileWords) }
	var args []string
	switch r.IntN(20) {
	case 0, 1, 2, 3, 4, 5:
		args = slices.Concat([]string{"explain"}, about, output(), color, d.maybe(30, "--node", node()), d.maybe(10, "--node", node()), d.maybe(30, "--all"), d.maybe(30, "--exit-code"))
	case 6, 7, 8, 9, 10, 11:
		args = slices.Concat([]string{"plan-rollout"}, about, output("markdown", "html"), color, d.maybe(30, "--all"), d.maybe(30, "--exit-code"), d.maybe(20, "--show-values"),
			d.maybe(20, "--fail-on", pick(r, []string{"stalls", "lostNodes>0,replaces>3", "immediateDeletes>1"})), planChange(d, node, folder, in, stdin))
	case 12, 13, 14, 15:
		revision := func() string { return pick(r, []string{"0", "1", "2", "3", "7", "8", "-1", word()}) }
		args = slices.Concat([]string{"history"}, about, output(), color, d.maybe(30, "--all"), d.maybe(20, "--show-values"), d.maybe(20, "--exit-code"))
		switch r.IntN(5) {
		case 0:
			args = append(args, "--diff", revision()+pick(r, []string{"", ",", "," + revision()}))
			args = append(args, d.maybe(50, "--unified")...)
		case 1:
			args = append(args, "--revision", revision())
		case 2:
			args = append(args, "--undo", revision())
		}
	case 16, 17:
		args = slices.Concat([]string{"snapshot"}, about, pick(r, [][]string{nil, nil, nil, {"--show-values"}, {"--redact"}}))
	case 18:
		args = slices.Concat([]string{"__complete", pick(r, []string{"explain", "plan-rollout", "history", "snapshot"})}, flags, pick(r, [][]string{{""}, {in.name}, {word()}, {"-o", ""}, {"--" + word()}, {"-n", ""}, {word(), ""}}))
	case 19:
		args = pick(r, [][]string{
			{"version"}, {"version", "-o", word()}, {"completion", pick(r, []string{"bash", "zsh", "fish", "powershell", word()})}, {"options"}, {"help"}, {word()}, {"help", word()}, {}, {"--" + word()}, {"explain", "--help"}, {"plan-rollout", "--help"},
			{"history", "--help"}, {"explain", word()}, {"explain", "--kubeconfig", word(), "x"}, {"explain", "--from", word()}, {"explain", "--context", word()}, {"version", word()}, {"explain", "-v", word(), "x"}, {"explain", "-v9", "x"},
		})
	}
	if r.IntN(12) == 0 { // any flag with any value
		args = append(args, "--"+pick(r, allFlags), word())
	}
	if r.IntN(12) == 0 {
		args = append(args, fmt.Sprintf("--%s=%s", pick(r, allFlags), word()))
	}
	return slices.DeleteFunc(args, func(a string) bool { return a == "" && len(args) == 1 })
}

var allFlags = []string{
	"all", "all-namespaces", "color", "keep-going", "max-input", "exit-code", "from", "kubernetes-version", "node", "now", "output", "selector", "namespace", "request-timeout", "diff", "unified", "undo", "revision", "show-values",
	"image", "max-unavailable", "max-surge", "min-ready-seconds", "strategy", "to-revision", "restart", "toleration", "node-selector", "taint", "label", "cordon", "uncordon", "node-down", "remove-nodes", "add-nodes", "like",
	"group-by", "start", "termination", "request-rate", "request-burst", "fail-on", "filename", "kustomize", "server-dry-run", "timeout", "as", "user", "tls-server-name", "v",
}

// planChange returns flags that describe a change.
func planChange(d dice, node func() string, folder string, in *input, stdin bool) []string {
	r := d.Rand
	word := func() string { return pick(r, hostileWords) }
	number := func() string { return pick(r, []string{"0", "1", "3", "10%", "100%", word()}) }
	if r.IntN(3) == 0 {
		return slices.Concat(manifest(d, folder, in, stdin), d.maybe(15, "--max-unavailable", number()), d.maybe(10, "--taint", node()+":a=b:NoSchedule"))
	}
	var args []string
	for range r.IntN(4) {
		args = append(args, pick(r, [][]string{
			{"--image", pick(r, []string{"example/x:2", "agent=example/agent:9", "*=x:1", word()})}, {"--max-unavailable", number()}, {"--max-surge", number()}, {"--min-ready-seconds", number()},
			{"--strategy", pick(r, []string{"OnDelete", "RollingUpdate", word()})}, {"--to-revision", number()}, {"--restart"}, {"--toleration", pick(r, []string{"*", "a=b:NoSchedule", word()})},
			{"--node-selector", pick(r, []string{"pool=gpu", "pool-", word()})}, {"--taint", node() + ":a=b:NoExecute"}, {"--label", node() + ":pool=gpu"}, {"--cordon", node()}, {"--uncordon", node()}, {"--node-down", node()},
			{"--remove-nodes", node()}, {"--add-nodes", number(), "--like", node()}, {"--group-by", pick(r, []string{"zone", "kubernetes.io/hostname", word()})}, {"--start", pick(r, []string{"40s", word()})},
			{"--termination", pick(r, []string{"10s", word()})}, {"--request-rate", pick(r, []string{"20", word()})}, {"--request-burst", pick(r, []string{"30", word()})}, {"--server-dry-run"}, {"--taint", word()}, {"--label", word()}, {"--fail-on", word()},
		})...)
	}
	return args
}

// manifest writes a manifest, or a kustomization with patches for it, and returns the flags that
// read it.
func manifest(d dice, folder string, in *input, stdin bool) []string {
	r := d.Rand
	var text []byte
	name := "manifest.yaml"
	switch r.IntN(4) {
	case 0:
		name, text = "manifest.json", indented(in.manifest)
	case 1:
		text = slices.Concat([]byte("# Source: chart\n---\napiVersion: v1\nkind: Service\nmetadata: {name: x}\n---\n"), inYAML(in.manifest))
	case 2:
		text = inYAML(list([]any{in.manifest}))
	default:
		text = inYAML(in.manifest)
	}
	f := &files{input: in, form: "manifest", parts: []*part{{name: filepath.Join("manifests", name), text: text}}}
	f.damaged(r, false)
	kustomize := r.IntN(3) == 0
	if kustomize {
		lines := []string{"resources: [" + name + "]"}
		lines = append(lines, pick(r, [][]string{
			{}, {"namePrefix: x-"}, {"namespace: other"}, {"patches:", "- path: patch.yaml", "  target: {kind: DaemonSet}"}, {"patches:", `- patch: "\u001b[31m"`, "  target: {kind: DaemonSet}"}, {"images: [{name: example/agent, newTag: \"9\"}]"},
			{"configMapGenerator: [{name: x, literals: [a=b]}]"}, {"components: [nosuch]"}, {"resources2: [x]"}, {"commonLabels: {a: b}"}, {"bases: [.]"}, {`patchesStrategicMerge: ["\u001b]0;x\u0007"]`},
			{"replacements: [{source: {kind: DaemonSet}, targets: []}]"}, {"generators: [x.yaml]"}, {"crds: [x]"}, {"labels: [{pairs: {a: b}}]"}, {"vars: [{name: X, objref: {kind: DaemonSet, name: x}}]"},
		})...)
		f.parts = append(f.parts, &part{name: "manifests/kustomization.yaml", text: []byte(strings.Join(lines, "\n") + "\n")},
			&part{name: "manifests/patch.yaml", text: []byte(pick(r, []string{"- {op: add, path: /metadata/labels/x, value: y}\n", "- {op: remove, path: /nosuch}\n", "spec: {template: {spec: {containers: null}}}\n", "\x1b[31m", "spec: 5\n"}))})
	}
	_, _ = f.put(folder)
	switch {
	case kustomize:
		return []string{"-k", filepath.Join(folder, "manifests")}
	case r.IntN(4) == 0:
		return []string{"-f", filepath.Join(folder, "manifests")}
	}
	return []string{"-f", filepath.Join(folder, "manifests", name)}
}
