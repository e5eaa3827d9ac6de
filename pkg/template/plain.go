package template

import "crypto/sha256"

// Plain returns a copy of the content without what only affects how it is
// stored: the replace directive, and nulls, which count as absent.
func (c Content) Plain() Content {
	out := Content(withoutNulls(c))
	delete(out, "$patch")
	return out
}

// Key returns a text that is equal for two contents if and only if they are
// Equal.
func (c Content) Key() string {
	sum := sha256.Sum256([]byte(text(map[string]any(c))))
	return string(sum[:])
}
