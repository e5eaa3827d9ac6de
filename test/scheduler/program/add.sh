#!/bin/sh
# Writes versions/VERSION.mod and .sum, with which this program builds that version's controller.
#
#   ./add.sh v1.30.14
#   ./add.sh v1.28.14 v0.28.15
#
# k8s.io/kubernetes names its staging modules v0.0.0 and replaces them with folders of its own repository, so each gets
# the version that it was published as, or that of a neighbour where it cannot be fetched.
set -eu
cd "$(dirname "$0")"
version=${1:?usage: add.sh v1.MINOR.PATCH [v0.MINOR.PATCH]}
staging=${2:-v0.${version#v1.}}
file=versions/$version.mod

upstream=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)",*/\1/p')
{
	printf 'module github.com/kubectl-ds/kubectl-ds/test/scheduler/program\n\ngo 1.26.0\n\n'
	printf 'require (\n\tgithub.com/kubectl-ds/kubectl-ds/test/scheduler/wire v0.0.0\n\tk8s.io/kubernetes %s\n)\n\n' "$version"
	printf 'replace github.com/kubectl-ds/kubectl-ds/test/scheduler/wire => ../wire\n\n'
	if grep -q 'vbom.ml/util' "$upstream"; then
		printf '// Gone from where it was; nothing here needs it.\nreplace vbom.ml/util => ./versions/empty\n\n'
	fi
	printf 'replace (\n'
	# newer versions only list them, older ones replace them with folders
	sed -n 's/^[[:space:]]*\(k8s.io\/[a-z-]*\) \(v0.0.0\|=> .\/staging.*\)$/\1/p' "$upstream" | sort -u | while read -r module; do
		printf '\t%s => %s %s\n' "$module" "$module" "$staging"
	done
	printf ')\n'
} >"$file"
rm -f "${file%.mod}.sum"
GOFLAGS=-mod=mod ./build.sh "$version" /dev/null
