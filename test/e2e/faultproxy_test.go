package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// faultProxy is a proxy in front of a real API server that answers some requests wrongly. What it
// does depends only on the seed, the run and the request, so that a run can be repeated alone.
type faultProxy struct {
	seed   uint64
	often  float64 // share of the requests with a fault
	server *httptest.Server
	ca     string // file of its certificate
	target *url.URL
	to     http.RoundTripper
	plain  *httputil.ReverseProxy

	mu   sync.Mutex
	runs map[int][]*attempt
}

// attempt is one request as the proxy saw it.
type attempt struct {
	what       string // GET path?query
	fault      string // "" for none
	again      bool   // client-go retries the request
	began, end time.Time
}

// newFaultProxy starts a proxy for the stage's API server that supports HTTP/2, or only HTTP/1.1.
func newFaultProxy(t *testing.T, c *stage.Cluster, seed uint64, often float64, http2 bool) *faultProxy {
	t.Helper()
	p := &faultProxy{seed: seed, often: often, runs: map[int][]*attempt{}}
	var err error
	p.target, err = url.Parse(c.URL)
	must(t, err)
	p.to, err = rest.TransportFor(&rest.Config{TLSClientConfig: c.Config.TLSClientConfig})
	must(t, err)
	p.plain = &httputil.ReverseProxy{Transport: p.to, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(p.target) }, ErrorLog: log.New(io.Discard, "", 0)}
	p.server = httptest.NewUnstartedServer(p)
	p.server.EnableHTTP2 = http2
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0) // about clients that disconnect
	p.server.StartTLS()
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
	})
	p.ca = filepath.Join(t.TempDir(), "ca.crt")
	must(t, os.WriteFile(p.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw}), 0o600))
	return p
}

// address returns the address for a run.
func (p *faultProxy) address(run int) string { return fmt.Sprintf("%s/run-%d", p.server.URL, run) }

// attempts returns the requests of a run in the order of arrival.
func (p *faultProxy) attempts(run int) []attempt {
	for {
		p.mu.Lock()
		var all []attempt
		ended := true
		for _, a := range p.runs[run] {
			all = append(all, *a)
			ended = ended && !a.end.IsZero()
		}
		p.mu.Unlock()
		if ended {
			return all
		}
		time.Sleep(time.Millisecond) // the client is gone, and the proxy notices it in a moment
	}
}

func (p *faultProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == loginPage {
		(&faulty{w: w}).says(http.StatusOK, html, "<html><title>Sign in</title></html>")
		return
	}
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/run-"), "/")
	run, err := strconv.Atoi(name)
	if err != nil {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	r.URL.Path, r.URL.RawPath = "/"+path, ""
	a := &attempt{what: r.Method + " " + r.URL.RequestURI(), began: time.Now()}
	p.mu.Lock()
	before, last := 0, ""
	for _, other := range p.runs[run] {
		if other.what == a.what {
			before++
			if last = ""; other.again {
				last = other.fault
			}
		}
	}
	p.runs[run] = append(p.runs[run], a)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		a.end = time.Now()
		p.mu.Unlock()
	}()

	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", run, a.what, before)
	dice := rand.New(rand.NewPCG(p.seed, h.Sum64()))
	shortPages(r, run)
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == last })
	switch {
	case i >= 0 && dice.IntN(4) > 0: // a fault usually lasts for a while
	case dice.Float64() >= p.often:
		p.plain.ServeHTTP(w, r)
		return
	default:
		i = dice.IntN(len(faults))
	}
	f := faults[i]
	p.mu.Lock()
	a.fault, a.again = f.name, f.again
	p.mu.Unlock()
	f.do(&faulty{p: p, w: w, r: r, dice: dice})
}

// shortPages makes the server return lists in pages of a few objects, as it does with larger lists.
// The first of four runs gets the requested page size.
func shortPages(r *http.Request, run int) {
	q := r.URL.Query()
	if n := run % 4; q.Get("limit") != "" && n > 0 {
		q.Set("limit", strconv.Itoa(2*n+1))
		r.URL.RawQuery = q.Encode()
	}
}

// faulty is a request with a wrong response.
type faulty struct {
	p    *faultProxy
	w    http.ResponseWriter
	r    *http.Request
	dice *rand.Rand
}

// asks sends a modified request to the API server.
func (f *faulty) asks(path string) {
	f.r.URL.Path, f.r.URL.RawQuery = path, ""
	if strings.Contains(f.r.Header.Get("Accept"), ";as=") {
		f.r.Header.Set("Accept", inJSON)
	}
}

