// Command manual writes the manual pages and the completion scripts of kubectl-ds, for
// archives and packages:
//
//	go run ./docs/generate/manual [-version v0.1.0] [-date 2026-01-31] DIRECTORY
//
// writes DIRECTORY/man/man1/kubectl-ds.1, a page for each command beside it, and
// DIRECTORY/completions/kubectl-ds.bash, .zsh, .fish and .ps1. The pages have the date that
// is given, or that of SOURCE_DATE_EPOCH, and not that of today: the same commit gives the
// same files.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
)

const program = "kubectl-ds"

func main() {
	if err := run(os.Args[1:], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run writes all files. epoch is the date, in seconds, where the arguments have none.
func run(args []string, epoch string) error {
	flags := flag.NewFlagSet("manual", flag.ContinueOnError)
	version := flags.String("version", "", "version of the program, such as v0.1.0")
	date := flags.String("date", "", "date of the pages, such as 2026-01-31 (default: that of SOURCE_DATE_EPOCH)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("give the directory to write to")
	}
	on, err := dateOf(*date, epoch)
	if err != nil {
		return err
	}
	dir := flags.Arg(0)
	root := cli.Commands(program)
	pages := map[string]string{}
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Name() == "help" || cmd.Name() == "options" { // the page of the program has these flags
			continue
		}
		pages[pageOf(cmd)] = page(cmd, *version, on)
	}
	for name, text := range pages {
		if err := write(filepath.Join(dir, "man", "man1", name+".1"), []byte(text)); err != nil {
			return err
		}
	}
	return scripts(root, filepath.Join(dir, "completions"))
}

// dateOf returns the date of the pages.
func dateOf(date, epoch string) (time.Time, error) {
	if date != "" {
		return time.Parse(time.DateOnly, date)
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, errors.New("no date: give -date 2026-01-31, or set SOURCE_DATE_EPOCH to seconds since 1970")
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// scripts writes the script of each shell.
func scripts(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	at := func(ending string) string { return filepath.Join(dir, program+"."+ending) }
	return errors.Join(root.GenBashCompletionFileV2(at("bash"), true), root.GenZshCompletionFile(at("zsh")),
		root.GenFishCompletionFile(at("fish"), true), root.GenPowerShellCompletionFileWithDesc(at("ps1")))
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
