// The tests of this package run every command on damaged input: mistyped, cut off, or full of
// control codes.
//
// Each case has a base (a recorded cluster, or a random state of internal/dstest), a form (such as
// a List, a YAML stream, a folder, an archive or a collector's files), mutations, and a command
// line for cli.Main. A seed and the number of the case determine all of these.
//
// The tests check for every case that
//
//   - nothing panics, and the exit status is documented
//   - no raw control code, invisible mark or invalid UTF-8 reaches standard output or error
//   - no literal value of an environment variable is printed without --show-values; each value is
//     a unique word of 16 characters
//   - a structural mutation (of a kind, an apiVersion, the nesting or a type, or by a cut or a
//     copy) keeps all numbers, or an error, a note or a gap reports it; after an error,
//     --keep-going gives an answer with a note or a gap for each changed number
//   - a snapshot of the input gives the same explanation as the input
//
// "go test ./..." runs thirty cases of one seed; "make test ONLY=hostile" runs 10,000:
//
//	HOSTILE_CASES=10000 HOSTILE_SEED=7 go test -count=1 -timeout 1h -run Hostile ./internal/cli
//	HOSTILE_STRUCTURAL=1 HOSTILE_CASES=100000 HOSTILE_SEED=7 go test -count=1 -timeout 3h -run Hostile ./internal/cli
//	HOSTILE_SEED=7 HOSTILE_ONLY=1234 go test -count=1 -v -run Hostile ./internal/cli
//
// A failure prints the seed, the number, the mutations and the command line, and keeps the input in
// a folder. If the process crashes, running.txt in that folder describes the current case.
package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// settings are the parameters of a run.
type settings struct {
	seed       uint64
	cases      int
	only       int  // the number of a single case, or -1 for all cases
	structural bool // only mutations that keep the meaning
}

func settingsOf(t *testing.T) settings {
	s := settings{seed: 1, cases: cases.Of(30), only: -1}
	for name, set := range map[string]func(uint64){
		"HOSTILE_SEED":       func(n uint64) { s.seed = n },
		"HOSTILE_CASES":      func(n uint64) { s.cases = int(n) },
		"HOSTILE_ONLY":       func(n uint64) { s.only = int(n) },
		"HOSTILE_STRUCTURAL": func(n uint64) { s.structural = n > 0 },
	} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		set(n)
	}
	return s
}

// isolate isolates the process from other clusters, kubeconfigs and terminals.
func isolate(t *testing.T, folder string) {
	t.Setenv("KUBECONFIG", filepath.Join(folder, "none"))
	t.Setenv("HOME", folder)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("COLUMNS", "")
}

// TestHostile runs the cases of one seed.
func TestHostile(t *testing.T) {
	s := settingsOf(t)
	folder, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		t.Fatal(err)
	}
	isolate(t, folder)
	t.Log("inputs are in", folder)
	seen := map[string]int{}
	failed, structural := 0, 0
	for i := range s.cases {
		if s.only >= 0 {
			i = s.only
		}
		at := filepath.Join(folder, strconv.Itoa(i))
		tried, compared, faults := try(t, s, i, at)
		if compared {
			structural++
		}
		if len(faults) > 0 {
			failed++
			kind, _, _ := strings.Cut(strings.Split(faults[0], `"`)[0], ":")
			if seen[kind]++; seen[kind] <= 10 {
				t.Errorf("HOSTILE_SEED=%d HOSTILE_ONLY=%d\n%s\ninput: %s\n%s", s.seed, i, tried, at, strings.Join(faults, "\n"))
			}
		} else if s.only < 0 {
			_ = os.RemoveAll(at)
		}
		if s.only >= 0 {
			t.Log(tried)
			break
		}
	}
	t.Logf("%d cases, %d of them changed no meaning", s.cases, structural)
	if failed > 0 {
		t.Errorf("%d of %d cases failed:", failed, s.cases)
		for kind, n := range seen {
			t.Logf("%6d  %s", n, kind)
		}
		return
	}
	if s.only < 0 {
		_ = os.RemoveAll(folder)
	}
}

// try builds and runs the case with this number.
func try(t *testing.T, s settings, number int, folder string) (tried string, compared bool, faults []string) {
	r := rand.New(rand.NewPCG(s.seed, uint64(number)))
	b := bases()[r.IntN(len(bases()))]
	in := mutate(b, r, s.structural)
	f := in.serialize(pick(r, forms), r)
	f.damaged(r, s.structural)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	flags, stdin := f.put(folder)
	args := command(in, r, folder, flags, f.stdin)
	t.Setenv("COLUMNS", pick(r, []string{"", "", "80", "20", "1", "200"}))
	tried = fmt.Sprintf("%s, %s: %s\nkubectl-ds %q", b.title, f.form, strings.Join(f.did, "; "), args)
	_ = os.WriteFile(filepath.Join(filepath.Dir(folder), "running.txt"), []byte(fmt.Sprintf("HOSTILE_SEED=%d HOSTILE_ONLY=%d\n%s\n", s.seed, number, tried)), 0o600)

	if len(args) == 0 {
		args = []string{"version"}
	}
	faults = judge(run(args, stdin), in.secrets)
	if !f.value {
		about := slices.Concat([]string{"explain", "-n", in.namespace, in.name, "-o", "json", "--now", clock}, flags)
		damaged := run(about, stdin)
		faults = append(faults, judge(damaged, in.secrets)...)
		if d := different(whole(b), damaged, f); d != "" {
			faults = append(faults, d)
		}
		if f.inLog && damaged.status == 0 && !strings.Contains(damaged.errs, "may be cut off") {
			faults = append(faults, "a cut inside a log without a word about it: "+damaged.errs)
		}
		if damaged.status != 0 {
			kept := run(append(about, "--keep-going"), stdin)
			faults = append(faults, judge(kept, in.secrets)...)
			if d := keepsGoing(whole(b), kept, f); d != "" {
				faults = append(faults, d)
			}
		}
	}
	if r.IntN(4) == 0 && !f.stdin { // printed commands do not repeat standard input
		wrote, fault := roundTrip(folder, flags, stdin, f)
		faults = append(faults, judge(wrote, in.secrets)...)
		if fault != "" {
			faults = append(faults, fault)
		}
	}
	return tried, !f.value && len(f.did) > 0, faults
}
