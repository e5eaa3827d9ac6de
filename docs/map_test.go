package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestNames: what the pages name in backquotes exists: files and folders,
// package.Name and package.Type.Name. TestMakeTargets looks for commands of make.
func TestNames(t *testing.T) {
	source := readSource(t)
	packages := map[string]bool{}
	for name := range source.declared {
		in, _, _ := strings.Cut(name, ".")
		packages[in] = true
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil
	}
	for _, name := range []string{"architecture.md", "design.md", "adding.md", "../test/README.md", "controller.md",
		"output.md", "plan-rollout.md", "history.md", "accuracy.md"} {
		p := readPage(t, name)
		checked := map[string]bool{}
		for _, lines := range p.sections {
			for _, m := range backquoted.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
				word := m[1]
				in, _, _ := strings.Cut(word, ".")
				what := ""
				switch {
				case filePath.MatchString(word):
					if what = "file"; !exists(word) {
						t.Errorf("%s: no file %s", name, word)
					}
				case name != "output.md" && goName.MatchString(word) && packages[in]:
					if what = "name"; !source.declared[word] {
						t.Errorf("%s: nothing is called %s", name, word)
					}
				}
				checked[what] = true
			}
			for _, m := range link.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
				page, anchor, _ := strings.Cut(m[1], "#")
				to := p
				if page != "" {
					if !exists(path.Join("docs", page)) {
						t.Errorf("%s: no page %s", name, page)
						continue
					}
					to = readPage(t, page)
				}
				if anchor != "" && !slices.ContainsFunc(to.headings(),
					func(h string) bool { return anchorOf(h) == anchor }) {
					t.Errorf("%s: no heading for the link %s", name, m[1])
				}
			}
		}
		if !checked["file"] || name == "architecture.md" && !checked["name"] {
			t.Errorf("%s: nothing to look for: %v", name, checked)
		}
	}
}

// makeTargets are the targets of the Makefile. Each has the variables that "make help" lists below it, with their
// values.
type makeTargets map[string]map[string][]string

// readMakefile returns the targets of the Makefile. The test fails if "make help" does not list one of them, or if the
// parts that it lists for ONLY differ from those in the target's script.
func readMakefile(t *testing.T) makeTargets {
	t.Helper()
	text := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	targets := makeTargets{}
	var target string
	for _, line := range strings.Split(text("Makefile"), "\n") {
		if m := regexp.MustCompile(`^([a-z0-9-]+):(.*)$`).FindStringSubmatch(line); m != nil {
			target = m[1]
			targets[target] = map[string][]string{}
			if !strings.HasPrefix(m[2], " ## ") {
				t.Errorf("make help does not list %s", target)
			}
		}
		if m := regexp.MustCompile(`^#  ([A-Z0-9_]+)=(.*?)  `).FindStringSubmatch(line); m != nil {
			targets[target][m[1]] = append(targets[target][m[1]], m[2])
		}
		script := strings.TrimPrefix(strings.Fields(line + " .")[0], "\t")
		if !strings.HasPrefix(line, "\t") || !scriptWithParts.MatchString(script) {
			continue
		}
		var parts []string
		for _, m := range casePattern.FindAllStringSubmatch(text(script), -1) {
			parts = append(parts, strings.Split(m[1], " | ")...)
		}
		help := slices.Sorted(slices.Values(targets.parts(target)))
		if slices.Sort(parts); !slices.Equal(help, parts) {
			t.Errorf("make %s has the parts %v in make help, and %v in %s", target, help, parts, script)
		}
	}
	return targets
}

var (
	scriptWithParts = regexp.MustCompile(`^(test/\w+\.sh|\.ci/release-check)$`)
	casePattern     = regexp.MustCompile(`(?m)^([a-z]+(?: \| [a-z]+)*)\)`)
	makeVariable    = regexp.MustCompile(`([A-Z0-9_]+)=("[^"]*"|'[^']*'|\S+)`)
	part            = regexp.MustCompile(`^[a-z]+$`)
)

// parts returns the values of ONLY that select a part of a target, and not tests by their names.
func (targets makeTargets) parts(target string) []string {
	var all []string
	for _, value := range targets[target]["ONLY"] {
		if part.MatchString(value) {
			all = append(all, value)
		}
	}
	return all
}

