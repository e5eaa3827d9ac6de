#!/bin/sh
# Builds the program with the scheduler of a version that versions holds.
#
#   ./build.sh v1.37.1 ../scheduler-v1.37.1
#
# The build tag before137 chooses what the version's own functions look like.
set -eu
cd "$(dirname "$0")"
version=${1:?usage: build.sh v1.MINOR.PATCH OUTPUT} output=${2:?usage: build.sh v1.MINOR.PATCH OUTPUT}
minor=${version#v1.}
minor=${minor%%.*}
tags=
[ "$minor" -ge 37 ] || tags=before137
CGO_ENABLED=0 go build -modfile="versions/$version.mod" -tags "$tags" -o "$output" .
