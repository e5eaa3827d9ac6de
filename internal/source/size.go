package source

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// DefaultMaxInput is how many bytes of input are read where --max-input says nothing.
// 15,000 nodes with 20 DaemonSets have half of it.
const DefaultMaxInput = 2 << 30

// SizeOf returns a number of bytes as --max-input takes it.
func SizeOf(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }
