package template

import "crypto/sha256"

// Plain returns the content without what only says how it is stored: the
// directive that it replaces, and nulls, which are as good as absent. It leaves
// the content as it is.
func (c Content) Plain() Content {
	out := Content(withoutNulls(c))
	delete(out, "$patch")
	return out
}

// Key returns a text that two contents share if they are Equal, and else do
// not.
func (c Content) Key() string {
	sum := sha256.Sum256([]byte(text(map[string]any(c))))
	return string(sum[:])
}
