package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// faultJudge knows the right answers.
type faultJudge struct {
	c      *stage.Cluster
	now    string                        // the time of every answer
	right  map[string]answered           // by command
	whole  map[string]*snapshot.Snapshot // by namespace/name: complete Snapshots
	all    answered                      // the same as it was printed
	folder string
}

// answered is an answer: its documents by namespace/name, and the list that contains them.
type answered struct {
	documents map[string]map[string]any
	list      any
}

// newFaultJudge asks everything without a fault: twice, and once more from a recorded snapshot,
// which must give the same.
func newFaultJudge(t *testing.T, c *stage.Cluster) *faultJudge {
	t.Helper()
	j := &faultJudge{c: c, now: time.Now().UTC().Format(time.RFC3339), right: map[string]answered{}, whole: map[string]*snapshot.Snapshot{}, folder: t.TempDir()}
	ask := func(ask string, more ...string) answered {
		r := j.run(t.Context(), ask, more...)
		a, err := parseAnswer(r.stdout)
		if r.code != 0 || r.stderr != "" || err != nil || len(a.documents) == 0 {
			t.Fatalf("%s: %v, ended with %d: %s%s", ask, err, r.code, r.stdout, r.stderr)
		}
		return a
	}
	j.all = ask("snapshot -A --fit")
	for name, document := range j.all.documents {
		raw, err := json.Marshal(document)
		must(t, err)
		j.whole[name], err = snapshot.Decode(raw)
		must(t, err)
	}
	recorded, err := j.record(0, nil, missing{})
	must(t, err)
	for _, a := range faultyAsks {
		j.right[a] = ask(a)
		if diff := cmp.Diff(j.right[a], ask(a), cmp.AllowUnexported(answered{})); diff != "" {
			t.Fatalf("%s gives two answers (-first +second):\n%s", a, diff)
		}
		for name, document := range j.right[a].documents {
			for _, g := range gapsIn(document) {
				if g.Why != snapshot.NotGiven {
					t.Fatalf("%s: %s has a gap without any fault: %v", a, name, g)
				}
			}
		}
		if strings.HasPrefix(a, "snapshot") {
			continue
		}
		fromFile := ask(a, "--from", recorded)
		for name, document := range j.right[a].documents {
			if diff := cmp.Diff(alike(document), alike(fromFile.documents[name])); diff != "" {
				t.Fatalf("%s gives another answer from what was recorded (-cluster +file):\n%s", a, diff)
			}
		}
	}
	return j
}

// run runs the program itself with a fixed clock.
func (j *faultJudge) run(ctx context.Context, ask string, more ...string) faultyRun {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute) // only ends a test that can never pass
	defer cancel()
	args := append(strings.Fields(ask), "--now", j.now)
	if !strings.HasPrefix(ask, "snapshot") {
		args = append(args, "-o", "json")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(j.c.PluginDir, "kubectl-ds"), append(args, more...)...)
	cmd.Env = []string{"HOME=" + j.c.Dir, "KUBECONFIG=" + j.c.Kubeconfig}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	r := faultyRun{stdout: stdout.String(), stderr: stderr.String(), code: -1, took: time.Since(began)}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		r.stderr += err.Error()
		return r
	}
	r.code = cmd.ProcessState.ExitCode()
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.megabytes = int(used.Maxrss / 1024)
	}
	return r
}

// parseAnswer parses the output of a command.
func parseAnswer(raw string) (answered, error) {
	a := answered{documents: map[string]map[string]any{}}
	d := json.NewDecoder(strings.NewReader(raw))
	for d.More() {
		var one map[string]any
		if err := d.Decode(&one); err != nil {
			return a, err
		}
		all, isList := one["items"].([]any)
		if isList {
			delete(one, "items")
			a.list = one
		} else {
			all = []any{one}
		}
		for _, document := range all {
			of, _ := document.(map[string]any)["daemonSet"].(map[string]any)
			if meta, ok := of["metadata"].(map[string]any); ok {
				of = meta
			}
			name := fmt.Sprintf("%v/%v", of["namespace"], of["name"])
			if a.documents[name] != nil {
				return a, errors.New(name + " has two answers")
			}
			a.documents[name] = document.(map[string]any)
		}
	}
	return a, nil
}

