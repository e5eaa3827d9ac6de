package cause

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// OfReference returns why no pod of a template starts that refers to a missing object: a container cannot be created, a
// volume cannot be mounted or, if a claim is missing, the pod is not scheduled.
func OfReference(m *refer.Missing) *Cause {
	return &Cause{Code: codeOf(m), Severity: SeverityError, Facts: FactsOf(m)}
}

func codeOf(m *refer.Missing) daemonset.Reason {
	switch {
	case m.Kind == snapshot.Claim:
		return PendingUnschedulable
	case m.Volume != "":
		return FailedMount
	}
	return ContainerConfig
}

// FactsOf returns the missing object and what refers to it.
func FactsOf(m *refer.Missing) daemonset.Facts {
	f := daemonset.Facts{"kind": string(m.Kind), "name": m.Name, "field": m.Field}
	for key, value := range map[string]string{"container": m.Container, "variable": m.Variable, "volume": m.Volume} {
		if value != "" {
			f[key] = value
		}
	}
	if m.Container != "" {
		f["init"] = m.Init
	}
	if m.Fault == refer.NoKey {
		f["key"] = m.Key
	}
	return f
}

// addMissingObject adds the missing object to a cause, according to the message of the kubelet. If the object was read
// and exists by now, it returns its kind and name instead, such as "Secret agent-tls".
func (cs *Causes) addMissingObject(c *Cause) (found string) {
	if c.Code != ContainerConfig && c.Code != FailedMount || c.Facts["kind"] != nil {
		return ""
	}
	message := c.Facts.Text("message")
	for _, s := range absentPhrases {
		m := s.words.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		name, key := m[s.words.SubexpIndex("name")], ""
		if i := s.words.SubexpIndex("key"); i >= 0 {
			key = m[i]
		}
		if cs.s.References.Find(s.kind, name) == nil || cs.absent(s.kind, name, key) {
			c.Facts["kind"], c.Facts["name"] = string(s.kind), name
			if key != "" {
				c.Facts["key"] = key
			}
			return ""
		}
		return string(s.kind) + " " + name
	}
	return ""
}

// absent reports whether an object was looked for and does not exist, or lacks the key.
func (cs *Causes) absent(kind snapshot.ReferredKind, name, key string) bool {
	o := cs.s.References.Find(kind, name)
	return o != nil && (!o.Exists || key != "" && !slices.Contains(o.Keys, key))
}

// addClaim adds the claim of a volume that cannot be attached, and whether it can be used on only one node at a time.
func (cs *Causes) addClaim(c *Cause) {
	m := forVolume.FindStringSubmatch(c.Facts.Text("message"))
	if c.Code != FailedMount || m == nil || cs.s.Volumes == nil {
		return
	}
	for i := range cs.s.Volumes.Claims {
		row := &cs.s.Volumes.Claims[i]
		if only := len(cs.s.Volumes.Claims) == 1 && row.Volume == nil; !only &&
			(row.Volume == nil || row.Volume.Name != m[1]) {
			continue
		}
		if c.Facts["claim"] = row.Name; slices.Equal(row.AccessModes,
			[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}) {
			c.Facts["oneNode"] = true
		}
	}
}

var forVolume = regexp.MustCompile(`for volume "([^"]+)"`)

// absentPhrases are phrases of kubelets about a missing object, or a missing key, that a pod refers to.
var absentPhrases = []struct {
	kind  snapshot.ReferredKind
	words *regexp.Regexp
}{
	{snapshot.ConfigMap, regexp.MustCompile(`couldn't find key (?P<key>\S+) in ConfigMap [^/\s]+/(?P<name>[^\s,"]+)`)},
	{snapshot.Secret, regexp.MustCompile(`couldn't find key (?P<key>\S+) in Secret [^/\s]+/(?P<name>[^\s,"]+)`)},
	{snapshot.ConfigMap, regexp.MustCompile(`configmap "(?P<name>[^"]+)" not found`)},
	{snapshot.Secret, regexp.MustCompile(`secret "(?P<name>[^"]+)" not found`)},
	{snapshot.Claim, regexp.MustCompile(`persistentvolumeclaim "(?P<name>[^"]+)" not found`)},
}

// explain adds to the cause of a pod the objects and settings that explain it. If the pod is of the current revision,
// these include the missing object that the template refers to. A volume with a missing object is a cause even before
// an event reports it.
func (cs *Causes) explain(p *daemonset.Pod, c *Cause) *Cause {
	if c == nil {
		return nil
	}
	if found := cs.addMissingObject(c); found != "" {
		return &Cause{Code: Starting, Severity: SeverityInfo, Since: c.Since, Facts: daemonset.Facts{"found": found}}
	}
	cs.addClaim(c)
	cs.addPullSecret(p.Object, c)
	cs.addInjector(p.Object, c)
	cs.addTemplateImage(p.Object, c)
	cs.addHostPath(p, c)
	if !p.Updated {
		return c
	}
	code := c.Code
	if code == ContainerCreating {
		code = FailedMount
	}
	for _, m := range cs.unmet() {
		container := c.Facts.Text("container")
		if codeOf(&m) != code || code == ContainerConfig && m.Container != container {
			continue
		}
		with := *c
		with.Code, with.Facts = code, maps.Clone(c.Facts)
		maps.Copy(with.Facts, FactsOf(&m))
		return &with
	}
	return c
}

