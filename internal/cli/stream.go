package cli

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// stream is a writer for answers, notes and errors. It escapes control codes and invisible
// characters, even if an earlier stage missed them. It writes them as JSON escapes, so a JSON
// document keeps its meaning. It does not escape line ends and tabs.
//
// screen.Clean escapes the text of a cluster earlier. It also keeps the text on one line, so that
// the width of a column is known. A stream is a second safeguard: it accepts line ends, and does
// not know the origin of a text.
type stream struct {
	mu    sync.Mutex
	under io.Writer
	color bool
	rest  []byte // an incomplete character or color code

	lineShown    bool   // the terminal shows the line of showLine
	lineDisabled bool   // showLine does nothing
	beforeWrite  func() // called before each write; may be nil

	abandoned atomic.Bool
}

// showLine replaces the temporary line on a terminal. The next write of anything else removes it.
// An empty line only removes the previous one. The underlying writer must be a terminal that can
// return to the beginning of a line.
func (s *stream) showLine(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lineDisabled || line == "" && !s.lineShown {
		return
	}
	escaped, _ := s.escape([]byte(line), true)
	_ = s.put(escaped)
	s.lineShown = line != ""
}

// disableLine removes the temporary line, and disables later ones.
func (s *stream) disableLine() {
	s.showLine("")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lineDisabled = true
}

// abandon makes every later Write fail. It does not wait for a Write in progress, which may never
// return.
func (s *stream) abandon() { s.abandoned.Store(true) }

// put writes text that is safe for the terminal.
func (s *stream) put(text []byte) error {
	if s.abandoned.Load() {
		return io.ErrClosedPipe
	}
	if s.beforeWrite != nil {
		s.beforeWrite()
	}
	if s.lineShown {
		const clear = "\r\x1b[K"
		s.lineShown = false
		text = append([]byte(clear), text...)
	}
	_, err := s.under.Write(text)
	return err
}

// newStream returns a stream that writes to w. It escapes all escape sequences until allowColor is
// called.
func newStream(w io.Writer) *stream { return &stream{under: w} }

// underlying returns the writer below a stream. It returns any other writer unchanged, because that
// may be a terminal.
func underlying(w io.Writer) io.Writer {
	if s, ok := w.(*stream); ok {
		return s.under
	}
	return w
}

// allowColor stops the escaping of the colors of a wording.Style.
func (s *stream) allowColor() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.color = true
}

// Write writes p. It keeps an incomplete character at the end of p for the next Write or Close.
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

// control writes codes that move the cursor of a terminal. Only this program creates them.
func (s *stream) control(codes string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put([]byte(codes))
}

// Close writes the incomplete character of the last Write. It does not close the underlying writer.
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

// escape returns the escaped text, and the number of bytes of text that it covers. Unless last is
// true, it leaves out an incomplete character or color code at the end.
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

// plain reports whether a text is ASCII without control codes, as most text is.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// colorCode returns the length of the color code at the beginning of a text, or 0. begun reports
// whether the text may be the beginning of a color code.
func colorCode(text string) (n int, begun bool) {
	for _, code := range screen.Codes() {
		if strings.HasPrefix(text, code) {
			return len(code), false
		}
		begun = begun || strings.HasPrefix(code, text)
	}
	return 0, begun
}
