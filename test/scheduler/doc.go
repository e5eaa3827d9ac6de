// Package scheduler judges pkg/fit by the real scheduler, and what plan-rollout --fit and
// explain --node print of whole clusters.
//
// The API types of two Kubernetes versions cannot live in one build, so each
// version's scheduler is a program of its own. All are built from the one in
// program, each with a module file of its own (program/versions). A program reads
// states and writes what the filters and the preemption of the scheduler decided,
// as JSON lines (wire). States are drawn and compared here.
//
// The tests take, from the environment,
//
//	SCHEDULER_VERSIONS      which versions, as "v1.30.4 v1.37.1" (all)
//	SCHEDULER_SEED          the first seed (1)
//	SCHEDULER_STATES        how many random states to draw for the newest version (2000)
//	SCHEDULER_STATES_OTHERS … and for each other version (200)
//	SCHEDULER_SHOW          how many wrong answers of each kind to show (3)
//	SCHEDULER_KEEP          a folder for the clusters about which they are
//	SCHEDULER_PROGRAMS      a folder that holds programs that were built already
//
// To add a version: program/add.sh.
package scheduler
