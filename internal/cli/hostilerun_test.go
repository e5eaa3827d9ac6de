package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// result is the result of one command line.
type result struct {
	args      []string
	status    int
	out, errs string
	panicked  string
}

func (r *result) line() string { return strings.Join(r.args, " ") }

// run runs a command line in this process.
func run(args []string, stdin []byte) *result {
	r := &result{args: args}
	var out, errs lockedBuffer
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	context.AfterFunc(ctx, func() {
		if ctx.Err() == context.DeadlineExceeded {
			panic("hostile: no answer within a minute: kubectl-ds " + strings.Join(args, " "))
		}
	})
	func() {
		defer func() {
			if p := recover(); p != nil {
				r.panicked = fmt.Sprint(p)
			}
		}()
		r.status = cli.Main(append([]string{"kubectl-ds"}, args...), bytes.NewReader(stdin), &out, &errs)
	}()
	r.out, r.errs = out.String(), errs.String()
	return r
}

// lockedBuffer is a buffer for concurrent writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// clock is the time of every case, so that damage cannot change the ages.
const clock = "2026-12-24T12:00:00Z"

// explain runs explain -o json for the DaemonSet.
func (f *files) explain(folder string) *result {
	flags, stdin := f.put(folder)
	return run(slices.Concat([]string{"explain", "-n", f.namespace, f.name, "-o", "json", "--now", clock}, flags), stdin)
}

// numbers are the facts of an explanation, without its texts.
type numbers struct {
	verdict string
	parts   map[string]string // JSON by part name
	gaps    map[gap]bool
}

type gap struct{ What, Why string }

func (r *result) numbers() numbers {
	var e struct {
		Verdict struct {
			Code string `json:"code"`
		} `json:"verdict"`
		Snapshot struct {
			Gaps []gap `json:"gaps"`
		} `json:"snapshot"`
		Status  any            `json:"status"`
		Columns any            `json:"columns"`
		Nodes   any            `json:"nodes"`
		Budget  map[string]any `json:"budget"`
		Next    any            `json:"next"`
	}
	if r.status != 0 || json.Unmarshal([]byte(r.out), &e) != nil {
		return numbers{}
	}
	holders := e.Budget["holders"]
	delete(e.Budget, "holders")
	n := numbers{e.Verdict.Code, map[string]string{}, map[gap]bool{}}
	for name, part := range map[string]any{"verdict": e.Verdict, "status": e.Status, "columns": e.Columns, "nodes": e.Nodes, "budget": e.Budget, "holders": holders, "next": e.Next} {
		n.parts[name] = string(write(part))
	}
	for _, g := range e.Snapshot.Gaps {
		n.gaps[g] = true
	}
	return n
}

// panicWords is the start of the message after a panic.
const panicWords = "this is a bug in kubectl ds"

// ownColors removes the colors of this program.
var ownColors = strings.NewReplacer("\x1b[31;1m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33;1m", "", "\x1b[32;1m", "", "\x1b[1m", "", "\x1b[0;22;22m", "", "\x1b[0;22m", "", "\x1b[22m", "", "\x1b[0m", "")

// judge returns the faults that no command may have, for any input.
func judge(r *result, secrets []string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if r.panicked != "" {
		fault("panic: %s", r.panicked)
	}
	if strings.Contains(r.errs, panicWords) {
		fault("panic, recovered: %s", r.errs)
	}
	if r.status < 0 || r.status > 6 {
		fault("exit status %d", r.status)
	}
	if r.status == 1 && !strings.Contains(r.errs, "error: ") {
		fault("exit status 1 without an error")
	}
	for _, s := range []struct{ name, text string }{{"standard output", r.out}, {"standard error", r.errs}} {
		text := s.text
		if slices.Contains(r.args, "always") {
			text = ownColors.Replace(text)
		}
		if at := unsafeAt(text); at >= 0 {
			fault("%s has %q", s.name, around(text, at))
		}
		if s.name == "standard error" {
			if slices.Contains(r.args, "--v") { // --v prints logs of Kubernetes packages
				text = logged.ReplaceAllString(text, "")
			}
			for _, word := range []string{"into Go ", "strconv.", "%!", "goroutine ", "Go struct"} {
				if at := strings.Index(text, word); at >= 0 && !strings.Contains(r.line(), word) {
					fault("%s has the words of a programming language: %q", s.name, around(text, at))
				}
			}
		}
		if showsValues(r.args) {
			continue
		}
		for _, secret := range secrets {
			if at := strings.Index(text, secret); at >= 0 {
				fault("%s shows the value of a variable: %q", s.name, around(text, at))
				break
			}
		}
	}
	return faults
}

