package screen

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/browser"
)

func pageOf(t *testing.T, screens ...*Screen) string {
	t.Helper()
	var b strings.Builder
	p := &Page{Title: "STUCK <a> - program", About: []string{"state of then"}, Missing: []string{"pods"}, Footer: "Written by a program.", Screens: screens}
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := browser.Read(b.String()); err != nil {
		t.Errorf("%v\n%s", err, b.String())
	}
	return b.String()
}

// TestHTML checks a whole page except for its style and script.
func TestHTML(t *testing.T) {
	s := deadNodes()
	s.Notice = "Plan only."
	s.Add(Note, Lines{{" a", Plain}, {"-<b>", Removed}})
	s.Draw(&Timeline{
		Title: "Over time", Note: "as told", From: -60, To: 60, Ticks: []Tick{{-60, "1m ago"}, {0, "now"}},
		Lanes: []Lane{{Title: "lost", Shade: Lacking, Steps: []Step{{-60, 0}, {-30, 2}, {-20, 2}, {30, 1}}, Until: 60, Top: 4, Limit: 2, Words: "limit 2"}},
		Table: &Table{Columns: []Column{{Head: "TIME"}}, Rows: []Row{{Cells: Cells("now")}}},
	}, &Grid{
		Title: "Nodes", Kinds: []Kind{{"#", "fine", Done}, {"x", "failing", Broken}},
		Groups: []GridGroup{{Name: "zone-a", Words: "2 nodes", Cells: []GridCell{{0, "w-1", "fine"}, {1, "w-2", `failing; "<i>"`}}}, {Name: "zone-b", Cells: []GridCell{{0, "w-3", "fine"}}}},
	})
	page := pageOf(t, s)
	want := `
<a class="skip" href="#main">Skip to the content</a>
<header>
<ul class="about"><li>state of then</li></ul>
</header>
<main id="main" tabindex="-1">
<article aria-labelledby="i1">
<div class="verdict bad"><h1 id="i1"><b>STUCK</b> <span class="of">kube-system/node-agent</span>: 0 of 24 pods updated; 3 nodes are NotReady</h1><p>Plan only.</p></div>
<div class="cols beside">
<div class="entries">
<div class="entry"><h2 class="label" id="i2">Impact</h2><div class="said"><p>3 of 24 nodes have no available pod: <span class="n">rack-14-07,</span> <span class="n">rack-14-15,</span> <span class="n">rack-14-22;</span> the other 21 run revision 1 undisturbed</p></div></div>
<div class="entry whole"><div class="said"><div class="scroll" role="group" tabindex="0" aria-labelledby="i3"><table>
<caption class="hide" id="i3">kube-system/node-agent, PROBLEM, NODES, FOR</caption>
<thead><tr><th scope="col">PROBLEM</th><th scope="col">NODES</th><th scope="col">FOR</th></tr></thead>
<tbody><tr><th scope="row" class="bad">TerminatingOnDeadNode</th><td><span class="n">rack-14-07,</span> <span class="n">rack-14-15,</span> <span class="n">rack-14-22</span></td><td>5h</td></tr><tr><td class="more" colspan="3"><p>the kubelet does not answer; the pod&#39;s deletion stays pending</p></td></tr></tbody>
</table></div></div></div>
<div class="entry"><h2 class="label" id="i4">Outlook</h2><div class="said"><p>without a fix: stays at 0 of 24</p></div></div>
<div class="entry"><h2 class="label" id="i5">Then</h2><div class="said"><p>repair the nodes; the rollout then continues by itself</p><p>or, for a node that is gone for good:</p><div class="in"><pre><code><span class="n">kubectl delete node</span> <span class="n">&lt;NODE&gt;</span></code></pre></div><p>or, to update the other 21 pods now (3 at a time beside the 3 lost):</p><div class="in"><pre><code>COMMAND</code></pre><p>(afterwards set it back to 10%)</p></div></div></div>
<div class="entry"><h2 class="label" id="i6">Note</h2><div class="said"><pre> a
<span class="removed">-&lt;b&gt;</span></pre></div></div>
<div class="entry"><h2 class="label" id="i8">Status</h2><div class="said"><div class="scroll" role="group" tabindex="0" aria-labelledby="i7"><table>
<caption class="hide" id="i7">kube-system/node-agent, DESIRED, CURRENT, READY</caption>
<thead><tr><th scope="col" class="num">DESIRED</th><th scope="col" class="num">CURRENT</th><th scope="col" class="num">READY</th></tr></thead>
<tbody>
<tr><th scope="row" class="num">24</th><td class="num">24</td><td class="num">21</td></tr></tbody>
</table></div><p>DESIRED 24 = all 24 nodes (its pods tolerate NotReady)</p></div></div>
<div class="entry"><h2 class="label" id="i9">Limit</h2><div class="said"><p>maxUnavailable 10% of 24 nodes = 3 (2.4, rounded up), and 3 are unavailable, so the controller replaces no further pod</p></div></div></div>
<div class="figures">
<figure aria-labelledby="i10">
<figcaption><h2 id="i10">Over time</h2><p>as told</p></figcaption>
<svg viewBox="0 0 360 92" role="img" aria-labelledby="i10" aria-describedby="i11">
<text class="name" x="0" y="11">lost</text>
<path class="area lacking" d="M38.0 72.0H118.0V44.0H278.0V58.0H358.0V72.0H38.0Z"/><path class="edge lacking" d="M38.0 72.0H118.0V44.0H278.0V58.0H358.0"/>
<path class="axis" d="M38 72.0H360"/>
<text x="34.0" y="72.0" text-anchor="end">0</text><text x="34.0" y="48.0" text-anchor="end">2</text><text x="360.0" y="11.0" text-anchor="end" class="limits">limit 2</text>
<path class="limit" d="M38 44.0H360"/>
<path class="now" d="M198.0 72.0V16"/>
<text x="38.0" y="86.0" text-anchor="start">1m ago</text><text x="198.0" y="86.0" text-anchor="middle">now</text>
</svg>
<div id="i11"><details class="long"><summary>Over time, as a table</summary><div class="scroll" role="group" tabindex="0" aria-labelledby="i12"><table>
<caption class="hide" id="i12">kube-system/node-agent, TIME</caption>
<thead><tr><th scope="col">TIME</th></tr></thead>
<tbody>
<tr><th scope="row">now</th></tr></tbody>
</table></div></details></div>
</figure>
<figure class="grid named" aria-labelledby="i13">
<figcaption><h2 id="i13">Nodes</h2></figcaption>
<ul class="legend"><li><i class="done" aria-hidden="true">#</i> fine <b>2</b></li><li><i class="broken" aria-hidden="true">x</i> failing <b>1</b></li></ul>
<div class="group"><h3 id="i14">zone-a</h3><p>2 nodes</p>
<ul class="cells">
<li><i class=done aria-hidden=true>#</i> w-1<span> fine</span></li>
<li><i class=broken aria-hidden=true>x</i> w-2<span> failing; &#34;&lt;i&gt;&#34;</span></li></ul></div>
<div class="group"><h3 id="i15">zone-b</h3>
<ul class="cells">
<li><i class=done aria-hidden=true>#</i> w-3<span> fine</span></li></ul></div>
</figure></div>
</div>
</article>
<section class="missing" aria-labelledby="missing"><h2 id="missing">What could not be read</h2><ul><li>pods</li></ul></section>
</main>
<footer><p>Written by a program.</p></footer>
`
	_, body, _ := strings.Cut(page, "<body>\n")
	body, _, _ = strings.Cut(body, "<script>")
	patch := regexp.MustCompile(`<span class="n">kubectl patch.*?</code>`)
	lines := regexp.MustCompile(`\n\s*\n+`) // an omitted part leaves an empty line
	if diff := cmp.Diff(want[1:], lines.ReplaceAllString(patch.ReplaceAllString(body, "COMMAND</code>"), "\n")); diff != "" {
		t.Error(diff)
	}
}

