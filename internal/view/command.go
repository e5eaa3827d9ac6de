package view

import "github.com/kubectl-ds/kubectl-ds/internal/screen"

// pasted returns a command, or "" where it has words that cannot be pasted as
// they are printed.
func pasted(command string) string {
	if clean(command) != command {
		return ""
	}
	return command
}

// Quote makes a word safe to paste into a shell.
func Quote(word string) string { return string(screen.Quote(word)) }
