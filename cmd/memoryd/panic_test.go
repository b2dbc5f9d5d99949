package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/store"
	"memoryd/store/storetest"
)

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// take gives what was written since the last take.
func (b *safeBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.text.Reset()
	return b.text.String()
}

// brittle is the real server over a store whose methods panic when told to.
type brittle struct {
	*testing.T
	app    *app
	log    *safeBuffer
	panics atomic.Pointer[string] // the method that panics; nil: none
}

// strike panics the way a defect over foreign text does.
func (b *brittle) strike(method string, at storetest.Stage) error {
	if name := b.panics.Load(); name != nil && *name == method && at == storetest.Before {
		panic("a defect in " + method)
	}
	return nil
}

func newBrittle(t *testing.T) *brittle {
	t.Helper()
	cfg, err := config.Parse(nil, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.Backend, cfg.HTTP.Listen, cfg.Usage.FlushInterval = config.BackendMem, "127.0.0.1:0", 10*time.Millisecond
	b := &brittle{T: t, log: &safeBuffer{}}
	b.app = &app{cfg: cfg, decorate: func(s store.Store) store.Store { return storetest.NewFaults(s, b.strike) }}
	b.app.log = slog.New(b.app.panics.Handler(slog.NewTextHandler(b.log, nil)))
	if err := b.app.open(t.Context(), func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	b.app.Start(t.Context())
	t.Cleanup(func() {
		b.panics.Store(nil)
		if err := b.app.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return b
}

// ask gives the answer to a request; the headers are pairs of name and value.
func (b *brittle) ask(method, path, body string, headers ...string) (status int, answer string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute) // an answer, not a wait for ever
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+b.app.Addr().String()+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Errorf("%s %s: %v", method, path, err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Errorf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, string(text)
}

// counted is the server's own count of a part's panics.
func (b *brittle) counted(part string) (n int) {
	b.Helper()
	_, text := b.ask("GET", "/metrics", "")
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, `memoryd_panics_total{part="`+part+`"} `); ok {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n
}

func (b *brittle) record(from, to int) {
	b.Helper()
	var calls []string
	for i := from; i < to; i++ {
		calls = append(calls, fmt.Sprintf(`{"input":{"n":%d},"output":"fine %d","create_time":"2026-01-01 00:00:%02d"}`, i, i, i%60))
	}
	if status, answer := b.ask("POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[`+strings.Join(calls, ",")+`]}`); status != 200 {
		b.Fatalf("%d %s", status, answer)
	}
}

// talk is a conversation that has to be compacted.
func talk() string {
	var b strings.Builder
	b.WriteString(`{"force":true,"target_tokens":1200,"messages":[{"role":"user","content":"go"}`)
	for i := range 30 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"x","arguments":"{}"}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, strings.Repeat(fmt.Sprintf("line %d of the output. ", i), 80))
	}
	return b.String() + `,{"role":"user","content":"next"}]}`
}

// A panic in whatever a request or a round of the background meets is answered or
// logged with its stack, counted, and leaves the server alive; the same request
// again is answered.
func TestAPanicAnywhereIsAnsweredLoggedCountedAndSurvived(t *testing.T) {
	forecast := `{"tool_name":"t","input":{"n":1}}`
	for name, tc := range map[string]struct {
		method string // of the store, which panics
		part   string
		ask    func(b *brittle) (status int, answer string)
		bad    int // the status while it panics; 0: not answered with one
	}{
		"recording": {"Append", "http", func(b *brittle) (int, string) {
			return b.ask("POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"new"}]}`)
		}, 500},
		"learning": {"History", "learning", func(b *brittle) (int, string) {
			return b.ask("POST", "/preflight_tool_call", forecast)
		}, 500},
		"summarising and mining": {"History", "summarising", func(b *brittle) (int, string) {
			return b.ask("POST", "/summary_tool_memory", `{"tool_names":"t"}`)
		}, 500},
		"compaction": {"PutRecords", "compaction", func(b *brittle) (int, string) {
			return b.ask("POST", "/compact_conversation", talk())
		}, 500},
		"streamed compaction": {"PutRecords", "compaction", func(b *brittle) (int, string) {
			status, text := b.ask("POST", "/compact_conversation", talk(), "Accept", "text/event-stream")
			if strings.Contains(text, "event: error") && strings.Contains(text, `"status":500`) {
				status = 500
			}
			return status, text
		}, 500},
		"refreshing": {"History", "guidelines", func(b *brittle) (int, string) {
			if _, err := b.app.refresher.RunOnce(b.Context()); err != nil {
				return 500, err.Error()
			}
			return 200, ""
		}, 0},
		"counting of what models cost": {"PutRecord", "usage", func(b *brittle) (int, string) {
			b.app.ledger.Verdict(memoryd.ToolRef{Workspace: "default", Tool: "t"}, "rules")
			for until := time.Now().Add(time.Minute); b.panics.Load() != nil && b.counted("usage") == 0 && time.Now().Before(until); {
				time.Sleep(b.app.cfg.Usage.FlushInterval)
			}
			return 200, ""
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrittle(t)
			b.record(0, 40)
			b.log.take()
			b.panics.Store(&tc.method)
			status, answer := tc.ask(b)
			if tc.bad != 0 && status != tc.bad || strings.Contains(answer, "a defect") {
				t.Errorf("while it panics: %d %.300s", status, answer)
			}
			log := b.log.take()
			for _, want := range []string{"a defect in " + tc.method, "part=" + tc.part, "strike", "goroutine "} {
				if !strings.Contains(log, want) {
					t.Errorf("the log lacks %q: %.2000s", want, log)
				}
			}
			if n := b.counted(tc.part); n < 1 {
				t.Errorf("%d panics of %s are counted", n, tc.part)
			}
			if status, answer := b.ask("GET", "/health", ""); status != 200 {
				t.Errorf("the server is not well: %d %s", status, answer)
			}
			b.panics.Store(nil)
			if status, answer := tc.ask(b); status != 200 || strings.Contains(answer, "event: error") {
				t.Errorf("the same request again: %d %.300s", status, answer)
			}
		})
	}
}
