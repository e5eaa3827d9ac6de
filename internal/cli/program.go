package cli

import (
	"path/filepath"
	"strings"

	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// program is the name by which this program was called. One file serves every name
// that a plugin index or an alias gives it.
type program struct {
	path      string // as it was called: /usr/local/bin/kubectl-ds
	file      string // the name of the file, without .exe: kubectl-ds
	shown     string // what a person types: kubectl ds
	plugin    bool   // kubectl finds it
	completes bool   // kubectl called it to complete a command line
}

// calledAs returns the name for the path by which the program was called. kubectl finds
// a plugin by its file: a word of the command line for each part behind a dash, in which
// an underscore stands for a dash, so kubectl-explain_daemonset is "kubectl
// explain-daemonset". To complete it, kubectl calls kubectl_complete-explain_daemonset.
// Any other name is typed as it is.
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

// examples returns commands with their comments, indented as in kubectl's help. They are
// written as commands of "kubectl ds".
func (p program) examples(text string) string {
	lines := strings.Split(strings.ReplaceAll(templates.Examples(text), "kubectl ds ", p.own("")), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
