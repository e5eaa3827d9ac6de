package hide

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// DigestPrefix begins what stands in the place of a value in a Snapshot that was
// redacted; 16 hexadecimal digits follow.
const DigestPrefix = "digest:"

var digestForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + DigestPrefix + `[0-9a-f]{16}$`)
})

// IsDigest reports whether a value has the form of those that snapshot.Redact writes.
// In a Snapshot whose EnvValues are snapshot.EnvDigest it is one.
func IsDigest(value string) bool { return digestForm().MatchString(value) }

// MayHoldValues reports whether an annotation of a DaemonSet may hold literal
// values of its environment variables: a copy of its manifest, as kubectl
// apply, Rancher, kapp, Config Sync and many operators keep one, known by the
// annotation's name or by its looks; or the kubectl command that set them.
//
// By its looks a copy is a text that begins as JSON does, that has the word
// apiVersion in it, or a key under which values stand (containers, env, value)
// at the beginning of a line or behind a brace or bracket. It may be in quotes,
// and in base64, with line ends or without. What begins as gzip, zlib, zip or
// zstd in base64 is one, too, and so is what begins as JSON there. No other form
// and no other encoding is known.
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
	// settingCommand has values in it: a command as --record kept it (kubectl set env, kubectl patch, helm's flags), an
	// assignment, a piece of a manifest, or an address with a password.
	settingCommand = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i:\bset\b.*\benv\b)|(^|\s)(--set(-string|-json|-literal|-file)?|--env|--from-literal|--patch|-p)([=\s]|$)|\b[A-Z][A-Z0-9_]{2,}=\S|\bvalue:|://[^\s/@]*:[^\s/@]*@|\{`)
	})

	// copyKey are annotations of tools that keep what they applied: kubectl, banzaicloud.com and those that copied its
	// name, objectset.rio.cattle.io, kapp with its diffs, configmanagement.gke.io.
	copyKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`last-applied|/applied$|^kapp\.k14s\.io/original|/declared-config$`)
	})

	// copyText begins as JSON does, or as JSON, gzip, zip or zstd do in base64; or it has a word of a manifest in it.
	copyText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\[{]|^(eyJ|H4sI|UEsD|KLUv)|\bapiVersion\b|(?m:^[\s-]*)` + valueKey +
			`|[\[{](?s:(.*\W)?)` + valueKey)
	})
)

// valueKey is a key under which literal values stand. Quotes around it may be
// escaped, and without them something must part the colon from what follows.
const valueKey = `(?i:["'\\]*(\w*containers|env|value)(["'\\]+\s*:|\s*:([\s\[{"']|$)))`

// compressed are the first bytes of gzip, zlib, zip and zstd.
var compressed = []string{"\x1f\x8b", "x\x01", "x\x5e", "x\x9c", "x\xda", "PK\x03\x04", "\x28\xb5\x2f\xfd"}

// isCopy reports whether a text looks like a copy of a manifest: see MayHoldValues.
func isCopy(value string) bool {
	value = uncoated(value)
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
		// a checksum is no text, once it is decoded
		if utf8.Valid(raw) && copyText().MatchString(uncoated(string(raw))) {
			return true
		}
	}
	return false
}

// uncoated returns a text without what may stand around it.
func uncoated(text string) string { return strings.Trim(text, " \t\r\n\ufeff\"'") }
