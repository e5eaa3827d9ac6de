package cli

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// stream is where answers, notes and errors go: a writer through which no
// control code passes, and nothing that a terminal does not show, whatever was
// forgotten before it. Such a character is written as JSON escapes it, so that a
// JSON document stays the same one. Line ends and tabs pass.
//
// Words of the cluster become text in screen.Clean, which keeps them in one line and
// lets a column know its width. A stream is the net below that: it lets a line
// end pass, and knows of no word where it came from.
type stream struct {
	mu    sync.Mutex
	under io.Writer
	color bool
	rest  []byte // the beginning of a character, or of a color

	passing bool   // the line of show stands on the terminal
	shown   bool   // show does nothing any more
	before  func() // is called before anything is written; nil: nothing is

	abandoned atomic.Bool
}

// show writes a line of text that is gone when anything else is written, and takes the place of the
// one before; an empty one only takes that away. The writer below must be a terminal that goes
// back to the beginning of a line.
func (s *stream) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown || line == "" && !s.passing {
		return
	}
	escaped, _ := s.escape([]byte(line), true)
	_ = s.put(escaped)
	s.passing = line != ""
}

// showNoMore takes away the line of show, and makes all later ones nothing.
func (s *stream) showNoMore() {
	s.show("")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = true
}

// abandon makes every later Write fail. It does not wait for one that is under
// way, and may never end.
func (s *stream) abandon() { s.abandoned.Store(true) }

// put writes text that may pass.
func (s *stream) put(text []byte) error {
	if s.abandoned.Load() {
		return io.ErrClosedPipe
	}
	if s.before != nil {
		s.before()
	}
	if s.passing {
		const clear = "\r\x1b[K"
		s.passing = false
		text = append([]byte(clear), text...)
	}
	_, err := s.under.Write(text)
	return err
}

// newStream returns a stream that writes to w. Of escape sequences it lets none
// pass until allowColor.
func newStream(w io.Writer) *stream { return &stream{under: w} }

// under returns the writer below a stream. It returns any other writer, which
// may be a terminal, unchanged.
func under(w io.Writer) io.Writer {
	if s, ok := w.(*stream); ok {
		return s.under
	}
	return w
}

// allowColor lets the colors of a view.Style pass.
func (s *stream) allowColor() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.color = true
}

// Write writes p, and keeps a character that p does not end for the next Write,
// or Close.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.rest, p...)
	escaped, n := s.escape(text, false)
	s.rest = append([]byte(nil), text[n:]...)
	if err := s.put(escaped); err != nil {
		return 0, err
	}
	return len(p), nil
}

// control writes codes that move the cursor of a terminal, which only this
// program itself has.
func (s *stream) control(codes string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put([]byte(codes))
}

// Close writes what is left of the last Write. The writer below stays open.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	escaped, _ := s.escape(s.rest, true)
	s.rest = nil
	if len(escaped) == 0 {
		return nil
	}
	return s.put(escaped)
}

// escape returns what may be written of text, and how much of it that is: all
// but a beginning of which the end may still come.
func (s *stream) escape(text []byte, last bool) (out []byte, n int) {
	if plain(text) {
		return text, len(text)
	}
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		color, begun := 0, !utf8.FullRune(text[n:])
		if s.color && r == '\x1b' {
			color, begun = colorCode(string(text[n:]))
		}
		size = max(size, color)
		switch invalid := r == utf8.RuneError && size == 1; {
		case begun && !last:
			return out, n
		case color == 0 && (invalid || screen.Obeyed(r) && r != '\n' && r != '\t'):
			out = screen.AppendEscaped(out, r)
		default:
			out = append(out, text[n:n+size]...)
		}
		n += size
	}
	return out, n
}

// plain reports whether all of a text is ASCII that passes, as most is.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// colorCode returns the length of the color of a view.Style that a text begins with,
// or 0, and reports whether the text may be the beginning of one.
func colorCode(text string) (n int, begun bool) {
	for _, code := range screen.Codes() {
		if strings.HasPrefix(text, code) {
			return len(code), false
		}
		begun = begun || strings.HasPrefix(code, text)
	}
	return 0, begun
}
