#!/usr/bin/env bash
# Plans what manifests would do, for a pull request: writes the whole answer for a job summary and a comment that fits
# into one, and exits as plan-rollout does: 0 answered, 1 an error, 6 a condition of --fail-on holds.
#
#   plan.sh OUT [FLAG...]    the flags are plan-rollout's: -f DIR --from snapshot.json --fail-on 'stalls,lostNodes>0'
#
# OUT/summary.md is the whole answer, OUT/comment.md the same, or as much of it as fits. The environment:
#
#   KUBECTL_DS     the program; kubectl-ds of the PATH if it is not set
#   CHART          a directory with a Helm chart, which is rendered and planned as well; HELM_ARGS are its flags
#   SUMMARY_URL    where a reader of the comment finds the whole answer
#   MARKER         a word that tells this comment from others on the same pull request
set -euo pipefail

out=${1:?usage: plan.sh OUT [FLAG...]}
shift
mkdir -p "$out"
program=${KUBECTL_DS:-kubectl-ds}
most=65000 # of the 65,536 characters that GitHub takes; GitLab takes more

if [ -n "${CHART-}" ]; then
	# shellcheck disable=SC2086 # several flags
	helm template "$(basename "$CHART")" "$CHART" ${HELM_ARGS-} >"$out/rendered.yaml"
	set -- -f "$out/rendered.yaml" "$@"
fi

status=0
"$program" plan-rollout -o markdown "$@" >"$out/plan.md" 2>"$out/notes.txt" || status=$?

# fenced writes standard input between fences longer than any in it.
fenced() {
	local text fence='```'
	text=$(cat)
	while [[ $text == *"$fence"* ]]; do fence+='`'; done
	printf '%s\n%s\n%s\n' "$fence" "$text" "$fence"
}

# age says how old the state is that the answer was made from, where it is a file's.
age() {
	local at then days
	[[ " $* " == *" --from"* ]] || return 0
	at=$(sed -n -e 's/<!-- -->//g' -e 's/^.*state.* \([0-9-]*T[0-9:]*Z\);.*$/\1/p' "$out/plan.md" | tail -n 1)
	[ -n "$at" ] || return 0
	then=$(date -u -d "$at" +%s 2>/dev/null || date -ju -f %Y-%m-%dT%H:%M:%SZ "$at" +%s 2>/dev/null) || return 0
	days=$((($(date +%s) - then) / 86400))
	case $days in
	0) echo "From a snapshot of today ($at)." ;;
	1) echo "From a snapshot of yesterday ($at)." ;;
	*) echo "From a snapshot that is $days days old ($at): what changed in the cluster since is not in it." ;;
	esac
	echo
}

{
	echo "<!-- kubectl-ds ${MARKER-} -->"
	age "$@"
	case $status in
	0) ;;
	6) printf '**The check fails:** a condition of `--fail-on` holds.\n\n' ;;
	*) printf '**The check fails:** there is no whole answer.\n\n' ;;
	esac
	cat "$out/plan.md"
	if [ -s "$out/notes.txt" ]; then
		if [ "$status" = 0 ]; then printf '\n<details><summary>Notes</summary>\n\n'; else printf '\n'; fi
		fenced <"$out/notes.txt"
		[ "$status" != 0 ] || printf '\n</details>\n'
	fi
} >"$out/summary.md"

# What is too long for a comment is cut between lines, and closed again.
if [ "$(wc -m <"$out/summary.md")" -le $most ]; then
	cp "$out/summary.md" "$out/comment.md"
else
	where="the job's summary"
	[ -z "${SUMMARY_URL-}" ] || where="[the job's summary]($SUMMARY_URL)"
	LC_ALL=C.UTF-8 awk -v most=$((most - 1000)) -v where="$where" '
		{ length_ += length($0) + 1 }
		length_ > most { exit }
		{ print }
		/^```+/ && fence == "" { match($0, /^`+/); fence = substr($0, 1, RLENGTH); next }
		fence != "" && $0 == fence { fence = ""; next }
		fence == "" && /<details>/ { open++ }
		fence == "" && /<\/details>/ { open-- }
		END {
			if (fence != "") print fence
			while (open-- > 0) print "\n</details>"
			print "\n**This comment is cut: the whole answer is in " where ".**"
		}' "$out/summary.md" >"$out/comment.md"
fi
exit $status
