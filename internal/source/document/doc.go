// Package document splits a file in JSON or YAML into the texts of its objects, one at a time. It reads from an
// io.Reader, and calls back with each object, its position and its damage.
package document
