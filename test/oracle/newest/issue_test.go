package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestIssue runs the script with a gh that records its arguments and answers with one line.
func TestIssue(t *testing.T) {
	const title = "Kubernetes v1.38.0 differs from the model"
	for _, tt := range []struct {
		report, found string
		want          string // the last command, without the file
		body, why     string
	}{
		{"# " + title + "\n\nText.\n", "", "issue create --title " + title + " --body-file", "\nText.\n", "there is none"},
		{"# " + title + "\n\nText.\n", "OPEN 7", "issue edit 7 --body-file", "\nText.\n", "one is open: it gets the new text"},
		{"# " + title + "\n\nText.\n", "CLOSED 7", "issue list", "", "somebody closed it: nothing is opened again"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			report := filepath.Join(dir, "newest.md")
			write(t, report, tt.report, 0o644)
			write(t, filepath.Join(dir, "gh"), `#!/bin/sh
printf '%s ' "$@" >"`+dir+`/last"
case $2 in list) echo "$FOUND";; *) while [ $# -gt 1 ]; do shift; done; cat "$1" >"`+dir+`/body";; esac
`, 0o755)
			cmd := exec.Command("./issue.sh", report)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "FOUND="+tt.found)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			last, err := os.ReadFile(filepath.Join(dir, "last"))
			if err != nil || !strings.HasPrefix(string(last), tt.want+" ") {
				t.Errorf("%v: the last command is %s", err, last)
			}
			if body, _ := os.ReadFile(filepath.Join(dir, "body")); string(body) != tt.body {
				t.Errorf("the text is %q, want %q", body, tt.body)
			}
		})
	}
	empty := filepath.Join(t.TempDir(), "newest.md")
	write(t, empty, "no title\n", 0o644)
	if out, err := exec.Command("./issue.sh", empty).CombinedOutput(); err == nil {
		t.Errorf("a report without a title: no error, but %s", out)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
