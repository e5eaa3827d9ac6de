#!/bin/sh
# Shows that this tree can be installed: goreleaser builds a snapshot, the manifest is filled in from it, krew
# installs each archive into an empty KREW_ROOT, and kubectl runs what was installed.
#
#   krew/chain.sh                    all six platforms
#   SINGLE_TARGET=1 krew/chain.sh    this machine's only, which is several times quicker
#   BUILT=1 krew/chain.sh            those of the snapshot that is in dist/ already
#
# KUBECTL names the kubectl to use; without it, the control plane's of test/cluster is built and used.
# Needs Go, git with at least one commit, and the module proxy or a filled module cache. Leaves dist/ and caches.
set -eu
cd "$(dirname "$0")/.."

fail() { echo "error: $*" >&2; exit 1; }

# Where git does not tell it everything, goreleaser builds a snapshot all the same: of commit "none", in the year 1.
# Without a commit that is an error; without a remote, it is told one, which it only writes down.
git rev-parse --quiet --verify HEAD >/dev/null || fail "the snapshot is named after a commit, and there is none here"
if ! git ls-remote --get-url >/dev/null 2>&1; then
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url
	export GIT_CONFIG_VALUE_0=https://github.com/kubectl-ds/kubectl-ds
fi

tools=$(tools/build.sh release)
kubectl=${KUBECTL:-$(test/cluster/build.sh)/kubectl}
host=$(go env GOHOSTOS)_$(go env GOHOSTARCH)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

config=.goreleaser.yaml
partial=
if [ -n "${SINGLE_TARGET-}" ]; then
	# goreleaser's own --single-target stops before the archives.
	config=$work/goreleaser.yaml
	partial=--partial
	sed "/^ *- [a-z]*_a[a-z]*64\$/{
		/- $host\$/!d
	}" .goreleaser.yaml >"$config"
fi

"$tools/goreleaser" check --quiet .goreleaser.yaml
[ -n "${BUILT-}" ] || "$tools/goreleaser" release --snapshot --clean --skip=sbom,sign --config "$config"
krew/render.sh ${partial:+"$partial"}

# The check of krew-index. Its second half downloads, which an unpublished version cannot; the loop below stands in.
"$tools/validate-krew-manifest" -manifest dist/ds.yaml -skip-install
"$tools/validate-krew-manifest" -manifest dist/daemonset-rollout.yaml -skip-install

version=$(sed -n 's/^  version: "\(.*\)"/\1/p' dist/ds.yaml)
while read -r _ file; do
	[ "${file%.spdx.json}" = "$file" ] || continue
	platform=${file#"kubectl-ds_${version}_"}
	platform=${platform%%.*}
	os=${platform%_*}
	arch=${platform#*_}

	# A root and a home of its own for each, so that nothing of this machine helps or is touched.
	root=$work/$platform
	mkdir -p "$root/home"
	HOME=$root/home KREW_ROOT=$root KREW_OS=$os KREW_ARCH=$arch KREW_NO_UPGRADE_CHECK=1 PATH=$root/bin:$PATH \
		"$tools/krew" install --manifest=dist/ds.yaml --archive="dist/$file" </dev/null >"$work/log" 2>&1 ||
		{ cat "$work/log" >&2; fail "krew did not install dist/$file"; }

	exe=
	[ "$os" != windows ] || exe=.exe
	# krew-index asks for the license, krew for the link, and the program must be the platform's, whatever the file's name.
	[ -f "$root/store/ds/$version/LICENSE" ] || fail "dist/$file holds no LICENSE"
	go version -m "$root/bin/kubectl-ds$exe" >"$work/log"
	for setting in "GOOS=$os" "GOARCH=$arch"; do
		grep -q "$setting\$" "$work/log" || fail "the program in dist/$file was not built with $setting"
	done
	echo "krew installed dist/$file"
done <dist/checksums.txt

[ -x "$work/$host/bin/kubectl-ds" ] || fail "no archive for this machine, $host"
answer=$(HOME=$work/$host/home KUBECONFIG=/dev/null PATH=$work/$host/bin:$PATH "$kubectl" ds version </dev/null)
case $answer in
*"$version"*) echo "kubectl ds version: $answer" ;;
*) fail "\"kubectl ds version\" answers \"$answer\" and not $version" ;;
esac
