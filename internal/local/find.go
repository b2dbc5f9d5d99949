package local

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd/internal/lifecycle"
)

// Memory is this machine's memory as a program uses it: its client finds the server, and
// starts one if there is none. It is safe for concurrent use.
type Memory struct {
	// Store is the folder whose server to use; "" means the user's own memory and the server
	// that runs for it.
	Store string
	// NoDaemon starts no server.
	NoDaemon bool
	// Started is called with the store of a server that was started; may be nil.
	Started func(store string)

	mu     sync.Mutex
	failed time.Time // when no server could be started
	why    error
}

// How long a server may take to start, and for how long one that could not be started
// is not tried again.
const (
	startPatience = 20 * time.Second
	startPause    = 30 * time.Second
)

// Way is how a program reaches a memory.
type Way struct {
	URL  string // of requests
	HTTP *http.Client
	// Name identifies the memory, wherever its server listens: an address, the folder of a
	// store, or "local" for the user's own.
	Name string
}

// DefaultURL is where a server listens by default.
const DefaultURL = "http://127.0.0.1:8002"

// To returns the way to the memory at an address, http://HOST:PORT or unix:SOCKET. Without an
// address, it is this machine's memory. With a key and no address, it is the server at the
// default address, because a server with keys has no socket.
func (m *Memory) To(url string, keyed bool) Way {
	if url == "" && m.Store == "" && keyed {
		url = DefaultURL
	}
	way := Way{URL: "http://localhost", Name: url}
	dial := m.dial
	if socket, ok := strings.CutPrefix(url, "unix:"); ok {
		dial = dialer(socket)
	} else if url != "" {
		return Way{url, http.DefaultClient, strings.TrimRight(url, "/")}
	} else if way.Name = "local"; m.Store != "" {
		way.Name = "store:" + m.Store
		if whole, err := filepath.Abs(m.Store); err == nil {
			way.Name = "store:" + whole
		}
	}
	way.HTTP = &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}}
	return way
}

func dialer(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
}

func (m *Memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := m.connect(ctx)
	if err == nil {
		return conn, nil
	}
	if m.NoDaemon {
		return nil, fmt.Errorf("no memoryd of yours is running on this machine: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if conn, err := m.connect(ctx); err == nil { // another request started it
		return conn, nil
	}
	if time.Since(m.failed) < startPause {
		return nil, m.why
	}
	conn, err = m.start(ctx)
	if err != nil && ctx.Err() == nil {
		m.failed, m.why = time.Now(), fmt.Errorf("cannot start memoryd in the background: %w", err)
		return nil, m.why
	}
	return conn, err
}

// connect reaches the server that runs.
func (m *Memory) connect(ctx context.Context) (net.Conn, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	store, err := m.dir()
	if err != nil {
		return nil, err
	}
	sockets := []string{socketOf(dir, store)}
	if m.Store == "" {
		sockets = []string{filepath.Join(dir, usual), sockets[0]}
	}
	// A session of another kind keeps its sockets in another folder.
	if address, err := os.ReadFile(filepath.Join(store, AddressFile)); err == nil {
		if socket, ok := strings.CutPrefix(string(address), "unix:"); ok {
			sockets = append(sockets, socket)
		}
	}
	for _, socket := range sockets {
		var conn net.Conn
		if conn, err = dialer(socket)(ctx, "", ""); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func (m *Memory) dir() (string, error) {
	if m.Store != "" {
		return filepath.Abs(m.Store)
	}
	return DataDir()
}

// AddressFile is a file in the folder of a store with the address of the server that uses the
// store.
const AddressFile = "address"

// start starts a server and waits until it answers. One that another program started
// meanwhile is as good.
func (m *Memory) start(ctx context.Context) (net.Conn, error) {
	store, err := m.dir()
	if err != nil {
		return nil, err
	}
	if _, err := Folder(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(store, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("it does not answer within %v", startPatience))
	defer cancel()
	var ended <-chan error
	var pid int
	for ends := 0; ; {
		if ended == nil {
			if pid, ended, err = launch(ctx, store); err != nil {
				return nil, err
			}
		}
		if conn, err := m.connect(ctx); err == nil {
			if info, err := Of(store); err == nil && info.PID == pid && m.Started != nil {
				m.Started(store)
			}
			return conn, nil
		}
		pause := connectPause
		select {
		case err := <-ended: // the store may be in use: by one that ends, or by one that begins
			if ends++; ends > maxEnds {
				return nil, fmt.Errorf("see %s (%w)", filepath.Join(store, logFile), err)
			}
			ended, pause = nil, startAgain
		default:
		}
		if !lifecycle.Sleep(ctx, pause) {
			return nil, context.Cause(ctx)
		}
	}
}

const (
	connectPause = 10 * time.Millisecond
	startAgain   = 500 * time.Millisecond
	maxEnds      = 6
	maxLog       = 16 << 20
	logFile      = "server.log"
)

// launch starts a server in a session of its own and tells when it ends.
func launch(ctx context.Context, store string) (pid int, ended <-chan error, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	name := LogOf(store)
	if info, err := os.Stat(name); err == nil && info.Size() > maxLog {
		_ = os.Rename(name, name+".old")
	}
	log, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, nil, err
	}
	defer log.Close()                                                         //nolint:errcheck // it is the server's
	server := exec.Command(program, "serve", "--background", "--data", store) //nolint:gosec,noctx // it is this program, and outlives it
	server.Env, server.Dir = environment(), store
	server.Stdout, server.Stderr = log, log
	Detach(server)
	if err := server.Start(); err != nil {
		return 0, nil, err
	}
	return server.Process.Pid, lifecycle.Go(context.WithoutCancel(ctx), slog.New(slog.DiscardHandler), "local server", server.Wait), nil
}

// LogOf returns the log file of a server that was started in the background.
func LogOf(store string) string { return filepath.Join(store, logFile) }

// environment is that of a server in the background: its settings, and no word of
// whoever happens to start it first on where to send calls or whom to pay.
func environment() []string {
	barred := []string{
		"MEMORYD_URL=", "MEMORYD_KEY=", "MEMORYD_WORKSPACE=", "MEMORYD_LISTEN=", "MEMORYD_DATA=",
		"MEMORYD_JOURNAL=", "MEMORYD_ADMIN_KEY=",
	}
	if os.Getenv("MEMORYD_CONFIG") == "" {
		barred = append(barred, "OPENAI_API_KEY=", "OPENAI_BASE_URL=")
	}
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return slices.ContainsFunc(barred, func(b string) bool { return strings.HasPrefix(pair, b) })
	})
}
