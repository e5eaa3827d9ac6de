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
// package.Name and package.Type.Name, and targets of make.
func TestNames(t *testing.T) {
	source := readSource(t)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for name := range source.declared {
		in, _, _ := strings.Cut(name, ".")
		packages[in] = true
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil
	}
	for _, name := range []string{"architecture.md", "adding.md", "../test/README.md", "controller.md", "output.md", "plan-rollout.md", "history.md"} {
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
				case strings.HasPrefix(word, "make "):
					if what = "target"; !strings.Contains(string(makefile), "\n"+strings.TrimPrefix(word, "make ")+":") {
						t.Errorf("%s: no target for %s", name, word)
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
				if anchor != "" && !slices.ContainsFunc(to.headings(), func(h string) bool { return anchorOf(h) == anchor }) {
					t.Errorf("%s: no heading for the link %s", name, m[1])
				}
			}
		}
		if !checked["file"] || name == "architecture.md" && !checked["name"] || name == "adding.md" && !checked["target"] {
			t.Errorf("%s: nothing to look for: %v", name, checked)
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
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
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
		if f.Type.Kind() != reflect.Bool || f.Name == "Beyond" || strings.HasPrefix(f.Name, "Namespace") { // those of OpenShift
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
				if want := slices.ContainsFunc(since, func(s string) bool { return from(t, s, minor, patch) }); has != want {
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
	if newest := strings.TrimPrefix(daemonset.Newest, "v"); !strings.Contains(strings.Join(readPage(t, "controller.md").sections["Which versions are proven?"], "\n"), newest) {
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
