// Package dstest makes states of a DaemonSet for tests: from a notation in
// which a state is one line (State), and at random from a seed (Random). Write
// is the way back from a state to its line, and Shrink finds the smallest
// state that still shows something.
//
// It builds Snapshots and nothing else. It knows none of the controller's
// rules, so that a test of them cannot be wrong in the same way twice.
package dstest
