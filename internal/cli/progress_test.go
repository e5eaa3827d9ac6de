package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestProgress checks the line on the terminal after each update. "3s nodes#1 500/1200" is an
// update of list 1 after three seconds.
func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		why   string
		width int
		told  []string
		want  []string
	}{
		{"nothing in the first second", 80, []string{"0s nodes#1 0", "0s nodes#1 500/1200", "0s nodes#1 1200/1200!"}, nil},
		{"how many of how many", 80, []string{"0s nodes#1 0", "2s nodes#1 500/1200", "2s nodes#1 1000/1200"}, []string{"reading: nodes 500 of 1200", "reading: nodes 1000 of 1200"}},
		{"the count alone, where nobody knows how many there are", 80, []string{"2s pods#1 500"}, []string{"reading: pods 500"}},
		{"two lists, in the order in which they began", 80, []string{"0s pods#1 0/5", "2s nodes#2 500/1200"}, []string{"reading: pods 0 of 5, nodes 500 of 1200"}},
		{"what has been read goes", 80, []string{"0s pods#1 3/5", "2s nodes#2 500/1200", "2s pods#1 5/5!", "2s nodes#2 1200/1200!"}, []string{"reading: pods 3 of 5, nodes 500 of 1200", "reading: nodes 500 of 1200", ""}},
		{"the pods of several namespaces are one number", 80, []string{"0s pods#1 500/1000", "0s pods#2 20/20!", "2s pods#3 100/400"}, []string{"reading: pods 620 of 1420"}},
		{"… without a whole that is not known of each", 80, []string{"0s pods#1 500/1000", "2s pods#2 100"}, []string{"reading: pods 600"}},
		{"those of others", 80, []string{"2s otherpods#1 500/30000"}, []string{"reading: other pods 500 of 30000"}},
		{"one line, however narrow the terminal is", 20, []string{"2s nodes#1 500/1200"}, []string{"reading: nodes 500…"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var shown []string
			began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			now := began
			p := &progress{show: func(line string) { shown = append(shown, line) }, width: func() int { return tt.width }, now: func() time.Time { return now }, began: began}
			for _, told := range tt.told {
				now = began.Add(time.Duration(told[0]-'0') * time.Second)
				p.update(reading(t, told))
			}
			if diff := cmp.Diff(tt.want, shown); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

func reading(t *testing.T, told string) (r api.Reading) {
	t.Helper()
	fields := strings.Fields(told)
	what, list, _ := strings.Cut(fields[1], "#")
	count, done := strings.CutSuffix(fields[2], "!")
	read, of, _ := strings.Cut(count, "/")
	return api.Reading{List: int64(number(t, list)), What: snapshot.What(what), Read: number(t, read), Of: number(t, "0"+of), Done: done}
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	for _, c := range text {
		if c < '0' || c > '9' {
			t.Fatalf("%q is no number", text)
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// TestShow checks that any other write, on either stream of a terminal, removes the temporary line.
func TestShow(t *testing.T) {
	const gone = "\r\x1b[K"
	for _, tt := range []struct {
		why  string
		do   func(answers, notes *stream)
		want string
	}{
		{"one after the other", func(_, n *stream) { n.showLine("a"); n.showLine("b"); n.showLine("") }, "a" + gone + "b" + gone},
		{"none", func(_, n *stream) { n.showLine(""); n.disableLine() }, ""},
		{"a note", func(_, n *stream) {
			n.showLine("a")
			_, _ = n.Write([]byte("note\n"))
			n.showLine("b")
			n.disableLine()
		}, "a" + gone + "note\nb" + gone},
		{"an answer, and none after it", func(a, n *stream) { n.showLine("a"); _, _ = a.Write([]byte("HEALTHY\n")); n.showLine("b") }, "a" + gone + "HEALTHY\n"},
		{"a screen", func(a, n *stream) { n.showLine("a"); _ = a.control("\x1b[H"); n.showLine("b") }, "a" + gone + "\x1b[H"},
		{"an error at the end", func(_, n *stream) {
			n.showLine("a")
			_, _ = n.Write([]byte("error"))
			_ = n.Close()
			n.disableLine()
			n.showLine("b")
		}, "a" + gone + "error"},
		{"words of the cluster are words", func(_, n *stream) { n.showLine("\x1b[2J"); n.showLine("") }, `\u001b[2J` + gone},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var tty bytes.Buffer
			answers, notes := newStream(&tty), newStream(&tty)
			answers.beforeWrite = notes.disableLine
			tt.do(answers, notes)
			if got := tty.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
