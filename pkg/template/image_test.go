package template_test

import (
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

func TestFaultOfImage(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	seen := map[template.ImageFault]bool{"": true}
	for _, tt := range []struct {
		image string
		want  template.ImageFault
		why   string
	}{
		{"agent", "", "a name"},
		{"agent:2", "", "and a tag"},
		{"ex/agent:v1.2_3-x", "", "a tag has these characters"},
		{"ex/agent:V2", "", "and upper case"},
		{"ex/team/agent", "", "as many components as one likes"},
		{"registry.example.com:5000/ex/agent:2", "", "a registry with a port"},
		{"localhost/agent", "", "a registry without a dot"},
		{"Registry/agent", "", "upper case makes a registry of what stands first"},
		{"[2001:db8::1]:5000/agent:2", "", "a registry that is an address"},
		{"ex/a__b.c---d/e", "", "separators within a component"},
		{"agent@" + digest, "", "a digest"},
		{"agent:2@" + digest, "", "a tag and a digest"},
		{"agent@sha512:" + strings.Repeat("0123456789abcdef", 8), "", "another digest"},
		{"ex/" + strings.Repeat("a", 252), "", "as long as may be"},
		{"agent:" + strings.Repeat("a", 128), "", "the longest tag"},

		{"https://x:2", template.ImageScheme, "an address of the web"},
		{"docker://ex/agent:2", template.ImageScheme, "as other tools name images"},
		{"ex/agent\x1b[31m:2", template.ImageCharacter, "a control code"},
		{"ex/agent :2", template.ImageCharacter, "a blank"},
		{"ex/${IMAGE}:2", template.ImageCharacter, "a variable that nothing replaced"},
		{"ex/agent:2+build", template.ImageCharacter, "build metadata of a version"},
		{"ex/agént:2", template.ImageCharacter, "a letter that is not ASCII"},
		{"ex/Agent:2", template.ImageUppercase, "upper case in the name"},
		{"Agent", template.ImageUppercase, "with no registry before it"},
		{"ex/agent:", template.ImageNoTag, "a variable for the tag that was empty"},
		{"registry:5000/agent:", template.ImageNoTag, "the port is no tag"},
		{"agent@", template.ImageBadDigest, "no digest"},
		{"agent@sha256:abc", template.ImageBadDigest, "half a digest"},
		{"agent@md5:0123456789abcdef0123456789abcdef", template.ImageBadDigest, "one that no kubelet computes"},
		{":2", template.ImageForm, "no name"},
		{"ex//agent", template.ImageForm, "an empty component"},
		{"/agent", template.ImageForm, "an empty registry"},
		{"ex/agent:2:3", template.ImageForm, "two tags"},
		{"ex/-agent", template.ImageForm, "a separator at the beginning"},
		{"ex/a___b", template.ImageForm, "three underscores"},
		{"ex/agent:.2", template.ImageForm, "a tag that begins with a dot"},
		{"agent:" + strings.Repeat("a", 129), template.ImageForm, "too long a tag"},
		{"ex/" + strings.Repeat("a", 256), template.ImageForm, "too long a name"},
		{strings.Repeat("0123456789abcdef", 4), template.ImageForm, "the ID of an image"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := template.FaultOfImage(tt.image); got != tt.want {
				t.Errorf("%q: %q, want %q", tt.image, got, tt.want)
			}
		})
		seen[tt.want] = true
	}
	for _, f := range []template.ImageFault{template.ImageScheme, template.ImageCharacter, template.ImageUppercase, template.ImageNoTag, template.ImageBadDigest, template.ImageForm} {
		if !seen[f] {
			t.Errorf("no image has the fault %s", f)
		}
	}
}

// TestParseImage tests references with a registry's port, a tag, and a digest.
func TestParseImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	for _, tt := range []struct {
		reference string
		want      template.Image
		name      string
		short     string
	}{
		{"agent", template.Image{Repository: "agent"}, "agent", ""},
		{"quay.io/acme/agent:1.2", template.Image{Repository: "quay.io/acme/agent", Tag: "1.2"}, "agent", ""},
		{"r:5000/a", template.Image{Repository: "r:5000/a"}, "a", ""},
		{"r:5000/a:2", template.Image{Repository: "r:5000/a", Tag: "2"}, "a", ""},
		{"r/a@" + digest, template.Image{Repository: "r/a", Digest: digest}, "a", "sha256:01234567…"},
		{"r/a:1@" + digest, template.Image{Repository: "r/a", Tag: "1", Digest: digest}, "a", "sha256:01234567…"},
		{"r/a@odd", template.Image{Repository: "r/a", Digest: "odd"}, "a", "odd"},
		{"r/a@x:0123456789abcdefg", template.Image{Repository: "r/a", Digest: "x:0123456789abcdefg"}, "a", "x:0123456789abcdefg"},
		{"", template.Image{}, "", ""},
	} {
		whole := strings.Replace(tt.reference, digest, "sha256:01234567…", 1)
		if got := template.ParseImage(tt.reference); got != tt.want || got.Name() != tt.name || got.ShortDigest() != tt.short || got.Short() != whole {
			t.Errorf("%s: %+v, %s, %s, %s", tt.reference, got, got.Name(), got.ShortDigest(), got.Short())
		}
	}
}

func TestLostRepository(t *testing.T) {
	for _, tt := range []struct{ before, now, want string }{
		{"acme/agent:4.1.0", "4.1.1", "acme/agent:4.1.1"},
		{"registry.example:5000/acme/agent:4.1.0", "v4.1.1-rc.1", "registry.example:5000/acme/agent:v4.1.1-rc.1"},
		{"agent:4.1.0", "4.1.1", "agent:4.1.1"},
		{"acme/agent@sha256:12", "4.1.1", "acme/agent:4.1.1"},
		{"acme/agent:stable", "stable", "acme/agent:stable"},
		{"acme/agent:4.1.0", "agent:4.1.1", "acme/agent:4.1.1"},
		{"registry.example/agent:4.1.0", "agent@sha256:12", "registry.example/agent@sha256:12"},
		// deliberately another image or registry
		{"acme/agent:4.1.0", "acme/agent:4.1.1", ""},
		{"acme/agent:4.1.0", "registry.example/agent:4.1.1", ""},
		{"acme/agent:4.1.0", "other/agent:4.1.1", ""},
		{"acme/agent:4.1.0", "nginx:1.29", ""},
		{"acme/agent:4.1.0", "busybox", ""},
		{"agent:4.1.0", "agent:4.1.1", ""},
		{"agent:4.1.0", "agent", ""},
		{"8", "9", ""}, // as in the notation of other tests
		{"", "4.1.1", ""},
		{"acme/agent:4.1.0", "", ""},
	} {
		if got := template.LostRepository(tt.before, tt.now); got != tt.want {
			t.Errorf("%q after %q: got %q, want %q", tt.now, tt.before, got, tt.want)
		}
	}
}
