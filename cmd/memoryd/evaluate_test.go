package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memoryd/test/llmtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// evaluated runs the command and gives its exit code and what it wrote.
func evaluated(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), append([]string{"evaluate"}, args...), streams{in: strings.NewReader(""), out: &stdout, err: &stderr})
	return code, stdout.String(), stderr.String()
}

// mustEvaluate is evaluated for a run that has to succeed.
func mustEvaluate(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := evaluated(t, args...)
	if code != exitDone || errs != "" {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	return out
}

// sources are the excerpts: one plain, one gzipped here.
func sources(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "evaluate", "mixed.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return []string{filepath.Join("testdata", "evaluate", "airline.jsonl"), file(t, "mixed.jsonl.gz", packed.String())}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// unplaced takes the folder of a test out of what is printed.
func unplaced(s string) string {
	return regexp.MustCompile(`/[^ "]*/mixed`).ReplaceAllString(s, "mixed")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "evaluate", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; with -update it is written anew\n%s", name, got)
	}
}

func TestEvaluateMeasuresTheRules(t *testing.T) {
	args := append([]string{"--judge", "rules"}, sources(t)...)
	golden(t, "rules.txt.golden", unplaced(mustEvaluate(t, args...)))
	doc := mustEvaluate(t, append(args, "--json")...)
	if !json.Valid([]byte(doc)) {
		t.Error("not one JSON document")
	}
	golden(t, "rules.json.golden", unplaced(doc))
}

func reportOf(t *testing.T, doc string) (report map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(doc), &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// TestEvaluateAsksTheModel measures a model that judges by the output.
func TestEvaluateAsksTheModel(t *testing.T) {
	for _, judge := range []string{"llm", "cascade"} {
		server := llmtest.New(verdictByOutput)
		config := file(t, "config.yaml", "op: {parse_tool_call_result_op: {params: {evaluation_sleep_interval: 0}}}\n")
		t.Setenv("OPENAI_BASE_URL", server.Start(t)+"/v1")
		got := reportOf(t, mustEvaluate(t, append([]string{"--judge", judge, "--config", config, "--json"}, sources(t)...)...))
		confusion := got["confusion"].(map[string]any)
		if server.Counts().Requests == 0 || confusion["error"].([]any)[0].(float64) < 3 {
			t.Errorf("%s: %d requests, %v", judge, server.Counts().Requests, confusion)
		}
	}
}

// verdictByOutput is a model whose verdict depends on the call alone, in the
// form that the request asks for.
func verdictByOutput(r llmtest.Request) llmtest.Reply {
	type verdict struct {
		ID         string   `json:"id,omitempty"`
		Evaluation string   `json:"evaluation"`
		Failed     []string `json:"failed_checks"`
		Score      float64  `json:"score"`
		Summary    string   `json:"summary"`
	}
	type call struct{ ID, Output string }
	var data struct {
		Call  call
		Calls []call
	}
	if err := json.Unmarshal([]byte(strings.Split(r.User, "\n")[1]), &data); err != nil {
		return llmtest.Answer("I cannot read this.")
	}
	judge := func(c call) verdict {
		v := verdict{ID: c.ID, Evaluation: "e", Failed: []string{}, Score: 1, Summary: "s"}
		switch {
		case strings.Contains(c.Output, "Error"), strings.Contains(c.Output, "No such file"):
			v.Score = 0
		case strings.Contains(c.Output, "too difficult"):
			v.Score = 0.5
		}
		return v
	}
	if len(data.Calls) == 0 {
		return llmtest.JSON(judge(data.Call))
	}
	var all struct {
		Verdicts []verdict `json:"verdicts"`
	}
	for _, c := range data.Calls {
		all.Verdicts = append(all.Verdicts, judge(c))
	}
	return llmtest.JSON(all)
}

func TestEvaluateSaysWhatIsWrong(t *testing.T) {
	airline, broken := sources(t)[0], file(t, "broken.jsonl", `{"tool_name":"t","output":"fine","metadata":{"gold":"ok"}}`+"\n"+`{"tool_name":`+"\n")
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "")
	for name, tc := range map[string]struct {
		args []string
		code int
		errs string
	}{
		"no file":                   {nil, exitUsage, "file"},
		"an unknown judge":          {[]string{"--judge", "coin", airline}, exitUsage, "judge"},
		"a file that is not there":  {[]string{airline + "x"}, exitFailed, "no such file"},
		"an unreadable line":        {[]string{"--judge", "rules", broken}, exitFailed, "broken.jsonl:2: not read: JSON decode error"},
		"a model that is not there": {[]string{"--judge", "llm", airline}, exitFailed, "needs a model"},
		"a bad configuration":       {[]string{"--config", broken, airline}, exitFailed, "broken.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := evaluated(t, tc.args...)
			if code != tc.code || !strings.Contains(errs, tc.errs) {
				t.Errorf("exit code %d, want %d; %q, want it to name %q", code, tc.code, errs, tc.errs)
			}
		})
	}
}

func TestEvaluateStillReportsBesideAnUnreadableLine(t *testing.T) {
	broken := file(t, "broken.jsonl", `{"tool_name":`+"\n"+`{"tool_name":"t","output":"fine","metadata":{"gold":"ok"}}`)
	code, out, _ := evaluated(t, "--judge", "rules", "--json", broken)
	if all := reportOf(t, out); code != exitFailed || all["unreadable_lines"] != 1.0 || all["labelled"] != 1.0 {
		t.Errorf("exit code %d: %v", code, all)
	}
}
