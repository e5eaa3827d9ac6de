// Package object reads one Kubernetes object from its text. It finds the kind, decodes the fields that a Snapshot
// keeps and strips the rest. It takes JSON or protobuf and returns an Object, or an error that names the field.
package object
