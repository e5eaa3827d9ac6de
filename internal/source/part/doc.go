// Package part converts typed objects into the optional parts of a Snapshot: admission, volumes,
// pods of other owners, references, leases and OpenShift. It takes objects and Snapshots and
// returns Snapshots with a part added. It performs no I/O; the packages cluster and dump share it.
package part