// gapsIn returns the gaps of a document.
func gapsIn(document map[string]any) (gaps []snapshot.Gap) {
	of := document
	if inner, ok := document["snapshot"].(map[string]any); ok {
		of = inner
	}
	raw, _ := json.Marshal(of["gaps"])
	_ = json.Unmarshal(raw, &gaps)
	return gaps
}

// Results of a run.
const (
	isRight   = "right"
	hasGaps   = "right with a gap"
	hasFailed = "one error"
)

// judge returns the result of a run and what is wrong with it.
func (j *faultJudge) judge(ctx context.Context, ask string, run int, r faultyRun) (verdict string, wrong []string) {
	if words := goWords.FindString(r.stderr); words != "" {
		wrong = append(wrong, fmt.Sprintf("the words of Go: %q", words))
	}
	if r.code != 0 {
		return hasFailed, append(wrong, failedWell(r)...)
	}
	for line := range strings.Lines(r.stderr) {
		if !strings.HasPrefix(line, "note: ") {
			wrong = append(wrong, "on standard error: "+line)
		}
	}
	got, err := parseAnswer(r.stdout)
	if err != nil {
		return isRight, append(wrong, err.Error())
	}
	right := j.right[ask]
	if diff := cmp.Diff(right.list, got.list); diff != "" {
		wrong = append(wrong, "the list is another: "+diff)
	}
	verdict = isRight
	gaps := map[string][]snapshot.Gap{}
	for _, name := range slices.Sorted(maps.Keys(right.documents)) {
		document := got.documents[name]
		if document == nil {
			wrong = append(wrong, "there is no answer about "+name)
			continue
		}
		if found := gapsIn(document); len(found) > 0 {
			gaps[name] = found
			for _, g := range found {
				if words := goWords.FindString(g.Message); words != "" {
					wrong = append(wrong, fmt.Sprintf("the words of Go in a gap: %q", g.Message))
				}
			}
		}
	}
	if extra := len(got.documents) - len(right.documents); extra > 0 {
		wrong = append(wrong, fmt.Sprintf("%d answers too many", extra))
	}
	if len(gaps) > 0 {
		verdict = hasGaps
	}
	if strings.HasPrefix(ask, "snapshot") {
		return verdict, append(wrong, j.judgeSnapshots(right, got)...)
	}
	return verdict, append(wrong, j.compare(ctx, ask, run, got, gaps)...)
}

// failedWell returns what is wrong with an error, which must be one line and a hint.
func failedWell(r faultyRun) (wrong []string) {
	errors, hints := 0, 0
	for line := range strings.Lines(r.stderr) {
		switch {
		case strings.HasPrefix(line, "error: "):
			errors++
		case strings.HasPrefix(line, "hint: "):
			hints++
		case !strings.HasPrefix(line, "note: "):
			wrong = append(wrong, "on standard error: "+line)
		}
	}
	if r.code != 1 || errors != 1 || hints > 1 || r.stdout != "" {
		wrong = append(wrong, fmt.Sprintf("it ends with %d, %d errors, %d hints and %d bytes of an answer", r.code, errors, hints, len(r.stdout)))
	}
	if untrue := regexp.MustCompile(`(?i)not found|no daemonset|has no such`).FindString(r.stderr); untrue != "" {
		wrong = append(wrong, "it says what is not so: "+untrue)
	}
	return wrong
}

// goWords are words that only people understand who know Go or the libraries of this program.
var goWords = regexp.MustCompile(`context deadline|context canceled|net/http|http2|stream error|stream ID|(read|write|dial) tcp|EOF|invalid character|json:|proto:|protobuf message|cannot unmarshal|` +
	`Original error|previous attempt|(Get|Post|Patch) "|x509|gzip:|flate:|illegal|wireType|strconv|reflect|runtime error|goroutine|%!|<nil>|\*\w+\.\w+|0-length|registered|scheme|malformed|` +
	`use of closed|broken pipe|GOAWAY|unsupported|timeout awaiting|Client\.Timeout`)

