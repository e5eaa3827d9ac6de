// Package browser parses HTML pages for tests. It takes the text of a page and returns its content,
// or an error about anything that pages of this program must not contain.
package browser

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// tags lists the permitted elements, with their attributes besides id and class.
var tags = map[string][]string{
	"html": {"lang"}, "head": nil, "meta": {"charset", "http-equiv", "content", "name"}, "link": {"rel", "href"}, "title": nil, "style": nil, "script": nil, "body": nil,
	"a": {"href"}, "header": nil, "nav": {"aria-label"}, "main": {"tabindex"}, "footer": nil, "article": {"aria-labelledby"}, "section": {"aria-labelledby"},
	"h1": nil, "h2": nil, "h3": nil, "h4": nil, "p": nil, "ul": nil, "li": nil, "div": {"role", "tabindex", "aria-labelledby"}, "span": nil, "b": nil, "br": nil, "i": {"aria-hidden"},
	"pre": nil, "code": nil, "details": nil, "summary": nil, "table": nil, "caption": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"scope", "colspan"}, "td": {"colspan"},
	"figure": {"aria-labelledby"}, "figcaption": nil, "svg": {"viewBox", "role", "aria-labelledby", "aria-describedby"}, "text": {"x", "y", "text-anchor"}, "path": {"d"},
}

// Page is the content of a page.
type Page struct {
	Text  string         // visible text, with blanks between its parts
	Count map[string]int // number of elements by name
}

// Read parses a page. It returns an error for an element or attribute that is not permitted, a
// duplicate or missing id, an external address, a skipped heading level, or an invisible character.
func Read(text string) (*Page, error) {
	hidden := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }
	if i := strings.IndexFunc(text, hidden); i >= 0 {
		return nil, fmt.Errorf("a character that is not shown: %q", text[max(0, i-20):min(len(text), i+20)])
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	p := &Page{Count: map[string]int{}}
	ids, refs, level := map[string]bool{}, []string{}, 0
	var words []string
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			if t := strings.TrimSpace(n.Data); t != "" && n.Parent.Data != "style" && n.Parent.Data != "script" {
				words = append(words, t)
			}
			continue
		case html.CommentNode:
			return nil, fmt.Errorf("a comment: %q", n.Data)
		case html.ElementNode:
		default:
			continue
		}
		p.Count[n.Data]++
		allowed, known := tags[n.Data]
		if !known {
			return nil, fmt.Errorf("an element <%s>", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" && ids[a.Val]:
				return nil, fmt.Errorf("id %q is there twice", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "class":
			case !slices.Contains(allowed, a.Key):
				return nil, fmt.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			case a.Key == "aria-labelledby", a.Key == "aria-describedby":
				refs = append(refs, a.Val)
			case a.Key == "href" && a.Val != "data:,":
				id, here := strings.CutPrefix(a.Val, "#")
				if !here {
					return nil, fmt.Errorf("an address %q", a.Val)
				}
				refs = append(refs, id)
			}
		}
		if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
			is := int(n.Data[1] - '0')
			if is > level+1 {
				return nil, fmt.Errorf("<h%d> below <h%d>", is, level)
			}
			level = is
		}
	}
	for _, r := range refs {
		if !ids[r] {
			return nil, fmt.Errorf("nothing has the id %q", r)
		}
	}
	for name, n := range map[string]int{"h1": 1, "main": 1, "style": 1, "script": 1, "title": 1} {
		if p.Count[name] != n {
			return nil, fmt.Errorf("%d elements <%s>", p.Count[name], name)
		}
	}
	p.Text = strings.Join(words, " ")
	return p, nil
}
