#!/bin/sh
# Compares the model with the real DaemonSet controllers, or runs the part that ONLY selects. "make help" describes the
# variables; test/oracle/README.md describes those of the tests.
set -eu
cd "$(dirname "$0")/.."
. test/parts.sh
variables="VERSIONS CASES SEED KNOWN MINORS EACH"

cd test/oracle
[ -z "${SEED-}" ] || export ORACLE_SEED="$SEED"

# part N M is N/M, rounded up: a part of the cases that is never none.
part() { echo $((($1 + $2 - 1) / $2)); }

case ${ONLY-} in
'' | [[:upper:]]*)
	takes VERSIONS CASES SEED
	timeout=30m
	if [ "${VERSIONS-}" = all ]; then
		timeout=6h
		: "${CASES:=10000}"
		ORACLE_STATES_OTHERS=$(part "$CASES" 5)
		ORACLE_TRACES=$(part "$CASES" 25)
		ORACLE_TRACES_OTHERS=$(part "$CASES" 125)
		export ORACLE_STATES="$CASES" ORACLE_STATES_OTHERS ORACLE_TRACES ORACLE_TRACES_OTHERS
		export ORACLE_COVERAGE=../../coverage.md
	elif [ -n "${CASES-}" ]; then
		ORACLE_STATES_OTHERS=$(part "$CASES" 4)
		export ORACLE_STATES="$CASES" ORACLE_STATES_OTHERS
	fi
	[ -z "${VERSIONS-}" ] || export ORACLE_VERSIONS="$VERSIONS"
	exec go test -count=1 -timeout $timeout ${ONLY:+-run "^Test($ONLY)\$"}
	;;
coverage)
	takes VERSIONS CASES SEED
	export ORACLE_VERSIONS="${VERSIONS:-all}" ORACLE_STATES="${CASES:-2000}" ORACLE_STATES_OTHERS="${CASES:-2000}"
	export ORACLE_COVERAGE=../../coverage.md
	exec go test -count=1 -timeout 3h -run TestSync
	;;
forecasts)
	takes CASES SEED
	export ORACLE_FORECASTS="${CASES:-140}"
	exec go test -count=1 -v -timeout 1h -run TestForecasts .
	;;
newest)
	takes KNOWN MINORS EACH
	go build -o ../../bin/newest ./newest
	status=0
	../../bin/newest -known "${KNOWN-}" -minors "${MINORS:-4}" -each "${EACH:-1}" -report ../../bin/newest.md || status=$?
	[ $status = 1 ] || cat ../../bin/newest.md # 1: there is no report
	exit $status
	;;
*)
	fail "make oracle has no part $ONLY"
	;;
esac
