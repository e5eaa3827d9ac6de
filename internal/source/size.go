package source

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// DefaultMaxInput is the default of --max-input, in bytes: twice the size of a dump of 15,000 nodes
// with 20 DaemonSets.
const DefaultMaxInput = 2 << 30

// SizeOf returns a number of bytes in the notation of --max-input.
func SizeOf(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }
