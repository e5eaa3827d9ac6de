package source_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkMustGather explains a DaemonSet from a must-gather in a .tar.xz file. It reports the plugin's memory, and
// its CPU time relative to the system's xz, which unpacks the same file. DUMP names the file. Without it, the
// benchmark creates one of 95 MB.
func BenchmarkMustGather(b *testing.B) {
	if _, err := exec.LookPath("xz"); err != nil {
		b.Skip("needs the program xz to compare with: apt-get install xz-utils")
	}
	dir := b.TempDir()
	archive := os.Getenv("DUMP")
	if archive == "" {
		archive = filepath.Join(dir, "must-gather.tar.xz")
		gather(b, filepath.Join(dir, "must-gather.local.1"))
		run(b, exec.Command("tar", "-cJf", archive, "-C", dir, "must-gather.local.1"))
	}
	plugin := filepath.Join(dir, "kubectl-ds")
	build := exec.Command("go", "build", "-o", plugin, "./cmd/kubectl-ds")
	build.Dir = "../.."
	run(b, build)
	var ours, theirs float64
	var most int64
	for b.Loop() {
		cpu, _ := run(b, exec.Command("xz", "-dc", archive))
		theirs += cpu
		cpu, memory := run(b, exec.Command(plugin, "explain", "-A", "--from", archive))
		ours, most = ours+cpu, max(most, memory)
	}
	b.ReportMetric(ours/theirs, "times-xz")
	b.ReportMetric(float64(most)/1e6, "peak-MB")
}

// run runs a command. It returns its CPU time in seconds and its peak memory in bytes, if the system reports it.
func run(b *testing.B, c *exec.Cmd) (cpu float64, memory int64) {
	b.Helper()
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Run(); err != nil {
		b.Fatalf("%s: %v\n%s", c, err, errs.String())
	}
	state := c.ProcessState
	return (state.UserTime() + state.SystemTime()).Seconds(), memoryOf(state)
}

// gather writes the files of a must-gather from a small cluster. Half of its 95 MB are logs. Of the rest, more than
// half are ConfigMaps and Secrets.
func gather(b *testing.B, dir string) {
	r := rand.New(rand.NewPCG(1, 1))
	put := func(name, text string) {
		name = filepath.Join(dir, "image", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	words := strings.Fields("reconcile sync the informer cache observed pod node operator status condition updated lease acquired watch closed retry certificate rotated handler took request probe succeeded")
	log := func(lines int) string {
		var s strings.Builder
		for i := range lines {
			fmt.Fprintf(&s, "2026-11-20T12:%02d:%02d.%09dZ I1120 %04d controller.go:%d]", i/60%60, i%60, r.IntN(1e9), r.IntN(9999), r.IntN(999))
			for range 6 + r.IntN(8) {
				s.WriteString(" " + words[r.IntN(len(words))])
			}
			s.WriteString("\n")
		}
		return s.String()
	}
	hex := func(n int) string {
		var s strings.Builder
		for s.Len() < n {
			fmt.Fprintf(&s, "%016x", r.Uint64())
		}
		return s.String()[:n]
	}
	const (
		head = "---\napiVersion: %s\nitems:\n%skind: %sList\nmetadata:\n  resourceVersion: \"9\"\n"
		meta = "  metadata:\n    creationTimestamp: \"2026-11-20T10:00:00Z\"\n    name: %s\n    namespace: %s\n    resourceVersion: \"%d\"\n    uid: %s\n"
	)
	for i := range 6 {
		put(fmt.Sprintf("cluster-scoped-resources/core/nodes/node-%d.yaml", i), fmt.Sprintf("---\napiVersion: v1\nkind: Node\nmetadata:\n  creationTimestamp: \"2026-11-20T09:00:00Z\"\n  name: node-%d\n  uid: %s\nstatus:\n  conditions:\n  - lastHeartbeatTime: \"2026-11-20T12:00:00Z\"\n    status: \"True\"\n    type: Ready\n  nodeInfo:\n    kubeletVersion: v1.30.2\n", i, hex(32)))
	}
	for n := range 40 {
		ns := fmt.Sprintf("openshift-%02d", n)
		put("namespaces/"+ns+"/apps/daemonsets.yaml", fmt.Sprintf(head, "apps/v1", "- apiVersion: apps/v1\n  kind: DaemonSet\n"+fmt.Sprintf(meta, "agent", ns, 5, ns)+
			"  spec:\n    selector:\n      matchLabels:\n        app: agent\n    template:\n      metadata:\n        labels:\n          app: agent\n      spec:\n        containers:\n        - image: r.example/agent:1\n          name: agent\n    updateStrategy:\n      type: RollingUpdate\n"+
			"  status:\n    currentNumberScheduled: 6\n    desiredNumberScheduled: 6\n    numberAvailable: 6\n    numberMisscheduled: 0\n    numberReady: 6\n    observedGeneration: 1\n    updatedNumberScheduled: 6\n", "DaemonSet"))
		var pods strings.Builder
		for i := range 6 {
			pod := fmt.Sprintf(meta+"    labels:\n      app: agent\n      controller-revision-hash: a\n    ownerReferences:\n    - apiVersion: apps/v1\n      controller: true\n      kind: DaemonSet\n      name: agent\n      uid: %s\n", fmt.Sprintf("agent-%d", i), ns, 7, ns+hex(8), ns) +
				fmt.Sprintf("  spec:\n    containers:\n    - image: r.example/agent:1\n      name: agent\n      args:\n      - --config=%s\n    nodeName: node-%d\n  status:\n    conditions:\n    - lastTransitionTime: \"2026-11-20T10:00:05Z\"\n      status: \"True\"\n      type: Ready\n    phase: Running\n", hex(6000), i)
			pods.WriteString("- apiVersion: v1\n  kind: Pod\n" + pod)
			put(fmt.Sprintf("namespaces/%s/pods/agent-%d/agent-%[2]d.yaml", ns, i), "---\napiVersion: v1\nkind: Pod\n"+strings.ReplaceAll(pod[2:], "\n  ", "\n"))
			put(fmt.Sprintf("namespaces/%s/pods/agent-%d/agent/agent/logs/current.log", ns, i), log(1700))
		}
		put("namespaces/"+ns+"/core/pods.yaml", fmt.Sprintf(head, "v1", pods.String(), "Pod"))
		var events, maps strings.Builder
		for i := range 130 {
			events.WriteString("- apiVersion: v1\n  count: 1\n  firstTimestamp: \"2026-11-20T11:00:00Z\"\n  involvedObject:\n    kind: Pod\n    name: agent-1\n    namespace: " + ns + "\n  kind: Event\n  lastTimestamp: \"2026-11-20T11:30:00Z\"\n  message: " + strings.Join(words[:6+i%9], " ") + "\n" +
				fmt.Sprintf(meta, fmt.Sprintf("e-%d", i), ns, 8, hex(32)) + "  reason: Pulled\n  source:\n    component: kubelet\n  type: Normal\n")
			maps.WriteString("- apiVersion: v1\n  data:\n    bundle.crt: |\n      " + strings.Join([]string{hex(1800), hex(1800)}, "\n      ") + "\n  kind: ConfigMap\n" + fmt.Sprintf(meta, fmt.Sprintf("c-%d", i), ns, 8, hex(32)))
		}
		put("namespaces/"+ns+"/core/events.yaml", fmt.Sprintf(head, "v1", events.String(), "Event"))
		put("namespaces/"+ns+"/core/configmaps.yaml", fmt.Sprintf(head, "v1", maps.String(), "ConfigMap"))
	}
}
