// Package oracle judges the model by the real DaemonSet controllers.
//
// The API types of two Kubernetes versions cannot live in one build, so each
// version's controller is a program of its own. All are built from the one in
// program, each with a module file of its own (program/versions), on what they
// have in common (controller). A program reads states and writes what the
// controller did, as JSON lines (controller/wire). The generator of states
// (internal/dstest), the comparison (Compare) and the script of the traces are
// here once, and know no version's types but ours.
//
// The tests take, from the environment,
//
//	ORACLE_VERSIONS       which versions: "all", or some, as "v1.22.17 v1.37.1"
//	ORACLE_SEED           the first seed (1)
//	ORACLE_STATES         how many random states TestSync draws of the newest version (2000)
//	ORACLE_STATES_OTHERS  … and of each other version (500)
//	ORACLE_TRACES         how many rollouts TestTraces follows of the newest version (60)
//	ORACLE_TRACES_OTHERS  … and of each other version (20)
//	ORACLE_WHATIFS        how many changes TestWhatIf makes of each kind in the newest version (30)
//	ORACLE_WHATIFS_OTHERS … and in each other version (6)
//	ORACLE_FORECASTS      how many rollouts TestForecasts records (35: of every kind one)
//	ORACLE_FORECAST_LINES with any value, what was forecast of each of them
//	ORACLE_PLACEMENTS     how many states TestPlacement draws of the newest version (2000)
//	ORACLE_COVERAGE       a file for the table of what the states reached
//	ORACLE_PROGRAMS       a folder that holds programs that were built already
//
// To add a version: program/add.sh. RandomFor of internal/dstest draws the
// states that such a version can hold.
package oracle
