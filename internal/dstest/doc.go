// Package dstest makes states of a DaemonSet for tests: from a notation in
// which a state is one line (State), and at random from a seed (Random).
//
// It builds Snapshots and nothing else. It knows none of the controller's
// rules, so that a test of them cannot be wrong in the same way twice.
package dstest
