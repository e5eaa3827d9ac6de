#!/bin/sh
# Looks at the pages of -o html in chromium, and at the comments of -o markdown: see
# check.mjs. What npm brings is kept in the cache; the pages, their pictures and what they
# look like on paper are left in bin/pages.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD

missing() {
	echo "make browser needs $1" >&2
	exit 1
}
command -v node >/dev/null && command -v npm >/dev/null || missing "node 20 or newer with npm: https://nodejs.org, or apt-get install nodejs npm"
chromium=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome google-chrome-stable; do
	[ -n "$chromium" ] || chromium=$(command -v "$name" || true)
done
[ -n "$chromium" ] || missing "a chromium: apt-get install chromium, or CHROMIUM=/path/of/one"

modules=${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-ds/browser-$(git hash-object test/browser/package-lock.json | cut -c1-16)
if [ ! -d "$modules" ]; then
	mkdir -p "${modules%/*}"
	tmp=$(mktemp -d "$modules.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	cp test/browser/package.json test/browser/package-lock.json "$tmp"
	(cd "$tmp" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	mv "$tmp" "$modules"
fi

go build -o bin/kubectl-ds ./cmd/kubectl-ds
node test/browser/check.mjs "$here/bin/kubectl-ds" "$chromium" "$modules" "$here/bin/pages"
