#!/bin/sh
# Builds the pinned tools of one module beside this script and prints the folder that holds them.
#
#   tools/build.sh release    goreleaser, krew, validate-krew-manifest
#   tools/build.sh lint       staticcheck
#
# A file "tags" beside a go.mod has the build tags.
#
# The folder is in the user's cache and named after what goes into the build, so a second call builds nothing.
set -eu

name=${1:?usage: tools/build.sh release|lint}
cd "$(dirname "$0")/$name"

# The Go version counts too: a linter built with an older Go refuses source that needs a newer one.
# git, which a checkout has anyway, hashes alike on Linux and macOS; sha256sum is missing from one of them.
hash=$({ cat go.mod go.sum; cat tags 2>/dev/null || true; go env GOVERSION; } | git hash-object --stdin | cut -c1-16)
bin=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-ds/$name-$hash

if [ ! -d "$bin" ]; then
	echo "building the $name tools into $bin (a few minutes the first time)" >&2
	mkdir -p "${bin%/*}"
	# Built aside and renamed, so that a build that is cut short never looks finished, and two at once do no harm.
	tmp=$(mktemp -d "$bin.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	# The nested module alone decides the versions, and no C compiler is asked for.
	GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0 go build -trimpath -tags "$(cat tags 2>/dev/null || true)" -o "$tmp/" tool >&2
	chmod 755 "$tmp"
	[ -d "$bin" ] || mv "$tmp" "$bin"
fi

echo "$bin"
