// Package document takes a file apart into the texts of objects, in JSON or YAML, one at a time. It takes a reader and
// calls back with each object, its line and what is wrong with it.
package document
