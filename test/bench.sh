#!/bin/sh
# Takes the measurements of docs/performance.md, or the one that ONLY selects. "make help" describes the variables.
set -eu
cd "$(dirname "$0")/.."
. test/parts.sh
variables="STAGE SIZE PAIRS PEERS ROWS LINK BENCHTIME DUMP"

# measure PART ARGUMENT... runs test/e2e/cmd/bench.
measure() { (cd test/e2e && go run ./cmd/bench "$@"); }

# benchmark FOLDER NAME PACKAGE [BENCHTIME] runs a Go benchmark.
benchmark() { (cd "$1" && go test -run '^$' -bench "$2" ${4:+-benchtime "$4"} "$3"); }

control_plane() { test/cluster/build.sh >/dev/null; }

case ${ONLY-} in
'')
	if [ -n "${STAGE-}" ]; then
		takes STAGE SIZE
		control_plane
		measure stage "${SIZE:-5000}"
	else
		takes PAIRS PEERS
		control_plane
		measure all -pairs "${PAIRS:-11}" -peers "${PEERS-}"
	fi
	;;
measure)
	takes SIZE PAIRS PEERS ROWS LINK
	control_plane
	measure measure -size "${SIZE:-5000}" -pairs "${PAIRS:-11}" -only "${ROWS-}" ${LINK:+-link} -peers "${PEERS-}"
	;;
growth)
	takes SIZE
	# shellcheck disable=SC2086 # several sizes are several arguments
	measure growth ${SIZE:-1000 10000 100000}
	;;
parse)
	takes SIZE
	measure parse "${SIZE:-15000}"
	;;
agree | watch)
	takes SIZE
	control_plane
	measure "$ONLY" "${SIZE:-5000}"
	;;
sync)
	takes BENCHTIME
	benchmark test/oracle 'Sync$' . "${BENCHTIME-}"
	;;
start)
	takes BENCHTIME
	control_plane
	benchmark test/e2e Start . "${BENCHTIME:-20x}"
	;;
plan)
	takes BENCHTIME
	benchmark . Rollout ./pkg/plan "${BENCHTIME-}"
	;;
memory)
	takes BENCHTIME
	benchmark . Memory ./internal/source "${BENCHTIME:-3x}"
	;;
dump)
	takes BENCHTIME DUMP
	benchmark . MustGather ./internal/source "${BENCHTIME:-5x}"
	;;
history)
	takes BENCHTIME
	control_plane
	benchmark test/e2e History . "${BENCHTIME:-10x}"
	;;
*)
	fail "make bench has no part $ONLY"
	;;
esac
