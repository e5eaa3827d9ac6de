package snapshot

import (
	"slices"
	"strings"
)

// References are the objects of the namespace that the start of a pod refers
// to, as far as they were read. They are read for a plan that creates pods, and
// if pods do not start. An object that is not among them is unknown, and a Gap
// says why.
type References struct {
	Objects []Referred `json:"objects"` // the objects, sorted by kind and name
}

// Referred is an object that a pod refers to. It contains names of keys, but no
// values.
type Referred struct {
	Kind   ReferredKind `json:"kind"`   // what it is
	Name   string       `json:"name"`   // its name
	Exists bool         `json:"exists"` // false: there is no such object

	// its keys were requested; otherwise only whether the object exists
	KeysRead bool     `json:"keysRead"`
	Keys     []string `json:"keys"` // the names of its keys in `data`, sorted
	// for a ConfigMap, the keys in `binaryData`, which no variable can use; sorted
	BinaryKeys []string `json:"binaryKeys"`
}

// ReferredKind is the kind of an object that a pod refers to.
type ReferredKind string

const (
	ConfigMap ReferredKind = "ConfigMap"             // a ConfigMap
	Secret    ReferredKind = "Secret"                // a Secret
	Claim     ReferredKind = "PersistentVolumeClaim" // a PersistentVolumeClaim
)

// ReferredKinds lists every ReferredKind.
var ReferredKinds = []ReferredKind{ConfigMap, Secret, Claim}

// Wanted is an object to read as Referred.
type Wanted struct {
	Kind ReferredKind
	Name string
	Keys bool // read the names of its keys too
}

// What returns the part of the input that objects of this kind belong to.
func (k ReferredKind) What() What {
	return map[ReferredKind]What{ConfigMap: ConfigMaps, Secret: Secrets, Claim: Claims}[k]
}

// Find returns an object, or nil if it was not read.
func (r *References) Find(kind ReferredKind, name string) *Referred {
	if r == nil {
		return nil
	}
	if i := slices.IndexFunc(r.Objects, func(o Referred) bool { return o.Kind == kind && o.Name == name }); i >= 0 {
		return &r.Objects[i]
	}
	return nil
}

// Referring returns a copy of the Snapshot with r as its References, which may
// be nil. The gaps for ReferenceWhats replace the existing ones.
func (s *Snapshot) Referring(r *References, gaps []Gap) *Snapshot {
	c := *s
	c.References, c.Gaps = r, replaced(s.Gaps, ReferenceWhats, gaps)
	return &c
}

// CompareReferred orders objects by kind and name.
func CompareReferred(a, b Referred) int {
	if a.Kind != b.Kind {
		return slices.Index(ReferredKinds, a.Kind) - slices.Index(ReferredKinds, b.Kind)
	}
	return strings.Compare(a.Name, b.Name)
}
