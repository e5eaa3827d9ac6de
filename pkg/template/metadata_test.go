package template

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOnlyMetadata compares templates that differ only in their metadata with
// others.
func TestOnlyMetadata(t *testing.T) {
	const base = `{"metadata":{"labels":{"app":"a"},"annotations":{"checksum/config":"1"}},"spec":{"containers":[{"name":"a","image":"a:1"}]}}`
	for _, tt := range []struct {
		old, new string
		want     Metadata
		ok       bool
		why      string
	}{
		{base, base, Metadata{}, false, "nothing differs"},
		{base, `{"metadata":{"labels":{"app":"a"},"annotations":{"checksum/config":"2"}},"spec":{"containers":[{"name":"a","image":"a:1"}]}}`, Metadata{Annotations: []string{"checksum/config"}}, true, "a checksum"},
		{base, `{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"a","image":"a:1"}]}}`, Metadata{Annotations: []string{"checksum/config"}}, true, "one that goes, the last of all"},
		{base, `{"metadata":{"labels":{"app":"a","helm.sh/chart":"a-2"},"annotations":{"checksum/config":"2","plain":"x","odd\"]=":"y"}},"spec":{"containers":[{"name":"a","image":"a:1"}]}}`,
			Metadata{Annotations: []string{"checksum/config", `odd"]=`, "plain"}, Labels: []string{"helm.sh/chart"}}, true, "annotations and a label, whatever their keys are"},
		{base, `{"metadata":{"labels":{"app":"a"},"annotations":{"checksum/config":"2"}},"spec":{"containers":[{"name":"a","image":"a:2"}]}}`, Metadata{}, false, "an image besides"},
		{base, `{"metadata":{"labels":{"app":"a"},"annotations":{"checksum/config":"1"}},"spec":{"containers":[{"name":"a","image":"a:2"}]}}`, Metadata{}, false, "an image alone"},
		{base, `{"metadata":{"name":"x","labels":{"app":"a"},"annotations":{"checksum/config":"2"}},"spec":{"containers":[{"name":"a","image":"a:1"}]}}`, Metadata{}, false, "other metadata"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			old, new := content(t, tt.old), content(t, tt.new)
			found := append(Diff(old, new), differs("metadata.annotations.outside", "", "", 0), differs("spec.minReadySeconds", "", "", 0))
			got, ok := OnlyMetadata(found)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
				t.Errorf("ok %t (-want +got):\n%s", ok, diff)
			}
		})
	}
}
