package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
	"memoryd/test/llmtest"
)

func TestSIGTERMParksWhatIsBeingJudgedAndExitsWithZero(t *testing.T) {
	model := llmtest.New(llmtest.Always(llmtest.Hang()))
	env := []string{"OPENAI_BASE_URL=" + model.Start(t) + "/v1"}
	dir := t.TempDir()
	slow := configFile(t, "evaluate: {judge: llm, wait: 30s}\nop: {parse_tool_call_result_op: {params: {evaluation_sleep_interval: 0}}}\n")
	s := start(t, dir, env, "--config", slow)
	answered := make(chan daemon.Reply, 1)
	go func() {
		r, _ := s.Send("/add_tool_call_result", []byte(`{"tool_name":"t","tool_call_results":[{"output":"`+unclear(1)+`"}]}`))
		answered <- r
	}()
	for deadline := time.Now().Add(patience); model.Counts().Requests == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the model was never asked")
		}
		time.Sleep(5 * time.Millisecond) // polling another process
	}
	begin := time.Now()
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.Log())
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("stopping took %v", took)
	}
	if r := <-answered; r.Status != http.StatusOK || !bytes.Contains(r.Body, []byte(`"pending"`)) {
		t.Errorf("the request under way was answered %d: %s", r.Status, r.Body)
	}
	s = start(t, dir, nil) // without a model the rules take over what is pending
	m := s.Post("/retrieve_tool_memory", map[string]any{"tool_names": "t"}).Metadata.MemoryList[0]
	if len(m.Calls) != 1 {
		t.Errorf("%d calls are there, want 1", len(m.Calls))
	}
}

