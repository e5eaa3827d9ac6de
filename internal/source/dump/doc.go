// Package dump reads Snapshots from files: folders, archives, must-gathers, support bundles and recorded Snapshots. It
// takes paths and returns a Dump, which answers like a cluster. Damage is an error that names file, document and field.
package dump
