// Package stage starts a real Kubernetes control plane for a test: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler of the version pinned in test/cluster, with kubelets played by kwok. It is ready in about 4 seconds,
// listens on free ports of the loopback address, keeps everything in a folder of its own, and leaves neither a process
// nor a file behind.
//
//	func TestX(t *testing.T) {
//		ctx := t.Context()
//		c := stage.New(t, stage.Options{})              // stopped when the test ends; logs are shown if it fails
//		err := c.AddNodes(ctx, stage.Nodes(12, "node-%02d")...)       // returns when they are ready
//		ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1.8.3")
//		err = c.Create(ctx, ds)                          // and its namespace
//		err = c.WaitRollout(ctx, ds.Namespace, ds.Name)
//		err = c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:1.9.0")
//		c.PluginDir, err = stage.BuildPlugin(ctx)        // this tree's kubectl-ds, built once per process
//		r, err := c.KubectlAs(ctx, stage.Reader, "ds", "explain", "-n", ds.Namespace, ds.Name)
//		_ = r.Stdout, r.Stderr, r.Code
//	}
//
// Options.Version, or $E2E_CLUSTER, makes API server, controllers and scheduler those of an older minor version.
//
// # States, not times
//
// Nothing here sleeps in the hope that something has happened. Every function that changes the cluster and says so
// waits until the change shows; WaitFor, WaitNodes, WaitDaemonSet and WaitRollout wait for states of a test's own, and
// give up when a program dies, or after two minutes unless the context has a deadline.
//
// # Nodes
//
// NewNode and Nodes make nodes to change at will (labels, taints, capacity) before AddNodes registers them.
// KillNodes cuts their power: their kubelets fall silent, the node-lifecycle controller finds them unknown after
// Options.NodeMonitorGracePeriod, taints them unreachable (NoSchedule and NoExecute) and marks their pods unready, and
// their pods neither start nor end, even when deleted. ReviveNodes ends it. UnreadyNodes makes kubelets report Ready=False,
// and serve on; ReadyNodes ends that. Cordon is kubectl cordon. DeadLabel and NotReadyLabel, set by hand, do the same without waiting.
//
// A DaemonSet does not tolerate the NoSchedule taint of a dead node by itself: without a toleration for it the node
// drops out of DESIRED and its pod is misscheduled, and only with one does the dead pod use up maxUnavailable. The
// controller does not look again when a taint makes a pod misscheduled: the reported numbers stay as they were until
// a pod's or the DaemonSet's own change makes it look.
//
// # Pods
//
// A pod becomes ready 0.2 s to 0.6 s after the kubelet has seen it and is gone 0.1 s to 0.3 s after its deletion; the
// annotations ReadyAfter, ReadyBefore, StopAfter and StopBefore of the pod template change that. A pod misbehaves (Crash, OOMKilled,
// InitCrash, ImagePullBackOff, ProbeFails, ConfigError, NoSandbox, NoVolume, Evicted, Undead: status and events as a real
// kubelet writes them) when its label BehaveLabel says so, or when one of the rules of SetRules fits:
//
//	err := c.SetRules(ctx,
//		stage.Rule{DaemonSet: "node-agent", Node: "node-07", Behave: stage.ImagePullBackOff},   // one node only
//		stage.Rule{Image: "acme/node-agent:1.9.0", Behave: stage.Crash})                 // the new revision only
//
// SetRules restarts the kubelets, and pods that run already change with their rule; no rules heal everything.
//
// # Holding still
//
// Freeze stops the controllers, the scheduler and the kubelets, so that nothing changes but what the test changes; Thaw
// lets them go on. StopProgram and StartProgram do it for one program.
//
// # Users and requests
//
// KubeconfigFor and KubectlAs take Admin, Reader (may read what an answer is made of, everywhere), NoNodes (the same
// without nodes), OneNamespace (after AllowNamespace: daemonsets, controllerrevisions, pods and events there) and Nobody;
// Allow and AllowIn give them more. AuditLog returns every request that was answered before the call: user, user agent,
// verb, resource, code. With Options.LogSyncs, Syncs returns what each sync of the DaemonSet controller did, and when.
package stage
