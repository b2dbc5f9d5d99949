package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"memoryd/api"
	"memoryd/integrations/mcp"
	"memoryd/internal/access"
	"memoryd/internal/client"
	"memoryd/internal/lifecycle"
	"memoryd/internal/local"
)

// publish makes a server one that programs of its user find. Its answer tells when one
// in the background is not wanted any more: nobody has asked it for long, or the user
// runs another.
func (a *app) publish(ctx context.Context, background bool, std streams) (unwanted <-chan error) {
	if a.post == nil {
		return nil
	}
	store := a.cfg.StoreDir()
	info := local.Info{URL: a.URL(), Background: background, Store: a.storeName}
	if background {
		info.Log = local.LogOf(store)
	}
	err := a.post.Publish(info)
	own, dirErr := local.DataDir()
	var had local.Info
	taken := false
	if err == nil && (!background || dirErr == nil && filepath.Clean(store) == filepath.Clean(own)) {
		had, taken, err = a.post.Take(background, a.cfg.HTTP.ShutdownTimeout)
	}
	switch {
	case err != nil:
		a.log.WarnContext(ctx, "cannot register the server; programs of this user need --url", "err", err)
	case taken && had.Background && !background:
		fmt.Fprintf(std.err, "Stopped the background server (%s). Agents on this machine use this server now.\n", onTerminal(had.Store, 300))
	case !taken && had.PID > 0:
		a.log.InfoContext(ctx, "another server of this user is already running; programs continue to use it", "pid", had.PID, "store", had.Store)
	}
	if !background {
		return nil
	}
	return lifecycle.Go(ctx, a.log, "idle", func() error {
		idle := a.cfg.HTTP.BackgroundIdle
		a.conns.asked.Store(time.Now().UnixNano())
		for idle == 0 || time.Since(time.Unix(0, a.conns.asked.Load())) < idle || a.conns.busy(0) {
			if !lifecycle.Sleep(ctx, min(time.Second, max(idle/10, time.Millisecond))) {
				return nil
			}
		}
		a.log.InfoContext(ctx, "no requests for http.background_idle: the server stops", "http.background_idle", idle)
		return nil
	})
}

// tellOwners has connections say whose they are, where other users are kept out.
func (a *app) tellOwners(ctx context.Context) {
	if !a.cfg.HTTP.OwnUsers() {
		return
	}
	owners, err := access.NewOwners(ctx, a.listener.Addr())
	if err != nil {
		a.log.WarnContext(ctx, "this system does not report the user of a connection: every user of this machine is served", "err", err)
		return
	}
	a.server.ConnContext = owners.PeerOf
}

type statusCmd struct {
	jsonOutput
	Start bool `help:"Start a server in the background where none runs."`
}

// Run lists this user's servers. The one that programs use by default comes first.
func (c statusCmd) Run(ctx context.Context, std streams) error {
	if c.Start {
		way := (&local.Memory{}).To("", false)
		if err := (client.Server{URL: way.URL, HTTP: way.HTTP}).Do(ctx, client.Request{Method: http.MethodGet, Path: "/health"},
			nil); err != nil {
			return err
		}
	}
	usual, none := local.Usual()
	servers := local.Servers()
	journals := mcp.Journals(journalDir())
	if c.JSON {
		return printJSON(std.out, map[string]any{"servers": servers, "used": usual.PID, "journals": journals})
	}
	if none != nil {
		fmt.Fprintln(std.out, "No server of yours is running on this machine. Programs that need one start it in the background.")
	}
	for _, s := range servers {
		how := "run by hand"
		if s.Background {
			how = "in the background"
		}
		if s.PID == usual.PID {
			how += ", used by agents and commands"
		}
		fmt.Fprintf(std.out, "pid %d, %s, since %s\n  %s  unix:%s\n  store: %s\n", s.PID, how,
			s.Since.Local().Format(time.DateTime), s.URL, s.Socket, onTerminal(s.Store, 300))
		if s.Log != "" {
			fmt.Fprintf(std.out, "  log: %s\n", onTerminal(s.Log, 300))
		}
	}
	for _, j := range journals {
		how := "use memoryd journals send or drop"
		if j.Held {
			how = "being delivered"
		}
		fmt.Fprintf(std.out, "%s: %s for %s (%s)\n", onTerminal(j.Path, 300), counted(j.Calls, "call"), forWhom(j.Destination), how)
	}
	return nil
}

// forWhom names a destination.
func forWhom(d mcp.Destination) string {
	if d.To == "" {
		return "an unknown destination"
	}
	text := d.To + ", workspace " + d.Workspace
	if d.Key != "" {
		text += ", key " + d.Key
	}
	return onTerminal(text, 300)
}

