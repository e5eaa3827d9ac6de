package hide

import (
	"encoding/base64"
	"testing"
)

// TestIsDigest tests the form of digests.
func TestIsDigest(t *testing.T) {
	if !IsDigest("digest:0123456789abcdef") {
		t.Error("a digest is none")
	}
	for _, no := range []string{"", "digest:", "digest:0123456789abcdef0", "digest:0123456789ABCDEF", "xdigest:0123456789abcdef", "digest:0123456789abcdef\n"} {
		if IsDigest(no) {
			t.Errorf("%q is a digest", no)
		}
	}
}

// TestCopies tests which texts look like a copy of a manifest, in several
// encodings.
func TestCopies(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	const (
		manifest = `{"spec":{"env":[{"value":"s"}]}}`
		yaml     = "spec:\n  containers:\n  - env:\n    - value: s\n"
		flow     = `spec: {template: {spec: {containers: [{env: [{name: A, value: s}]}]}}}`
		// a token with a signature: a header, claims, and bytes
		token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZ2VudCJ9.c2lnbmF0dXJl"
	)
	for _, tt := range []struct {
		value string
		want  bool
		why   string
	}{
		{manifest, true, "JSON"},
		{" [" + manifest + "]", true, "a list"},
		{`{"A":"s"}`, true, "of anything"},
		{"\ufeff" + `{"A":"s"}`, true, "behind a byte order mark"},
		{`'{"A":"s"}'`, true, "in single quotes"},
		{"v1:" + manifest, true, "behind a short prefix"},
		{`v1:"{\"env\":[{\"value\":\"s\"}]}"`, true, "that is JSON in JSON"},
		{"apiVersion: apps/v1", true, "YAML that says what it is"},
		{yaml, true, "YAML that does not"},
		{"- name: A\n  \"value\": s", true, "with keys in quotes"},
		{"- name: A\n  'value' : s", true, "in single ones"},
		{"- name: A\n  Value: s", true, "in another case"},
		{"spec:\n  initContainers:\n  - {}", true, "of init containers"},
		{"env: {A: s}", true, "of variables alone"},
		{flow, true, "in braces"},
		{"- {name: A,\n   kind: b, value: s}", true, "in lines"},
		{"a: {env:[{name: A,value:'s'}]}", true, "with no more spaces than it takes"},
		{"# of today\n" + flow, true, "behind a comment"},
		{b64(manifest), true, "in base64"},
		{b64("{\n  " + manifest[1:]), true, "indented"},
		{base64.RawURLEncoding.EncodeToString([]byte(manifest)), true, "for URLs, without padding"},
		{b64(yaml), true, "YAML"},
		{b64("# of today\n" + flow), true, "in braces"},
		{b64("\ufeff" + `{"A":"s"}`), true, "JSON behind a byte order mark"},
		{`"` + b64(manifest) + `"`, true, "in quotes"},
		{b64(yaml)[:20] + "\n  " + b64(yaml)[20:], true, "in lines"},
		{b64(yaml)[:20] + " " + b64(yaml)[20:], true, "or words"},
		{b64(manifest)[:21], true, "cut off"},
		{token, true, "a token, which may be a value"},
		{b64("\x1f\x8b0123456789"), true, "gzip"},
		{b64("x\x9c0123456789"), true, "zlib"},
		{b64("PK\x03\x040123456789"), true, "zip"},
		{b64("\x28\xb5\x2f\xfd0123456789"), true, "zstd"},
		{"", false, "nothing"},
		{"7", false, "a number"},
		{"true", false, "a switch"},
		{"2026-11-20T20:00:00Z", false, "a time"},
		{"team-a", false, "a word"},
		{"value", false, "the word itself"},
		{"env", false, "or that"},
		{"3b5d5c3712955042212316173ccf37be800f4c1c6e0b8f0f5a5b5e5c5d5e5f5a", false, "a checksum"},
		{"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", false, "one that begins as a brace in base64"},
		{"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", false, "and says what it is"},
		{"W9mm2IMZ3vS7v9aPzUlQm0i1q0rNQf0mYb3mT3sYpXI=", false, "one in base64 that begins as a bracket"},
		{"1f0c9a52-6a53-4f7f-9a5e-0e1b1c0f6d2a", false, "an identity"},
		{"https://env.example.com:8443/x?env=prod&value=1#env:1", false, "an address"},
		{"env:8080", false, "a host and a port"},
		{"registry.example.com/agent:1.9.0", false, "an image"},
		{"10.0.0.0/8,192.168.0.0/16", false, "networks"},
		{"a@example.com, b@example.com", false, "people"},
		{"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", false, "a certificate"},
		{"the value of env is set", false, "prose"},
		{"exporter for nodes; asked for by team a: see its page", false, "more of it"},
		{"in the env: see the page", false, "with a colon"},
	} {
		if got := MayHoldValues("example.com/x", tt.value); got != tt.want {
			t.Errorf("%s: %t for %q", tt.why, got, tt.value)
		}
	}
}
