package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

func parseImages(texts []string) ([]whatif.Image, error) {
	var out []whatif.Image
	for _, t := range texts {
		container, image, found := strings.Cut(t, "=")
		if !found {
			container, image = "", t
		}
		switch {
		case image == "" || found && container == "" || strings.ContainsAny(t, " \t\n"):
			return nil, hinted{fmt.Errorf("--image %q is neither CONTAINER=IMAGE nor IMAGE", t),
				"--image agent=example/agent:2"}
		case template.FaultOfImage(image) != "":
			return nil, hinted{fmt.Errorf("--image %q: the kubelet rejects this name (InvalidImageName): %s", t,
				view.ImageFault(template.FaultOfImage(image))), imageHint(container, image)}
		case slices.ContainsFunc(out, func(i whatif.Image) bool {
			return i.Container == container ||
				i.Container == "*" || container == "*"
		}):
			return nil, hinted{fmt.Errorf("--image %q: the container already has an image from another --image", t),
				"give one --image for each container"}
		}
		out = append(out, whatif.Image{Container: container, Image: image})
	}
	return out, nil
}

// imageHint returns an --image flag with a corrected image: without a URL scheme, trailing
// separators and upper case letters. If the result is invalid too, it returns an example.
func imageHint(container, image string) string {
	if _, rest, found := strings.Cut(image, "://"); found {
		image = rest
	}
	image = strings.TrimRight(image, ":@/")
	if template.FaultOfImage(image) == template.ImageUppercase {
		image = strings.ToLower(image)
	}
	if template.FaultOfImage(image) != "" {
		return "--image agent=example/agent:2"
	}
	if container != "" {
		image = container + "=" + image
	}
	return "--image " + string(screen.Quote(image))
}

var effects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
	corev1.TaintEffectNoExecute}

// parseToleration parses KEY[=VALUE][:EFFECT]. Without =VALUE the toleration matches every value.
// The key * matches every key.
func parseToleration(text string) (corev1.Toleration, error) {
	bad := func(why string) (corev1.Toleration, error) {
		return corev1.Toleration{}, hinted{fmt.Errorf("--toleration %q: %s", text, why),
			"--toleration KEY[=VALUE][:EFFECT], such as dedicated=gpu:NoSchedule, or * for all taints"}
	}
	t := corev1.Toleration{Operator: corev1.TolerationOpExists}
	rest, effect, found := strings.Cut(text, ":")
	if found {
		if t.Effect = corev1.TaintEffect(effect); !slices.Contains(effects, t.Effect) {
			return bad(effectWords(effect))
		}
	}
	key, value, equal := strings.Cut(rest, "=")
	if equal {
		t.Operator, t.Value = corev1.TolerationOpEqual, value
		if errs := validation.IsValidLabelValue(value); len(errs) > 0 {
			return bad("the value: " + errs[0])
		}
	}
	switch {
	case (key == "*" || key == "") && !equal:
	case key == "*" || key == "":
		return bad("* takes no value")
	default:
		if errs := validation.IsQualifiedName(key); len(errs) > 0 {
			return bad("the key: " + errs[0])
		}
		t.Key = key
	}
	return t, nil
}

// firstFault returns the first fault in found as an error, or nil if found is empty.
func firstFault(found ...[]string) error {
	for _, fault := range slices.Concat(found...) {
		return errors.New(fault)
	}
	return nil
}

func effectWords(effect string) string {
	return fmt.Sprintf("%q is none of NoSchedule, PreferNoSchedule, NoExecute", effect)
}

// parseNodeSelector parses the values of --node-selector. It returns the labels to add, from
// KEY=VALUE, and the keys to remove, from KEY-.
func parseNodeSelector(texts []string) (add map[string]string, drop []string, err error) {
	for _, t := range texts {
		key, value, adds := strings.Cut(t, "=")
		if !adds {
			key = strings.TrimSuffix(key, "-")
		}
		fault := firstFault(validation.IsQualifiedName(key), validation.IsValidLabelValue(value))
		said, example := fmt.Sprintf("--node-selector %q", t), "--node-selector pool=gpu"
		before, again := add[key]
		if err := firstRefusal(
			refusal{strings.Contains(t, ","), said + " has more than one key", example + " --node-selector zone=eu-1a"},
			refusal{!adds && key == t, said + " is neither KEY=VALUE nor KEY-", example},
			refusal{fault != nil, fmt.Sprintf("%s: %v", said, fault), example},
			refusal{again && adds && before != value, fmt.Sprintf("%s: contradicts %s=%s", said, key, before),
				"give each key one value"},
		); err != nil {
			return nil, nil, err
		}
		switch {
		case !adds:
			drop = append(drop, key)
		case add == nil:
			add = map[string]string{key: value}
		default:
			add[key] = value
		}
	}
	for _, key := range drop {
		if _, both := add[key]; both {
			return nil, nil, hinted{fmt.Errorf("--node-selector %q is both added and removed", key),
				"leave out one of them"}
		}
	}
	return add, drop, nil
}
