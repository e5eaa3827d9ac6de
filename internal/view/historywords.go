package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// changeWords says in few words what changed from the revision below. It is
// empty where that is not known.
func (s *lineScreen) changeWords(h *history.History, r *history.Revision) []string {
	switch r.Kind {
	case history.ChangeFirst:
		return []string{firstWords(r)}
	case history.ChangeRestart:
		return []string{sinceRevision(r) + "kubectl rollout restart, nothing else"}
	case history.ChangeNone:
		return []string{sameContent(h, r)}
	case history.ChangeUnknown:
		return s.unknownChange(h, r)
	}
	words := fieldStyle{brief: true, cell: true, alone: len(r.Images) <= 1, all: s.All}.changeLines(r.Change)
	words[0] = sinceRevision(r) + words[0]
	if of := contentOf(h, r); of != "" {
		words = append(words, "the content of revision "+of+" again")
	}
	return words
}

// sinceRevision names the revision that a change is against, where what was between the
// two is gone: not all of it came with this one.
func sinceRevision(r *history.Revision) string {
	if r.From == 0 || r.From >= r.Revision-1 {
		return ""
	}
	return fmt.Sprintf("since revision %d: ", r.From)
}

// unknownChange stands for a change that could not be told: the reason, or what
// the pods run.
func (s *lineScreen) unknownChange(h *history.History, r *history.Revision) []string {
	switch {
	case slices.Contains(r.Notes, history.Unreadable):
		return []string{"not known: its data is no pod template"}
	case len(r.Images) > 0:
		return []string{imagesOf(r)}
	case r.From > 0:
		return []string{fmt.Sprintf("not known: revision %d cannot be read", r.From)}
	}
	return []string{"not known"}
}

// firstWords tell the first revision of all from the oldest that is kept.
func firstWords(r *history.Revision) string {
	words := "the oldest kept"
	switch {
	case r.Name == "" && len(r.Images) > 0:
		return imagesOf(r)
	case r.Revision == 1 && r.TakenUpAt == nil:
		words = "the first"
	}
	if len(r.Images) == 0 || len(r.Images) > 3 {
		return words
	}
	return words + ": " + imagesOf(r)
}

// imagesOf lists what the containers run.
func imagesOf(r *history.Revision) string {
	var parts []string
	for _, i := range r.Images {
		image := template.ParseImage(i.Image)
		image.Repository = image.Name()
		parts = append(parts, clean(imageWords(image)))
	}
	if len(parts) == 1 {
		return "image " + parts[0]
	}
	return "images " + strings.Join(parts, ", ")
}

// sameContent says of which revision a template is the copy.
func sameContent(h *history.History, r *history.Revision) string {
	of := contentOf(h, r)
	if from := rowBelow(h, r); of == "" && from != nil {
		of = revisionNumber(h, from.Name)
	}
	return "same content as revision " + of
}

// contentOf names the revision that has the same template, by the notes; empty
// for none.
func contentOf(h *history.History, r *history.Revision) string {
	for _, n := range h.Notes {
		if n.Code == history.SameContent && r.Name != "" && slices.Contains(n.Revisions, r.Name) {
			return revisionNumber(h, fact(n.Facts, "name"))
		}
	}
	return ""
}
