package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/validate"
)

// writeRules writes the rules of pkg/validate into their page.
func writeRules(root string) error {
	name := filepath.Join(root, "docs", "manifests.md")
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(withRules(string(old))), 0o644)
}

const rulesMarker = "<!-- rules -->"

// withRules returns a page with the table of the rules behind its marker.
func withRules(page string) string {
	head, _, _ := strings.Cut(page, rulesMarker)
	_, foot, _ := strings.Cut(page, end)
	rows := []string{"| Field | Requirement |", "| --- | --- |"}
	for _, r := range validate.Rules() {
		rows = append(rows, "| `"+r.Field+"` | "+r.Must+" |")
	}
	return strings.Join(slices.Concat([]string{head + rulesMarker, ""}, rows, []string{"", end + foot}), "\n")
}
