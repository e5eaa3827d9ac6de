// Package source holds what all readers of input share: names and filters of DaemonSets, errors
// with a hint to paste, limits on sizes, and goroutines that return a panic as an error.
package source
