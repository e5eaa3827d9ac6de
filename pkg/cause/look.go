package cause

// Look names what shows more of a problem.
type Look string

const (
	LookNode       Look = "Node"       // the first of its nodes
	LookNodePorts  Look = "NodePorts"  // the host ports of all pods on it
	LookPod        Look = "Pod"        // the first of its pods
	LookMemory     Look = "Memory"     // how much memory the containers of its pod use
	LookLogs       Look = "Logs"       // the logs of the container that runs in it
	LookLastLogs   Look = "LastLogs"   // those of the container before that
	LookController Look = "Controller" // whether a kube-controller-manager leads
	LookQuota      Look = "Quota"      // the ResourceQuota
	LookQuotas     Look = "Quotas"     // all ResourceQuotas of the namespace
	LookNamespace  Look = "Namespace"  // the namespace, whose labels set what Pod Security allows
	LookSelector   Look = "Selector"   // the namespace, where an annotation selects nodes
	LookService    Look = "Service"    // the endpoints of the Service of a webhook
	LookEvents     Look = "Events"     // the DaemonSet's events
)
