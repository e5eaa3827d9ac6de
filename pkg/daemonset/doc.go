// Package daemonset implements the rules of kube-controller-manager's DaemonSet
// controller as pure functions: New turns a Snapshot into a State, and
// State.Sync returns what the controller does in its next sync. The package
// does no I/O, reads no clock, and contains no prose.
//
// The terms are those of the controller:
//
// claimed        controlled by the DaemonSet and matching its selector, or an orphan about to be adopted
// target node    the node that the pod is bound to, or else the node that its node affinity names
// shouldRun      the node should have a pod of this DaemonSet
// mayStay        an existing pod may stay on the node (the controller's shouldContinueRunning)
// misscheduled   a node that should not run the pod has one
// ready          the pod's Ready condition is true
// available      ready for at least minReadySeconds
// updated        of the current revision by hash, or of the current template generation
// new, old       updated and not updated, of the pods that are not terminating
// current        the ControllerRevision that holds the live template
// manage         the step that gives every node the pods it should have, outside any budget
// rollingUpdate  the step that replaces old pods within maxUnavailable or maxSurge
// burst          the limit of 250 creates and 250 deletes per sync
// sunset         an old available pod, under maxSurge, on a node that should no longer run it
//
// The doc comment of each function states the rule that it mirrors and the
// version that introduced it. docs/controller.md lists the versions whose rules
// are proven by running the controller, and those whose source was only read.
package daemonset
