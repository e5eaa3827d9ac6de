#!/usr/bin/env bash
# Runs every fuzz target of the main module, one after the other: go test takes one at a time.
# What is found is left in testdata/fuzz beside the target, which go test then runs as a seed.
#
#   fuzz.sh TIME [NAME]   TIME is for each target, such as 6s; NAME is a part of the names of those that run
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
for package in $(grep -rl --include='*_test.go' '^func Fuzz' internal pkg | xargs -n 1 dirname | sort -u); do
	for target in $(go test -list '^Fuzz' "./$package" | grep '^Fuzz' | grep "${2-}" || true); do
		echo "-- $target of $package"
		GOMEMLIMIT=1GiB go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 5s "./$package" || failed=1
	done
done
exit $failed