// showsValues reports whether a command line shows literal values.
func showsValues(args []string) bool {
	if slices.Contains(args, "--show-values") || slices.Contains(args, "--show-values=true") {
		return true
	}
	revision, format := slices.Index(args, "--revision"), slices.Index(args, "-o")
	return args[0] == "history" && revision > 0 && format > 0 && !slices.Contains([]string{"name", "wide"}, args[format+1])
}

// unsafeAt returns the position of the first control or invisible character, or -1.
func unsafeAt(text string) int {
	for i, r := range text {
		switch {
		case r == '\n', r == '\t':
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"), unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return i
		}
	}
	return -1
}

func around(text string, at int) string { return text[max(0, at-60):min(len(text), at+40)] }

// different compares the numbers of a structurally mutated input with those of the whole input. It
// returns the first difference that no message explains, or "".
func different(whole, damaged *result, f *files) string {
	if damaged.status != 0 {
		return ""
	}
	a, b := whole.numbers(), damaged.numbers()
	for _, part := range slices.Sorted(maps.Keys(a.parts)) {
		if a.parts[part] != b.parts[part] && !b.covers(part, a) && !reportsDamage(damaged, whole, f) {
			return fmt.Sprintf("another %s without a word about it: %s\n%s", part, firstDifference(a.parts[part], b.parts[part]), damaged.errs)
		}
	}
	return ""
}

// covers reports whether an additional gap explains a difference in this part.
func (n numbers) covers(part string, whole numbers) bool {
	for g := range n.gaps {
		switch {
		case slices.Contains([]string{"clock", "version", "poddisruptionbudgets", "leases"}, g.What): // no number depends on these
		case slices.Contains(snapshot.AdmissionWhats, snapshot.What(g.What)): // nor on these
		case g.What == "events":
			if !whole.gaps[g] && (part == "nodes" || part == "verdict" || part == "holders") { // events explain missing pods
				return true
			}
		default:
			if !whole.gaps[g] {
				return true
			}
		}
	}
	return false
}

// relevantNotes matches notes about missing, incomplete or ambiguous objects. Other notes, for
// example about logs or the version, do not explain different numbers.
var relevantNotes = regexp.MustCompile(`may be cut off$|appears? twice|: a second (?:snapshot|DaemonSet|Node|Pod|ControllerRevision|Event|PodDisruptionBudget) |` +
	`this version of the plugin does not know the field|fields are ignored$|a kind that Kubernetes does not have$|of versions that no server since|objects inside another object are not read$`)

// reportsDamage reports whether a note describes the damage. Notes about the undamaged input do not
// count.
func reportsDamage(damaged, whole *result, f *files) bool {
	for line := range strings.Lines(damaged.errs) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(whole.errs, line) {
			continue
		}
		if relevantNotes.MatchString(line) {
			return true
		}
		if names, ok := strings.CutPrefix(line, "note: ignored, because they are not Kubernetes objects in YAML or JSON: "); ok {
			if f == nil || strings.HasSuffix(names, " more") {
				return true
			}
			for _, name := range f.holding {
				plain := strings.FieldsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) // other characters are escaped
				end := plain[len(plain)-1]
				if parts := strings.Split(end, "/"); len(parts) > 2 { // long paths are shortened to their end
					end = strings.Join(parts[len(parts)-2:], "/")
				}
				if strings.Contains(names, end) {
					return true
				}
			}
		}
	}
	return false
}

