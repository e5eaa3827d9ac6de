package cli

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
)

// size is how large a terminal is.
type size struct{ width, height int }

// screenful is what a terminal shows of a DaemonSet that is followed.
type screenful struct {
	last  []view.Event // the newest first
	drawn size         // of the terminal when it was drawn; zero before
	below []string     // the lines that come below the last screen; nil before that
}

const mostEvents = 20

// happened keeps what a terminal shows.
func (s *screenful) happened(e view.Event) {
	s.last = slices.Insert(s.last, 0, e)
	s.last = s.last[:min(mostEvents, len(s.last))]
}

// draw puts the screen in the place of the one before.
func (f *following) draw() error {
	style, now := f.style, f.terminal()
	style.Width = now.width
	live := &view.Live{Progress: f.now, Now: f.explained(), Last: f.last, Ended: f.below != nil}
	if len(f.lost) > 0 {
		live.Lost, live.Clock = f.since, f.w.Now().Local()
	}
	var b bytes.Buffer
	if err := view.LiveScreen(&b, live, f.asked, style, max(1, now.height-1-rows(f.below, now.width))); err != nil {
		return err
	}
	if answers, ok := f.Out.(*stream); ok {
		if err := answers.control(toTop(f.drawn == size{}, now)); err != nil {
			return err
		}
	}
	f.drawn = now
	_, err := f.Out.Write(b.Bytes())
	return err
}

// toTop makes room for a screen, which begins in the first line of the terminal: where
// the cursor is may have changed since, by what was typed or by another size. What stood
// there first is scrolled away, and can be scrolled back to.
func toTop(first bool, s size) string {
	const home = "\x1b[H\x1b[J"
	if first {
		return strings.Repeat("\n", s.height-1) + home
	}
	return home
}

// rows is how many rows of a terminal some lines take.
func rows(lines []string, width int) (n int) {
	for _, line := range lines {
		n += max(1, (screen.Width(line)+width-1)/width)
	}
	return n
}

// sizeOf returns how large a terminal is. Of one that does not say it is assumed.
func sizeOf(tty *os.File) size {
	width, height, err := term.GetSize(int(tty.Fd()))
	return knownSize(width, height, err)
}

func knownSize(width, height int, err error) size {
	if err != nil || width <= 0 || height <= 0 {
		return size{80, 24}
	}
	return size{width, height}
}

// terminalOf returns how large the terminal is that out is, or nil. One that cannot go
// to its first line is none.
func terminalOf(out io.Writer) func() size {
	f, ok := under(out).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func() size { return sizeOf(f) }
}
