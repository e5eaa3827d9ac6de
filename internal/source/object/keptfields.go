package object

// The fields that the Strip functions of pkg/snapshot keep, with the names of the API. A field without braces is kept
// completely. The prefix "=" marks values that many objects share, such as the containers of all pods of a revision.
// The prefix "#" marks a map in which many objects share the keys and some values. The prefix "@" keeps only
// snapshot.PodAnnotations.
const (
	ofMeta      = `metadata{name =namespace uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds finalizers selfLink `
	OfNode      = ofMeta + `#labels managedFields} spec{=taints =unschedulable} status{conditions =allocatable =nodeInfo{kubeletVersion kernelVersion containerRuntimeVersion osImage operatingSystem architecture}}`
	ofContainer = `{name image restartPolicy resources{requests} ports{containerPort hostPort hostIP protocol}}`
	ofRunning   = `{name image ready started restartCount state lastState allocatedResources resources{requests}}`
	OfPodMeta   = ofMeta + `=labels =@annotations =ownerReferences} `
	OfPodSpec   = `nodeName =containers` + ofContainer + ` =initContainers` + ofContainer +
		` =terminationGracePeriodSeconds =priority =priorityClassName =preemptionPolicy =schedulerName schedulingGates =overhead =resources{requests} =nodeSelector =readinessGates`
	OfUnbound   = ` =tolerations volumes{name volumeSource{persistentVolumeClaim{claimName} ephemeral{}}} affinity{nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution}}`
	OfPodStatus = `status{phase conditions reason message startTime nominatedNodeName initContainerStatuses` +
		ofRunning + ` containerStatuses` + ofRunning + ` resources{requests} allocatedResources}`
)
