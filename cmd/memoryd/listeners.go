package main

import (
	"container/list"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"memoryd/api"
	"memoryd/internal/lifecycle"
)

// certificate is that of the server. Its files are looked at again when a
// connection begins, at most once a second, and after SIGHUP: who renews it need
// not tell.
type certificate struct {
	files api.TLS
	log   *slog.Logger

	mu      sync.Mutex
	held    *tls.Certificate
	looked  time.Time
	changed [2]time.Time // when the files were that are held
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if now := time.Now(); now.Sub(c.looked) >= time.Second {
			if c.looked = now; c.times() != c.changed {
				c.reread()
			}
		}
		return c.held, nil
	}}
}

// times tells when the files were changed last.
func (c *certificate) times() (at [2]time.Time) {
	for i, name := range []string{c.files.CertFile, c.files.KeyFile} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}

// again reads the files although nobody connects.
func (c *certificate) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reread()
}

// reread reads the files. What cannot be read leaves the certificate that is held.
func (c *certificate) reread() {
	if err := c.read(); err != nil {
		c.log.Warn("the new certificate is unusable; the old one stays in use", "err", err)
		return
	}
	c.log.Info("certificate reloaded")
}

func (c *certificate) read() error {
	c.changed = c.times()
	pair, err := tls.LoadX509KeyPair(c.files.CertFile, c.files.KeyFile)
	if err == nil {
		c.held = &pair
	}
	return err
}

// survive keeps signals from ending the server that are no order to end: SIGPIPE, where
// the reader of its log or of its ready line has gone, and SIGHUP, after which reload
// is called until stop. Until the process ends neither ends it: the log is still written then.
func survive(log *slog.Logger, reload func()) (stop func()) {
	hangup, pipe := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	signal.Notify(pipe, syscall.SIGPIPE) // nobody listens: the write that met it fails
	worker := lifecycle.NewWorker(log, "signals")
	worker.Start(context.Background(), func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangup:
				reload()
			}
		}
	})
	return worker.Stop
}

// connections are those that are open to the HTTP face. Of more than most, the one that
// has been silent for longest goes, so that whoever opens many and sends nothing keeps
// nobody out.
type connections struct {
	most    int
	leaving atomic.Bool  // the server ends
	asked   atomic.Int64 // when the last request came, as Unix nanoseconds

	mu   sync.Mutex
	open map[net.Conn]*list.Element // of all
	all  *list.List                 // of *visitor; those that are silent stand in the order in which they fell silent
}

// visitor is a connection, whether a request of it is under way, and since when.
type visitor struct {
	conn  net.Conn
	busy  bool
	since time.Time
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]*list.Element{}, all: list.New()}
}

// changed is a hook for http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.open[conn]
	switch {
	case state == http.StateNew:
		c.open[conn] = c.all.PushBack(&visitor{conn: conn, since: time.Now()})
	case el == nil: // it was too much
	case state == http.StateActive, state == http.StateIdle:
		v := el.Value.(*visitor) //nolint:forcetypeassert // it holds nothing else
		v.busy, v.since = state == http.StateActive, time.Now()
		c.all.MoveToBack(el)
	default:
		c.all.Remove(el)
		delete(c.open, conn)
	}
	if len(c.open) > c.most {
		c.closeSilent()
	}
}

// closeSilent closes the connection that has been silent for longest.
func (c *connections) closeSilent() {
	for el := c.all.Front(); el != nil; el = el.Next() {
		if v := el.Value.(*visitor); !v.busy { //nolint:forcetypeassert // it holds nothing else
			c.all.Remove(el)
			delete(c.open, v.conn)
			_ = v.conn.Close()
			return
		}
	}
}

// busy reports whether a request is under way or a connection was used lately.
func (c *connections) busy(lately time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for el := c.all.Front(); el != nil; el = el.Next() {
		if v := el.Value.(*visitor); v.busy || time.Since(v.since) < lately { //nolint:forcetypeassert // as above
			return true
		}
	}
	return false
}

// handler tells clients of a server that ends to send nothing more on their connections:
// one that is closed unasked may have a request on its way.
func (c *connections) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked.Store(time.Now().UnixNano())
		if c.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// pprofHandler shows where time and memory go.
func pprofHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return askedByAddress(mux)
}

// askedByAddress refuses requests for any host name but localhost: by a name of
// its own, a page in a browser on this machine could read the answers.
func askedByAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
			http.Error(w, "use the address of this server, not a host name", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
