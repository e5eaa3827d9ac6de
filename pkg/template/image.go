package template

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Image is an image reference, split at the @ before its digest and at the
// colon before its tag. It may be invalid: see FaultOfImage.
type Image struct{ Repository, Tag, Digest string } // Digest is such as sha256:0123…

// ParseImage splits an image reference.
func ParseImage(reference string) Image {
	var i Image
	i.Repository, i.Digest, _ = strings.Cut(reference, "@")
	if at := strings.LastIndexByte(i.Repository, ':'); at > strings.LastIndexByte(i.Repository, '/') {
		i.Repository, i.Tag = i.Repository[:at], i.Repository[at+1:]
	}
	return i
}

// Name returns the last component of the repository.
func (i Image) Name() string { return i.Repository[strings.LastIndexByte(i.Repository, '/')+1:] }

// ShortDigest returns the first digits of the digest, or all of a digest that
// is not an algorithm followed by hexadecimal digits.
func (i Image) ShortDigest() string {
	const digits = 8
	algorithm, hex, ok := strings.Cut(i.Digest, ":")
	if !ok || len(hex) <= digits || strings.Trim(hex, "0123456789abcdef") != "" {
		return i.Digest
	}
	return algorithm + ":" + hex[:digits] + "…"
}

// Short returns the reference with its ShortDigest. Without a repository it
// returns the tag and the digest.
func (i Image) Short() string {
	words := i.Repository
	if i.Tag != "" && words != "" {
		words += ":"
	}
	if words += i.Tag; words != "" && i.Digest != "" {
		words += "@"
	}
	return words + i.ShortDigest()
}

// LostRepository returns the reference that was probably meant if a new
// reference lacks the repository of the previous one or a part of it: a tag
// alone ("4.1.1" after "acme/agent:4.1.0"), which names another image, or the
// name alone ("agent:4.1.1"). Otherwise it returns "".
func LostRepository(before, now string) string {
	old, new := ParseImage(before), ParseImage(now)
	onlyTag := new.Tag == "" && new.Digest == "" && (versionTag.MatchString(now) || now == old.Tag)
	switch {
	case now == "" || strings.Contains(now, "/") || old.Repository == new.Repository:
		return ""
	case onlyTag && (old.Tag != "" || old.Digest != "") && !versionTag.MatchString(old.Name()):
		return old.Repository + ":" + now
	case new.Name() == old.Name():
		return strings.TrimSuffix(old.Repository, old.Name()) + now
	}
	return ""
}

// versionTag matches text that looks like a version, not like the name of an
// image.
var versionTag = regexp.MustCompile(`^v?[0-9]+(?:[.-][A-Za-z0-9_]+)*$`)

// ImageFault says why an image reference is invalid, so that kubelets do not
// start the container (InvalidImageName). The API server accepts nearly any
// text. It is empty for a valid reference, whether or not the image exists.
type ImageFault string

const (
	ImageScheme ImageFault = "Scheme" // it has a scheme, such as `https://`
	// ImageCharacter: it has an invalid character, for example from a variable that was not replaced
	ImageCharacter ImageFault = "Character"
	ImageUppercase ImageFault = "Uppercase" // the repository's name has upper case
	ImageNoTag     ImageFault = "NoTag"     // a colon without a tag after it
	ImageBadDigest ImageFault = "Digest"    // the text after `@` is not a digest of SHA-256, SHA-384 or SHA-512
	ImageForm      ImageFault = "Form"      // it differs from `REGISTRY/NAME:TAG` in any other way
)

// The grammar of references, as github.com/distribution/reference defines it
// and the kubelet parses it:
// [HOST[:PORT]/]COMPONENT[/COMPONENT…][:TAG][@DIGEST], with at most 255
// characters in all components.
const (
	imageHost      = `(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9]*:[a-fA-F0-9:]*\])(?::[0-9]+)?`
	imageComponent = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
	imageTag       = `[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}`
	imageDigest    = `sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}`
	longestImage   = 255
)

var (
	imageReference = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:` + imageHost + `)/)?(` + imageComponent + `(?:/` + imageComponent +
			`)*)(?::` + imageTag + `)?(?:@(?:` + imageDigest + `))?$`)
	})
	imageID = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-f0-9]{64}$`)
	}) // it would be an image ID, not a name
)

// FaultOfImage returns what is wrong with an image reference, or "" if it is
// valid.
func FaultOfImage(image string) ImageFault {
	if m := imageReference().FindStringSubmatch(image); m != nil && len(m[1]) <= longestImage &&
		!imageID().MatchString(image) {
		return ""
	}
	name, digest, digested := strings.Cut(image, "@")
	lower := strings.ToLower(name)
	switch {
	case strings.Contains(image, "://"):
		return ImageScheme
	case strings.ContainsFunc(image, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			!strings.ContainsRune("._-/:@[]", r)
	}):
		return ImageCharacter
	case digested && FaultOfImage(name) == "" && digest != "" || digested && digest == "":
		return ImageBadDigest
	case strings.HasSuffix(name, ":"):
		return ImageNoTag
	case lower != name && FaultOfImage(lower) == "":
		return ImageUppercase
	}
	return ImageForm
}
