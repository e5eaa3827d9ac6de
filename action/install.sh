#!/usr/bin/env bash
# Downloads a release, checks it against the release's checksums, and prints the directory that holds kubectl-ds.
#
#   install.sh VERSION DIR    vX.Y.Z, or latest
set -euo pipefail

version=${1:?usage: install.sh VERSION DIR}
dir=${2:?usage: install.sh VERSION DIR}
base=${KUBECTL_DS_RELEASES:-https://github.com/kubectl-ds/kubectl-ds/releases}
if [ "$version" = latest ]; then
	version=$(curl -fsSLI -o /dev/null -w '%{url_effective}' "$base/latest")
	version=${version##*/}
fi
case $(uname -s) in
Linux) os=linux ext=tar.gz ;;
Darwin) os=darwin ext=tar.gz ;;
MINGW* | MSYS* | CYGWIN*) os=windows ext=zip ;;
*) echo "error: there is no release for $(uname -s)" >&2; exit 1 ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "error: there is no release for $(uname -m)" >&2; exit 1 ;;
esac
archive=kubectl-ds_${version}_${os}_$arch.$ext
mkdir -p "$dir"
cd "$dir"
curl -fsSLO "$base/download/$version/$archive"
curl -fsSLO "$base/download/$version/checksums.txt"
sum=$(if command -v sha256sum >/dev/null; then sha256sum "$archive"; else shasum -a 256 "$archive"; fi)
grep -qxF "${sum%% *}  $archive" checksums.txt || { echo "error: $archive is not the file that checksums.txt names" >&2; exit 1; }
case $ext in
zip) unzip -qo "$archive" ;;
*) tar xzf "$archive" ;;
esac
pwd
