// Package hostile runs every command on input that nobody writes on purpose:
// damaged, mistyped, cut off, full of control codes. There is nothing in it but
// tests.
//
// A case is a base (a recorded cluster, or a random state of internal/dstest),
// a form (a List, a YAML stream, typed lists, a folder, what jq -s writes, …),
// mutations, and a command line, which cli.Main runs in this process. All of it
// follows from a seed and the case's number.
//
// Of every case it is asked that
//
//   - nothing panics, and the exit status is one that is documented
//   - no raw control code, no invisible mark and no invalid UTF-8 reaches
//     standard output or standard error
//   - no literal value of an environment variable does, without --show-values;
//     each is a word of 16 characters that stands nowhere else
//   - a structural mutation (of a kind, an apiVersion, the nesting, a type, by a
//     cut or a copy), which changes no meaning, changes no number either, or
//     there is an error, a note or a gap about it
//   - a snapshot that was written of the input gives the same explanation
//
// "go test ./..." runs a few hundred cases of one seed; "make hostile" runs
// 10,000:
//
//	HOSTILE_CASES=10000 HOSTILE_SEED=7 go test -count=1 -timeout 1h ./test/hostile
//	HOSTILE_SEED=7 HOSTILE_ONLY=1234 go test -count=1 -v ./test/hostile
//
// A failure says the seed and the number, the mutations and the command line,
// and leaves the input in a folder. The case that is running stands in
// running.txt of that folder, should the whole process crash.
package hostile
