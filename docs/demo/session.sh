#!/bin/sh
# What is typed in the recorded session, docs/demo/session.cast. `make examples DEMO=1` records it on a real
# control plane.
set -eu

# typed shows a command as a person types it, then runs it.
typed() {
	printf '\033[1;32m$\033[0m '
	words=$*
	while [ -n "$words" ]; do
		rest=${words#?}
		printf '%s' "${words%"$rest"}"
		words=$rest
		sleep 0.03
	done
	echo
	sleep 0.4
	sh -c "$*"
	sleep "${pause:-4}"
}

typed kubectl rollout status -n kube-system daemonset/node-agent --timeout=3s "|| true"
typed kubectl ds
pause=8 typed kubectl ds explain -n kube-system node-agent
typed kubectl ds plan-rollout -n kube-system node-agent --max-unavailable=6
typed kubectl ds history -n kube-system node-agent
