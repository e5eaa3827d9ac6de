#!/bin/sh
# Fills krew/ds.yaml from what goreleaser left in dist/, and writes dist/ds.yaml.
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
	platform=${file#"kubectl-ds_${version}_"}
	platform=${platform%.tar.gz}
	platform=${platform%.zip}
	grep -q "kubectl-ds_@VERSION@_${file#"kubectl-ds_${version}_"}\$" krew/ds.yaml ||
		{ echo "error: krew/ds.yaml has no place for dist/$file" >&2; exit 1; }
	set -- "$@" -e "s|@SHA256:$platform@|$sum|"
done <dist/checksums.txt
[ -z "$partial" ] || set -- "$@" -e "s|@SHA256:[a-z0-9_]*@|$(printf '%064d' 0)|"

# The first two lines of the template speak about the template.
sed -e '/^#/d' "$@" krew/ds.yaml >dist/ds.yaml
if grep '@' dist/ds.yaml >&2; then
	echo "error: no archive in dist/ for the lines above" >&2
	rm dist/ds.yaml
	exit 1
fi
