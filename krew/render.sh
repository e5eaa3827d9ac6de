#!/bin/sh
# Fills the krew manifests from what goreleaser left in dist/: krew/ds.yaml, of the project's own index, and .krew.yaml,
# which krew-release-bot fills for the central index (there a resource's short name may be refused, so the name is the
# long one). Writes dist/ds.yaml and dist/daemonset-rollout.yaml, and fails if they differ in more than the name.
#
#   krew/render.sh             an archive that is missing is an error
#   krew/render.sh --partial   it gets a checksum of zeros, which krew refuses to install
set -eu
cd "$(dirname "$0")/.."

case ${1-} in
'') partial= ;;
--partial) partial=yes ;;
*) echo "usage: krew/render.sh [--partial]" >&2; exit 2 ;;
esac

version=v$(sed -n 's/.*"version":"\([^"]*\)".*/\1/p' dist/metadata.json)
[ "$version" != v ] || { echo "error: dist/metadata.json names no version" >&2; exit 1; }

# Each line of checksums.txt, "SUM  kubectl-ds_VERSION_OS_ARCH.EXT", becomes one substitution.
# The file name must be the one that the manifest will ask for, so it is compared and not only cut up.
set -- -e "s|@VERSION@|$version|g"
while read -r sum file; do
	[ "${file%.spdx.json}" = "$file" ] || continue # of no platform
	platform=${file#"kubectl-ds_${version}_"}
	platform=${platform%.tar.gz}
	platform=${platform%.zip}
	grep -q "kubectl-ds_@VERSION@_${file#"kubectl-ds_${version}_"}\$" krew/ds.yaml ||
		{ echo "error: krew/ds.yaml has no place for dist/$file" >&2; exit 1; }
	set -- "$@" -e "s|@SHA256:$platform@|$sum|"
done <dist/checksums.txt
[ -z "$partial" ] || set -- "$@" -e "s|@SHA256:[a-z0-9_]*@|$(printf '%064d' 0)|"

# fill fills standard input into a manifest. The comments of a template speak about the template.
fill() {
	out=$1
	shift
	sed -e '/^#/d' "$@" >"$out"
	if grep '@\|{{' "$out" >&2; then
		echo "error: no archive in dist/ for the lines above" >&2
		rm "$out"
		exit 1
	fi
}
fill dist/ds.yaml "$@" <krew/ds.yaml
# What krew-release-bot writes for addURIAndSha, with the checksum of dist/ and not of a download.
sed -e 's|{{addURIAndSha "\(.*\)" .TagName }}|uri: \1\
    sha256: "@SHA256:\1@"|' .krew.yaml |
	sed -e '/@SHA256:/s|@.*_\([a-z]*_[a-z0-9]*\)\.[a-z.]*@|@SHA256:\1@|' -e 's|{{ \.TagName }}|@VERSION@|g' >dist/long.yaml
fill dist/daemonset-rollout.yaml "$@" <dist/long.yaml
rm dist/long.yaml
sed 's/^  name: daemonset-rollout$/  name: ds/' dist/daemonset-rollout.yaml | cmp - dist/ds.yaml >&2 ||
	{ echo "error: .krew.yaml and krew/ds.yaml differ in more than the name" >&2; exit 1; }
