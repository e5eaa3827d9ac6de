// Command generate writes the tables of docs/output.md anew from the code: the
// fields of a document from its struct, codes from their constants, and what
// each means from the comment there. So a description stands once.
//
// It also writes the rules of pkg/validate into docs/manifests.md. The rest of the pages is written by hand. A table stands between two comments
// of HTML, of which the first says what it is made from:
//
//	<!-- fields explain.Explanation -->    the fields of a struct, and of all structs in it
//	<!-- facts daemonset.FactKeys -->      the same, as keys of facts
//	<!-- codes explain.VerdictCodes -->    the codes of lists, or of a type, in their order
//	<!-- end -->
//
// A comment is the text of a row. Some words at the beginning of a line are more
// than text: "Facts: a, b" names the keys of a code's facts, "Codes: Placement"
// the sections with the codes of a field, and the others are columns of their
// own. Where one code means different things in two tables, the comment stands
// at the list's element.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:generate go run .

func main() {
	if err := run("../.."); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run writes the pages of the project whose root is given.
func run(root string) error {
	name := filepath.Join(root, "docs", "output.md")
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	c, err := readCode(filepath.Join(root, "pkg"))
	if err != nil {
		return err
	}
	page, err := generate(c, string(old))
	if err == nil && !bytes.Equal(old, []byte(page)) {
		err = os.WriteFile(name, []byte(page), 0o644)
	}
	if err != nil {
		return err
	}
	return writeRules(root)
}

// A block is what stands in the page from one marker to its end.
type block struct {
	kind, section string
	of            []string // types or lists: explain.Explanation
}

// generate returns the page with its tables made anew.
func generate(c *code, page string) (string, error) {
	t := &tables{code: c, sections: map[string][]string{}}
	lines := strings.Split(page, "\n")
	blocks, err := blocksOf(lines)
	if err != nil {
		return "", err
	}
	for _, b := range blocks {
		if b.kind == "codes" {
			if err := t.collect(b); err != nil {
				return "", err
			}
		}
	}
	var out []string
	inside := false
	for i, line := range lines {
		switch b := blocks[i]; {
		case b != nil:
			inside = true
			rows, err := t.rows(b)
			if err != nil {
				return "", fmt.Errorf("%s: %w", b.section, err)
			}
			out = slices.Concat(out, []string{line, ""}, rows, []string{""})
		case line == end:
			inside = false
			out = append(out, line)
		case !inside:
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n"), t.missing()
}

const end = "<!-- end -->"

// blocksOf returns the blocks by the line of their marker.
func blocksOf(lines []string) (map[int]*block, error) {
	blocks := map[int]*block{}
	section := ""
	var open *block
	for i, line := range lines {
		if title, ok := strings.CutPrefix(line, "#"); ok {
			section = strings.TrimSpace(strings.TrimLeft(title, "#"))
		}
		words := strings.Fields(line)
		switch {
		case line == end && open == nil:
			return nil, fmt.Errorf("line %d: an end without a beginning", i+1)
		case line == end:
			open = nil
		case len(words) < 4 || words[0] != "<!--":
		case open != nil:
			return nil, fmt.Errorf("line %d: the block of %s has no end", i+1, open.of)
		default:
			open = &block{kind: words[1], section: section, of: words[2 : len(words)-1]}
			blocks[i] = open
		}
	}
	if open != nil {
		return nil, fmt.Errorf("the block of %s has no end", open.of)
	}
	return blocks, nil
}