// keepsGoing returns the fault of an answer with --keep-going, if the command fails without it.
func keepsGoing(whole, kept *result, f *files) string {
	if kept.status == 0 {
		return different(whole, kept, f)
	}
	if !lostAll.MatchString(kept.errs) && !(strings.Contains(kept.errs, "not found") && reportsDamage(kept, whole, f)) {
		return "no answer with --keep-going: " + kept.errs
	}
	return ""
}

// logged matches log lines of klog.
var logged = regexp.MustCompile(`(?m)^[IWE]\d{4} .*\n?`)

// lostAll matches the errors that remain with --keep-going: the DaemonSet or the whole input is
// lost, or a damaged folder name has turned the input into two dumps, so the user has to choose.
var lostAll = regexp.MustCompile(`(?m)^error: (?:daemonset "[^"]*" not found in namespace "[^"]*": left out, because it is damaged|.*: no DaemonSet|.*: has no object$|.*: no server since v1.16 has a DaemonSet|.*: not a Kubernetes object: (?:no kind|it is text)$|.*: holds \d+ dumps, of which one can be read at a time: )`)

func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("…%s…  became  …%s…", a[max(0, i-80):min(len(a), i+80)], b[max(0, i-80):min(len(b), i+80)])
}

// whole returns the explanation of an unmodified base.
func whole(b *base) *result {
	explained.Lock()
	defer explained.Unlock()
	if explained.of[b] == nil {
		folder, err := os.MkdirTemp("", "hostile-base-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		explained.of[b] = (&input{base: b, objects: b.objects}).serialize("List in JSON", nil).explain(folder)
	}
	return explained.of[b]
}

var explained = struct {
	sync.Mutex
	of map[*base]*result
}{of: map[*base]*result{}}

// roundTrip compares the answers for an input and for a snapshot of it.
func roundTrip(folder string, flags []string, stdin []byte, f *files) (wrote *result, fault string) {
	if err := os.Setenv("COLUMNS", ""); err != nil { // avoid line breaks that depend on the length of a path
		panic(err)
	}
	about := []string{"-n", f.namespace, f.name, "--now", clock}
	wrote = run(slices.Concat([]string{"snapshot"}, about, flags), stdin)
	if wrote.status != 0 {
		return wrote, ""
	}
	path := filepath.Join(folder, "snapshot.json")
	if err := os.WriteFile(path, []byte(wrote.out), 0o600); err != nil {
		panic(err)
	}
	for _, command := range [][]string{{"explain", "--all"}, {"plan-rollout", "--all"}, {"history"}} {
		before := run(slices.Concat(command, about, flags), stdin)
		after := run(slices.Concat(command, about, []string{"--from", path}), nil)
		out, again := ourCommand.ReplaceAllString(before.out, ""), ourCommand.ReplaceAllString(after.out, "") // these lines contain the input flags
		out, again = noTemplate.ReplaceAllString(out, ""), noTemplate.ReplaceAllString(again, "")
		if before.status == after.status && out == again {
			continue
		}
		if after.status == 1 {
			return wrote, fmt.Sprintf("%s of the snapshot: %s", command[0], after.errs)
		}
		return wrote, fmt.Sprintf("%s of the snapshot differs: %s", command[0], firstDifference(out, again))
	}
	return wrote, ""
}

// ourCommand matches a line with a command of this program.
var ourCommand = regexp.MustCompile(`(?m)^.*kubectl ds .*\n`)

// noTemplate matches the reason why a revision has no pod template. The reason changes in a
// snapshot, because the snapshot has a digest of the revision.
var noTemplate = regexp.MustCompile(`(is|holds) no pod template: .*`)

// dice chooses the parts of a command line at random.
type dice struct {
	*rand.Rand
	in *input
}

func (d dice) maybe(percent int, args ...string) []string {
	if d.IntN(100) < percent {
		return args
	}
	return nil
}
