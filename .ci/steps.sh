# Sourced by run, soak and release-check: steps, and at the end a table of what took how long.

# The steps choose their own parts, seeds and numbers of cases: a variable that was given to make check or make soak must
# not reach the make of a step. LAW_CASES and other variables of the tests do reach it.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES ONLY SEED CASES VERSIONS SIZE CLUSTER REAL_MANIFESTS QUICK STAGE DEMO ARGS

began=$SECONDS
table=()
finish() {
	status=$?
	printf '\n%-28s %s\n' step seconds
	[ ${#table[@]} = 0 ] || printf '%s\n' "${table[@]}"
	printf '%-28s %6d\n' total $((SECONDS - began))
	exit $status
}
trap finish EXIT

# step NAME COMMAND... runs a command, and keeps how long it took.
step() {
	local name=$1 start=$SECONDS status=0
	shift
	echo "== $name: $*"
	"$@" || status=$?
	table+=("$(printf '%-28s %6d%s' "$name" $((SECONDS - start)) "$([ $status = 0 ] || echo "  failed")")")
	return $status
}
