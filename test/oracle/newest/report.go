package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// finding is the result for one release.
type finding struct {
	release   release
	libraries release  // used for the build
	failed    []string // why it could not be built, one text for each set of libraries; empty if it was built

	compared // if it was built
}

// compared is the result of the oracle for a release.
type compared struct {
	counts map[string]int // by column of the oracle's table
	differ []difference
	broken string // the end of the output, if the tests did not complete
}

// difference is a failed test with its output: the shrunk state, and what the model and the
// controller do with it.
type difference struct{ test, output string }

// Exit statuses.
const (
	agrees   = 0 // nothing is new, or all agree
	failed   = 1 // nothing can be said
	differs  = 2 // a controller differs from the model
	notBuilt = 3 // none differs, but a minor version could not be built or run
)

// status returns the exit status for findings.
func status(all []finding) int {
	worst := agrees
	ran := map[int]bool{} // minor versions
	for _, f := range all {
		if len(f.differ) > 0 {
			return differs
		}
		ran[f.release.minor] = ran[f.release.minor] || len(f.failed) == 0 && f.broken == ""
	}
	for _, ok := range ran {
		if !ok {
			worst = notBuilt
		}
	}
	return worst
}

// mostOutput is the maximum number of bytes of output that a report quotes. An issue holds 65,536
// characters.
const mostOutput = 48000

// report returns a report in Markdown. Its first line, without "# ", is the title of an issue and
// names the releases.
func report(all []finding, known release) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", title(all, known))
	if len(all) == 0 {
		fmt.Fprintf(&b, "client-go has no release of the minors looked at that is newer than those in test/oracle/program/versions.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "The model is that of %s. The candidates are the releases of client-go; each was built from Go modules.\n\n", known)
	b.WriteString("| Release | Built | States | Syncs | Rollouts | Their syncs | What-ifs | Differences |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, f := range all {
		fmt.Fprintf(&b, "| %s | %s |", f.release, f.built())
		for _, column := range []string{"states", "syncs", "rollouts", "their syncs", "what-ifs"} {
			if len(f.failed) > 0 {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(&b, " %d |", f.counts[column])
		}
		fmt.Fprintf(&b, "%s |\n", f.verdict())
	}
	type section struct{ head, text string }
	var sections []section
	for _, f := range all {
		for _, d := range f.differ {
			sections = append(sections, section{fmt.Sprintf("%s: %s", f.release, d.test), d.output})
		}
		if f.broken != "" {
			sections = append(sections, section{fmt.Sprintf("%s: the tests did not come to their end", f.release), f.broken})
		}
		if len(f.failed) > 0 {
			sections = append(sections, section{fmt.Sprintf("%s does not build", f.release), strings.Join(f.failed, "\n\n")})
		}
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s", s.head, quoted(s.text, mostOutput/len(sections)))
	}
	b.WriteString("\n## What to do\n\n")
	b.WriteString("`make oracle ONLY=newest` repeats this. A release that was built is added by `test/oracle/program/add.sh RELEASE`; " +
		"a state that differs is a row for `TestNamed` (test/oracle/named_test.go). docs/adding.md says what else a new version needs.\n")
	return b.String()
}

// Results for a release.
const (
	differing = "differs from the model"
	stopping  = "stops the oracle"
	unbuilt   = "does not build"
	agreeing  = "agrees with the model"
)

// several joins releases with the same result.
var several = map[string]string{
	differing: "differ from the model", stopping: "stop the oracle", unbuilt: "do not build", agreeing: "agree with the model",
}

// title returns the title: the releases and their results.
func title(all []finding, known release) string {
	var parts []string
	for _, kind := range []string{differing, stopping, unbuilt, agreeing} {
		var names []string
		for _, f := range all {
			if f.kind() == kind {
				names = append(names, f.release.String())
			}
		}
		switch len(names) {
		case 0:
		case 1:
			parts = append(parts, names[0]+" "+kind)
		default:
			parts = append(parts, strings.Join(names, ", ")+" "+several[kind])
		}
	}
	if len(parts) == 0 {
		return "Kubernetes: nothing is newer than " + known.String()
	}
	return "Kubernetes " + strings.Join(parts, "; ")
}

func (f *finding) kind() string {
	switch {
	case len(f.failed) > 0:
		return unbuilt
	case len(f.differ) > 0:
		return differing
	case f.broken != "":
		return stopping
	}
	return agreeing
}

func (f *finding) built() string {
	switch {
	case len(f.failed) > 0:
		return unbuilt
	case f.libraries != f.release:
		return "with the libraries " + f.libraries.libraries()
	}
	return "yes"
}

func (f *finding) verdict() string {
	switch {
	case len(f.failed) > 0:
		return ""
	case f.broken != "" && len(f.differ) == 0:
		return " unknown"
	}
	return " " + strconv.Itoa(max(f.counts["differences"], len(f.differ)))
}

// quoted returns a text as a code block, with its middle cut out if it is longer than most.
func quoted(text string, most int) string {
	text = strings.TrimRight(text, "\n")
	if more := len(text) - most; more > 0 {
		text = fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", strings.ToValidUTF8(text[:most/2], ""), more, strings.ToValidUTF8(text[len(text)-most/2:], ""))
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + "\n" + fence + "\n"
}

// event is a line of the output of go test -json.
type event struct{ Action, Test, Output string }

// judged parses the output of go test -json for one release, given whether the tests ended well.
func judged(output []byte, release release, ok bool) compared {
	c := compared{counts: map[string]int{}}
	printed := map[string]*strings.Builder{}
	var fails []string
	var rest strings.Builder // lines outside of tests, and other output
	for line := range bytes.Lines(output) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			rest.Write(line)
			continue
		}
		if e.Test == "" {
			rest.WriteString(e.Output)
			continue
		}
		if printed[e.Test] == nil {
			printed[e.Test] = &strings.Builder{}
		}
		if !strings.HasPrefix(e.Output, "=== ") {
			printed[e.Test].WriteString(e.Output)
		}
		if e.Action == "fail" {
			fails = append(fails, e.Test)
		}
	}
	c.counts = counted(rest.String(), release)
	for _, test := range fails {
		below := func(other string) bool { return strings.HasPrefix(other, test+"/") }
		if !slices.ContainsFunc(fails, below) {
			c.differ = append(c.differ, difference{test, printed[test].String()})
		}
	}
	if !ok && len(c.differ) == 0 {
		c.broken = rest.String()
	}
	return c
}

// counted parses the row of a release in the table at the end of the oracle's output.
func counted(text string, release release) map[string]int {
	counts := map[string]int{}
	var columns []string
	for line := range strings.Lines(text) {
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		switch cells[0] {
		case "version":
			columns = cells
		case strings.TrimPrefix(release.String(), "v"):
			for i := 1; i < min(len(cells), len(columns)); i++ {
				counts[columns[i]], _ = strconv.Atoi(cells[i])
			}
		}
	}
	return counts
}
