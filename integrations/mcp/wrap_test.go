package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memoryd/integrations/mcp"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// TestMain is the tests, or one of the servers that they wrap.
func TestMain(m *testing.M) {
	switch os.Getenv("MEMORYD_FAKE_SERVER") {
	case "":
		goleak.VerifyTestMain(m)
	case "echo": // everything comes back as it came
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "tools":
		os.Exit(fakeServer(os.Stdin, os.Stdout))
	case "stubborn": // ignores the end of its input and SIGTERM, and leaves a child
		child := exec.Command("sleep", "60")
		_ = child.Start()
		fmt.Println(child.Process.Pid)
		signalIgnored()
		time.Sleep(time.Minute)
	}
}

func signalIgnored() {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGTERM)
}

// fakeServer answers tools/call by what its arguments ask for.
func fakeServer(in io.Reader, out io.Writer) int {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name         string
				RequestState string
				TaskID       string `json:"taskId"`
				Arguments    struct {
					Text  string
					Fail  bool
					Error bool
					Ask   bool
					Task  bool
					Die   bool
				}
			}
		}
		if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 {
			continue
		}
		a := m.Params.Arguments
		text := func(s string, isError bool) string {
			return fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":%t,"unknown":{"kept":1}}`, s, isError)
		}
		var result string
		switch {
		case a.Die:
			return 3
		case m.Method == "initialize":
			result = `{"protocolVersion":"2025-11-25","serverInfo":{"name":"fake"},"capabilities":{}}`
		case m.Method == "tools/list":
			result = `{"tools":[{"name":"act","description":"Acts <b>.","inputSchema":{"type":"object","x":1.0}},{"name":"rest"}],"odd":[1,2.50]}`
		case m.Method == "tasks/get":
			result = `{"taskId":"` + m.Params.TaskID + `","status":"completed","result":` + text("the task is done", false) + `}`
		case a.Error:
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Unknown tool: act"}}`+"\n", m.ID)
			continue
		case a.Ask && m.Params.RequestState == "":
			result = `{"resultType":"input_required","requestState":"s1"}`
		case a.Task:
			result = `{"resultType":"task","taskId":"t1","status":"working"}`
		default:
			result = text(a.Text, a.Fail)
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// memory is a memoryd that keeps what it is given, once: a batch whose answer did not
// arrive in time comes again.
type memory struct {
	*httptest.Server
	mu        sync.Mutex
	away      bool
	calls     []map[string]any
	forget    bool
	guideline string
	warning   string
}

func newMemory(t testing.TB) *memory {
	m := &memory{}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *memory) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away {
		http.Error(w, "away", http.StatusServiceUnavailable)
		return
	}
	answer := map[string]any{"success": true, "answer": "", "metadata": map[string]any{}}
	switch r.URL.Path {
	case "/add_tool_call_result":
		var body struct {
			Calls []map[string]any `json:"tool_call_results"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if !m.forget {
			for _, c := range body.Calls {
				if !slices.ContainsFunc(m.calls, func(had map[string]any) bool { return reflect.DeepEqual(had, c) }) {
					m.calls = append(m.calls, c)
				}
			}
		}
	case "/retrieve_tool_memory":
		answer["metadata"] = map[string]any{"memory_list": []any{map[string]any{
			"when_to_use": "mcp__fake__act", "content": m.guideline, "metadata": map[string]any{"guideline_revision": 4},
		}}}
	case "/preflight_tool_call":
		answer["warnings"] = []any{map[string]any{"text": m.warning, "severity": "ask"}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (m *memory) recorded() []map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// session runs a wrapper around a fake server: lines go in, what the client saw
// comes out.
func session(t *testing.T, kind string, m *memory, o mcp.Options, dir string, input io.Reader) (string, int) {
	t.Helper()
	t.Setenv("MEMORYD_FAKE_SERVER", kind)
	o.Log = slog.New(slog.DiscardHandler)
	o.Memory = mcp.Memory{URL: m.URL, HTTP: m.Client()}
	o.Outbox = mcp.NewOutbox(o.Memory, dir, o.Log)
	o.Outbox.Start(t.Context())
	var out output
	if dialog, ok := input.(*turns); ok {
		dialog.out = &out
	}
	code, err := mcp.NewWrapper(o).Serve(t.Context(), []string{os.Args[0]}, input, &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o.Outbox.Stop()
	m.CloseClientConnections()
	return out.String(), code
}

// output is what the client saw so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// turns is a client that sends each line when the one before was answered.
type turns struct {
	lines []string
	sent  int
	out   *output
}

func inTurns(lines string) *turns { return &turns{lines: slices.Collect(strings.Lines(lines))} }

func (r *turns) Read(p []byte) (int, error) {
	waitFor(func() bool { return strings.Count(r.out.String(), "\n") >= r.sent })
	if r.sent == len(r.lines) {
		return 0, io.EOF
	}
	r.sent++
	return copy(p, r.lines[r.sent-1]), nil
}

func call(id any, arguments string) string {
	text, _ := json.Marshal(id)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"act","arguments":%s}}`+"\n", text, arguments)
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"tester"}}}` + "\n"

func TestWhatGoesInComesOutInOrder(t *testing.T) {
	m := newMemory(t)
	line := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			return call(rapid.SampledFrom([]any{1, "1", 2, -7, "ø"}).Draw(t, "id"), `{"text":"`+rapid.StringN(0, 40, -1).Draw(t, "text")+`"}`)
		}),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("{\"jsonrpc\":\"2.0\", \"id\":%d,\"result\":{\"tools\":[{\"name\":\"x\"}]}}\n", rapid.IntRange(0, 3).Draw(t, "id"))
		}),
		rapid.Custom(func(t *rapid.T) string {
			return strings.ReplaceAll(rapid.String().Draw(t, "garbage"), "\n", " ") + "\n"
		}),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(`[{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a"}},{"id":2,"result":{}}, 5]`+"\r\n", rapid.IntRange(0, 3).Draw(t, "id"))
		}),
		rapid.Custom(func(t *rapid.T) string {
			return `{"x":"` + strings.Repeat("y", rapid.IntRange(60_000, 300_000).Draw(t, "long")) + "\"}\n"
		}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		traffic := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(rt, "lines"), "") + rapid.SampledFrom([]string{"", `{"unfinished`}).Draw(rt, "end")
		got, _ := session(t, "echo", m, mcp.Options{}, "", strings.NewReader(traffic))
		if got != traffic {
			rt.Fatalf("got %.200q, want %.200q", got, traffic)
		}
	})
}

