// Package daemonset is the DaemonSet controller of kube-controller-manager as
// pure functions: a Snapshot goes in, a State comes out, and Sync says what
// the controller's next sync does. There is no I/O, no clock and no prose.
//
// The words are the controller's own:
//
//	claimed        controlled by the DaemonSet and matching its selector, or an orphan about to be adopted
//	target node    the node that a pod is bound to, or else the one that its node affinity names
//	shouldRun      the node should have a pod of this DaemonSet
//	mayStay        a pod that is there already is not killed (the controller's shouldContinueRunning)
//	misscheduled   a node that should not run the pod holds one
//	ready          the pod's Ready condition is true
//	available      ready for at least minReadySeconds
//	updated        of the current revision by hash, or of the current template generation
//	new, old       updated and not, of pods that are not terminating
//	current        the ControllerRevision whose content is the live template
//	manage         the step that gives every node the pods it should have, outside any budget
//	rollingUpdate  the step that replaces old pods within maxUnavailable or maxSurge
//	burst          at most 250 creates and 250 deletes a sync
//	sunset         an old available pod, under maxSurge, on a node that should not run it any more
//
// What is mirrored is in the doc comment of each function, with the version
// in which the rule came. Which versions are proven by running them, and which
// are only read, is in docs/controller.md.
package daemonset
