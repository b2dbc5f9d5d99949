package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"memoryd/config"
	"memoryd/test/llmtest"

	"go.uber.org/goleak"
)

// TestMain runs the tests without a word to the servers of whoever runs them.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" { // a server in the background that a test started
		os.Exit(exitFailed)
	}
	dir, err := os.MkdirTemp("", "memoryd-test-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("XDG_RUNTIME_DIR", dir)
	_ = os.Setenv("MEMORYD_NO_DAEMON", "true")
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// testApp builds the server on a free port, with its data in dir and its model
// at baseURL ("" means none), which is asked about every call.
func testApp(t testing.TB, backend, dir, baseURL string) *app {
	t.Helper()
	environ := []string{"MEMORYD_OP_VECTOR_STORE_OP_PARAMS_DUMP_DIR=" + t.TempDir()}
	if baseURL != "" {
		environ = []string{environ[0], "OPENAI_BASE_URL=" + baseURL, "MEMORYD_EVALUATE_JUDGE=llm"}
	}
	cfg, err := config.Parse(nil, "test", environ)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.Backend, cfg.Store.SQLite.Dir, cfg.HTTP.Listen = backend, dir, "127.0.0.1:0"
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestStartAndStopAgainAndAgainLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	for _, backend := range []string{config.BackendMem, config.BackendSQLite, config.BackendSQLite, config.BackendSQLite} {
		a := testApp(t, backend, dir, "")
		a.Start(t.Context())
		add(t, a, "fine")
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestAnAppThatNeverStartedCanBeStopped(t *testing.T) {
	a := testApp(t, config.BackendSQLite, t.TempDir(), "")
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	_ = a.listener.Close()
}

func TestStopDoesNotWaitForAModelThatNeverAnswers(t *testing.T) {
	asked := make(chan struct{}, 1)
	model := llmtest.New(func(llmtest.Request) llmtest.Reply {
		select {
		case asked <- struct{}{}:
		default:
		}
		return llmtest.Hang()
	})
	a := testApp(t, config.BackendSQLite, t.TempDir(), model.Start(t)+"/v1")
	a.Start(t.Context())
	answered := make(chan string, 1)
	go func() { answered <- add(t, a, "The operation ended; some of it might not have been done as asked.") }()
	select {
	case <-asked:
	case answer := <-answered:
		t.Fatalf("the model was not asked: %s", answer)
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if answer := <-answered; !strings.Contains(answer, `"pending"`) {
		t.Errorf("the request under way was answered %s", answer)
	}
	http.DefaultClient.CloseIdleConnections()
}

// add records one call and returns the answer.
func add(t *testing.T, a *app, output string) string {
	resp, err := http.Post("http://"+a.Addr().String()+"/add_tool_call_result", "application/json",
		strings.NewReader(`{"tool_name":"t","tool_call_results":[{"output":"`+output+`"}]}`))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("HTTP %d, %v", resp.StatusCode, err)
	}
	return string(body)
}

// A model that wants to be left alone keeps nobody waiting: the call is pending.
func TestAModelThatRefusesHoldsNoAddForLong(t *testing.T) {
	for name, header := range map[string]http.Header{"for a while": {"Retry-After": {"25"}}, "without a word": {}} {
		model := llmtest.New(func(llmtest.Request) llmtest.Reply { return llmtest.Status(http.StatusTooManyRequests, header) })
		a := testApp(t, config.BackendMem, t.TempDir(), model.Start(t)+"/v1")
		a.Start(t.Context())
		began := time.Now()
		for range 3 {
			if answer := add(t, a, "The operation ended; some of it might not have been done as asked."); !strings.Contains(answer, `"pending"`) {
				t.Errorf("%s: answered %s", name, answer)
			}
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: three adds took %v", name, took)
		}
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// A server collects rather than let its heap double, unless the environment says otherwise.
func TestTheMemoryLimitIsTheServersOrTheEnvironments(t *testing.T) {
	old := debug.SetMemoryLimit(-1)
	restore := limitMemory(3 << 30)
	if now := debug.SetMemoryLimit(-1); now != 3<<30 {
		t.Errorf("the limit is %d", now)
	}
	restore()
	t.Setenv("GOMEMLIMIT", "5GiB")
	defer limitMemory(3 << 30)()
	if now := debug.SetMemoryLimit(-1); now != old {
		t.Errorf("the limit is %d beside GOMEMLIMIT, it was %d", now, old)
	}
}