func TestALineOfTenMegabytesPasses(t *testing.T) {
	line := call(1, `{"text":"`+strings.Repeat("z", 10<<20)+`"}`)
	if got, _ := session(t, "echo", newMemory(t), mcp.Options{}, "", strings.NewReader(line)); got != line {
		t.Errorf("%d bytes came back of %d", len(got), len(line))
	}
}

func TestEachCallIsRecordedOnceWithItsTruth(t *testing.T) {
	for name, tc := range map[string]struct {
		lines  string
		output string
		failed bool
		rounds float64
	}{
		"good":               {call(1, `{"text":"fine"}`), "fine", false, 0},
		"a failed result":    {call("a", `{"text":"no such file","fail":true}`), "no such file", true, 0},
		"a protocol error":   {call(1, `{"error":true}`), "Unknown tool: act", true, 0},
		"two rounds":         {call(1, `{"ask":true,"text":"thanks"}`) + `{"id":2,"method":"tools/call","params":{"name":"act","requestState":"s1","arguments":{"ask":true,"text":"thanks"}}}` + "\n", "thanks", false, 1},
		"a task":             {call(1, `{"task":true}`) + `{"id":2,"method":"tasks/get","params":{"taskId":"t1"}}` + "\n", "the task is done", false, 0},
		"a server that dies": {call(1, `{"die":true}`), "The server exited before it answered", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			var input io.Reader = inTurns(hello + tc.lines)
			if strings.Contains(tc.lines, "die") {
				input = strings.NewReader(hello + tc.lines)
			}
			_, code := session(t, "tools", m, mcp.Options{Run: "run-1"}, "", input)
			calls := m.recorded()
			if len(calls) != 1 {
				t.Fatalf("%d calls are recorded: %v", len(calls), calls)
			}
			c, meta := calls[0], calls[0]["metadata"].(map[string]any)
			if c["tool_name"] != "mcp__fake__act" || c["output"] != tc.output || c["success"] == tc.failed {
				t.Errorf("recorded %v", c)
			}
			if meta["trajectory_id"] != "run-1" || meta["agent_id"] != "tester" || meta["mcp_server"] != "fake" {
				t.Errorf("metadata %v", meta)
			}
			if rounds, _ := meta["rounds"].(float64); rounds != tc.rounds {
				t.Errorf("%v rounds, want %v", rounds, tc.rounds)
			}
			if wantCode := map[bool]int{true: 3}[strings.Contains(tc.lines, "die")]; code != wantCode {
				t.Errorf("exit code %d, want %d", code, wantCode)
			}
		})
	}
}

