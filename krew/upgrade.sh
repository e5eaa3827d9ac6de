#!/bin/sh
# Shows what a user of krew meets: from an empty KREW_ROOT, the project's own index is added, v0.0.1 installed and run,
# v0.0.2 found and upgraded to, the plugin also installed by its long name, and all uninstalled, each by the real krew.
#
#   krew/upgrade.sh
#
# The two versions are tags in a throw-away clone, so goreleaser releases them as it would (but publishes nothing); the
# index is a git repository beside it; the archives come from the loopback interface. Needs Go and git.
set -eu
cd "$(dirname "$0")/.."

fail() { echo "error: $*" >&2; exit 1; }

repo=$PWD
tools=$(tools/build.sh release)
kubectl=${KUBECTL:-$(test/cluster/build.sh)/kubectl}
host=$(go env GOHOSTOS)_$(go env GOHOSTARCH)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Nothing of this machine's git configuration, and no proxy, decides what happens.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=4
export GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=release GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=release@example.org
export GIT_CONFIG_KEY_2=init.defaultBranch GIT_CONFIG_VALUE_2=main GIT_CONFIG_KEY_3=protocol.file.allow GIT_CONFIG_VALUE_3=always
unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY all_proxy || true

go build -o "$work/serve" ./krew/serve
mkdir -p "$work/downloads" "$work/index/plugins"
"$work/serve" "$work/downloads" >"$work/address" &
server=$!
until [ -s "$work/address" ]; do kill -0 "$server" || fail "the server of the archives ended"; done
address=$(cat "$work/address")

git clone --quiet --no-hardlinks "$repo" "$work/clone"
git -C "$work/clone" remote set-url origin https://github.com/kubectl-ds/kubectl-ds
git init --quiet "$work/index"

# release VERSION makes the release of a tag, of this machine's platform, and puts it into the index.
release() {
	git -C "$work/clone" commit --quiet --allow-empty -m "release $1"
	git -C "$work/clone" tag "$1"
	(
		cd "$work/clone"
		sed "/^ *- [a-z]*_a[a-z]*64\$/{
			/- $host\$/!d
		}" .goreleaser.yaml >"$work/goreleaser.yaml"
		"$tools/goreleaser" release --clean --skip=publish,announce,sbom,sign --config "$work/goreleaser.yaml"
		krew/render.sh --partial
	) >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "no release of $1"; }
	mkdir -p "$work/downloads/$1"
	find "$work/clone/dist" -maxdepth 1 -type f -name "kubectl-ds_*" -exec cp {} "$work/downloads/$1/" \;
	for name in ds daemonset-rollout; do
		sed "s|https://github.com/kubectl-ds/kubectl-ds/releases/download|$address|" "$work/clone/dist/$name.yaml" >"$work/index/plugins/$name.yaml"
	done
	git -C "$work/index" add plugins
	git -C "$work/index" commit --quiet -m "$1"
}

root=$work/root
krew() {
	HOME=$root/home KREW_ROOT=$root KREW_NO_UPGRADE_CHECK=1 PATH=$root/bin:$PATH "$tools/krew" "$@" </dev/null >"$work/log" 2>&1 ||
		{ cat "$work/log" >&2; fail "krew $*"; }
}
# says WORDS COMMAND... fails unless kubectl's answer to the command has the words.
says() {
	words=$1
	shift
	answer=$(HOME=$root/home KUBECONFIG=/dev/null PATH=$root/bin:$PATH "$kubectl" "$@" </dev/null 2>&1) || fail "kubectl $*: $answer"
	case $answer in
	*"$words"*) echo "kubectl $*: $words" ;;
	*) fail "kubectl $* does not say \"$words\": $answer" ;;
	esac
}

mkdir -p "$root/home" "$work/path"
release v0.0.1
# The commands of the README, as kubectl runs them, with this index in the place of the one that they name.
ln -s "$tools/krew" "$work/path/kubectl-krew"
ln -s "$kubectl" "$work/path/kubectl"
sed -n 's/^    \(kubectl krew .*\)$/\1/p' README.md >"$work/readme"
grep -q "krew install kubectl-ds/ds" "$work/readme" || fail "README.md does not say how to install with krew"
sed "s|https://github.com/kubectl-ds/krew-index|file://$work/index|" "$work/readme" >"$work/commands"
HOME=$root/home KREW_ROOT=$root KREW_NO_UPGRADE_CHECK=1 PATH=$work/path:$root/bin:$PATH sh -e "$work/commands" </dev/null >"$work/log" 2>&1 ||
	{ cat "$work/log" >&2; fail "the commands of README.md"; }
sed 's/^/README.md: /' "$work/readme"
says "kubectl-ds v0.0.1" ds version
says "STUCK" ds explain fluent-bit --from examples/crash-loop.json

release v0.0.2
krew update
krew upgrade ds
says "kubectl-ds v0.0.2" ds version

krew install kubectl-ds/daemonset-rollout
says "kubectl daemonset-rollout explain" daemonset-rollout --help
krew list
for name in ds daemonset-rollout; do
	grep -qx "kubectl-ds/$name" "$work/log" || { cat "$work/log" >&2; fail "krew does not list $name"; }
done
krew uninstall ds
krew uninstall daemonset-rollout
left=$(find "$root/bin" "$root/store" "$root/receipts" -mindepth 1 ! -name 'krew*' ! -path '*/krew/*')
[ -z "$left" ] || fail "krew uninstall left $left"
echo "installed, upgraded and uninstalled by krew"