// compare returns how an answer differs from the expected one. Without gaps, that is the right
// answer. With gaps, it is the answer of the same command for the recorded snapshot without the
// parts that the gaps name. So no number rests on a part that could not be read, and nothing else
// is missing.
func (j *faultJudge) compare(ctx context.Context, ask string, run int, got answered, gaps map[string][]snapshot.Gap) (wrong []string) {
	left := map[string]string{} // differences from the closest expected answers
	for name, document := range got.documents {
		if diff := cmp.Diff(j.right[ask].documents[name], document); diff != "" {
			left[name] = diff
		}
		wrong = append(wrong, hidesNothing(document, gaps[name])...)
		if is, right := at(document, "status", "reported"), at(j.right[ask].documents[name], "status", "reported"); !reflect.DeepEqual(is, right) {
			wrong = append(wrong, fmt.Sprintf("%s: reported %v, not %v", name, is, right))
		}
	}
	for _, variant := range variantsOf(gaps) {
		if len(left) == 0 {
			break
		}
		file, err := j.record(run, gaps, variant)
		if err != nil {
			return append(wrong, err.Error())
		}
		r := j.run(ctx, ask, "--from", file)
		should, err := parseAnswer(r.stdout)
		if err != nil || r.code != 0 {
			return append(wrong, fmt.Sprintf("of what was recorded: %v %s", err, r.stderr))
		}
		for name, diff := range left {
			is := cmp.Diff(alike(should.documents[name]), alike(got.documents[name]))
			if len(gaps[name]) > 0 && is == "" {
				delete(left, name)
			} else if len(gaps[name]) > 0 && (variant == (missing{}) || len(is) < len(diff)) {
				left[name] = is
			}
		}
	}
	for name, diff := range left {
		wrong = append(wrong, fmt.Sprintf("%s, with gaps %v (-right +answer):\n%s", name, gaps[name], diff))
	}
	return wrong
}

// alike returns a document without what differs between a file and a cluster: for a cluster, a
// history does not examine why a rollout does not progress.
func alike(document map[string]any) map[string]any {
	rollout, ok := document["rollout"].(map[string]any)
	if !ok || document["kind"] != "RevisionHistory" {
		return document
	}
	c, r := maps.Clone(document), maps.Clone(rollout)
	delete(r, "code")
	c["rollout"] = r
	return c
}

// hidesNothing returns statements of an answer that require a part that could not be read,
// according to docs/output.md. It does not know how this program decides.
func hidesNothing(document map[string]any, gaps []snapshot.Gap) (wrong []string) {
	lacks := func(what snapshot.What) bool {
		return slices.ContainsFunc(gaps, func(g snapshot.Gap) bool { return g.What == what && g.Why != snapshot.Moved })
	}
	unknown := func(path string, as ...any) {
		for _, value := range at(document, strings.Split(path, ".")...) {
			if !slices.ContainsFunc(append(as, nil), func(a any) bool { return reflect.DeepEqual(a, value) }) {
				wrong = append(wrong, fmt.Sprintf("%s is %v, though it has gaps %v", path, value, gaps))
			}
		}
	}
	nodes, pods := lacks(snapshot.Nodes), lacks(snapshot.Pods)
	switch kind := document["kind"]; {
	case kind == "Explanation" && (nodes || pods):
		for _, path := range []string{"status.computed", "status.agrees", "impact"} {
			unknown(path)
		}
		unknown("next.exact", false)
		if nodes {
			unknown("nodes.*.shouldRun")
			unknown("nodes.*.mayStay")
			unknown("columns", []any{})
			unknown("budget.ofSource", "Reported", "Unknown")
		}
		if pods {
			unknown("budget.used")
			unknown("budget.free")
			unknown("columns.*.name", "DESIRED")
			unknown("nodes.*.pods", []any{})
			unknown("verdict.code", "Unknown")
		}
	case kind == "RolloutPlan" && (nodes || pods):
		unknown("next.exact", false)
		if assumed := at(document, "assumptions", "*", "code"); nodes && !pods && !slices.Contains(assumed, any("PodsMayStay")) {
			wrong = append(wrong, fmt.Sprintf("it assumes %v, and not that the nodes are as the pods say", assumed))
		}
		if pods {
			unknown("outcome.code", "Unknown")
			unknown("outcome.duration")
			unknown("waves", []any{})
		}
	case kind == "RevisionHistory" && pods:
		for _, path := range []string{"revisions.*.nodes", "revisions.*.pods", "rollout.pods", "rollout.available"} {
			unknown(path)
		}
	}
	return wrong
}