// right returns the response of the API server, or a 503 if it cannot be reached.
func (f *faulty) right() (http.Header, int, []byte) {
	r := f.r.Clone(f.r.Context())
	r.URL.Scheme, r.URL.Host, r.Host, r.RequestURI = f.p.target.Scheme, f.p.target.Host, f.p.target.Host, ""
	r.Header.Del("Accept-Encoding")
	resp, err := f.p.to.RoundTrip(r)
	if err != nil {
		return http.Header{}, http.StatusServiceUnavailable, []byte(err.Error())
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.Header, resp.StatusCode, body
}

// says responds with a text.
func (f *faulty) says(code int, form, body string) {
	f.w.Header().Set("Content-Type", form)
	f.w.WriteHeader(code)
	_, _ = io.WriteString(f.w, body)
}

// status responds with a Status of the API.
func (f *faulty) status(code int, reason, message string) {
	f.says(code, "application/json", fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code))
}

// later asks the client to retry.
func (f *faulty) later(seconds string) *faulty {
	f.w.Header().Set("Retry-After", seconds)
	return f
}

// begins sends the headers of the right response except for its length, and returns the beginning
// of its body.
func (f *faulty) begins(length func(whole int) int) []byte {
	header, code, body := f.right()
	for name := range header {
		if name != "Content-Length" {
			f.w.Header().Set(name, header.Get(name))
		}
	}
	if length != nil {
		f.w.Header().Set("Content-Length", strconv.Itoa(length(len(body))))
	}
	f.w.WriteHeader(code)
	return body
}

// part returns the beginning of a body.
func (f *faulty) part(body []byte) []byte { return body[:f.dice.IntN(max(1, len(body)))] }

func (f *faulty) send(body []byte) {
	_, _ = f.w.Write(body)
	f.w.(http.Flusher).Flush()
}

// waits blocks until the client gives up.
func (f *faulty) waits() { <-f.r.Context().Done() }

// hangsUp closes the connection, or the stream in HTTP/2.
func (f *faulty) hangsUp(reset bool) {
	if c, _, err := http.NewResponseController(f.w).Hijack(); err == nil {
		if tls, ok := c.(interface{ NetConn() net.Conn }); ok && reset {
			_ = tls.NetConn().(*net.TCPConn).SetLinger(0)
		}
		c.Close()
		return
	}
	panic(http.ErrAbortHandler)
}

// raw sends bytes in place of an HTTP/1.1 response and disconnects.
func (f *faulty) raw(text string) {
	c, _, err := http.NewResponseController(f.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(c, asText)
	c.Close()
}

// zips sends a body with the encoding gzip.
func (f *faulty) zips(body []byte) {
	f.w.Header().Set("Content-Type", "application/json")
	f.w.Header().Set("Content-Encoding", "gzip")
	_, _ = f.w.Write(body)
}

func zipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body)
	_ = z.Close()
	return b.Bytes()
}

// bomb is gigabytes of JSON in megabytes of gzip: the same megabyte repeatedly.
var bomb = sync.OnceValue(func() []byte {
	head, again := zipped([]byte(`{"kind":"`)), zipped(bytes.Repeat([]byte("x"), 1<<20))
	return append(head, bytes.Repeat(again, 3<<10)...)
})

const (
	html   = "text/html; charset=utf-8"
	inJSON = "application/json"
	asText = "text/plain; charset=utf-8"

	loginPage = "/login"
)

// fault is a wrong response.
type fault struct {
	name  string
	again bool // client-go retries until the timeout
	do    func(*faulty)
}

