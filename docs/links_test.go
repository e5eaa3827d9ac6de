package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks: what a page links to in this repository is there, with the section that it names. Links to the forge, such
// as ../../issues, and to other sites are not followed.
func TestLinks(t *testing.T) {
	var pages []string
	for _, of := range []string{"*.md", "*/*.md", "*/*/*.md", ".github/*/*.yml"} {
		found, err := filepath.Glob(filepath.Join("..", of))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(text), ""), -1) {
			target := found[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "../../") {
				continue
			}
			checked++
			if err := leads(page, target); err != "" {
				t.Errorf("%s: (%s) %s", page, target, err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d links were found", checked)
	}
	for target, want := range map[string]string{"nowhere.md": "is not there", "architecture.md#nothing-of-the-kind": "has no such section"} {
		if got := leads("README.md", target); got != want {
			t.Errorf("a link to %s %q, want %q", target, got, want)
		}
	}
}

// leads returns what is wrong with a link of a page, or "".
func leads(page, target string) string {
	file, section, _ := strings.Cut(target, "#")
	path := filepath.Join(filepath.Dir(page), file)
	if file == "" {
		path = page
	}
	if _, err := os.Stat(path); err != nil {
		return "is not there"
	}
	if section == "" {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(text)) {
		if heading, is := strings.CutPrefix(line, "#"); is && anchor(strings.TrimLeft(heading, "#")) == section {
			return ""
		}
	}
	return "has no such section"
}

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	words := regexp.MustCompile(`[^\p{L}\p{N}\s_-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
	return strings.ReplaceAll(words, " ", "-")
}
