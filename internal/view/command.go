package view

import (
	"regexp"
	"slices"
	"strings"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/=@-]+$`)

// pasted returns a command, or "" where it has words that cannot be pasted as
// they are printed.
func pasted(command string) string {
	if clean(command) != command {
		return ""
	}
	return command
}

// Quote makes a word safe to paste into a shell.
func Quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// added is a command with further flags, in place of those that they override;
// empty where there is none to paste.
func added(again, flags string) string {
	if again == "" {
		return ""
	}
	words, drop := shellWords(again), map[string]bool{}
	for _, f := range strings.Fields(flags) {
		if name, isFlag := strings.CutPrefix(f, "--"); isFlag {
			if drop[name] = !repeatable[name]; name == "to-revision" { // it takes the revision's template as it is
				drop["image"], drop["restart"], drop["toleration"], drop["node-selector"] = true, true, true, true
				if slices.Contains(words, "--filename") || slices.Contains(words, "--kustomize") {
					return "" // the manifest's template
				}
			}
		}
	}
	var kept []string
	for i := 0; i < len(words); i++ {
		name, isFlag := strings.CutPrefix(words[i], "--")
		if !isFlag || !drop[name] {
			kept = append(kept, words[i])
			continue
		}
		if name != "restart" { // which has no value
			i++
		}
	}
	return pasted(strings.Join(append(kept, flags), " "))
}

// repeatable are the flags that add to what was given before.
var repeatable = map[string]bool{"remove-nodes": true}

// shellWords splits a command as Quote wrote it, and leaves the quotes.
func shellWords(command string) []string {
	var words []string
	var word strings.Builder
	quoted := false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\\' && !quoted && i+1 < len(command):
			word.WriteString(command[i : i+2])
			i++
		case c == ' ' && !quoted:
			words = append(words, word.String())
			word.Reset()
		default:
			quoted = quoted != (c == '\'')
			word.WriteByte(c)
		}
	}
	return append(words, word.String())
}
