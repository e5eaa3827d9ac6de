#!/usr/bin/env bash
# Writes a comment on a pull request, or updates the one that it wrote before.
#
#   comment.sh FILE    needs gh, jq, GH_TOKEN, REPOSITORY (owner/name) and PULL (a number)
#
# The comment is known by the first line of FILE, and by its author: nobody else's is touched.
set -euo pipefail

file=${1:?usage: comment.sh FILE}
marker=$(head -n 1 "$file")
found=$(gh api --paginate "repos/$REPOSITORY/issues/$PULL/comments" |
	jq -r --arg marker "$marker" '.[] | select(.user.login == "github-actions[bot]" and (.body | startswith($marker))) | .id' | sed -n 1p)
if [ -n "$found" ]; then
	gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$found" --field body=@"$file"
else
	gh api --silent --method POST "repos/$REPOSITORY/issues/$PULL/comments" --field body=@"$file"
fi
