package browser

import (
	"fmt"
	"testing"
)

// TestRead checks that Read rejects what pages must not contain.
func TestRead(t *testing.T) {
	page := func(body string) string {
		return "<!doctype html><html lang=en><head><title>t</title><style>b{}</style></head><body><main><h1 id=a>A</h1>" + body + "</main><script>1</script></body></html>"
	}
	for _, tt := range []struct{ why, page, want string }{
		{"what is right", page(`<h2 id=b>B</h2><p><a href="#a">up</a></p>`), "<nil>"},
		{"a tag of somebody else", page("<img src=x>"), "an element <img>"},
		{"a handler", page("<p onclick=x>"), `<p onclick="x">`},
		{"a style of its own", page("<p style=x>"), `<p style="x">`},
		{"a second script", page("<script>alert(1)</script>"), "2 elements <script>"},
		{"an address elsewhere", page(`<a href="http://example.org">`), `an address "http://example.org"`},
		{"an id twice", page("<p id=a>"), `id "a" is there twice`},
		{"an id that nothing has", page(`<div aria-labelledby=c></div>`), `nothing has the id "c"`},
		{"a heading too low", page("<h3>C</h3>"), "<h3> below <h1>"},
		{"a comment", page("<!-- x -->"), `a comment: " x "`},
		{"no main", "<!doctype html><h1>A</h1><title>t</title><style></style><script></script>", "0 elements <main>"},
		{"a control code", page("x\x1b[m"), `a character that is not shown: "ain><h1 id=a>A</h1>x\x1b[m</main><script>1<"`},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := Read(tt.page)
			if got := fmt.Sprint(err); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if err == nil && (p.Text != "t A B up" || p.Count["h2"] != 1) {
				t.Errorf("%+v", p)
			}
		})
	}
}