func TestASecondProcessOnTheSameFolderIsTurnedAway(t *testing.T) {
	dir := t.TempDir()
	start(t, dir, nil)
	code, _, stderr := memoryd(t, "", "serve", "--listen", "127.0.0.1:0", "--data", dir)
	if code != 1 || !strings.Contains(stderr, dir) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestBadInputOverHTTP(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	var bomb bytes.Buffer
	zw := gzip.NewWriter(&bomb)
	_, _ = zw.Write(make([]byte, 100<<20))
	_ = zw.Close()
	tests := map[string]struct {
		path   string
		body   string
		header []string
		status int
		want   string // in the body
	}{
		"100 MB":             {"/add_tool_call_result", `{"tool_call_results":[{"output":"` + strings.Repeat("x", 100<<20) + `"}]}`, nil, 413, "larger than"},
		"gzip bomb":          {"/add_tool_call_result", bomb.String(), []string{"Content-Encoding", "gzip"}, 413, "larger than"},
		"not gzip":           {"/add_tool_call_result", `{}`, []string{"Content-Encoding", "gzip"}, 422, "not gzip"},
		"unknown encoding":   {"/add_tool_call_result", `{}`, []string{"Content-Encoding", "br"}, 415, ""},
		"not JSON":           {"/summary_tool_memory", `{`, nil, 422, `"detail"`},
		"deep":               {"/add_tool_call_result", `{"tool_call_results":` + strings.Repeat("[", 20000), nil, 422, `"detail"`},
		"NaN":                {"/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"time_cost":NaN}]}`, nil, 422, "time_cost"},
		"invalid UTF-8":      {"/add_tool_call_result", "{\"tool_name\":\"\xff\",\"tool_call_results\":[]}", nil, 422, "UTF-8"},
		"missing field":      {"/retrieve_tool_memory", `{}`, nil, 422, `"tool_names"`},
		"no item":            {"/add_tool_call_result", `{"tool_call_results":[]}`, nil, 200, "No valid tool_call_results"},
		"negative cost":      {"/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"time_cost":-1}]}`, nil, 200, "All 1 tool_call_results were invalid and filtered out"},
		"and its reason":     {"/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"time_cost":-1}]}`, nil, 200, "time_cost: must be 0 to 1e9"},
		"10,000 names":       {"/retrieve_tool_memory", `{"tool_names":"` + strings.Repeat("n,", 10000) + `"}`, nil, 422, "at most 1000"},
		"blank names":        {"/retrieve_tool_memory", `{"tool_names":" , "}`, nil, 200, "tool_names is required"},
		"unknown names":      {"/summary_tool_memory", `{"tool_names":"x"}`, nil, 200, "No matching tool memories found"},
		"unknown path":       {"/nothing", `{}`, nil, 404, `"code"`},
		"body of wrong type": {"/add_tool_call_result", `[]`, nil, 422, "Input should be a valid dictionary or object to extract fields from"},
	}
	for name, tc := range tests {
		r, err := s.Send(tc.path, []byte(tc.body), tc.header...)
		if err != nil {
			t.Errorf("%s: no answer: %v", name, err)
			continue
		}
		if r.Status != tc.status || !bytes.Contains(r.Body, []byte(tc.want)) {
			t.Errorf("%s: got %d %.300s, want %d with %q", name, r.Status, r.Body, tc.status, tc.want)
		}
	}
	if r := s.Get("/v1/workspaces"); !bytes.Contains(r.Body, []byte(`[]`)) {
		t.Errorf("something was written: %s", r.Body)
	}
}

// TestAnImportNamesWhatItDoesNotUnderstand: lines with the field names of other
// programs became empty successes (defect U1).
func TestAnImportNamesWhatItDoesNotUnderstand(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	lines := `{"tool_name":"s","arguments":"{\"q\":1}","result":"Error: boom","is_error":"true","took":3,"host":"a"}
{"tool_name":"s","args":{"q":2},"tool_output":"found","time_cost":"1.5","took":4}`
	code, out, stderr := memoryd(t, lines, "import", "--url", s.URL, "-")
	if code != 0 || !strings.Contains(out, "2 added") || !strings.Contains(stderr, `dropped: "host" of 1 lines, "took" of 2 lines`) {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	calls := s.Post("/retrieve_tool_memory", map[string]any{"tool_names": "s"}).Metadata.MemoryList[0].Calls
	if string(calls[0].Input) != `{"q":1}` || calls[0].Output != "Error: boom" || calls[0].Score != 0 || string(calls[1].Input) != `{"q":2}` {
		t.Errorf("recorded %+v", calls)
	}
}

func TestTheCommandLineOnRecordedCalls(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	var lines []string
	for i := range 250 {
		lines = append(lines, fmt.Sprintf(`{"workspace_id":"w%d","tool_name":"t","input":{"n":%d},"output":"\u0000%d","create_time":"2025-01-01 00:00:%02d"}`, i/150, i, i, i%60))
	}
	lines = append(lines, `{"tool_name":`, `[1]`, `{"tool_name":"t","output":5}`, `{"output":"no name"}`, ``, `{"tool_name":"late","output":"no time"}`)
	file := filepath.Join(t.TempDir(), "calls.jsonl.gz")
	writeGzip(t, file, strings.Join(lines, "\n"))
	code, out, stderr := memoryd(t, "", "import", "--url", s.URL, file)
	if code != 1 || !strings.Contains(out, "251 added, 0 duplicate, 4 rejected") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, line := range []string{":251: rejected: not valid JSON", ":252: rejected: not a JSON object", ":253: rejected: output:", ":254: rejected: tool_name"} {
		if !strings.Contains(stderr, line) {
			t.Errorf("%q is missing in\n%s", line, stderr)
		}
	}
	if _, out, _ = memoryd(t, "", "import", "--url", s.URL, file); !strings.Contains(out, "0 added, 251 duplicate, 4 rejected") {
		t.Errorf("a second import: %s", out)
	}
	if code, out, _ = memoryd(t, lines[0]+"\n", "import", "--url", s.URL, "--workspace", "mine", "-"); code != 0 || !strings.Contains(out, "1 added") {
		t.Errorf("standard input: exit code %d: %s", code, out)
	}
	large := "\ufeff" + lines[0] + "\n" + `{"tool_name":"t","output":"` + strings.Repeat("x", 17<<20) + `"}` + "\n" + lines[1] + "\n"
	if code, out, _ = memoryd(t, large, "import", "--url", s.URL, "--workspace", "mine", "-"); code != 1 || !strings.Contains(out, "1 added, 1 duplicate, 1 rejected") {
		t.Errorf("a line that is too large among others: exit code %d: %s", code, out)
	}
	if code, out, stderr = memoryd(t, "", "summarize", "--all", "--url", s.URL); code != 0 || !strings.Contains(out, "4 summarised") {
		t.Errorf("summarize: exit code %d\n%s%s", code, out, stderr)
	}
	code, out, stderr = memoryd(t, "", "show", "t", "--url", s.URL)
	if code != 0 || strings.Count(out, "guideline 1 by rules") != 3 || strings.Contains(out, "\x00") {
		t.Errorf("show: exit code %d\n%s%s", code, out, stderr)
	}
}

func writeGzip(t *testing.T, path, text string) {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	_, _ = zw.Write([]byte(text))
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestExitCodes(t *testing.T) {
	bad := configFile(t, "http:\n  listne: x\n")
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"version":          {[]string{"version"}, 0, "memoryd "},
		"help":             {[]string{"--help"}, 0, "check-config"},
		"unknown command":  {[]string{"fly"}, 2, "fly"},
		"unknown flag":     {[]string{"serve", "--x"}, 2, "--x"},
		"missing argument": {[]string{"show"}, 2, "tool"},
		"bad config":       {[]string{"check-config", bad}, 1, "line 2: http.listne: unknown key; did you mean listen?"},
		"good config":      {[]string{"check-config", bigHistory(t)}, 0, "valid"},
		"no server":        {[]string{"show", "t", "--url", "http://127.0.0.1:1"}, 1, "no answer from"},
		"no health":        {[]string{"health", "--url", "http://127.0.0.1:1"}, 1, "no answer from"},
		"no file":          {[]string{"import", "nothing.jsonl"}, 1, "nothing.jsonl"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, out, stderr := memoryd(t, "", tc.args...)
			if code != tc.code || !strings.Contains(out+stderr, tc.want) {
				t.Errorf("exit code %d\n%s%s", code, out, stderr)
			}
		})
	}
}

func TestHealthAndDescription(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	if r := s.Get("/health"); strings.TrimSpace(string(r.Body)) != `{"status":"healthy"}` {
		t.Errorf("health: %s", r.Body)
	}
	if r := s.Get("/livez"); r.Status != 200 {
		t.Errorf("livez: %d", r.Status)
	}
	if r := s.Get("/readyz"); r.Status != 200 || !bytes.Contains(r.Body, []byte(`"store"`)) {
		t.Errorf("readyz: %d %s", r.Status, r.Body)
	}
	if code, out, stderr := memoryd(t, "", "health", "--url", s.URL); code != 0 || out != "ready\n" {
		t.Errorf("memoryd health: exit code %d, %s%s", code, out, stderr)
	}
	var spec struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}
	r := s.Get("/openapi.json")
	if err := json.Unmarshal(r.Body, &spec); err != nil || spec.OpenAPI != "3.1.0" || spec.Paths["/add_tool_call_result"]["post"] == nil {
		t.Errorf("openapi.json: %v, %s", err, spec.OpenAPI)
	}
	if r := s.Get("/docs"); bytes.Contains(r.Body, []byte("http://")) || bytes.Contains(r.Body, []byte("https://")) || !bytes.Contains(r.Body, []byte("/add_tool_call_result")) {
		t.Errorf("docs load from elsewhere or lack the endpoints")
	}
}
