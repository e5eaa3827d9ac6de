#!/usr/bin/env bash
# Builds kube-apiserver, kube-controller-manager and kube-scheduler of an older minor version, of which there is a folder
# here, and prints the folder that holds them. Their etcd, kubelets and kubectl are those of build.sh.
#
#   old.sh v1.30
#
# The folder is one in the user's cache that is named after the version. Programs built from the same go.mod, go.sum and
# old.sh are not built again.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
minor=${1:?usage: old.sh v1.MINOR}
[[ -f $here/$minor/go.mod ]] || { echo "error: there is no $here/$minor/go.mod" >&2; exit 1; }
cd "$here/$minor"

sha() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
hash=$(cat go.mod go.sum ../old.sh | sha | cut -c1-16)
bin=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-ds/control-plane-$minor-$hash
mkdir -p "$bin"
stamp=$bin/.built-from

# Two test processes may ask at once: the second waits, then finds the work done.
if command -v flock >/dev/null; then
	exec 9>"$bin/.lock"
	flock 9
fi

if [[ ! -f $stamp ]]; then
	version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
	# Unstamped, the API server calls itself v0.0.0-master: see build.sh.
	flags="-s -w"
	for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		flags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor#v1.} -X $package.gitTreeState=clean"
	done
	echo "building the control plane $version into $bin (4 minutes on 2 cores the first time)" >&2
	GOWORK=off go build -o "$bin/" -ldflags "$flags" tool >&2
	for program in kube-apiserver kube-controller-manager kube-scheduler; do
		[[ -x $bin/$program ]] || { echo "error: $program was not built" >&2; exit 1; }
	done
	touch "$stamp"
fi

echo "$bin"
