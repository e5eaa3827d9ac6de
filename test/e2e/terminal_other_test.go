//go:build !linux

package e2e

import (
	"os/exec"
	"testing"
)

func onTerminal(t *testing.T, _ *exec.Cmd, _ func(string) (lines, columns uint16)) string {
	t.Skip("terminals are made in Linux's way")
	return ""
}

func shown(*testing.T, string) (lines []string, redrawn int) { return nil, 0 }
