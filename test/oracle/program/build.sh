#!/bin/sh
# Builds the program with the controller of a version that versions holds.
#
#   ./build.sh v1.30.14 ../controller-v1.30.14
#
# Build tags before118, before121, before123 and before124 choose what the version's own functions look like.
set -eu
cd "$(dirname "$0")"
version=${1:?usage: build.sh v1.MINOR.PATCH OUTPUT} output=${2:?usage: build.sh v1.MINOR.PATCH OUTPUT}
minor=${version#v1.}
minor=${minor%%.*}
tags=
for before in 18 21 23 24; do
	[ "$minor" -ge "$before" ] || tags="$tags before1$before"
done
CGO_ENABLED=0 go build -modfile="versions/$version.mod" -tags "$tags" -o "$output" .
