package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
)

// pageOf is the name of the page of a command: man joins the words that it is given, so
// "man kubectl ds explain" finds it, too.
func pageOf(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return program
	}
	return program + "-" + cmd.Name()
}

// groups are flags below the titles of their groups.
func groups(line func(string, ...any), all []cli.Flags) {
	for _, g := range all {
		if g.Title != "" {
			line(`.SS "%s"`, roff(g.Title))
		}
		list(line, g.Rows)
	}
}

// page is the manual page of a command: groff_man(7) says what the macros are.
func page(cmd *cobra.Command, version string, date time.Time) string {
	h := cli.HelpOf(cmd)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`.TH "%s" "1" "%s" "%s" "User Commands"`, roff(strings.ToUpper(pageOf(cmd))), date.Format(time.DateOnly), roff(strings.TrimSpace(program+" "+version)))
	line(".SH NAME\n%s \\- %s", roff(pageOf(cmd)), roff(h.Short))
	line(".SH SYNOPSIS")
	for _, usage := range h.Usage {
		line(".B %s", roff(usage))
	}
	line(".SH DESCRIPTION")
	for i, text := range append(h.Long, "Every command takes kubectl's own flags, such as -n and --context: see "+program+"(1).") {
		if cmd.HasParent() || i < len(h.Long) {
			paragraph(line, i > 0, text)
		}
	}
	if len(h.Commands) > 0 {
		line(".SH COMMANDS")
		list(line, h.Commands)
	}
	ofExits := func(t string) bool { return strings.HasPrefix(t, "Exit status") }
	for _, t := range slices.DeleteFunc(slices.Clone(h.Tables), ofExits) {
		tables(line, t)
	}
	if len(h.Flags) > 0 {
		line(".SH OPTIONS")
		groups(line, h.Flags)
	}
	if len(h.Inherits) > 0 {
		line(".SH OPTIONS OF KUBECTL\nEvery command takes these flags of kubectl.")
		groups(line, h.Inherits)
	}
	for _, t := range h.Tables {
		if ofExits(t) {
			tables(line, t)
		}
	}
	if h.Examples != "" {
		line(".SH EXAMPLES\n.EX")
		for _, text := range strings.Split(h.Examples, "\n") {
			line("%s", roff(strings.TrimPrefix(text, "  ")))
		}
		line(".EE")
	}
	line(".SH SEE ALSO")
	var others []string
	for _, other := range append([]*cobra.Command{cmd.Root()}, cmd.Root().Commands()...) {
		if other != cmd && other.Name() != "help" && other.Name() != "options" {
			others = append(others, fmt.Sprintf(".BR %s (1)", roff(pageOf(other))))
		}
	}
	line("%s ,\n.BR kubectl (1)", strings.Join(others, " ,\n"))
	return b.String()
}

// paragraph writes one, behind another or as the first of a section.
func paragraph(line func(string, ...any), behind bool, text string) {
	if behind {
		line(".PP")
	}
	line("%s", wrapped(text))
}

// wrapped returns a text in lines of a length that the tools for manual pages ask for.
func wrapped(text string) string {
	const widest = 78
	var lines []string
	at := ""
	for _, word := range strings.Fields(text) {
		if at != "" && len(at)+1+len(roff(word)) > widest {
			lines, at = append(lines, at), ""
		}
		at = strings.TrimPrefix(at+" "+roff(word), " ")
	}
	return strings.Join(append(lines, at), "\n")
}

// list writes terms with what they mean.
func list(line func(string, ...any), rows [][2]string) {
	for _, r := range rows {
		line(".TP\n.B %s\n%s", roff(strings.TrimSpace(r[0])), cmp.Or(wrapped(r[1]), `\&`))
	}
}

// tables writes tables, each under its heading: those of exit statuses in a section that
// every manual page has.
func tables(line func(string, ...any), text string) {
	section := ""
	for _, t := range strings.Split(text, "\n\n") {
		head, rows, found := strings.Cut(t, ":\n")
		if !found { // a note below a table
			paragraph(line, true, strings.Join(strings.Fields(t), " "))
			continue
		}
		of := "CONDITIONS"
		if strings.HasPrefix(head, "Exit status") {
			of = "EXIT STATUS"
		}
		if of != section {
			line(".SH %s", of)
		}
		paragraph(line, of == section, head+":")
		section = of
		line(".PP\n.EX")
		for _, row := range strings.Split(strings.TrimRight(rows, "\n"), "\n") {
			line("%s", roff(row))
		}
		line(".EE")
	}
}

// roff returns a text in which nothing is a request or an escape.
func roff(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case strings.ContainsRune("-'`^~", r):
			b.WriteString(map[rune]string{'-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`}[r])
		case r == '"':
			b.WriteString(`\(dq`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	if s := b.String(); !strings.HasPrefix(s, ".") {
		return s
	}
	return `\&` + b.String()
}