// wrong returns what does not exist of a command such as "make e2e ONLY=fit SEED=2", or "".
func (targets makeTargets) wrong(command string) string {
	target, rest, _ := strings.Cut(strings.TrimPrefix(command, "make "), " ")
	if targets[target] == nil {
		return "there is no target " + target
	}
	for _, m := range makeVariable.FindAllStringSubmatch(rest, -1) {
		if targets[target][m[1]] == nil {
			return "make help lists no " + m[1] + " for it"
		}
		parts := targets.parts(target)
		if m[1] == "ONLY" && len(parts) > 0 && part.MatchString(m[2]) && !slices.Contains(parts, m[2]) {
			return "it has no part " + m[2]
		}
		names := slices.Contains(targets[target]["ONLY"], "NAMES")
		if m[1] == "ONLY" && names && !part.MatchString(m[2]) && !hasTest(target, m[2]) {
			return "it has no test " + m[2]
		}
	}
	if left := strings.TrimSpace(makeVariable.ReplaceAllString(rest, "")); left != "" {
		return left + " is no variable"
	}
	return ""
}

// hasTest reports whether the tests of a target, those in the folder of test/ with its name, include one whose name
// matches the pattern.
func hasTest(target, pattern string) bool {
	function, err := regexp.Compile(`(?m)^func Test(` + strings.Trim(pattern, `"'`) + `)\(`)
	if err != nil {
		return false
	}
	files, _ := filepath.Glob(filepath.Join(root, "test", target, "*_test.go"))
	return slices.ContainsFunc(files, func(name string) bool {
		raw, err := os.ReadFile(name)
		return err == nil && function.Match(raw)
	})
}

