package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/internal/access"
	"memoryd/internal/admission"
	"memoryd/internal/telemetry/metrics"
	"memoryd/ops"
	"memoryd/store/mem"

	"github.com/labstack/echo/v4"
	"pgregory.net/rapid"
)

// step is how long a busy request computes before and after its commit, and how
// long the commit takes.
const step = 5 * time.Millisecond

// busy is a flow that computes, waits for a commit and computes again.
func busy(ctx context.Context, _ ops.RecordRequest) (*ops.Recorded, error) {
	time.Sleep(step)
	if err := admission.Blocking(ctx, func() { time.Sleep(step) }); err != nil {
		return nil, err
	}
	time.Sleep(step)
	return &ops.Recorded{}, nil
}

// busyServer is a server that has room for so many busy requests.
func busyServer(t *testing.T, room int) *server {
	t.Helper()
	cfg := testConfig()
	cfg.MaxInFlight = room
	flows := &ops.Flows{AddToolCallResult: ops.FlowOf("busy", busy)}
	return &server{
		cfg:     cfg,
		quota:   quotaOf(cfg),
		reading: reading(cfg.MaxItems),
		Deps:    Deps{Scheduler: admission.NewScheduler(6, 0), Flows: flows, Meter: metrics.New(metrics.Build{}), Logger: slog.New(slog.DiscardHandler)},
	}
}

// crowd sends requests of workspaces to one server, in a bubble of synctest.
type crowd struct {
	h    http.Handler
	done chan struct{}
	all  sync.WaitGroup
}

// flood sends as many requests at once as there are senders, each sending the next
// when one was answered, soon after one was refused. It counts both.
func (c *crowd) flood(workspace string, senders int) (served, refused *atomic.Int64) {
	served, refused = new(atomic.Int64), new(atomic.Int64)
	for i := range senders {
		// Each has moments of its own: what comes at the very same one may fill the
		// room that is kept for requests of which nobody knows yet whose they are.
		own := time.Duration(i) * 7 * time.Microsecond
		c.all.Go(func() {
			time.Sleep(own)
			for {
				select {
				case <-c.done:
					return
				default:
				}
				if c.send(workspace) == http.StatusOK {
					served.Add(1)
					continue
				}
				refused.Add(1)
				time.Sleep(4*step + own)
			}
		})
	}
	return served, refused
}

func (c *crowd) send(workspace string) int {
	return ask(c.h, "POST", "/add_tool_call_result", fmt.Sprintf(`{"tool_name":"t","tool_call_results":[{}],"workspace_id":%q}`, workspace)).Code
}

func newCrowd(s *server) *crowd {
	e := echo.New()
	e.HTTPErrorHandler = s.handleError
	add := endpoint{"POST", "/add_tool_call_result", access.Record, toolMemory | withBody | computing, of(s, s.addToolCallResult)}
	e.Add(add.method, add.path, s.handler(add))
	return &crowd{h: e, done: make(chan struct{})}
}

func (c *crowd) end() {
	close(c.done)
	c.all.Wait()
}

// A workspace that floods with ten times what the server bears takes nothing from
// one that sends a request at a time.
func TestASmallWorkspaceIsServedBesideAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 32
		s := busyServer(t, room)
		c := newCrowd(s)
		served, refused := c.flood("many", 10*room)
		time.Sleep(time.Second)
		const alone = 3 * step
		for n := range 50 {
			begun := time.Now()
			if code := c.send("few"); code != http.StatusOK {
				t.Errorf("request %d was answered %d", n, code)
			}
			if took := time.Since(begun); took > 2*alone {
				t.Errorf("request %d took %v beside the flood, %v alone", n, took, alone)
			}
			time.Sleep(time.Duration(n%7) * time.Millisecond)
		}
		c.end()
		if served.Load() < 300 || refused.Load() < served.Load() {
			t.Errorf("of the flood %d were served and %d refused: it was none", served.Load(), refused.Load())
		}
		if left := s.quota.UnderWay(); left != 0 {
			t.Errorf("%d requests are left", left)
		}
	})
}

func TestFloodsGetEqualShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(busyServer(t, 32))
		a, _ := c.flood("a", 250)
		b, _ := c.flood("b", 50)
		time.Sleep(2 * time.Second)
		c.end()
		if ratio := float64(a.Load()) / float64(b.Load()); ratio < 0.9 || ratio > 1.1 {
			t.Errorf("%d and %d were served", a.Load(), b.Load())
		}
	})
}

func FuzzPeekWorkspace(f *testing.F) {
	for _, seed := range []string{
		`{"workspace_id":"w"}`, ` { "a" : [ {"workspace_id":"inner"} , "]" ] , "workspace_id" : "w" }`, `{"workspace\u005fid":"\u00e9"}`,
		`{"a":"\\\\\"","b":-1.5e3,"c":null,"workspace_id":""}`, `{"workspace_id":7}`, `[]`, `{`, `{"`, `{"a"`, `{"a":`, `{"a":"\`, `{"a":[`, `{}`,
		`{"a":{},"b":[],"workspace_id":"x","z":true}`, "", `"workspace_id"`, `{"a":}`, `{"a":1 2,"workspace_id":"w"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := peekWorkspace(body) // never panics
		var req struct {
			Workspace *string `json:"workspace_id"`
		}
		if err := reader().decode(body, &req); err == nil && got != or(req.Workspace, "") {
			t.Errorf("got %q, the decoder %q", got, or(req.Workspace, ""))
		}
	})
}

func TestTheWorkspaceIsFoundWhereverItStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOf(rapid.StringN(0, 8, -1), rapid.Custom(func(t *rapid.T) any {
			return rapid.SampledFrom([]any{
				nil, true, -1.5e300, "", `"\`, `{"workspace_id":"no"}`, []any{}, []any{"]", map[string]any{"workspace_id": "no"}}, map[string]any{},
			}).Draw(t, "value")
		})).Draw(t, "members")
		want := rapid.String().Draw(t, "workspace")
		members["workspace_id"] = want
		body, err := json.MarshalIndent(members, rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "prefix"), " ")
		if err != nil {
			t.Fatal(err)
		}
		if got := peekWorkspace(body); got != want {
			t.Fatalf("got %q, want %q, in %s", got, want, body)
		}
	})
}

func BenchmarkPeekWorkspace(b *testing.B) {
	body := fmt.Appendf(nil, `{"tool_name":"t","tool_call_results":[{"input":{"q":"a","k":[1,2]},"output":%q}],"workspace_id":"w"}`, strings.Repeat("a", 500))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if peekWorkspace(body) != "w" {
			b.Fatal("not found")
		}
	}
}

// TestSilentBodiesTakeNoRoom announces bodies that never come, more than there is
// room for, and asks as others would.
func TestSilentBodiesTakeNoRoom(t *testing.T) {
	s := &server{cfg: Config{MaxInFlight: 100, MaxBodyBytes: 16 << 20, MaxInFlightBytes: 32 << 20}}
	s.quota = quotaOf(s.cfg)
	e := echo.New()
	e.POST("/", s.handler(endpoint{"POST", "/", access.Public, withBody, page(func(echo.Context, []byte) (any, error) { return nil, nil })}))
	server := httptest.NewServer(e)
	defer server.Close()
	for range 16 {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n{")
	}
	for s.quota.UnderWay() < 16 {
		runtime.Gosched()
	}
	resp, err := http.Post(server.URL, "application/json", strings.NewReader(strings.Repeat(" ", 1<<20)))
	if err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatalf("%v, %v", resp, err)
	}
	defer resp.Body.Close()
}

// TestABodyIsReservedAsItArrives: one that is larger than the room is refused midway.
func TestABodyIsReservedAsItArrives(t *testing.T) {
	s := &server{cfg: Config{MaxInFlight: 10, MaxBodyBytes: 1 << 20, MaxInFlightBytes: 1 << 20}}
	s.quota = quotaOf(s.cfg)
	other, err := s.quota.Admit(512 << 10)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]bool{100 << 10: true, 600 << 10: false} {
		lease, err := s.quota.Admit(0)
		if err != nil {
			t.Fatal(err)
		}
		body, err := readAll(bytes.NewReader(make([]byte, size)), s.cfg.MaxBodyBytes, -1, &lease, func([]byte) error { return nil })
		if want != (err == nil) || want && len(body) != size || !want && !memoryd.IsKind(err, memoryd.Overloaded) {
			t.Errorf("%d bytes: %d, %v", size, len(body), err)
		}
		lease.Release()
	}
	other.Release()
}

// growing is a body whose beginning names a workspace; it fails the test if it is read to its end
// before there is an answer.
type growing struct {
	t    *testing.T
	rec  *httptest.ResponseRecorder
	sent int
}

func (b *growing) Read(into []byte) (int, error) {
	const size = 1 << 20
	if b.sent > firstRoom && b.rec.Body.Len() == 0 {
		b.t.Fatal("the body was read on before the request was turned away")
	}
	n := min(len(into), size-b.sent)
	if n == 0 {
		return 0, io.EOF
	}
	copy(into[:n], bytes.Repeat([]byte(" "), n))
	if b.sent == 0 {
		copy(into[:n], `{"workspace_id":"greedy",`)
	}
	b.sent += n
	return n, nil
}

// A workspace that has no room left, or whose line is too long, is told so at the beginning of a
// body.
func TestABodyOfAWorkspaceWithoutRoomIsNotReadToItsEnd(t *testing.T) {
	s := busyServer(t, 10)
	h := newCrowd(s).h
	for {
		lease, err := s.quota.Admit(0)
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Release()
		if err := lease.Bind("greedy", 0); err != nil {
			lease.Release()
			break
		}
	}
	body := &growing{t: t, rec: httptest.NewRecorder()}
	req := httptest.NewRequest("POST", "/add_tool_call_result", body)
	req.ContentLength = 1 << 20
	if h.ServeHTTP(body.rec, req); body.rec.Code != http.StatusTooManyRequests {
		t.Errorf("answered %d", body.rec.Code)
	}
}

// TestAMountedPartIsLetInAsTheAPIIs: the dashboard passed by the bounds on requests,
// bodies and workspaces.
func TestAMountedPartIsLetInAsTheAPIIs(t *testing.T) {
	d := depsOver(t, mem.New())
	cfg := testConfig()
	var h http.Handler
	inner := 0
	d.Mounts = []Mount{{
		Path: "/ui/*", Role: access.Read,
		Bounds:    func(r *http.Request) (bool, bool) { return r.URL.Path != "/ui/stream", true },
		Workspace: func(r *http.Request, body []byte) string { return string(body) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if r.URL.Path == "/ui/outer" { // it is under way while others ask
				inner = ask(h, "POST", "/ui/inner", "w").Code
				if rec := ask(h, "GET", "/ui/stream", ""); rec.Code != http.StatusAccepted {
					t.Errorf("a stream beside it: %d", rec.Code)
				}
			}
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write(body)
		}),
	}}
	cfg.MaxInFlight = 1
	h = New(cfg, d)
	rec := ask(h, "POST", "/ui/outer", "w")
	if rec.Code != http.StatusAccepted || rec.Body.String() != "w" || inner != http.StatusTooManyRequests {
		t.Errorf("%d %q, and %d beside it", rec.Code, rec.Body, inner)
	}
	if rec = ask(h, "POST", "/ui/x", strings.Repeat("x", int(cfg.MaxBodyBytes)+1)); rec.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body that is too long: %d", rec.Code)
	}
	if rec = ask(h, "POST", "/ui/x", "w"); rec.Code != http.StatusAccepted {
		t.Errorf("afterwards: %d %s", rec.Code, rec.Body)
	}
}