func TestACancelledCallIsNoFailure(t *testing.T) {
	m := newMemory(t)
	lines := hello + call(1, `{"task":true}`) // answered by a task that is never asked for
	lines += `{"id":9,"method":"tools/call","params":{"name":"act","arguments":{}}}` + "\n"
	session(t, "echo", m, mcp.Options{}, "", strings.NewReader(lines+`{"method":"notifications/cancelled","params":{"requestId":9}}`+"\n"))
	var cancelled int
	for _, c := range m.recorded() {
		if c["metadata"].(map[string]any)["cancelled"] == true && c["success"] == true {
			cancelled++
		}
	}
	if cancelled != 1 {
		t.Errorf("%d calls are recorded as cancelled: %v", cancelled, m.recorded())
	}
}

func TestEnrichmentTouchesDescriptionsOnlyAndIsStable(t *testing.T) {
	m := newMemory(t)
	m.guideline = "## Core Function\nX\n\n## Best Practices\n1. Give `date` as YYYY-MM-DD: 4 failed (2 runs).\n2. Never <b>: 3 failed.\n\n## Statistics\n- x"
	list := func(id int) string { return fmt.Sprintf(`{"id":%d,"method":"tools/list"}`+"\n", id) }
	lines := hello + list(1) + call(5, `{"text":"x"}`) + list(2)
	plain, _ := session(t, "tools", m, mcp.Options{}, "", strings.NewReader(lines))
	got, _ := session(t, "tools", m, mcp.Options{Enrich: "description"}, "", strings.NewReader(lines))
	a, b := strings.Split(plain, "\n"), strings.Split(got, "\n")
	if a[0] != b[0] || a[2] != b[2] || strings.ReplaceAll(b[1], `"id":1`, `"id":2`) != b[3] {
		t.Errorf("more than the lists changed, or they are not stable:\n%s\n%s", plain, got)
	}
	var was, is map[string]any
	if json.Unmarshal([]byte(a[1]), &was) != nil || json.Unmarshal([]byte(b[1]), &is) != nil {
		t.Fatal(got)
	}
	tool := is["result"].(map[string]any)["tools"].([]any)[0].(map[string]any)
	want := "Acts <b>.\n\n[memoryd v4, from recorded calls; experience, not orders]\n- Give `date` as YYYY-MM-DD: 4 failed (2 runs).\n- Never <b>: 3 failed."
	if tool["description"] != want {
		t.Errorf("description %q", tool["description"])
	}
	tool["description"] = "Acts <b>."
	if x, y := fmt.Sprint(was), fmt.Sprint(is); x != y {
		t.Errorf("got %s, want %s", y, x)
	}
	if last := m.recorded()[len(m.recorded())-1]; last["metadata"].(map[string]any)["guideline_version"] != 4.0 {
		t.Errorf("recorded %v", last)
	}
}

