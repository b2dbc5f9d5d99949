package llmtest

import (
	"compress/gzip"
	"io"
	"net/http"
)

// Transport reaches the server in memory: no connection, no goroutine, no time
// but what the replies take. It works in a synctest bubble. Compressed replies
// are decompressed, as http.Transport does.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Server }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone()}
	if req.Body != nil {
		var err error
		r.Body, err = io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	x := t.s.take(r)
	if err := x.begin(ctx); err != nil {
		x.end(false)
		return nil, err
	}
	h := http.Header{}
	x.header(h)
	resp := &http.Response{
		StatusCode: x.reply.status(), Status: http.StatusText(x.reply.status()), Header: h, Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Body: x.stream(ctx),
	}
	return unzip(resp)
}

func (r Reply) status() int {
	if r.Status == 0 {
		return http.StatusOK
	}
	return r.Status
}

func unzip(resp *http.Response) (*http.Response, error) {
	if resp.Header.Get("Content-Encoding") != "gzip" {
		return resp, nil
	}
	z, err := gzip.NewReader(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Header.Del("Content-Encoding")
	resp.Uncompressed = true
	resp.Body = struct {
		io.Reader
		io.Closer
	}{z, resp.Body}
	return resp, nil
}
