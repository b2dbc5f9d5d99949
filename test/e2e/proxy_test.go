package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// replica plays a memoryd behind the proxy.
type replica struct {
	mu   sync.Mutex
	keys []string // the Idempotency-Keys of what it was asked
	does http.HandlerFunc
	*httptest.Server
}

func newReplica(t *testing.T) *replica {
	r := &replica{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		r.mu.Lock()
		r.keys = append(r.keys, q.Header.Get("Idempotency-Key"))
		does := r.does
		r.mu.Unlock()
		does(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

// set lets the replica do something from now on, and forgets what it was asked.
func (r *replica) set(does http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.does, r.keys = does, nil
}

func (r *replica) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys
}

func answers(w http.ResponseWriter, _ *http.Request)    { fmt.Fprint(w, "done") }
func breaksOff(http.ResponseWriter, *http.Request)      { panic(http.ErrAbortHandler) }
func hangs(_ http.ResponseWriter, r *http.Request)      { <-r.Context().Done() }
func lacksStore(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }

// startProxy runs nginx with the settings of deploy/nginx-memoryd.conf, before these
// replicas, with a short patience for replicas that hang. Older versions do not look
// names up again, which is not what is tried here.
func startProxy(t *testing.T, replicas []*replica) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("nginx is not installed: only the text of its configuration is checked")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	conf := rootFile(t, "deploy/nginx-memoryd.conf")
	for i, r := range replicas {
		conf = strings.Replace(conf, fmt.Sprintf("memoryd-%d:8002 resolve", i+1), r.Listener.Addr().String(), 1)
	}
	for old, now := range map[string]string{
		`resolver [^;]*;`: "", `listen 8002;`: "listen " + address + ";", `pid [^;]*;`: "pid " + filepath.Join(dir, "pid") + "; daemon off;",
		`worker_processes auto;`: "worker_processes 1;", `proxy_read_timeout 60s;`: "proxy_read_timeout 300ms;",
	} {
		if !regexp.MustCompile(old).MatchString(conf) {
			t.Fatalf("the configuration has no %s", old)
		}
		conf = regexp.MustCompile(old).ReplaceAllString(conf, now)
	}
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		conf = strings.Replace(conf, "http {", fmt.Sprintf("http {\n%s_temp_path %s;", kind, filepath.Join(dir, kind)), 1)
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c := exec.CommandContext(t.Context(), program, "-p", dir, "-e", "stderr", "-c", file)
	c.Stderr = &said
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // which ends its worker too
	c.WaitDelay = 5 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Cancel()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("nginx: %s", said.String())
		}
	})
	for deadline := time.Now().Add(patience); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return "http://" + address
		}
		if time.Now().After(deadline) {
			t.Fatalf("nginx does not listen: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// What is safe to repeat is repeated by the proxy, with the key of the first try; what is
// not is not; and when no replica is there, the answer is one that clients read.
func TestTheProxyRepeatsWhatIsSafe(t *testing.T) {
	replicas := []*replica{newReplica(t), newReplica(t), newReplica(t)}
	post := func(proxy, path string) (int, http.Header, string) {
		t.Helper()
		resp, err := (&http.Client{Timeout: 10 * time.Second}).Post(proxy+path, "application/json", strings.NewReader(`{"tool_call_results":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header, string(body)
	}
	// setAll lets the first that is asked do something, and the others answer.
	setAll := func(first http.HandlerFunc) {
		var once sync.Once
		for _, r := range replicas {
			r.set(func(w http.ResponseWriter, q *http.Request) {
				does := http.HandlerFunc(answers)
				once.Do(func() { does = first })
				does(w, q)
			})
		}
	}
	keys := func() (list []string) {
		for _, r := range replicas {
			list = append(list, r.asked()...)
		}
		return list
	}
	for name, first := range map[string]http.HandlerFunc{"breaks off": breaksOff, "hangs": hangs, "has no store": lacksStore} {
		t.Run(name, func(t *testing.T) {
			proxy := startProxy(t, replicas)
			setAll(first)
			status, _, body := post(proxy, "/add_tool_call_result")
			if k := keys(); status != 200 || body != "done" || len(k) != 2 || k[0] == "" || k[0] != k[1] {
				t.Errorf("a recording was answered %d %q, by replicas asked with the keys %q", status, body, k)
			}
			if name == "hangs" {
				return // other routes wait for ten minutes
			}
			setAll(first)
			if status, _, _ := post(proxy, "/compact_conversation"); status != 503 || len(keys()) != 1 {
				t.Errorf("a compaction was answered %d, and asked for %d times", status, len(keys()))
			}
		})
	}
	t.Run("a replica that hangs is left alone", func(t *testing.T) {
		proxy := startProxy(t, replicas)
		for _, r := range replicas {
			r.set(answers)
		}
		replicas[0].set(hangs)
		for range 30 {
			if status, _, body := post(proxy, "/add_tool_call_result"); status != 200 {
				t.Errorf("%d %s", status, body)
			}
		}
		if n := len(replicas[0].asked()); n != 2 {
			t.Errorf("the replica that hangs was asked %d times, want 2", n)
		}
	})
	t.Run("nobody is there", func(t *testing.T) {
		proxy := startProxy(t, replicas)
		for _, r := range replicas {
			r.Close()
		}
		for _, path := range []string{"/add_tool_call_result", "/v1/workspaces"} {
			status, header, body := post(proxy, path)
			if status != 503 || header.Get("Retry-After") != "5" || header.Get("Content-Type") != "application/json" || !strings.Contains(body, `"success":false`) {
				t.Errorf("%s: %d %v %s", path, status, header, body)
			}
		}
	})
}