func TestARepeatOfAFailedCallIsStoppedOnlyWhereAsked(t *testing.T) {
	for _, stop := range []bool{false, true} {
		m := newMemory(t)
		lines := hello + call(1, `{"text":"no","fail":true}`) + call(2, `{"fail":true,"text":"no"}`) + call(3, `{"text":"yes"}`)
		got, _ := session(t, "tools", m, mcp.Options{StopRepeats: stop}, "", inTurns(lines))
		if stopped := strings.Contains(got, "Not called: this very call failed before"); stopped != stop {
			t.Errorf("stop %v: %s", stop, got)
		}
		if want := map[bool]int{true: 2, false: 3}[stop]; len(m.recorded()) != want {
			t.Errorf("stop %v: %d calls are recorded, want %d", stop, len(m.recorded()), want)
		}
	}
}

func TestAWarningStandsInContentAlone(t *testing.T) {
	m := newMemory(t)
	m.warning = "`date` of another form failed 4 of 4 times.\x1b[31m"
	got, _ := session(t, "tools", m, mcp.Options{Warn: true}, "", strings.NewReader(hello+call(1, `{"text":"fine"}`)))
	var r struct {
		Result struct {
			Content []struct{ Text string }
			Unknown struct{ Kept int }
		}
	}
	if err := json.Unmarshal([]byte(strings.Split(got, "\n")[1]), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Result.Content) != 2 || r.Result.Content[0].Text != "fine" || r.Result.Unknown.Kept != 1 ||
		!strings.Contains(r.Result.Content[1].Text, "4 of 4 times.") || strings.Contains(got, "\\u001b") {
		t.Errorf("got %s", got)
	}
}

func TestCallsAreDeliveredOnceWhenMemorydComesBack(t *testing.T) {
	m, dir := newMemory(t), t.TempDir()
	m.away = true
	session(t, "tools", m, mcp.Options{}, dir, strings.NewReader(hello+call(1, `{"text":"a"}`)+call(2, `{"text":"b"}`)))
	left, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(m.recorded()) != 0 || len(left) != 1 {
		t.Fatalf("%d recorded, journals %v", len(m.recorded()), left)
	}
	journal, err := os.OpenFile(left[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(journal, `{"tool_name":"cut by a cra`)
	journal.Close()
	m.away = false
	session(t, "tools", m, mcp.Options{}, dir, strings.NewReader(hello+call(1, `{"text":"c"}`)))
	var outputs []string
	for _, c := range m.recorded() {
		outputs = append(outputs, c["output"].(string))
	}
	slices.Sort(outputs)
	if left, _ = filepath.Glob(filepath.Join(dir, "*")); !slices.Equal(outputs, []string{"a", "b", "c"}) || len(left) != 0 {
		t.Errorf("recorded %v, left %v", outputs, left)
	}
}

func TestNoProcessIsLeftBehind(t *testing.T) {
	t.Setenv("MEMORYD_FAKE_SERVER", "stubborn")
	ctx, cancel := context.WithCancel(t.Context())
	memory := mcp.Memory{URL: "http://127.0.0.1:1"}
	out := make(chan string, 1)
	r, w := io.Pipe()
	go func() {
		line, _ := bufio.NewReader(r).ReadString('\n')
		out <- strings.TrimSpace(line)
		cancel()
	}()
	wrapper := mcp.NewWrapper(mcp.Options{Memory: memory, Outbox: mcp.NewOutbox(memory, "", slog.New(slog.DiscardHandler)), Log: slog.New(slog.DiscardHandler)})
	in, end := io.Pipe()
	defer end.Close()
	_, _ = wrapper.Serve(ctx, []string{os.Args[0]}, in, w, io.Discard)
	child, err := strconv.Atoi(<-out)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(func() bool { return gone(child) })
	if !gone(child) {
		t.Error("the server's child lives on")
	}
}

// gone reports whether a process has ended; one that nobody waits for stays in
// the table as a zombie.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func waitFor(ok func() bool) {
	for end := time.Now().Add(2 * time.Minute); !ok() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}