// at returns the values at a path, in which * stands for every member of a list.
func at(value any, path ...string) []any {
	if len(path) == 0 {
		return []any{value}
	}
	if all, ok := value.([]any); ok && path[0] == "*" {
		var found []any
		for _, one := range all {
			found = append(found, at(one, path[1:]...)...)
		}
		return found
	}
	fields, _ := value.(map[string]any)
	return at(fields[path[0]], path[1:]...)
}

// missing says what a gap stands for that several requests can cause.
type missing struct {
	events  int // 0: all, 1: those of the DaemonSet, 2: those of the pods, 3: none
	hooks   int // 0: all, 1: none
	volumes int // 0: claims, 1: their volumes, 2: none
}

// variantsOf returns what may be missing for these gaps, everything first.
func variantsOf(gaps map[string][]snapshot.Gap) (all []missing) {
	ways := func(what snapshot.What, n int) int {
		for _, of := range gaps {
			if slices.ContainsFunc(of, func(g snapshot.Gap) bool { return g.What == what }) {
				return n
			}
		}
		return 1
	}
	for events := range ways(snapshot.Events, 4) {
		for hooks := range ways(snapshot.Webhooks, 2) {
			for volumes := range ways(snapshot.PersistentVolumes, 3) {
				all = append(all, missing{events, hooks, volumes})
			}
		}
	}
	return all
}

// record writes a complete snapshot without what the gaps name to a file.
func (j *faultJudge) record(run int, gaps map[string][]snapshot.Gap, variant missing) (string, error) {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(j.whole)) {
		raw, err := snapshot.Encode(lacks(j.whole[name], gaps[name], variant))
		if err != nil {
			return "", err
		}
		b.Write(raw)
	}
	file := filepath.Join(j.folder, fmt.Sprintf("run-%d.json", run))
	return file, os.WriteFile(file, b.Bytes(), 0o600)
}

// lacks returns a Snapshot without what the gaps name.
func lacks(whole *snapshot.Snapshot, gaps []snapshot.Gap, variant missing) *snapshot.Snapshot {
	s := *whole
	s.Gaps = gaps
	if s.OtherPods != nil {
		s.OtherPods = new(*s.OtherPods)
	}
	if s.Admission != nil {
		s.Admission = new(*s.Admission)
	}
	if s.References != nil {
		s.References = new(*s.References)
	}
	if s.Volumes != nil {
		s.Volumes = new(*s.Volumes)
	}
	unread := func(kind snapshot.ReferredKind) {
		s.References.Objects = slices.DeleteFunc(slices.Clone(s.References.Objects), func(o snapshot.Referred) bool { return o.Kind == kind })
	}
	about := func(kind string) {
		s.Events = slices.DeleteFunc(slices.Clone(s.Events), func(e corev1.Event) bool { return e.InvolvedObject.Kind == kind })
	}
	for _, g := range gaps {
		if g.Why == snapshot.Moved {
			continue
		}
		switch g.What {
		case snapshot.Nodes:
			s.Nodes = nil
		case snapshot.Pods:
			s.Pods = nil
			about("Pod") // the pods determine which ones are requested
		case snapshot.Revisions:
			s.Revisions = nil
		case snapshot.PodDisruptionBudgets:
			s.PodDisruptionBudgets = nil
		case snapshot.Events:
			if variant.events&1 == 0 {
				about("Pod")
			}
			if variant.events&2 == 0 {
				about("DaemonSet")
			}
		case snapshot.Version:
			s.KubernetesVersion, s.VersionSource = "", snapshot.VersionDefault
		case snapshot.PodsOfOthers:
			s.OtherPods = nil
		case snapshot.BudgetsOfOthers:
			if s.OtherPods != nil {
				s.OtherPods.Budgets, s.OtherPods.Pods = nil, slices.Clone(s.OtherPods.Pods)
				for i := range s.OtherPods.Pods {
					s.OtherPods.Pods[i].Budgets = nil
				}
			}
		case snapshot.PersistentVolumes:
			if variant.volumes == 0 {
				s.Volumes.Claims = nil
			}
			if variant.volumes == 1 {
				s.Volumes.Claims = slices.Clone(s.Volumes.Claims)
				for i := range s.Volumes.Claims {
					s.Volumes.Claims[i].Volume = nil
				}
			}
		case snapshot.CSINodes:
			s.Volumes.Drivers = nil
		case snapshot.Namespaces:
			s.Admission.Namespace = nil
		case snapshot.ServiceAccounts:
			s.Admission.ServiceAccounts = nil
		case snapshot.PriorityClasses:
			s.Admission.PriorityClasses = nil
		case snapshot.RuntimeClasses:
			s.Admission.RuntimeClasses = nil
		case snapshot.LimitRanges:
			s.Admission.LimitRanges = nil
		case snapshot.ResourceQuotas:
			s.Admission.ResourceQuotas = nil
		case snapshot.Webhooks:
			if variant.hooks == 0 {
				s.Admission.Hooks = nil
			}
		case snapshot.ConfigMaps:
			unread(snapshot.ConfigMap)
		case snapshot.Secrets:
			unread(snapshot.Secret)
		case snapshot.Claims:
			unread(snapshot.Claim)
		}
	}
	return &s
}

