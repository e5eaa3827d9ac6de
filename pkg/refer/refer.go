// Package refer returns the objects that the start of a pod refers to, and
// which of them do not exist: ConfigMaps, Secrets and their keys, and
// PersistentVolumeClaims. If a reference is unresolved and not optional, the kubelet does not start the container, and
// retries indefinitely. The package contains no prose.
package refer

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Reference is a reference from a pod to an object, or to a key of an object.
type Reference struct {
	Kind snapshot.ReferredKind
	Name string
	Key  string // empty if it is to the object alone

	Field     string // of the pod: env, envFrom, volumes, imagePullSecrets
	Container string // of env and envFrom
	Init      bool   // it is an init container
	Variable  string // of env
	Volume    string // of volumes

	// Optional: the pod starts even if the object or key is missing.
	Optional bool
}

// Fault says what is missing.
type Fault string

const (
	NoObject Fault = "NoObject" // there is no such object
	NoKey    Fault = "NoKey"    // the object has no such key
)

// Missing is a Reference that cannot be resolved.
type Missing struct {
	Reference
	Fault Fault
}

// Of returns the references of a pod: those of its init containers, of its
// containers, and of its volumes. It omits references that the API server adds
// (the token and the imagePullSecrets of the ServiceAccount) and empty names.
//
// It also omits ConfigMaps and Secrets of volumes that no container mounts,
// because the kubelet does not set up such volumes. It includes all
// PersistentVolumeClaims, because the scheduler requires them.
func Of(spec *corev1.PodSpec) []Reference {
	var out []Reference
	mounted := map[string]bool{}
	for _, c := range spec.InitContainers {
		out = append(out, ofContainer(&c, true, mounted)...)
	}
	for _, c := range spec.Containers {
		out = append(out, ofContainer(&c, false, mounted)...)
	}
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		for _, r := range ofVolume(&v.VolumeSource) {
			if r.Field, r.Volume = "volumes", v.Name; mounted[v.Name] || r.Kind == snapshot.Claim {
				out = append(out, r)
			}
		}
	}
	for _, s := range spec.ImagePullSecrets {
		out = append(out, Reference{Kind: snapshot.Secret, Name: s.Name, Field: "imagePullSecrets", Optional: true})
	}
	return slices.DeleteFunc(out, func(r Reference) bool { return r.Name == "" })
}

// ofContainer returns the references of a container's environment, and adds the
// volumes that it mounts to mounted.
func ofContainer(c *corev1.Container, init bool, mounted map[string]bool) (out []Reference) {
	for _, m := range c.VolumeMounts {
		mounted[m.Name] = true
	}
	for _, from := range c.EnvFrom {
		r := Reference{Field: "envFrom", Container: c.Name, Init: init}
		if s := from.ConfigMapRef; s != nil {
			r.Kind, r.Name, r.Optional = snapshot.ConfigMap, s.Name, yes(s.Optional)
		} else if s := from.SecretRef; s != nil {
			r.Kind, r.Name, r.Optional = snapshot.Secret, s.Name, yes(s.Optional)
		}
		out = append(out, r)
	}
	for _, v := range c.Env {
		r := Reference{Field: "env", Container: c.Name, Init: init, Variable: v.Name}
		switch {
		case v.ValueFrom == nil:
		case v.ValueFrom.ConfigMapKeyRef != nil:
			s := v.ValueFrom.ConfigMapKeyRef
			r.Kind, r.Name, r.Key, r.Optional = snapshot.ConfigMap, s.Name, s.Key, yes(s.Optional)
		case v.ValueFrom.SecretKeyRef != nil:
			s := v.ValueFrom.SecretKeyRef
			r.Kind, r.Name, r.Key, r.Optional = snapshot.Secret, s.Name, s.Key, yes(s.Optional)
		}
		out = append(out, r)
	}
	return out
}

