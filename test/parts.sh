# Sourced by the scripts of make targets that have several parts. Variables come from the command line of make, which
# exports them; "make help" describes them.
#
# shellcheck shell=sh disable=SC2154
fail() { echo "error: $*" >&2; exit 1; }

# takes NAME... fails if a variable that is not named is set: among those in $variables, which only some parts use.
takes() {
	for name in $variables; do
		case " $* " in *" $name "*) continue ;; esac
		eval "value=\${$name-}"
		[ -z "$value" ] || fail "$name has no effect with ${ONLY:+ONLY=}${ONLY:-all parts}; see make help"
	done
}
