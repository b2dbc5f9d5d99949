package llmtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start serves over HTTP on a free port of the loopback until the test ends and
// gives the base URL, with "/v1".
func (s *Server) Start(t TB) string {
	t.Helper()
	l, err := Listen("127.0.0.1:0", s)
	if err != nil {
		t.Fatalf("llmtest: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Fatalf("llmtest: %v", err)
		}
	})
	return l.URL
}

// Listener is a server on an address.
type Listener struct {
	URL  string // base URL, with "/v1"
	http *http.Server
	done chan error
}

// Listen serves s over HTTP on addr, such as "127.0.0.1:9100", until Close.
func Listen(addr string, s *Server) (*Listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l := &Listener{
		URL:  "http://" + ln.Addr().String() + "/v1",
		http: &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second},
		done: make(chan error, 1),
	}
	go func() { l.done <- l.http.Serve(ln) }()
	return l, nil
}

// Close cuts all connections and waits for the server to end.
func (l *Listener) Close() error {
	err := l.http.Close()
	if served := <-l.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	l.done <- http.ErrServerClosed // so that a second Close returns too
	return err
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	x := s.take(Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body})
	defer x.end(false)
	ctx := req.Context()
	if err := x.begin(ctx); err != nil {
		abort(w)
	}
	x.header(w.Header())
	w.WriteHeader(x.reply.status())
	out := http.NewResponseController(w)
	in := x.stream(ctx)
	buf := make([]byte, 4096)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return
			}
			if ferr := out.Flush(); ferr != nil {
				return
			}
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			abort(w)
		}
	}
}

// abort resets the connection.
func abort(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset instead of an orderly end
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}
