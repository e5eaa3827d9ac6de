// Package source fills Snapshots, from a cluster or from files. It is the
// only package that does I/O, and it decides nothing: which pods count, and
// for what, is told by pkg/daemonset.
//
// A [Cluster] and a [Dump] offer the same three calls, Read, ReadAll and
// Names, and give the same Snapshot for the same objects, but for what a
// cluster is not asked for (see Cluster.Read) and for what a dump cannot hold
// (the server's version and its clock).
//
// What could not be read is a Gap of the Snapshot. An error means that there
// is no answer at all: no such DaemonSet, nobody to ask, a damaged file. Every
// error is one line. One that knows a way out has a method Hint() string,
// which returns a command or a flag to paste, or "".
package source

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// Ref names one DaemonSet.
type Ref struct {
	Namespace string // in a Dump it may be empty: whichever namespace has the name
	Name      string
}

func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Filter says which DaemonSets ReadAll reads.
type Filter struct {
	Namespace string          // empty: all namespaces
	Names     []string        // nil: all; one that there is not is no error
	Selector  labels.Selector // on the DaemonSet's own labels; nil: all
}

// matches reports whether the filter lets a DaemonSet of its namespace through.
func (f Filter) matches(name string, l labels.Set) bool {
	return (f.Names == nil || slices.Contains(f.Names, name)) && (f.Selector == nil || f.Selector.Matches(l))
}
