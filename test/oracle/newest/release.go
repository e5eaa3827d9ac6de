package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// release is a release of Kubernetes 1.
type release struct{ minor, patch int }

func (r release) String() string { return fmt.Sprintf("v1.%d.%d", r.minor, r.patch) }

// libraries returns the version of the modules that are published with the release.
func (r release) libraries() string { return fmt.Sprintf("v0.%d.%d", r.minor, r.patch) }

func compare(a, b release) int {
	return cmp.Or(cmp.Compare(a.minor, b.minor), cmp.Compare(a.patch, b.patch))
}

var numbers = regexp.MustCompile(`^v[01]\.(\d+)\.(\d+)$`)

// releases returns the releases for versions of a library, such as v0.37.1, or of Kubernetes, such
// as v1.37.1, oldest first. Pre-releases such as v0.38.0-alpha.1 are left out.
func releases(versions []string) []release {
	var all []release
	for _, v := range versions {
		m := numbers.FindStringSubmatch(v)
		if m == nil {
			continue
		}
		minor, err1 := strconv.Atoi(m[1])
		patch, err2 := strconv.Atoi(m[2])
		if err1 == nil && err2 == nil {
			all = append(all, release{minor, patch})
		}
	}
	slices.SortFunc(all, compare)
	return slices.Compact(all)
}

// upTo returns the releases that are not newer than known: v1.36, which stands for all its patch
// releases, or v1.36.4. If known is empty, it returns all.
func upTo(known string, all []release) ([]release, error) {
	if known == "" {
		return all, nil
	}
	text, whole := known, false
	if strings.Count(known, ".") == 1 {
		text, whole = known+".0", true
	}
	newest := releases([]string{text})
	if len(newest) == 0 {
		return nil, fmt.Errorf("%q is no version: v1.36 and v1.36.4 are", known)
	}
	return slices.DeleteFunc(slices.Clone(all), func(r release) bool {
		if whole {
			return r.minor > newest[0].minor
		}
		return compare(r, newest[0]) > 0
	}), nil
}

// unknown returns the releases of the newest minor versions that are newer than all known ones of
// their minor version: a list for each minor version, newest first.
func unknown(published, known []release, minors int) [][]release {
	last := map[int]int{} // the latest known patch of a minor version
	for _, r := range known {
		last[r.minor] = max(r.patch, last[r.minor])
	}
	of := map[int][]release{}
	var order []int
	for _, r := range slices.Backward(published) {
		if !slices.Contains(order, r.minor) {
			order = append(order, r.minor)
		}
		if patch, some := last[r.minor]; !some || r.patch > patch {
			of[r.minor] = append(of[r.minor], r)
		}
	}
	var all [][]release
	for _, minor := range order[:min(minors, len(order))] {
		if len(of[minor]) > 0 {
			all = append(all, of[minor])
		}
	}
	return all
}

// neighbours returns the releases whose libraries a release may be built with: its own, the
// previous and the next. The published list may lack some.
func neighbours(r release) []release {
	all := []release{r}
	if r.patch > 0 {
		all = append(all, release{r.minor, r.patch - 1})
	}
	return append(all, release{r.minor, r.patch + 1})
}