// journalsCmds are what is done with journals whose destination is gone.
type journalsCmds struct {
	Send journalsSendCmd `cmd:"" help:"Deliver journals, to their own server or another."`
	Drop journalsDropCmd `cmd:"" help:"Delete journals."`
}

type journalsSendCmd struct {
	remote
	Files []string `arg:"" name:"file" help:"Journals, as memoryd status lists them."`
}

// Run delivers journals. Without --url, --key and --workspace, each goes to its own
// destination.
func (c journalsSendCmd) Run(ctx context.Context, std streams) error {
	for _, path := range c.Files {
		j, err := mcp.ReadJournal(path)
		if err != nil {
			return err
		}
		store, server := "", c.reach
		if name, ok := strings.CutPrefix(j.To, "store:"); ok {
			store = name
		} else if j.To != "local" && server.URL == "" {
			server.URL = j.To
		}
		if server.URL == "" && j.To == "" {
			return fmt.Errorf("%s does not name its server; name one with --url", path)
		}
		way := server.way(store, std.err)
		to := mcp.Memory{URL: way.URL, HTTP: way.HTTP, Key: c.Key, Workspace: cmp.Or(c.Workspace, j.Workspace)}
		refused := 0
		err = j.Deliver(func(batch []json.RawMessage) error {
			rejected, err := to.Record(ctx, batch)
			for _, r := range rejected {
				fmt.Fprintf(std.err, "%s: refused: %s\n", path, onTerminal(r.Reason, 300))
			}
			refused += len(rejected)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(std.out, "%s: %s delivered, %d refused\n", path, counted(j.Calls-refused, "call"), refused)
	}
	return nil
}

type journalsDropCmd struct {
	Files []string `arg:"" name:"file" help:"Journals, as memoryd status lists them."`
	Yes   bool     `help:"Delete; without it the command only says what it would delete, and exits with 1."`
}

// Run deletes journals.
func (c journalsDropCmd) Run(std streams) error {
	for _, path := range c.Files {
		j, err := mcp.ReadJournal(path)
		if err != nil {
			return err
		}
		if !c.Yes {
			fmt.Fprintf(std.out, "%s: %s for %s\n", path, counted(j.Calls, "call"), forWhom(j.Destination))
			continue
		}
		if err := j.Deliver(func([]json.RawMessage) error { return nil }); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if !c.Yes {
		return errors.New("nothing is deleted without --yes")
	}
	return nil
}

type stopCmd struct {
	Data string `type:"path" placeholder:"DIR" help:"Use the server of the store in this folder (default: your local server)."`
}

// stopPatience is how long a server may take to end.
const stopPatience = 30 * time.Second

// Run stops a server.
func (c stopCmd) Run(std streams) error {
	s, err := local.Usual()
	if c.Data != "" {
		s, err = local.Of(c.Data)
	}
	if err != nil {
		return errors.New("no server of yours is running on this machine")
	}
	if err := s.End(stopPatience); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "stopped: pid %d, store: %s\n", s.PID, onTerminal(s.Store, 300))
	return err
}

// certificate is that of the server. Its files are looked at again when a
// connection begins, and after SIGHUP: who renews it need not tell.
type certificate struct {
	files api.TLS
	log   *slog.Logger

	mu      sync.Mutex
	held    *tls.Certificate
	changed [2]time.Time // when the files were that are held
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.times() != c.changed {
			c.reread()
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
	open map[net.Conn]visitor
}

// visitor says whether a request of a connection is under way, and since when.
type visitor struct {
	busy  bool
	since time.Time
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]visitor{}}
}

// changed is a hook for http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.open[conn] // else it was too much
	switch {
	case state == http.StateNew, known && (state == http.StateActive || state == http.StateIdle):
		c.open[conn] = visitor{state == http.StateActive, time.Now()}
	default:
		delete(c.open, conn)
	}
	if len(c.open) > c.most {
		c.closeSilent()
	}
}

// closeSilent closes the connection that has been silent for longest.
func (c *connections) closeSilent() {
	var oldest net.Conn
	for conn, v := range c.open {
		if !v.busy && (oldest == nil || v.since.Before(c.open[oldest].since)) {
			oldest = conn
		}
	}
	if oldest != nil {
		delete(c.open, oldest)
		_ = oldest.Close()
	}
}

// busy reports whether a request is under way or a connection was used lately.
func (c *connections) busy(lately time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.open {
		if v.busy || time.Since(v.since) < lately {
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
