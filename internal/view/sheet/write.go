package sheet

import (
	"io"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
)

// Write writes the screen in at most room lines.
func (a *Sheet) Write(w io.Writer, room int) error {
	t := a.Style.Terminal()
	t.Height = room
	return a.Screen.Text(w, t)
}

// WritePage writes screens as one HTML page.
func WritePage(w io.Writer, screens []*screen.Screen, of wording.Page) error {
	p := &screen.Page{Title: of.Title, About: of.About, Missing: of.Missing, Screens: screens, Footer: "Written by " +
		of.Program + ". Nothing was changed in the cluster."}
	if len(screens) == 1 {
		h := &screens[0].Headline
		p.Title = wording.Joined(" ", h.Verdict, h.Subject) + " - " + of.Title
	}
	return p.HTML(w)
}

// Write writes the screens one after the other.
func Write(w io.Writer, screens []*screen.Screen, style wording.Style) error {
	if style.Form == wording.InHTML {
		return WritePage(w, screens, style.Page)
	}
	for i, s := range screens {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := WriteOne(w, s, style); err != nil {
			return err
		}
	}
	return nil
}

// WriteOne writes one screen in the format of the style.
func WriteOne(w io.Writer, s *screen.Screen, style wording.Style) error {
	switch style.Form {
	case wording.InMarkdown:
		return s.Markdown(w, style.All)
	case wording.InHTML:
		return WritePage(w, []*screen.Screen{s}, style.Page)
	}
	return s.Text(w, style.Terminal())
}
