#!/bin/sh
# Runs the tests of the main module, or the part that ONLY selects. "make help" describes the variables.
set -eu
cd "$(dirname "$0")/.."
. test/parts.sh
variables="CASES SEED"

# More random cases than usual need more than go test's ten minutes, and must not come from its cache.
set --
[ -z "${LAW_CASES-}" ] || set -- -count=1 -timeout 3h

case ${ONLY-} in
'')
	takes
	exec go test "$@" ./...
	;;
hostile)
	takes CASES SEED
	export HOSTILE_CASES="${CASES:-${HOSTILE_CASES:-10000}}"
	[ -z "${SEED-}" ] || export HOSTILE_SEED="$SEED"
	exec go test -count=1 -timeout 2h -run Hostile ./internal/cli
	;;
[[:lower:]]*)
	fail "make test has no part $ONLY"
	;;
*)
	takes
	exec go test "$@" -run "^Test($ONLY)\$" ./...
	;;
esac