// addHostPath adds to a volume that cannot be mounted the host path that the node lacks, or has with another type, and
// the operating system of the node.
func (cs *Causes) addHostPath(p *daemonset.Pod, c *Cause) {
	message := c.Facts.Text("message")
	checked := c.Code == FailedMount && strings.Contains(message, "hostPath type check failed")
	if checked {
		c.Facts["noHostPath"] = true
	}
	if p.Object == nil || !checked && c.Code != ContainerConfig {
		return
	}
	t := cs.madeFrom(p)
	if t == nil {
		return
	}
	volume := forVolume.FindStringSubmatch(message)
	i := slices.IndexFunc(t.Spec.Volumes, func(v corev1.Volume) bool {
		switch {
		case v.HostPath == nil || checked && v.HostPath.Type == nil:
			return false
		case checked:
			return volume != nil && v.Name == volume[1]
		}
		return cannotMake(message, v.HostPath.Path)
	})
	if i < 0 {
		return
	}
	path := t.Spec.Volumes[i].HostPath
	c.Facts["noHostPath"], c.Facts["hostPath"] = true, path.Path
	if path.Type != nil && *path.Type != corev1.HostPathUnset {
		c.Facts["hostPathType"] = string(*path.Type)
	}
	if n := cs.st.Node(p.Object.Spec.NodeName); n != nil && n.Object != nil && n.Object.Status.NodeInfo.OSImage != "" {
		c.Facts["osImage"] = n.Object.Status.NodeInfo.OSImage
	}
}

// cannotMake reports whether a container runtime says that it cannot create or mount a path.
func cannotMake(message, path string) bool {
	i := strings.Index(message, path)
	if i < 0 || path == "/" || !strings.Contains(message, "mkdir ") && !strings.Contains(message, "mount") {
		return false
	}
	after := message[i+len(path):]
	return after == "" || strings.ContainsAny(after[:1], `:'" ,`)
}

// addPullSecret adds the Secret that the kubelet could not read to an image that cannot be pulled, if nothing else
// explains it.
func (cs *Causes) addPullSecret(o *corev1.Pod, c *Cause) {
	if c.Code != ImagePullBackOff || o == nil {
		return
	}
	e := cs.event(o, "FailedToRetrieveImagePullSecret")
	if e == nil || !needsSecret(c.Facts.Text("message")) {
		return
	}
	_, rest, _ := strings.Cut(e.Message, "image pull secrets (")
	names, _, closed := strings.Cut(rest, ")")
	if name, _, several := strings.Cut(names, ","); closed && name != "" && !several {
		c.Facts["kind"], c.Facts["name"] = string(snapshot.Secret), name
	}
}

// needsSecret reports whether a message says that an image cannot be pulled because credentials are missing. It also
// returns true if the message says only that the kubelet backs off.
func needsSecret(message string) bool {
	words := strings.ToLower(message)
	return strings.HasPrefix(words, "back-off pulling image") && !strings.Contains(words, `": `) ||
		slices.ContainsFunc([]string{"unauthorized", "denied", "authentication", "authorization", "no basic auth",
			"forbidden"}, func(w string) bool { return strings.Contains(words, w) })
}

// addTemplateImage adds the image that the template names to an image that cannot be pulled, if the pod has another
// image: a webhook, such as that of an image cache, changed it.
func (cs *Causes) addTemplateImage(o *corev1.Pod, c *Cause) {
	if o == nil || c.Code != ImagePullBackOff {
		return
	}
	t := cs.templateOf(o)
	if t == nil {
		return
	}
	of := func(spec *corev1.PodSpec) string {
		for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			if i := slices.IndexFunc(list,
				func(x corev1.Container) bool { return x.Name == c.Facts.Text("container") }); i >= 0 {
				return list[i].Image
			}
		}
		return ""
	}
	if is, named := of(&o.Spec), of(&t.Spec); is == c.Facts.Text("image") && named != "" && is != named {
		c.Facts["templateImage"] = named
		if key := addedLabel(o, t); key != "" {
			c.Facts["addedLabel"] = key
		}
	}
}

// addedLabel returns the first label of a pod with a domain prefix that its template does not have; empty if there is
// none. Whoever changed the pod at admission may have set it.
func addedLabel(o *corev1.Pod, t *corev1.PodTemplateSpec) string {
	for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
		if _, of := t.Labels[key]; !of && strings.Contains(key, "/") {
			return key
		}
	}
	return ""
}

// injectorAnnotations are the annotations that show who added a container to a pod.
var injectorAnnotations = []string{
	"sidecar.istio.io/status", "linkerd.io/proxy-version", "vault.hashicorp.com/agent-inject-status",
	"consul.hashicorp.com/connect-inject-status", "dapr.io/enabled",
}

// addInjector adds the annotation that shows who added a failing container which the template does not have, if there
// is exactly one.
func (cs *Causes) addInjector(o *corev1.Pod, c *Cause) {
	if o == nil || c.Code != CrashLoopBackOff && c.Code != OOMKilled || cs.inTemplate(c.Facts.Text("container")) {
		return
	}
	has := slices.DeleteFunc(slices.Clone(injectorAnnotations),
		func(key string) bool { _, has := o.Annotations[key]; return !has })
	if len(has) == 1 {
		c.Facts["addedBy"] = has[0]
	}
}
