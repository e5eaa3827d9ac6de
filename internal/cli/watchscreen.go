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

// size is the size of a terminal in characters.
type size struct{ width, height int }

// liveScreen is the terminal screen of a watch.
type liveScreen struct {
	lastEvents []view.Event // newest first
	drawnSize  size         // size of the terminal at the last draw; zero before the first
	below      []string     // lines to print below the last screen; nil before the end
}

const mostEvents = 20

// addEvent adds an event to the screen.
func (s *liveScreen) addEvent(e view.Event) {
	s.lastEvents = slices.Insert(s.lastEvents, 0, e)
	s.lastEvents = s.lastEvents[:min(mostEvents, len(s.lastEvents))]
}

// draw replaces the screen.
func (f *following) draw() error {
	style, now := f.style, f.terminal()
	style.Width = now.width
	live := &view.Live{Progress: f.now, Now: f.explained(), Last: f.lastEvents, Ended: f.below != nil}
	if len(f.lost) > 0 {
		live.Lost, live.Clock = f.since, f.w.Now().Local()
	}
	var b bytes.Buffer
	if err := view.LiveScreen(&b, live, f.asked, style, max(1, now.height-1-rows(f.below, now.width))); err != nil {
		return err
	}
	if answers, ok := f.Out.(*stream); ok {
		if err := answers.control(clearScreen(f.drawnSize == size{}, now)); err != nil {
			return err
		}
	}
	f.drawnSize = now
	_, err := f.Out.Write(b.Bytes())
	return err
}

// clearScreen returns the codes that clear the terminal for a screen. A screen always starts in the
// first line, because input or a new size may have moved the cursor. The first screen scrolls the
// old contents away, so that the user can scroll back to them.
func clearScreen(first bool, s size) string {
	const home = "\x1b[H\x1b[J"
	if first {
		return strings.Repeat("\n", s.height-1) + home
	}
	return home
}

// rows returns how many rows of a terminal the lines need.
func rows(lines []string, width int) (n int) {
	for _, line := range lines {
		n += max(1, (screen.Width(line)+width-1)/width)
	}
	return n
}

// sizeOf returns the size of a terminal, or a default if it is unknown.
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

// terminalOf returns a function that reads the size of the terminal. It returns nil if out is not a
// terminal, or is one that cannot move the cursor.
func terminalOf(out io.Writer) func() size {
	f, ok := underlying(out).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func() size { return sizeOf(f) }
}