// ofVolume returns the references of a volume: to the object, or to each key
// that an item names. CSI is the only driver whose Secrets are included.
func ofVolume(v *corev1.VolumeSource) (out []Reference) {
	add := func(kind snapshot.ReferredKind, name string, items []corev1.KeyToPath, optional *bool) {
		r := Reference{Kind: kind, Name: name, Optional: yes(optional)}
		if len(items) == 0 {
			out = append(out, r)
		}
		for _, i := range items {
			r.Key = i.Key
			out = append(out, r)
		}
	}
	switch {
	case v.ConfigMap != nil:
		add(snapshot.ConfigMap, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		add(snapshot.Secret, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.PersistentVolumeClaim != nil:
		add(snapshot.Claim, v.PersistentVolumeClaim.ClaimName, nil, nil)
	case v.CSI != nil && v.CSI.NodePublishSecretRef != nil:
		add(snapshot.Secret, v.CSI.NodePublishSecretRef.Name, nil, nil)
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			if s.ConfigMap != nil {
				add(snapshot.ConfigMap, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
			}
			if s.Secret != nil {
				add(snapshot.Secret, s.Secret.Name, s.Secret.Items, s.Secret.Optional)
			}
		}
	}
	return out
}

func yes(b *bool) bool { return b != nil && *b }

// Wanted returns the objects whose absence affects pods of the templates,
// without duplicates: first those that a start needs, in the order of their
// first reference, then those that only an image pull needs. Keys is set if a
// reference names a key.
func Wanted(specs ...*corev1.PodSpec) []snapshot.Wanted {
	var out []snapshot.Wanted
	for _, pulls := range []bool{false, true} {
		for _, spec := range specs {
			for _, r := range Of(spec) {
				if r.forPullOnly() != pulls || r.Optional && !pulls {
					continue
				}
				i := slices.IndexFunc(out, func(w snapshot.Wanted) bool { return w.Kind == r.Kind && w.Name == r.Name })
				if i < 0 {
					i, out = len(out), append(out, snapshot.Wanted{Kind: r.Kind, Name: r.Name})
				}
				out[i].Keys = out[i].Keys || r.Key != ""
			}
		}
	}
	return out
}

// forPullOnly reports whether only the pull of an image needs the object.
func (r *Reference) forPullOnly() bool { return r.Field == "imagePullSecrets" }

// Unmet returns the references that keep a pod from starting, without
// duplicates: missing objects, and missing keys of existing objects. Objects
// that are not in known are not reported.
func Unmet(spec *corev1.PodSpec, known *snapshot.References) []Missing {
	return unresolved(spec, known, func(r *Reference) bool { return !r.Optional })
}

// UnmetPulls returns the imagePullSecrets of a pod that do not exist. The
// kubelet ignores them.
func UnmetPulls(spec *corev1.PodSpec, known *snapshot.References) []Missing {
	return unresolved(spec, known, (*Reference).forPullOnly)
}

func unresolved(spec *corev1.PodSpec, known *snapshot.References, of func(*Reference) bool) (out []Missing) {
	if known == nil {
		return nil
	}
	for _, r := range Of(spec) {
		m := Missing{r, r.fault(known.Find(r.Kind, r.Name))}
		same := func(o Missing) bool {
			return o.Kind == m.Kind && o.Name == m.Name && o.Fault == m.Fault && (m.Fault == NoObject || o.Key == m.Key)
		}
		if of(&r) && m.Fault != "" && !slices.ContainsFunc(out, same) {
			out = append(out, m)
		}
	}
	return out
}

// fault returns what is missing, or "" if nothing is or if o is nil, which
// means unknown. Variables cannot use keys of binaryData; volumes can.
func (r *Reference) fault(o *snapshot.Referred) Fault {
	switch {
	case o == nil:
		return ""
	case !o.Exists:
		return NoObject
	case r.Key == "" || !o.KeysRead || slices.Contains(o.Keys, r.Key) || r.Field == "volumes" &&
		slices.Contains(o.BinaryKeys, r.Key):
		return ""
	}
	return NoKey
}
