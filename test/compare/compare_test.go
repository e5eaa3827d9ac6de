package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	diffs "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

var (
	base   = flag.String("base", "", "the commit to compare with; without it TestSame is skipped; default is "+defaultBase)
	seed   = flag.Int64("seed", 1, "of the first random state")
	states = flag.Int("states", 500, "how many random states")
	only   = flag.String("only", "", "only inputs whose name matches this regular expression: examples/surge, stories/plan/lost-0, seed-17, cli/explain")
	keep   = flag.String("keep", "", "the folder for builds and inputs; without it they are removed at the end")
)

const root = "../.."

// TestMain lets stories of internal/cli call both builds by the plugin's names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-ds": both, "kubectl_complete-ds": both})
}

// TestSame checks that the working tree and the commit of -base give the same answers, except for
// the permitted differences.
func TestSame(t *testing.T) {
	if *base == "" {
		t.Skip("compares with the binary of another commit: make compare")
	}
	ref := *base
	if ref == "default" {
		ref = defaultBase
	}
	commit, err := exec.Command("git", "-C", root, "rev-parse", "--verify", "--quiet", ref+"^{commit}").Output()
	if err != nil {
		t.Skipf("commit %s is not in this clone: git fetch --unshallow", ref)
	}
	folder := cmp.Or(*keep, t.TempDir())
	folder, err = filepath.Abs(folder)
	check(t, err)
	builds := []string{buildOf(t, strings.TrimSpace(string(commit))), build(t, root, filepath.Join(folder, "new"))}
	pattern := regexp.MustCompile(*only)
	began := time.Now()
	r := &report{needed: map[string]int{}, places: map[string]*place{}}
	ask := make(chan question)
	var wait sync.WaitGroup
	for range runtime.NumCPU() {
		wait.Go(func() {
			for q := range ask {
				var answers [2]answer
				for i, b := range builds {
					answers[i] = answerOf(q, b, folder)
				}
				r.see(q, answers[0], answers[1])
			}
		})
	}
	for _, q := range append(listed(t), questions(inputs(t, folder, *seed, *states))...) {
		if pattern.MatchString(q.about) {
			ask <- q
		}
	}
	close(ask)
	wait.Wait()
	stories(t, builds, pattern, r)
	t.Logf("%d questions in %s, %d of them answered with an error", r.questions, time.Since(began).Round(time.Second), r.errors)
	r.tell(t, *states >= 500 && *only == "")
}

