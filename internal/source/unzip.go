package source

import (
	"io"
	"net/http"

	"github.com/klauspost/compress/gzip"
)

// GzipTransport is a transport that requests and decompresses gzip, like Go's own transport. It uses a
// faster decompressor, because decompression takes a quarter of the time of a large list.
type GzipTransport struct{ http.RoundTripper }

func (t GzipTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Accept-Encoding") != "" || req.Header.Get("Range") != "" {
		return t.RoundTripper.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		return resp, err
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	resp.Body = &unzippedBody{ReadCloser: resp.Body}
	return resp, nil
}

// unzippedBody decompresses a response body. It reads nothing before the first Read.
type unzippedBody struct {
	io.ReadCloser
	text *gzip.Reader
	err  error
}

func (b *unzippedBody) Read(p []byte) (int, error) {
	if b.text == nil && b.err == nil {
		b.text, b.err = gzip.NewReader(b.ReadCloser)
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.text.Read(p)
}
