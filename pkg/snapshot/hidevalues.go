package snapshot

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// EnvDigest is the EnvValues of a Snapshot that HideValues returned.
const EnvDigest = "Digest"

// HideValues returns a copy of the Snapshot in which digests replace the literal
// values of environment variables, which may be secret: in the template, in the
// revisions, and in annotations that hold a copy of either. Messages that quote
// a value have template.Hidden instead. Equal values have equal digests, so
// every answer stays the same. s is not modified.
//
// The key must be random and used once; whoever has it can test guesses. The
// hash of a template stays, in labels and in names of revisions, and lets a
// reader confirm a guess of a weak value. Arguments and annotations of the
// template are not redacted. docs/output.md has the rules.
func HideValues(s *Snapshot, key []byte) (*Snapshot, error) {
	if len(key) == 0 {
		return nil, errors.New("redact snapshot: no key")
	}
	r := &redaction{key: key, again: s.EnvValues == EnvDigest}
	out := *s
	out.EnvValues = EnvDigest
	out.DaemonSet = s.DaemonSet.DeepCopy()
	out.DaemonSet.Annotations = r.annotations(s.DaemonSet.Annotations)
	eachValue(&out.DaemonSet.Spec.Template.Spec, func(v *string) { *v = r.digest(*v) })
	out.Revisions = slices.Clone(s.Revisions)
	for i := range out.Revisions {
		o := &out.Revisions[i]
		o.Annotations = r.annotations(o.Annotations)
		o.Data = r.data(o.Data)
	}
	out.hideInMessages(s.Values())
	return &out, nil
}

// Values returns the literal values in the live template and in the revisions.
// Messages of events, pods and containers may quote them.
func (s *Snapshot) Values() *hide.Values {
	var templates []template.Content
	if live, err := template.Of(&s.DaemonSet.Spec.Template, false); err == nil {
		templates = append(templates, live)
	}
	for i := range s.Revisions {
		if stored, err := template.Stored(s.Revisions[i].Data.Raw); err == nil {
			templates = append(templates, stored)
		}
	}
	return hide.ValuesOf([]string{s.DaemonSet.Namespace, s.DaemonSet.Name}, templates...)
}

// hideInMessages hides values in messages about pods and the DaemonSet. It
// copies what it changes.
func (s *Snapshot) hideInMessages(v *hide.Values) {
	for i := range s.DaemonSet.Status.Conditions {
		c := &s.DaemonSet.Status.Conditions[i]
		c.Message = v.Hide(c.Message)
	}
	s.Events, s.Pods = slices.Clone(s.Events), slices.Clone(s.Pods)
	for i := range s.Events {
		s.Events[i].Message = v.Hide(s.Events[i].Message)
	}
	for i := range s.Pods {
		status := s.Pods[i].Status.DeepCopy()
		status.Message = v.Hide(status.Message)
		for j := range status.Conditions {
			status.Conditions[j].Message = v.Hide(status.Conditions[j].Message)
		}
		for _, all := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses} {
			for j := range all {
				for _, state := range []*corev1.ContainerState{&all[j].State, &all[j].LastTerminationState} {
					if state.Waiting != nil {
						state.Waiting.Message = v.Hide(state.Waiting.Message)
					}
					if state.Terminated != nil {
						state.Terminated.Message = v.Hide(state.Terminated.Message)
					}
				}
			}
		}
		s.Pods[i].Status = *status
	}
}

// redaction computes the digests of one Snapshot.
type redaction struct {
	key   []byte
	again bool // the Snapshot was redacted before, so values that look like digests are kept
}

func (r *redaction) digest(value string) string {
	if value == "" || r.again && hide.IsDigest(value) {
		return value
	}
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(value))
	return hide.DigestPrefix + hex.EncodeToString(mac.Sum(nil))[:16]
}

// eachValue calls f for the literal value of each environment variable of a
// pod.
func eachValue(spec *corev1.PodSpec, f func(*string)) {
	var lists [][]corev1.EnvVar
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		lists = append(lists, c.Env)
	}
	for _, c := range spec.EphemeralContainers {
		lists = append(lists, c.Env)
	}
	for _, env := range lists {
		for i := range env {
			if env[i].Value != "" {
				f(&env[i].Value)
			}
		}
	}
}

func (r *redaction) annotations(all map[string]string) map[string]string {
	if all == nil {
		return nil
	}
	out := make(map[string]string, len(all))
	for key, value := range all {
		switch {
		case key == corev1.LastAppliedConfigAnnotation:
			out[key] = r.applied(value)
		case hide.MayHoldValues(key, value):
			out[key] = r.digest(value)
		default:
			out[key] = value
		}
	}
	return out
}

// applied redacts a manifest that kubectl apply stored, so that kubectl apply
// can still read it.
func (r *redaction) applied(manifest string) string {
	object, err := template.Parse(json.RawMessage(manifest))
	if err != nil {
		return r.digest(manifest)
	}
	object = hide.Replace[appsv1.DaemonSet](object, r.digest)
	r.innerAnnotations(object)
	raw, err := marshal(object)
	if err != nil || !r.clean(raw) {
		return r.digest(manifest)
	}
	return string(raw)
}

// innerAnnotations is annotations for a decoded object, which it modifies. The
// object is not shared: hide.Replace copied it, and its metadata was decoded
// for this call.
func (r *redaction) innerAnnotations(object map[string]any) {
	for _, metadata := range fields(object, "metadata") {
		for _, all := range fields(metadata, "annotations") {
			for key, value := range all {
				if text, ok := value.(string); ok {
					all[key] = r.annotations(map[string]string{key: text})[key]
				}
			}
		}
	}
}

// fields returns the objects in the fields with a name in any letter case, as
// the decoder of the API's types matches names.
func fields(object map[string]any, name string) (all []map[string]any) {
	for key, v := range object {
		if inner, ok := v.(map[string]any); ok && strings.EqualFold(key, name) {
			all = append(all, inner)
		}
	}
	return all
}

// data redacts the data of a ControllerRevision. Data that is not a patch of
// the template, or that the API's types cannot decode, becomes a string, which
// is not a patch either.
func (r *redaction) data(d runtime.RawExtension) runtime.RawExtension {
	raw := d.Raw
	if len(raw) == 0 {
		return runtime.RawExtension{}
	}
	if stored, err := template.Fitting(raw); err == nil {
		out, err := marshal(map[string]any{"spec": map[string]any{"template": hide.Replace[corev1.PodTemplateSpec](stored, r.digest)}})
		if err == nil && r.clean(out) {
			return runtime.RawExtension{Raw: out}
		}
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	out, _ := marshal(r.digest(text)) // a string always encodes
	return runtime.RawExtension{Raw: out}
}

// clean reports whether the API's types decode the redacted object and find no
// literal value in it. hide.Replace skips values in an unexpected form, which
// do not decode.
func (r *redaction) clean(raw []byte) bool {
	var ds appsv1.DaemonSet
	if json.Unmarshal(raw, &ds) != nil {
		return false
	}
	clean := true
	eachValue(&ds.Spec.Template.Spec, func(v *string) { clean = clean && hide.IsDigest(*v) })
	return clean
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