// TestMakeTargets: the targets, variables and parts in commands of make exist. In a page, a command is in backquotes or
// on a line of code; in a script or a workflow it is a command of the shell; anywhere else it is in backquotes or in
// parentheses, or has variables.
func TestMakeTargets(t *testing.T) {
	targets := readMakefile(t)
	const command = `make [a-z][a-z0-9-]*(?: [A-Z0-9_]+=(?:"[^"]*"|'[^']*'|[^\s` + "`" + `"();,]+))`
	anywhere := regexp.MustCompile("`(make [a-z][^`]*)`|\\((make [a-z-]+)\\)|\\b(" + command + "+)")
	code := regexp.MustCompile("`(make [a-z][^`]*)`|(?m:^    (make [a-z].*)$)|\\b(" + command + "+)")
	shell := regexp.MustCompile(`(?:^|[":;&] )(` + command + `*)|` + anywhere.String())
	checked := map[string]int{}
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "bin", "dist", "node_modules", "testdata"}, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		kind, pattern := filepath.Ext(name), anywhere
		switch folder := filepath.Base(filepath.Dir(name)); {
		case kind == ".md":
			pattern = code
		case folder == ".ci" || folder == "workflows":
			kind, pattern = "shell", shell
		case kind != ".go" && kind != ".sh" && kind != ".yaml" && kind != ".mod":
			return nil
		}
		raw, err := os.ReadFile(name)
		if err != nil || name == filepath.Join(root, "docs", "map_test.go") {
			return err
		}
		for _, m := range pattern.FindAllStringSubmatch(string(raw), -1) {
			word := strings.TrimRight(strings.Join(strings.Fields(strings.Join(m[1:], "")), " "), ".:")
			checked[kind]++
			if wrong := targets.wrong(word); wrong != "" {
				t.Errorf("%s: %s: %s", name, word, wrong)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{".md", ".go", "shell"} {
		if checked[kind] < 3 {
			t.Errorf("only %d commands in files of the kind %s", checked[kind], kind)
		}
	}
	for word, want := range map[string]string{
		"make e2e ONLY=fit CASES=60 SEED=2": "",
		`make e2e CLUSTER="v1.24 v1.30"`:    "",
		"make e2e ONLY=PlanComesTrue":       "",
		"make browser ONLY=stuck":           "",
		"make e2e ONLY='Watch|Fit'":         "",
		"make e2e ONLY=Nothing":             "it has no test Nothing",
		"make laws":                         "there is no target laws",
		"make e2e ONLY=hostile":             "it has no part hostile",
		"make e2e VERSIONS=all":             "make help lists no VERSIONS for it",
		"make oracle all":                   "all is no variable",
	} {
		if got := targets.wrong(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

var (
	filePath = regexp.MustCompile(`^(\.ci|cmd|pkg|internal|test|docs|krew|tools|examples)/[\w./-]*$`)
	goName   = regexp.MustCompile(`^[a-z]+\.[A-Za-z]\w*(\.\w+)?$`)
	link     = regexp.MustCompile(`\]\(([^):]+)\)`)
)

func (p *page) headings() []string {
	var all []string
	for h := range p.sections {
		all = append(all, h)
	}
	return all
}

// anchorOf is how GitHub names a heading in a link.
func anchorOf(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading),
		""), " ", "-")
}

// TestProfile: the table of controller.md says of every version what
// ForVersion says, and leaves no field out.
func TestProfile(t *testing.T) {
	rows := map[string][]string{}
	for _, r := range readPage(t, "controller.md").rows(t, "What differs between versions?") {
		rows[code(t, r["Field"])] = strings.Split(r["Since"], ", ")
	}
	fields := 0
	for f := range reflect.TypeFor[daemonset.Profile]().Fields() {
		// those of OpenShift
		if f.Type.Kind() != reflect.Bool || f.Name == "Beyond" || strings.HasPrefix(f.Name, "Namespace") {
			continue
		}
		fields++
		since := rows[f.Name]
		if since == nil {
			t.Errorf("no row for %s", f.Name)
		}
		for minor := 17; minor <= 37; minor++ {
			for patch := range 25 {
				p, err := daemonset.ForVersion(fmt.Sprintf("v1.%d.%d", minor, patch))
				if err != nil {
					t.Fatal(err)
				}
				has := reflect.ValueOf(p).FieldByName(f.Name).Bool()
				if want := slices.ContainsFunc(since,
					func(s string) bool { return from(t, s, minor, patch) }); has != want {
					t.Errorf("%s in 1.%d.%d: %t, on the page %t", f.Name, minor, patch, has, want)
				}
			}
		}
	}
	if fields != len(rows) {
		t.Errorf("%d fields, %d rows", fields, len(rows))
	}
}

// TestOpenShiftProfile: the table of controller.md says of every minor version what OpenShift's
// controller asks the namespace.
func TestOpenShiftProfile(t *testing.T) {
	rows := map[string]string{}
	for _, r := range readPage(t, "controller.md").rows(t, "What differs on OpenShift?") {
		rows[code(t, r["Field"])] = r["In"]
	}
	for f := range reflect.TypeFor[daemonset.Profile]().Fields() {
		if !strings.HasPrefix(f.Name, "Namespace") {
			continue
		}
		for minor := 17; minor <= 37; minor++ {
			p, err := daemonset.ForVersion(fmt.Sprintf("v1.%d.1", minor))
			if err != nil {
				t.Fatal(err)
			}
			said := false
			for _, span := range strings.Split(rows[f.Name], ", ") {
				var from, to int
				if n, err := fmt.Sscanf(span, "1.%d to 1.%d", &from, &to); n != 2 {
					t.Fatalf("%s: %q: %v", f.Name, span, err)
				}
				said = said || minor >= from && minor <= to
			}
			if has := reflect.ValueOf(p).FieldByName(f.Name).Bool(); has != said {
				t.Errorf("%s in 1.%d: %t, on the page %t", f.Name, minor, has, said)
			}
		}
	}
}

// from reports whether a version has what came "since" another.
func from(t *testing.T, since string, minor, patch int) bool {
	t.Helper()
	parts := strings.Split(since, ".")
	if len(parts) != 3 || parts[0] != "1" {
		t.Fatalf("%q is no version", since)
	}
	m, err := strconv.Atoi(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	p, err := strconv.Atoi(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	return minor == m && patch >= p || p == 0 && minor > m
}

// TestProven: the versions that controller.md calls run have a program that
// runs them, and no other program is there. No state differed.
func TestProven(t *testing.T) {
	proven := map[string]bool{}
	for _, r := range readPage(t, "controller.md").rows(t, "Which versions are proven?") {
		proven["v"+r["Version"]] = true
		if states, err := strconv.Atoi(r["States"]); err != nil || states < 2000 {
			t.Errorf("%s: %q states", r["Version"], r["States"])
		}
		if r["Differences"] != "0" {
			t.Errorf("%s: %q differences", r["Version"], r["Differences"])
		}
	}
	programs, err := filepath.Glob(filepath.Join(root, "test/oracle/program/versions/*.mod"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs of the oracle: %v", err)
	}
	for _, p := range programs {
		if v := strings.TrimSuffix(filepath.Base(p), ".mod"); !proven[v] {
			t.Errorf("test/oracle runs %s, and the page does not say so", v)
		} else {
			delete(proven, v)
		}
	}
	for v := range proven {
		t.Errorf("the page says that %s is run, and test/oracle has no program for it", v)
	}
	if newest := strings.TrimPrefix(daemonset.Newest,
		"v"); !strings.Contains(strings.Join(readPage(t, "controller.md").sections["Which versions are proven?"],
		"\n"), newest) {
		t.Errorf("the page does not name %s", daemonset.Newest)
	}
}

// TestKrew: the index of krew wants a short description that fits in a line and
// does not name Kubernetes, which all plugins are for.
func TestKrew(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "krew/ds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^  shortDescription: (.+)$`).FindStringSubmatch(string(raw))
	if m == nil || len(m[1]) > 50 || strings.Contains(strings.ToLower(m[1]), "kubernetes") {
		t.Errorf("short description %q", m)
	}
}
