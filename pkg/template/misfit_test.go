package template

import (
	"encoding/json"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestMisfit(t *testing.T) {
	for _, tt := range []struct{ raw, want, why string }{
		{`"text"`, "must be an object, not text", "the whole"},
		{`{"spec": {"template": {"spec": {"containers": {}}}}}`, "spec.template.spec.containers must be a list, not an object", "a list"},
		{`{"spec": {"template": {"spec": {"containers": [{"name": ["x"]}]}}}}`, "spec.template.spec.containers.name must be text, not a list", "text"},
		{`{"spec": {"template": {"spec": {"hostNetwork": "yes"}}}}`, "spec.template.spec.hostNetwork must be true or false, not text", "a truth, behind no pointer"},
		{`{"spec": {"template": {"spec": {"terminationGracePeriodSeconds": true}}}}`, "spec.template.spec.terminationGracePeriodSeconds must be a whole number that fits, not true or false", "a number, behind a pointer"},
		{`{"spec": {"minReadySeconds": 4815162342}}`, "spec.minReadySeconds must be a whole number that fits, not a number", "a number that is quoted no more"},
		{`{"metadata": {"labels": 5}}`, "metadata.labels must be an object, not a number", "a map"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			err := json.Unmarshal([]byte(tt.raw), new(appsv1.DaemonSet))
			if got := Misfit(err); got == nil || got.Error() != tt.want {
				t.Errorf("%v became %v, want %s", err, got, tt.want)
			}
		})
	}
	for said, want := range map[string]string{
		"get: json: cannot unmarshal array into Go struct field NodeSystemInfo.items.status.nodeInfo of type string":         "get: items.status.nodeInfo cannot be a list",
		"invalid Kustomization: json: cannot unmarshal number into Go struct field Kustomization.resources of type []string": "invalid Kustomization: resources cannot be a number",
		"json: cannot unmarshal number 1e999 into Go value of type int32":                                                    "it cannot be a number",
	} {
		if got := Misfit(errors.New(said)); got.Error() != want {
			t.Errorf("%s became %v, want %s", said, got, want)
		}
	}
	if other := errors.New("unexpected end of JSON input"); Misfit(other) != other {
		t.Error("another error is not what it was")
	}
}
