package screen

import "testing"

func TestClean(t *testing.T) {
	for _, tt := range []struct{ in, want, why string }{
		{"plain words", "plain words", "nothing to do"},
		{"two\nlines\tand  blanks ", "two lines and blanks", "one line, one blank"},
		{"\x1b[31mred\x07", `\u001b[31mred\u0007`, "escape and bell"},
		{"\u009b2J", `\u009b2J`, "a C1 code, which some terminals obey"},
		{"a\u202eb\u200d", `a\u202eb\u200d`, "marks that turn and join"},
		{"bad \xff byte", `bad \ufffd byte`, "what is no UTF-8"},
		{"Zürich 東京", "Zürich 東京", "letters of any script"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := Clean(tt.in); got != tt.want {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"node-agent.x_1:2/3=@", "node-agent.x_1:2/3=@"}, {"a b", "'a b'"}, {"a'; rm -rf ~", `'a'\''; rm -rf ~'`}, {"$(x)", "'$(x)'"}, {"", "''"},
	} {
		if got := string(Quote(tt.in)); got != tt.want {
			t.Errorf("Quote(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}