// TestPagePolicy checks that a page permits only its own style and script.
func TestPagePolicy(t *testing.T) {
	page := pageOf(t, deadNodes())
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1]
	allowed := "default-src &#39;none&#39;; style-src HASH; script-src HASH; img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;"
	for _, tag := range []string{"style", "script"} {
		_, rest, _ := strings.Cut(page, "<"+tag+">")
		text, _, _ := strings.Cut(rest, "</"+tag+">")
		sum := sha256.Sum256([]byte(text))
		hash := "&#39;sha256-" + strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;") + "&#39;"
		allowed = strings.Replace(allowed, "HASH", hash, 1)
		for _, asks := range []string{"http", "://", "url(", "@import", "fetch", "XMLHttp", "WebSocket", "innerHTML", "eval", "Function(", "document.write"} {
			if strings.Contains(text, asks) {
				t.Errorf("the %s has %q", tag, asks)
			}
		}
	}
	if policy != allowed {
		t.Errorf("the policy is %s,\nwant %s", policy, allowed)
	}
}

// TestPageOfSeveral checks that each Screen has its headings below that of the page, and a link to
// it.
func TestPageOfSeveral(t *testing.T) {
	list := &Screen{Headline: Headline{Subject: "2 DaemonSets", Counts: true, Text: "1 is stuck"}}
	page := pageOf(t, list, deadNodes(), deadNodes())
	for text, n := range map[string]int{"<h1>": 1, "<h1 ": 0, `<h2 id=`: 4, `<h3 class="label"`: 10, `<li><a href="#i`: 3, "<article ": 3} {
		if got := strings.Count(page, text); got != n {
			t.Errorf("%d times %s, want %d", got, text, n)
		}
	}
}

// TestPageSizes checks that cells are small if there are many and named if there are few, and that
// long tables are folded.
func TestPageSizes(t *testing.T) {
	for n, class := range map[int]string{1: "named", namedCells: "named", namedCells + 1: "", fewCells: "", fewCells + 1: "small"} {
		g := &Grid{Title: "Nodes", Kinds: []Kind{{"#", "fine", Done}}, Groups: []GridGroup{{Cells: make([]GridCell, n)}}}
		var s Screen
		s.Headline.Text = "x"
		s.Draw(g)
		if page := pageOf(t, &s); !strings.Contains(page, `<figure class="grid `+class+`"`) {
			t.Errorf("%d cells are not %q", n, class)
		}
	}
	var s Screen
	long := &Table{Columns: []Column{{Head: "STEP"}}}
	for range manyRows + 1 {
		long.Row("1")
	}
	s.Add(Body, long)
	if page := pageOf(t, &s); !strings.Contains(page, "<summary>STEP: 61 rows</summary>") {
		t.Error("a long table is not folded")
	}
}
