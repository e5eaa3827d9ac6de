package hide

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// DigestPrefix begins the digest of a value in a redacted Snapshot; 16
// hexadecimal digits follow.
const DigestPrefix = "digest:"

var digestForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + DigestPrefix + `[0-9a-f]{16}$`)
})

// IsDigest reports whether a value has the form of a digest of snapshot.HideValues.
// In a Snapshot whose EnvValues are snapshot.EnvDigest, it is one.
func IsDigest(value string) bool { return digestForm().MatchString(value) }

// MayHoldValues reports whether an annotation of a DaemonSet may contain
// literal values of its environment variables: a copy of its manifest, as
// kubectl apply, Rancher, kapp, Config Sync and many operators keep, or the
// kubectl command that set them.
//
// A copy is recognized by the name of the annotation or by its form: text that
// begins like JSON, or that contains the word apiVersion, or a key of values
// (containers, env, value) at the beginning of a line or after a brace or
// bracket. It may be quoted, and in base64 with or without line breaks. In
// base64, text that begins like JSON, gzip, zlib, zip or zstd counts too. Other
// encodings are not recognized.
func MayHoldValues(annotation, value string) bool {
	if IsDigest(value) {
		return false
	}
	if annotation == "kubernetes.io/change-cause" {
		return settingCommand().MatchString(value)
	}
	return value != "" && (copyKey().MatchString(annotation) || isCopy(value))
}

var (
	// settingCommand matches commands with values, as --record stores them
	// (kubectl set env, kubectl patch, helm's flags), assignments, parts of
	// manifests, and addresses with a password.
	settingCommand = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i:\bset\b.*\benv\b)|(^|\s)(--set(-string|-json|-literal|-file)?|--env|--from-literal|--patch|-p)([=\s]|$)|\b[A-Z][A-Z0-9_]{2,}=\S|\bvalue:|://[^\s/@]*:[^\s/@]*@|\{`)
	})

	// copyKey matches annotations of tools that store what they applied:
	// kubectl, banzaicloud.com and those with the same name,
	// objectset.rio.cattle.io, kapp with its diffs, configmanagement.gke.io.
	copyKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`last-applied|/applied$|^kapp\.k14s\.io/original|/declared-config$`)
	})

	// copyText matches text that begins like JSON, or like JSON, gzip, zip or
	// zstd in base64, or that contains a word of a manifest.
	copyText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\[{]|^(eyJ|H4sI|UEsD|KLUv)|\bapiVersion\b|(?m:^[\s-]*)` + valueKey +
			`|[\[{](?s:(.*\W)?)` + valueKey)
	})
)

// valueKey matches a key of literal values. Quotes around it may be escaped;
// without quotes, a separator must follow the colon.
const valueKey = `(?i:["'\\]*(\w*containers|env|value)(["'\\]+\s*:|\s*:([\s\[{"']|$)))`

// compressed are the first bytes of gzip, zlib, zip and zstd.
var compressed = []string{"\x1f\x8b", "x\x01", "x\x5e", "x\x9c", "x\xda", "PK\x03\x04", "\x28\xb5\x2f\xfd"}

// isCopy reports whether a text looks like a copy of a manifest: see MayHoldValues.
func isCopy(value string) bool {
	value = unquote(value)
	if copyText().MatchString(value) {
		return true
	}
	value = strings.Join(strings.Fields(value), "")
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
		base64.RawURLEncoding} {
		raw, err := encoding.DecodeString(value)
		if err != nil || len(raw) < 8 {
			continue
		}
		if slices.ContainsFunc(compressed, func(magic string) bool { return strings.HasPrefix(string(raw), magic) }) {
			return true
		}
		// A decoded checksum is not text.
		if utf8.Valid(raw) && copyText().MatchString(unquote(string(raw))) {
			return true
		}
	}
	return false
}

// unquote returns a text without surrounding whitespace and quotes.
func unquote(text string) string { return strings.Trim(text, " \t\r\n\ufeff\"'") }
