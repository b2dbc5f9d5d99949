package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"

	"memoryd/internal/lifecycle"
)

// pprofServer shows where time and memory go, on an address of its own.
type pprofServer struct {
	listener net.Listener
	server   *http.Server
	log      *slog.Logger
	ended    <-chan error // when it is not served any more
}

// openPprof opens the listener; nil when address is "".
func openPprof(ctx context.Context, address string, log *slog.Logger) (*pprofServer, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // a nil server is pprof turned off
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return &pprofServer{listener: listener, log: log, server: &http.Server{
		Handler: askedByAddress(mux), ReadHeaderTimeout: readHeaderTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}, nil
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
			http.Error(w, "ask by address, not by name", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *pprofServer) start() {
	if p == nil {
		return
	}
	p.log.Info("pprof is served", "address", p.listener.Addr().String())
	p.ended = lifecycle.Go(context.Background(), p.log, "pprof", func() error {
		err := p.server.Serve(p.listener)
		if !errors.Is(err, http.ErrServerClosed) {
			p.log.Error("pprof is not served any more", "err", err)
		}
		return err
	})
}

// stop cuts off profiles under way and waits for the listener's end.
func (p *pprofServer) stop() {
	if p == nil {
		return
	}
	_ = p.server.Close()
	_ = p.listener.Close() // it is the server's only once started
	if p.ended != nil {
		<-p.ended
	}
}