// answerOf runs a build with a minimal environment.
func answerOf(q question, build, home string) answer {
	c := exec.Command(build, q.args...)
	c.Args[0] = "kubectl-ds"
	c.Env = []string{"HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "none"), "COLUMNS=" + q.columns, "PATH=" + os.Getenv("PATH")}
	c.Env = append(c.Env, "GOGC=off", "GOMEMLIMIT=1GiB") // saves a third of the time
	return run(c)
}

func run(c *exec.Cmd) answer {
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return answer{-1, "", err.Error()}
	}
	return answer{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// digest matches digests of literal values in a snapshot. Each snapshot has its own random key.
var digest = regexp.MustCompile(`digest:[0-9a-f]+`)

// utc matches a time in an answer.
var utc = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// tells reports whether an answer contains a time that is not before since.
func tells(a answer, since time.Time) bool {
	return slices.ContainsFunc(utc.FindAllString(a.Out+a.Err, -1), func(text string) bool {
		at, err := time.Parse(time.RFC3339, text)
		return err == nil && !at.Before(since)
	})
}

// undigested returns an answer without what depends on the key.
func undigested(a answer) answer {
	a.Out = digest.ReplaceAllString(a.Out, "digest:")
	return a
}

// stories runs the stories of internal/cli with both builds. It skips those with a silent server,
// which accepts only one connection and waits, and those that create a file, which the second build
// would find.
func stories(t *testing.T, builds []string, pattern *regexp.Regexp, r *report) {
	cluster, err := os.ReadFile(filepath.Join(root, "internal/cli/testdata/cluster.yaml"))
	check(t, err)
	var scripts []string
	for _, file := range glob(t, "internal/cli/testdata/*.txtar") {
		story, err := os.ReadFile(file)
		check(t, err)
		if pattern.MatchString("cli/"+strings.TrimSuffix(filepath.Base(file), ".txtar")) && !bytes.Contains(story, []byte("$SILENT")) && !bytes.Contains(story, []byte("--redact-map")) {
			scripts = append(scripts, file)
		}
	}
	if len(scripts) == 0 {
		return
	}
	heard := filepath.Join(t.TempDir(), "heard")
	t.Run("cli", func(t *testing.T) {
		testscript.RunT(quiet{t}, testscript.Params{
			Files: scripts,
			Setup: func(e *testscript.Env) error {
				for k, v := range map[string]string{
					"KUBECONFIG": filepath.Join(e.WorkDir, "none"), "NOW": "--now=2026-11-20T12:00:00Z", "RULES": "--kubernetes-version=v1.37.1",
					"CLOSED": "http://127.0.0.1:1", "GOGC": "off", "BUILDS": strings.Join(builds, "\n"), "HEARD": heard,
				} {
					e.Setenv(k, v)
				}
				return os.WriteFile(filepath.Join(e.WorkDir, "cluster.yaml"), cluster, 0o600)
			},
		})
	})
	lines, err := os.ReadFile(heard)
	check(t, err)
	for d := json.NewDecoder(bytes.NewReader(lines)); ; {
		var h hearing
		if err := d.Decode(&h); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		r.see(question{about: h.Story, asked: h.Story, columns: os.Getenv("COLUMNS"), args: h.Args}, h.Old, h.New)
	}
}

// quiet is a test whose stories log only if they fail.
type quiet struct{ *testing.T }

func (quiet) Verbose() bool { return false }
func (q quiet) Log(words ...any) {
	if q.Failed() {
		q.T.Log(words...)
	}
}
func (q quiet) Run(name string, story func(testscript.T)) {
	q.T.Run(name, func(t *testing.T) { story(quiet{t}) })
}

// hearing holds the answers of both builds in a story.
type hearing struct {
	Story    string
	Args     []string
	Old, New answer
}

// both is the program that stories call in place of the plugin. It runs both builds, records their
// answers, and answers like the new one.
func both() {
	var in []byte
	if f, err := os.Stdin.Stat(); err == nil && f.Mode()&os.ModeCharDevice == 0 {
		in, _ = io.ReadAll(os.Stdin)
	}
	var answers []answer
	// Repeat until both ran in the same second, if the answer contains the current time.
	for try, again := 1, true; again && try <= 20; try++ {
		began := time.Now().Truncate(time.Second)
		answers = nil
		for _, build := range strings.Split(os.Getenv("BUILDS"), "\n") {
			c := &exec.Cmd{Path: build, Args: os.Args, Stdin: bytes.NewReader(in)}
			answers = append(answers, run(c))
		}
		again = undigested(answers[0]) != undigested(answers[1]) && time.Since(began) > time.Second && tells(answers[0], began) && tells(answers[1], began)
	}
	h := hearing{strings.Replace(filepath.Base(os.Getenv("WORK")), "script-", "cli/", 1), os.Args[1:], answers[0], answers[1]}
	line, err := json.Marshal(h)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(os.Getenv("HEARD"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(append(line, '\n'))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(-1)
	}
	fmt.Fprint(os.Stdout, h.New.Out)
	fmt.Fprint(os.Stderr, h.New.Err)
	os.Exit(h.New.Status)
}

// place is a command line with different answers, with their number and the first one.
type place struct {
	count    int
	first    question
	old, new answer
}

// report holds the results of a run. It is safe for concurrent use.
type report struct {
	sync.Mutex
	questions, errors int
	needed            map[string]int
	places            map[string]*place
}

func (r *report) see(q question, old, new answer) {
	old, new, needed := settle(strings.Join(q.args, " "), undigested(old), undigested(new), allowed)
	r.Lock()
	defer r.Unlock()
	r.questions++
	if old.Status == 1 {
		r.errors++
	}
	for _, why := range needed {
		r.needed[why]++
	}
	if old == new {
		return
	}
	if r.places[q.asked] == nil {
		r.places[q.asked] = &place{0, q, old, new}
	}
	r.places[q.asked].count++
}

// tell fails the test for each command line with different answers and, after a whole run, for each
// permitted difference that was not found.
func (r *report) tell(t *testing.T, whole bool) {
	for _, d := range allowed {
		t.Logf("%6d times: %s", r.needed[d.why], d.why)
		if whole && r.needed[d.why] == 0 {
			t.Errorf("not found: %s", d.why)
		}
	}
	for _, asked := range slices.Sorted(maps.Keys(r.places)) {
		p := r.places[asked]
		t.Errorf("%s: %d answers differ, first (-old +new):\n%s\n%.4000s", asked, p.count, p.first, diffs.Diff(strings.Split(p.old.String(), "\n"), strings.Split(p.new.String(), "\n")))
	}
}

// buildOf returns the plugin built from a commit. It is stored in Go's build cache folder.
func buildOf(t *testing.T, commit string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	check(t, err)
	kept := filepath.Join(cache, "kubectl-ds", "compare", commit)
	if _, err := os.Stat(kept); err == nil {
		return kept
	}
	tree := t.TempDir()
	archive, err := exec.Command("git", "-C", root, "archive", commit).Output()
	check(t, err)
	untar := exec.Command("tar", "-x", "-C", tree)
	untar.Stdin = bytes.NewReader(archive)
	if out, err := untar.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	check(t, os.MkdirAll(filepath.Dir(kept), 0o755))
	check(t, os.Rename(build(t, tree, fmt.Sprintf("%s.%d", kept, os.Getpid())), kept))
	return kept
}

func build(t *testing.T, tree, into string) string {
	t.Helper()
	c := exec.Command("go", "build", "-buildvcs=false", "-o", into, "./cmd/kubectl-ds")
	c.Dir = tree
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return into
}
