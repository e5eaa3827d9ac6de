package object

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

var ErrMissing = errors.New("missing")

// NearName returns the name in types that is most similar to name, or "".
func NearName(name string, types map[string]reflect.StructField) string {
	for known := range types {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	if near := snapshot.Near(name, slices.Collect(maps.Keys(types))); len(near) > 0 {
		return near[0]
	}
	return ""
}

// OneLine joins the lines of a message from a server or a library, and shortens it. The caller must escape the result
// for printing.
func OneLine(s string) string {
	const most = 500 // bytes; a proxy may return a whole page
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
