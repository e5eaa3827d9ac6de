package snapshot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// standIns are what stands in a redacted Snapshot for the hashes of templates.
type standIns map[string]string

// replaceHashes puts stand-ins for all hashes into a Snapshot whose DaemonSet
// and list of revisions are its own: in labels, at the end of revisions' names,
// and in the words of events, statuses and annotations. A label that is empty or
// missing stays so. What it changes beyond those two, it copies before.
func replaceHashes(s *Snapshot, key []byte) {
	in := newStandIns(s, key)
	in.meta(s.DaemonSet.Labels, s.DaemonSet.Annotations)
	for i := range s.DaemonSet.Status.Conditions {
		in.words(&s.DaemonSet.Status.Conditions[i].Message)
	}
	for i := range s.Revisions {
		o := &s.Revisions[i]
		if begin, hash := hashOfName(o, s.DaemonSet.Name); hash != "" {
			o.Name = begin + in[hash]
		}
		o.Labels, o.Annotations = maps.Clone(o.Labels), maps.Clone(o.Annotations)
		in.meta(o.Labels, o.Annotations)
	}
	s.Pods = slices.Clone(s.Pods)
	for i := range s.Pods {
		p := s.Pods[i].DeepCopy()
		in.pod(p)
		s.Pods[i] = *p
	}
	s.Events = slices.Clone(s.Events)
	for i := range s.Events {
		e := &s.Events[i]
		in.words(&e.Name)
		in.words(&e.InvolvedObject.Name)
		in.words(&e.Message)
	}
}

// newStandIns makes them by the key alone, as many as there are hashes, and
// gives them out in the hashes' order: no rule that sorts by them, or by names
// that end in them, comes to something else, and nothing but this order is left
// of them.
func newStandIns(s *Snapshot, key []byte) standIns {
	in := standIns{}
	for i := range s.Revisions {
		_, hash := hashOfName(&s.Revisions[i], s.DaemonSet.Name)
		in[hash], in[s.Revisions[i].Labels[appsv1.ControllerRevisionHashLabelKey]] = "", ""
	}
	for i := range s.Pods {
		in[s.Pods[i].Labels[appsv1.ControllerRevisionHashLabelKey]] = ""
	}
	delete(in, "")
	made := map[string]bool{}
	for n := uint64(0); len(made) < len(in); n++ {
		made[standIn(key, n)] = true
	}
	ordered := slices.Sorted(maps.Keys(made))
	for i, hash := range slices.Sorted(maps.Keys(in)) {
		in[hash] = ordered[i]
	}
	return in
}

// standIn looks as the controller's own hashes mostly do: ten of the letters and
// digits of which no words are made.
func standIn(key []byte, n uint64) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("hash\x00"))
	mac.Write(binary.BigEndian.AppendUint64(nil, n))
	out := mac.Sum(nil)[:10]
	for i := range out {
		out[i] = letters[int(out[i])%len(letters)]
	}
	return string(out)
}

// hashOfName parts a revision's name before its hash: the one of its label, or
// what follows the DaemonSet's name.
func hashOfName(o *appsv1.ControllerRevision, daemonSet string) (begin, hash string) {
	if label := o.Labels[appsv1.ControllerRevisionHashLabelKey]; label != "" && strings.HasSuffix(o.Name, "-"+label) {
		return strings.TrimSuffix(o.Name, label), label
	}
	if hash, found := strings.CutPrefix(o.Name, daemonSet+"-"); found {
		return daemonSet + "-", hash
	}
	return o.Name, ""
}

func (in standIns) pod(p *corev1.Pod) {
	in.meta(p.Labels, p.Annotations)
	in.words(&p.Status.Message)
	for i := range p.Status.Conditions {
		in.words(&p.Status.Conditions[i].Message)
	}
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			for _, state := range []*corev1.ContainerState{&statuses[i].State, &statuses[i].LastTerminationState} {
				if state.Waiting != nil {
					in.words(&state.Waiting.Message)
				}
				if state.Terminated != nil {
					in.words(&state.Terminated.Message)
				}
			}
		}
	}
}

// meta replaces labels that are a hash, whatever their key, and words of
// annotations.
func (in standIns) meta(labels, annotations map[string]string) {
	for key, value := range labels {
		if key == appsv1.ControllerRevisionHashLabelKey && in[value] != "" {
			labels[key] = in[value]
			continue
		}
		in.words(&value)
		labels[key] = value
	}
	for key, value := range annotations {
		in.words(&value)
		annotations[key] = value
	}
}

var word = regexp.MustCompile(`[a-z0-9]+`)

// words replaces hashes within a text. One so short that the end of a pod's name
// could be the same is left there.
func (in standIns) words(text *string) {
	const short = 5
	*text = word.ReplaceAllStringFunc(*text, func(w string) string {
		if other, found := in[w]; found && len(w) > short {
			return other
		}
		return w
	})
}