// faults are the possible wrong responses. None says that something does not exist or is forbidden,
// because a client cannot detect such a lie.
var faults = []fault{
	{"429", false, func(f *faulty) { f.status(429, "TooManyRequests", "too many requests, please try again later") }},
	{"429 as text", false, func(f *faulty) { f.says(429, asText, "slow down\n") }},
	{"429, retry at once", true, func(f *faulty) { f.later("0").status(429, "TooManyRequests", "too many requests") }},
	{"429, retry in 1s", true, func(f *faulty) { f.later("1").status(429, "TooManyRequests", "too many requests") }},
	{"429, retry in an hour", false, func(f *faulty) { f.later("3600").status(429, "TooManyRequests", "too many requests") }},
	{"500", false, func(f *faulty) { f.status(500, "InternalError", "etcdserver: leader changed") }},
	{"500 as text", false, func(f *faulty) { f.says(500, asText, "oops\n") }},
	{"500 without a word", false, func(f *faulty) { f.w.WriteHeader(500) }},
	{"410", false, func(f *faulty) { f.status(410, "Expired", "the provided continue parameter is too old") }},
	{"410 as text", false, func(f *faulty) { f.says(410, asText, "gone\n") }},
	{"503", false, func(f *faulty) { f.status(503, "ServiceUnavailable", "apiserver is shutting down") }},
	{"503, retry in 1s", true, func(f *faulty) { f.later("1").says(503, asText, "starting\n") }},
	{"502 of a gateway", false, func(f *faulty) {
		f.says(502, html, "<html><head><title>502 Bad Gateway</title></head></html>")
	}},
	{"504 of a gateway", false, func(f *faulty) { f.says(504, asText, "upstream request timeout") }},
	{"403 of a proxy", false, func(f *faulty) {
		f.says(403, html, "<html><title>Access denied</title></html>")
	}},
	{"a login page", false, func(f *faulty) { f.says(200, html, "<html><title>Sign in</title></html>") }},
	{"a way to a login page", false, func(f *faulty) {
		http.Redirect(f.w, f.r, f.p.server.URL+loginPage, http.StatusFound)
	}},

	{"a length that is too long", false, func(f *faulty) {
		f.send(f.begins(func(n int) int { return n + 1000 }))
		f.hangsUp(false)
	}},
	{"a body that ends early", false, func(f *faulty) {
		f.send(f.part(f.begins(func(n int) int { return n })))
		f.hangsUp(false)
	}},
	{"a reset in the body", false, func(f *faulty) {
		f.send(f.part(f.begins(nil)))
		f.hangsUp(true)
	}},
	{"a reset", true, func(f *faulty) { f.hangsUp(true) }},
	{"a closed connection", true, func(f *faulty) { f.hangsUp(false) }},
	{"a chunk that ends early", false, func(f *faulty) {
		f.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n{\"kind\":\"")
	}},
	{"a chunk of no length", false, func(f *faulty) {
		f.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")
	}},
	{"no HTTP", false, func(f *faulty) { f.raw("SSH-2.0-OpenSSH_9.2\r\n") }},

	{"a slow body", false, func(f *faulty) {
		for part := range slices.Chunk(f.begins(nil), 1<<10) {
			f.send(part)
			time.Sleep(5 * time.Millisecond)
		}
	}},
	{"no answer", false, func(f *faulty) { f.waits() }},
	{"nothing but headers", false, func(f *faulty) {
		f.begins(nil)
		f.send(nil)
		f.waits()
	}},
	{"half a body", false, func(f *faulty) {
		f.send(f.part(f.begins(nil)))
		f.waits()
	}},
	{"white space without an end", false, func(f *faulty) {
		f.w.Header().Set("Content-Type", inJSON)
		for f.r.Context().Err() == nil {
			f.send([]byte(" "))
			time.Sleep(10 * time.Millisecond)
		}
	}},

	{"an empty body", false, func(f *faulty) { f.says(200, inJSON, "") }},
	{"an empty body in protobuf", false, func(f *faulty) { f.says(200, "application/vnd.kubernetes.protobuf", "") }},
	{"no content", false, func(f *faulty) { f.w.WriteHeader(http.StatusNoContent) }},
	{"a success", false, func(f *faulty) {
		f.says(200, inJSON, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`)
	}},
	{"a failure that is said to be none", false, func(f *faulty) { f.status(200, "InternalError", "no leader") }},
	{"nothing", false, func(f *faulty) {
		f.says(200, inJSON, []string{"{}", "null", "[]", `"text"`, "0", " "}[f.dice.IntN(6)])
	}},
	{"another list", false, func(f *faulty) {
		f.asks("/api/v1/namespaces")
		f.send(f.begins(nil))
	}},
	{"another object", false, func(f *faulty) {
		f.asks("/api/v1/namespaces/default")
		f.send(f.begins(nil))
	}},
	{"words", false, func(f *faulty) { f.says(200, asText, "ok\n") }},
	{"half of it", false, func(f *faulty) {
		header, code, body := f.right()
		f.w.Header().Set("Content-Type", header.Get("Content-Type"))
		f.w.WriteHeader(code)
		f.send(f.part(body))
	}},
	{"no gzip", false, func(f *faulty) { f.zips([]byte("this is no gzip")) }},
	{"half a gzip", false, func(f *faulty) {
		_, _, body := f.right()
		f.zips(f.part(zipped(body)))
	}},
	{"a damaged gzip", false, func(f *faulty) {
		_, _, body := f.right()
		z := zipped(body)
		z[len(z)-5-f.dice.IntN(len(z)-20)] ^= 0x55
		f.zips(z)
	}},
	{"a bomb", false, func(f *faulty) { f.zips(bomb()) }},
}
