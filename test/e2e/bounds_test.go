package e2e

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// dial opens a connection of so many, writes a request of which nothing more comes,
// and reads nothing.
func dial(t *testing.T, s *daemon.Process, n int, request string) {
	t.Helper()
	host := strings.TrimPrefix(s.URL, "http://")
	for range n {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4096)
		}
		if _, err := io.WriteString(c, strings.ReplaceAll(request, "HOST", host)); err != nil {
			t.Fatal(err)
		}
	}
}

// slowest gives the p50 and p99 of so many adds, each of which has to be recorded, and
// the longest that /livez took between them.
func slowest(t *testing.T, s *daemon.Process, name string, n int) (p50, p99, livez time.Duration) {
	t.Helper()
	var took []time.Duration
	for i := range n {
		start := time.Now()
		a := s.Post("/add_tool_call_result", map[string]any{"workspace_id": "modest", "tool_name": "t", "async": true, "include_history": false, "tool_call_results": []any{map[string]any{"input": fmt.Sprint(name, i), "output": "ok"}}})
		if !a.Success {
			t.Fatalf("%s, add %d: %s", name, i, a.Answer)
		}
		took = append(took, time.Since(start))
		if i%10 == 0 {
			start = time.Now()
			if r := s.Get("/livez"); r.Status != 200 {
				t.Fatalf("%s: /livez answered %d", name, r.Status)
			}
			livez = max(livez, time.Since(start))
		}
	}
	slices.Sort(took)
	return took[n/2], took[n*99/100], livez
}

// TestClientsThatDoNotReadHoldLittleMemory has 80 clients ask for pages of megabytes
// that they do not read: answers count from when they are made until they are
// delivered. Another workspace is served meanwhile, none of its requests is refused.
func TestClientsThatDoNotReadHoldLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	const most = 700.0
	s := start(t, t.TempDir(), collectOften)
	text := strings.Repeat("all work and no play makes a dull log line\n", 1_000_000/43)
	for n := range 100 {
		if a := s.Post("/add_tool_call_result", map[string]any{"tool_name": "big", "async": true, "include_history": false, "tool_call_results": []any{map[string]any{"input": fmt.Sprint(n), "output": fmt.Sprint(n, text)}}}); !a.Success {
			t.Fatalf("call %d: %s", n, a.Answer)
		}
	}
	p50, p99, livez := slowest(t, s, "alone", 200)
	body := `{"tool_names": "big", "include_history": true}`
	dial(t, s, 40, "GET /v1/workspaces/default/tools/big/calls?limit=100 HTTP/1.1\r\nHost: HOST\r\n\r\n")
	dial(t, s, 40, fmt.Sprintf("POST /retrieve_tool_memory HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	before, highest := resident(t, s), 0.0
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		highest = max(highest, resident(t, s))
	}
	p50b, p99b, livezb := slowest(t, s, "beside", 200)
	t.Logf("resident memory %.0f MiB, then at most %.0f MiB; adds p50 %v and p99 %v, beside them %v and %v; /livez at most %v and %v", before, highest, p50, p99, p50b, p99b, livez, livezb)
	if highest > most {
		t.Errorf("80 clients that do not read make the server hold %.0f MiB, want at most %.0f", highest, most)
	}
}

// TestSilentConnectionsStopNobody has 16 clients announce bodies of 16 MB of which
// nothing comes: what was announced is not reserved before it arrives.
func TestSilentConnectionsStopNobody(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	p50, p99, livez := slowest(t, s, "alone", 200)
	dial(t, s, 16, "POST /add_tool_call_result HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 16777216\r\n\r\n{")
	p50b, p99b, livezb := slowest(t, s, "beside", 200)
	t.Logf("adds p50 %v and p99 %v, beside 16 silent connections %v and %v (p99 %.2f times); /livez at most %v and %v", p50, p99, p50b, p99b, float64(p99b)/float64(p99), livez, livezb)
}
