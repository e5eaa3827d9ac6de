// Package dump reads Snapshots from files: folders, archives, must-gathers, support bundles and
// recorded Snapshots. It takes paths and returns a Dump, which offers the same methods as a
// cluster.Cluster. An error about damaged input names the file, the document and the field.
package dump
