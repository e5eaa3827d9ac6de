// Package cluster reads Snapshots from an API server: once, namespace by namespace, or as a watch.
// It takes a rest.Config, sends get, list and watch requests, and sends dry runs for plans. What
// cannot be read becomes a Gap of the Snapshot.
package cluster
