#!/bin/sh
# Runs the end-to-end tests, or the part that ONLY selects. "make help" describes the variables.
set -eu
cd "$(dirname "$0")/.."
. test/parts.sh
variables="REAL_MANIFESTS CASES SEED FAULTS_RUN"

# The tests that hold for a control plane of any version.
any='Stage|PlanComesTrue|Examples|ServerLacks|ServiceAccount|TimesOfWrites|RightsAndRequests|Watch|KubectlApply|Verdicts'
any="$any|UndoPreview|History|HistoryCounts|Fit|AdmissionPasses|Forecasts"
parallel=${E2E_PARALLEL:-5}

# tests TIMEOUT ARGUMENT... runs go test on the newest control plane, or on each one of CLUSTER in turn.
tests() {
	test/cluster/build.sh >/dev/null
	if [ -z "${CLUSTER-}" ]; then
		(cd test/e2e && go test -count=1 -v -timeout "$@")
	fi
	for version in ${CLUSTER-}; do
		test/cluster/old.sh "$version" >/dev/null
		(cd test/e2e && E2E_CLUSTER=$version go test -count=1 -v -timeout "$@")
	done
}

case ${ONLY-} in
'')
	takes REAL_MANIFESTS
	if [ -n "${REAL_MANIFESTS-}" ]; then
		REAL_MANIFESTS=$(cd "$REAL_MANIFESTS" && pwd)
		export REAL_MANIFESTS
		tests 90m -run 'TestRealManifests$' .
	elif [ -n "${CLUSTER-}" ]; then
		tests 45m -parallel "$parallel" -run "^Test($any)\$" .
	else
		tests 45m -parallel "$parallel" ./...
	fi
	;;
admission)
	takes CASES SEED
	export ADMISSION_CASES="${CASES:-${ADMISSION_CASES:-400}}" ADMISSION_SEED="${SEED:-${ADMISSION_SEED:-1}}"
	tests 45m -run TestAdmission .
	;;
fit)
	takes CASES SEED
	export FIT_SCENES="${CASES:-${FIT_SCENES:-60}}" FIT_SEED="${SEED:-${FIT_SEED:-1}}"
	tests 45m -run 'TestFit$' .
	;;
faults)
	takes CASES SEED FAULTS_RUN
	export FAULTS="${CASES:-${FAULTS:-1000}}" FAULTS_SEED="${SEED:-${FAULTS_SEED:-1}}" FAULTS_RUN="${FAULTS_RUN:-0}"
	tests 3h -run 'TestFaults$' .
	;;
collectors)
	takes
	TROUBLESHOOT=$(tools/build.sh troubleshoot)/troubleshoot
	SONOBUOY=$(tools/build.sh sonobuoy)/sonobuoy
	export TROUBLESHOOT SONOBUOY
	tests 30m -run 'TestDumps$' .
	;;
[[:lower:]]*)
	fail "make e2e has no part $ONLY"
	;;
*)
	takes
	tests 45m -parallel "$parallel" -run "^Test($ONLY)\$" .
	;;
esac
