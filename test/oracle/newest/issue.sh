#!/bin/sh
# Makes an issue of a report of newest, with the first line as its title. An open issue of that title gets the report as
# its new text; a closed one stays as it is, for somebody has looked at it.
#
#   GH_TOKEN=… GH_REPO=OWNER/NAME issue.sh REPORT
set -eu
report=${1:?usage: issue.sh REPORT}
TITLE=$(sed -n '1s/^# //p' "$report")
export TITLE
[ -n "$TITLE" ] || { echo "error: $report does not begin with a title" >&2; exit 1; }
body=$(mktemp)
trap 'rm -f "$body"' EXIT
sed '1d' "$report" >"$body"
found=$(gh issue list --state all --limit 100 --search "in:title \"$TITLE\"" --json number,title,state \
	--jq '[.[] | select(.title == env.TITLE)] | sort_by(.state == "CLOSED") | .[0] // empty | "\(.state) \(.number)"')
case $found in
"") gh issue create --title "$TITLE" --body-file "$body" ;;
OPEN*) gh issue edit "${found#OPEN }" --body-file "$body" ;;
*) echo "issue ${found#CLOSED } of this title is closed: it stays so" ;;
esac