// partsOf are the parts of a Snapshot, with the gaps under which one may differ from the right one:
// it then has less or, if more was requested, more.
var partsOf = map[string][]snapshot.What{
	"nodes": {snapshot.Nodes}, "pods": {snapshot.Pods}, "revisions": {snapshot.Revisions}, "events": {snapshot.Events, snapshot.Pods},
	"podDisruptionBudgets": {snapshot.PodDisruptionBudgets}, "kubernetesVersion": {snapshot.Version}, "versionSource": {snapshot.Version},
	"otherPods":  {snapshot.PodsOfOthers, snapshot.BudgetsOfOthers, snapshot.Nodes, snapshot.Pods, snapshot.Revisions},
	"admission":  snapshot.AdmissionWhats,
	"references": snapshot.ReferenceWhats, "volumes": {snapshot.PersistentVolumes, snapshot.CSINodes, snapshot.Nodes},
	"gaps": snapshot.Whats,
}

// judgeSnapshots returns what is wrong with recorded Snapshots: each part must be right unless a
// gap names it, and must contain nothing that does not exist.
func (j *faultJudge) judgeSnapshots(right, got answered) (wrong []string) {
	for name, should := range right.documents {
		is := got.documents[name]
		if is == nil {
			continue // a gap names it
		}
		gaps := gapsIn(is)
		parts := slices.AppendSeq(slices.Collect(maps.Keys(should)), maps.Keys(is))
		slices.Sort(parts)
		for _, part := range slices.Compact(parts) {
			diff := cmp.Diff(should[part], is[part])
			if diff == "" || part == "gaps" {
				continue
			}
			if !slices.ContainsFunc(gaps, func(g snapshot.Gap) bool { return g.Why != snapshot.Moved && slices.Contains(partsOf[part], g.What) }) {
				wrong = append(wrong, fmt.Sprintf("%s: %s, with gaps %v (-right +answer):\n%s", name, part, gaps, diff))
			}
			known := j.all.documents[name][part]
			if fields, ok := known.(map[string]any); ok && fields["allNodes"] == true { // whichever nodes they are
				fields = maps.Clone(fields)
				fields["nodes"] = at(is[part], "nodes")[0]
				known = fields
			}
			if more := invents(known, is[part]); part != "versionSource" && more != "" {
				wrong = append(wrong, fmt.Sprintf("%s: %s has what is not there: %s", name, part, more))
			}
		}
	}
	return wrong
}

// invents returns what a part contains that the right one does not.
func invents(right, is any) string {
	switch is := is.(type) {
	case nil, bool: // whether everything was read
		return ""
	case []any:
		all, _ := right.([]any)
		for _, one := range is {
			if !slices.ContainsFunc(all, func(r any) bool { return invents(r, one) == "" }) {
				return fmt.Sprint(one)
			}
		}
		return ""
	case map[string]any:
		all, _ := right.(map[string]any)
		for key, value := range is {
			if more := invents(all[key], value); more != "" {
				return key + ": " + more
			}
		}
		return ""
	case string:
		if is == "" {
			return ""
		}
	}
	if is == right {
		return ""
	}
	return fmt.Sprint(is)
}
