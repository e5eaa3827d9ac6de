// Package cluster reads Snapshots from an API server: once, namespace by namespace, or as a watch. It takes a
// rest.Config and sends get, list and watch requests, and dry runs where a plan asks for them. What cannot be read
// becomes a Gap of the Snapshot.
package cluster
