// Package part turns typed objects into the parts of a Snapshot that not every question needs: admission, volumes, the
// pods of others, references, OpenShift. It sends no request and reads no file; cluster and dump share it.
package part
