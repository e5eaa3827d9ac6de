// Package source holds what all readers of the input share: names and filters of DaemonSets, errors with a hint to
// paste, limits of sizes, and goroutines that turn a panic into an error.
package source
