#!/usr/bin/env bash
# Runs every fuzz target of the main module, one after another. A failing input is stored in testdata/fuzz next to the
# target, and go test then runs it as a seed. Each package is built once, because linking takes longer than a short run.
#
#   fuzz.sh TIME [NAME]   TIME is for each target, such as 6s; only targets whose names contain NAME run
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
export GOMEMLIMIT=1GiB
corpus=$(go env GOCACHE)/fuzz/$(go list -m) # where go test -fuzz keeps it, too
for package in $(grep -rl --include='*_test.go' '^func Fuzz' internal pkg | xargs -n 1 dirname | sort -u); do
	targets=$(grep -rhoE '^func Fuzz\w+' --include='*_test.go' "$package"/*_test.go | cut -c6- | grep "${2-}" || true)
	[ -n "$targets" ] || continue
	program=$programs/$(tr / - <<<"$package").test
	go test -c -fuzz . -o "$program" "./$package" # -fuzz adds the instrumentation of the fuzzer
	for target in $targets; do
		echo "-- $target of $package"
		(cd "$package" && "$program" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$1" \
			-test.fuzzminimizetime 5s -test.fuzzcachedir "$corpus/$package") || failed=1
	done
done
exit $failed
