#!/bin/sh
# Records examples/ from a real control plane, and makes the aged ones from them. With DEMO=1 it records the terminal
# session of the README instead.
set -eu
cd "$(dirname "$0")/.."
test/cluster/build.sh >/dev/null

if [ -n "${DEMO-}" ]; then
	cd test/e2e
	exec go run ./cmd/scene stuck asciinema rec --quiet --overwrite --cols 100 --rows 40 --idle-time-limit 4 \
		--title "kubectl ds" --env TERM --command ../../docs/demo/session.sh ../../docs/demo/session.cast
fi

(cd test/e2e && RECORD_EXAMPLES=../../examples go test -count=1 -run 'TestExamples$' -v -timeout 30m .)
go run ./test/age examples
