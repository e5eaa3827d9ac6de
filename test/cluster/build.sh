#!/usr/bin/env bash
# Builds the pinned control plane (see README.md) and prints the folder that holds it.
#
#   build.sh [BINDIR]
#
# Without BINDIR the folder is $KUBECTL_DS_BIN or, without that either, one in the user's cache that is
# named after the pinned versions. Programs built from the same go.mod, go.sum and build.sh are not built again.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here"

sha() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
hash=$(cat go.mod go.sum build.sh | sha | cut -c1-16)
bin=${1:-${KUBECTL_DS_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-ds/control-plane-$hash}}
mkdir -p "$bin"
bin=$(cd "$bin" && pwd)
stamp=$bin/.built-from

# Two test processes may ask at once: the second waits, then finds the work done.
if command -v flock >/dev/null; then
	exec 9>"$bin/.lock"
	flock 9
fi

if [[ ! -f $stamp || $(<"$stamp") != "$hash" ]]; then
	# Taken away first, so that a build that is cut short never looks finished.
	rm -f "$stamp"
	version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
	IFS=. read -r major minor _ <<<"${version#v}"
	# The programs take their version from the linker. Unstamped, the API server calls itself v0.0.0-master, which
	# misleads a client that chooses its rules by the version, and kubectl's user agent says v0.0.0.
	flags="-s -w"
	for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		flags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
		flags+=" -X $package.gitTreeState=clean"
	done
	echo "building the control plane $version into $bin (5 minutes on 2 cores the first time)" >&2
	GOWORK=off go build -o "$bin/" -ldflags "$flags" tool >&2
	# go build names etcd's program after its import path's last element.
	for program in server kube-apiserver kube-controller-manager kube-scheduler kubectl kwok; do
		[[ -x $bin/$program ]] || { echo "error: $program was not built" >&2; exit 1; }
	done
	echo "$hash" >"$stamp"
fi

echo "$bin"
