package e2e

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// asNobody runs f with the file and socket identity of another user: on a thread of its
// own, which ends with it.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		const nobody = 65534
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		f()
	}()
	<-done
}

// request sends a request over a connection of its own and gives the answer's status and
// body.
func request(address, method, path, header, body string) (int, string, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, "", err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s", method, path, len(body), header, body); err != nil {
		return 0, "", err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, "", err
	}
	var text strings.Builder
	_, err = bufio.NewReader(answer.Body).WriteTo(&text)
	return answer.StatusCode, text.String(), err
}

// On the default address every local user could list and delete workspaces, while the
// files are for their owner alone (defect O3).
func TestAnotherUserOfThisMachineIsAnsweredProbesAlone(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	address := strings.TrimPrefix(s.URL, "http://")
	add := `{"tool_call_results": [{"tool_name": "t", "input": "i", "output": "o"}]}`
	stop := make(chan struct{})
	var owners sync.WaitGroup
	for range 4 { // the owner's own connections come and go meanwhile
		owners.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if status, text, err := request(address, "POST", "/add_tool_call_result", "", add); status != http.StatusOK && err == nil {
					t.Errorf("the owner got %d: %s", status, text)
					return
				}
			}
		})
	}
	asNobody(t, func() {
		for i := range 1000 {
			status, text, err := request(address, "POST", "/add_tool_call_result", "", add)
			if status != http.StatusUnauthorized || err != nil || !strings.Contains(text, "http.local_users to any") {
				t.Fatalf("connection %d: %d, %v, %s", i, status, err, text)
			}
		}
		for route, want := range map[string]int{
			"GET /health": 200, "GET /livez": 200, "GET /readyz": 200,
			"GET /": 401, "GET /docs": 401, "GET /metrics": 401, "GET /openapi.json": 401, "GET /ui/": 401, "GET /ui/login": 401, "POST /mcp": 401,
			"POST /retrieve_tool_memory": 401, "POST /vector_store": 401, "GET /v1/workspaces": 401, "POST /v1/hooks/codex": 401, "POST /v1/traces": 401,
		} {
			method, path, _ := strings.Cut(route, " ")
			for _, header := range []string{"", "Authorization: Bearer mrd_0123456789ab_0123456789\r\n", "X-API-Key: x\r\n"} {
				if status, text, err := request(address, method, path, header, ""); status != want || err != nil {
					t.Errorf("%s %q: %d, %v, %s", route, header, status, err, text)
				}
			}
		}
		// Who does not wait for the answer is nobody whom the system knows any more.
		for range 50 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST /add_tool_call_result HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(add)+3, strings.Replace(add, `"t"`, `"left"`, 1))
			conn.Close()
		}
	})
	close(stop)
	owners.Wait()
	if a := s.Post("/retrieve_tool_memory", map[string]any{"tool_names": "left"}); a.Success {
		t.Error("who left at once was taken for root")
	}
	open := start(t, t.TempDir(), []string{"MEMORYD_HTTP_LOCAL_USERS=any"})
	asNobody(t, func() {
		if status, _, err := request(strings.TrimPrefix(open.URL, "http://"), "GET", "/v1/workspaces", "", ""); status != 200 || err != nil {
			t.Errorf("with local_users any: %d, %v", status, err)
		}
	})
}

// A key lets another user in, and no further than it reaches.
func TestAnotherUserOfThisMachineMayShowAKey(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir, nil)
	code, out, errs := memoryd(t, "", "keys", "create", "--role", "read", "--workspaces", "default", "--url", s.URL)
	if code != 0 {
		t.Fatal(errs)
	}
	header := "Authorization: Bearer " + strings.TrimSpace(out) + "\r\n"
	asNobody(t, func() {
		for route, want := range map[string]int{"GET /v1/workspaces": 200, "POST /add_tool_call_result": 403} {
			method, path, _ := strings.Cut(route, " ")
			if status, text, err := request(strings.TrimPrefix(s.URL, "http://"), method, path, header, "{}"); status != want || err != nil {
				t.Errorf("%s: %d, %v, %s", route, status, err, text)
			}
		}
	})
}
