// Package dstest creates states of a DaemonSet for tests: from a compact notation (State) and at
// random from a seed (Random). Write converts a state back to the notation, and Shrink reduces a
// state that shows a difference.
//
// It only builds Snapshots and does not know the controller's rules, so that a test of these rules
// cannot repeat their errors. README.md describes the notation.
package dstest
