#!/bin/sh
# Runs gofmt, go vet and staticcheck in every module that has code.
set -eu
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -coz --exclude-standard '*.go' | xargs -0 gofmt -l)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; exit 1; }

staticcheck=$(tools/build.sh lint)/staticcheck
for module in . test/e2e test/oracle test/oracle/controller test/oracle/program test/scheduler test/scheduler/wire test/scheduler/program; do
	(cd $module && go vet ./... && "$staticcheck" ./...)
done
