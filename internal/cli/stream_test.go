package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

func TestStream(t *testing.T) {
	for _, tt := range []struct {
		why    string
		color  bool
		writes []string
		want   string
	}{
		{"nothing to do", false, []string{"plain words\n\tand a tab\n"}, "plain words\n\tand a tab\n"},
		{"letters of any script", false, []string{"Zürich 東京\n"}, "Zürich 東京\n"},
		{"escape, bell, return and delete", false, []string{"\x1b]0;x\x07\r\x7f\n"}, `\u001b]0;x\u0007\u000d\u007f` + "\n"},
		{"C1 codes, as a character and as a byte", false, []string{"\u009b2J\x9b2J"}, `\u009b2J\ufffd2J`},
		{"marks that turn, join, hide and break", false, []string{"a\u202eb\u200dc\u00add\u2028e"}, `a\u202eb\u200dc\u00add\u2028e`},
		{"a mark outside the first plane, as JSON escapes it", false, []string{"a\U000e0041b"}, `a\udb40\udc41b`},
		{"a character in two writes", false, []string{"Z\xc3", "\xbcrich"}, "Zürich"},
		{"a code in two writes", false, []string{"\xc2", "\x9b2J"}, `\u009b2J`},
		{"a character that has no end", false, []string{"Z\xc3"}, `Z\ufffd`},
		{"a mark that stands for a byte that was none passes", false, []string{"a\ufffdb"}, "a\ufffdb"},
		{"our own colors, where there are none", false, []string{screen.Terminal{Color: true}.Paint("x", screen.Bad)}, `\u001b[31;1mx\u001b[0;22m`},
		{"our own colors", true, []string{screen.Terminal{Color: true}.Paint("x", screen.Bad)}, screen.Terminal{Color: true}.Paint("x", screen.Bad)},
		{"our own colors in pieces", true, strings.SplitAfter(screen.Terminal{Color: true}.Paint("x", screen.Good), ""), screen.Terminal{Color: true}.Paint("x", screen.Good)},
		{"any other color, and what is no color", true, []string{"\x1b[8mx\x1b[2J\x1b]0;x\x07"}, `\u001b[8mx\u001b[2J\u001b]0;x\u0007`},
		{"a color that has no end", true, []string{"x\x1b[3"}, `x\u001b[3`},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var b bytes.Buffer
			s := newStream(&b)
			if tt.color {
				s.allowColor()
			}
			for _, w := range tt.writes {
				if n, err := s.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write(%q) = %d, %v", w, n, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got %q, want %q", b.String(), tt.want)
			}
		})
	}
}

// TestStreamLaws checks that a stream writes no control codes, and keeps the meaning of JSON
// documents, however the text is divided into writes.
func TestStreamLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "é", "\x1b[31;1m", "\x1b[2J", "\x1b", "\u009b", "\x9b", "\u202e", "\U000e0041", "\r", "\n", "\t", `"`, `\`, "\xc3", "\x00", "東", "\ufeff", "\u2029"}
	for range 3000 {
		var text strings.Builder
		for range r.IntN(20) {
			text.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		document, err := json.Marshal(map[string]string{"text": text.String()})
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range [][]byte{[]byte(text.String()), document} {
			var b bytes.Buffer
			s := newStream(&b)
			for rest := in; len(rest) > 0; {
				n := 1 + r.IntN(len(rest))
				if _, err := s.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for _, c := range b.String() {
				if c != '\n' && c != '\t' && screen.Obeyed(c) {
					t.Fatalf("%q became %q", in, b.String())
				}
			}
			if !utf8.Valid(b.Bytes()) {
				t.Fatalf("%q became %q", in, b.String())
			}
			var want, got map[string]string
			if json.Unmarshal(in, &want) == nil && want != nil {
				if err := json.Unmarshal(b.Bytes(), &got); err != nil || got["text"] != want["text"] {
					t.Fatalf("%q became %q: %v", in, b.String(), err)
				}
			}
		}
	}
}

type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestStreamErrors(t *testing.T) {
	if _, err := newStream(full{}).Write([]byte("x")); !errors.Is(err, errFull) {
		t.Error(err)
	}
	s := newStream(full{})
	_, _ = s.Write([]byte("\xc3"))
	if err := s.Close(); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// TestAbandoned checks that an abandoned stream writes nothing.
func TestAbandoned(t *testing.T) {
	var b bytes.Buffer
	s := newStream(&b)
	_, _ = s.Write([]byte("a\xc3"))
	s.abandon()
	if _, err := s.Write([]byte("b")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := s.control("\x1b[2J"); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	_ = s.Close()
	if b.String() != "a" {
		t.Errorf("wrote %q", b.String())
	}
}
