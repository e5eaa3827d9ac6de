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

// NearName returns the name of a field that is nearly this one, or "".
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

// OneLine makes words of a server or a library fit into a line. It escapes
// nothing: that is for whoever prints.
func OneLine(s string) string {
	const most = 500 // bytes; a proxy may answer with a whole page
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
