package cli

import (
	"path/filepath"
	"strings"

	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// program is the name by which this program was called. The same executable works under any name
// that a plugin index or an alias gives it.
type program struct {
	path      string // as called, such as /usr/local/bin/kubectl-ds
	file      string // file name without .exe, such as kubectl-ds
	shown     string // the command that users type, such as "kubectl ds"
	plugin    bool   // kubectl runs it as a plugin
	completes bool   // kubectl called it for a completion
}

// calledAs returns the name for the path by which the program was called. kubectl finds a plugin by
// its file name. Each dash separates two words of the command line, and an underscore means a dash,
// so kubectl-explain_daemonset is "kubectl explain-daemonset". For completions, kubectl calls
// kubectl_complete-explain_daemonset. Users type any other file name as it is.
func calledAs(path string) program {
	file := filepath.Base(path)
	if ext := filepath.Ext(file); strings.EqualFold(ext, ".exe") {
		file = strings.TrimSuffix(file, ext)
	}
	p := program{path: path, file: file, shown: string(screen.Quote(file))}
	name, isPlugin := strings.CutPrefix(file, "kubectl-")
	if !isPlugin {
		name, p.completes = strings.CutPrefix(file, "kubectl_complete-")
	}
	if name == "" || !isPlugin && !p.completes {
		return p
	}
	p.plugin = isPlugin
	words := []string{"kubectl"}
	for _, part := range strings.Split(name, "-") {
		words = append(words, string(screen.Quote(strings.ReplaceAll(part, "_", "-"))))
	}
	p.shown = strings.Join(words, " ")
	return p
}

// own returns a command line of this program.
func (p program) own(words string) string { return p.shown + " " + words }

// examples indents commands and their comments, as kubectl's help does. It replaces "kubectl ds" by
// the name of this program.
func (p program) examples(text string) string {
	lines := strings.Split(strings.ReplaceAll(templates.Examples(text), "kubectl ds ", p.own("")), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
