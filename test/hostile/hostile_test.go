package hostile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// settings is what is run.
type settings struct {
	seed  uint64
	cases int
	only  int // the number of one case; -1: all of them
}

func settingsOf(t *testing.T) settings {
	s := settings{seed: 1, cases: cases.Of(30), only: -1}
	for name, set := range map[string]func(uint64){
		"HOSTILE_SEED":  func(n uint64) { s.seed = n },
		"HOSTILE_CASES": func(n uint64) { s.cases = int(n) },
		"HOSTILE_ONLY":  func(n uint64) { s.only = int(n) },
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

// alone makes the process one that no other cluster, kubeconfig or terminal is
// near to.
func alone(t *testing.T, folder string) {
	t.Setenv("KUBECONFIG", filepath.Join(folder, "none"))
	t.Setenv("HOME", folder)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("COLUMNS", "")
}

// TestCases runs cases, the same for the same seed.
func TestCases(t *testing.T) {
	s := settingsOf(t)
	folder, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		t.Fatal(err)
	}
	alone(t, folder)
	t.Log("inputs are in", folder)
	seen := map[string]int{}
	failed := 0
	for i := range s.cases {
		if s.only >= 0 {
			i = s.only
		}
		at := filepath.Join(folder, strconv.Itoa(i))
		tried, faults := try(t, s.seed, i, at)
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

// try makes the case of this number and runs it.
func try(t *testing.T, seed uint64, number int, folder string) (tried string, faults []string) {
	r := rand.New(rand.NewPCG(seed, uint64(number)))
	b := bases()[r.IntN(len(bases()))]
	in := mutate(b, r)
	f := in.serialize(pick(r, forms), r)
	f.damaged(r)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	flags, stdin := f.put(folder)
	args := command(in, r, folder, flags, f.stdin)
	t.Setenv("COLUMNS", pick(r, []string{"", "", "80", "20", "1", "200"}))
	tried = fmt.Sprintf("%s, %s: %s\nkubectl-ds %q", b.title, f.form, strings.Join(f.did, "; "), args)
	_ = os.WriteFile(filepath.Join(filepath.Dir(folder), "running.txt"), []byte(fmt.Sprintf("HOSTILE_SEED=%d HOSTILE_ONLY=%d\n%s\n", seed, number, tried)), 0o600)

	if len(args) == 0 {
		args = []string{"version"}
	}
	faults = judge(run(args, stdin), in.secrets)
	if !f.value {
		damaged := run(append([]string{"explain", "-n", in.namespace, in.name, "-o", "json", "--now", clock}, flags...), stdin)
		faults = append(faults, judge(damaged, in.secrets)...)
		if d := different(whole(b), damaged); d != "" {
			faults = append(faults, d)
		}
	}
	if r.IntN(4) == 0 && !f.stdin { // a suggestion names no standard input
		wrote, fault := roundTrip(folder, flags, stdin, f)
		faults = append(faults, judge(wrote, in.secrets)...)
		if fault != "" {
			faults = append(faults, fault)
		}
	}
	return tried, faults
}
