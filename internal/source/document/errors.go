package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
)

// NoDaemonSet returns an error that lists the kinds of the objects in the input.
func NoDaemonSet(kinds map[string]int) error {
	if len(kinds) == 0 {
		return errors.New("no DaemonSet and no other object")
	}
	found := object.Each(kinds)
	// a DaemonSet of another apiVersion
	isOne := func(words string) bool { return strings.Contains(words, " DaemonSet") }
	found = slices.Concat(slices.DeleteFunc(slices.Clone(found), func(w string) bool { return !isOne(w) }),
		slices.DeleteFunc(found, isOne))
	if len(found) > 6 {
		found = append(found[:5], fmt.Sprintf("objects of %d more kinds", len(found)-5))
	}
	return errors.New("no DaemonSet, only " + strings.Join(found, ", "))
}
