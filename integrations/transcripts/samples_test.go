package transcripts_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memoryd/integrations/transcripts"
	"memoryd/internal/accounts"
)

// samples are the files of testdata that hold calls, by their path below it.
func samples(t testing.TB) (paths []string) {
	t.Helper()
	err := filepath.WalkDir("testdata", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Count(filepath.ToSlash(p), "/") == 2 && strings.Contains("|.json|.jsonl|.traj|.eval|", "|"+filepath.Ext(p)+"|") {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil || len(paths) < 25 {
		t.Fatalf("%d samples, %v", len(paths), err)
	}
	return paths
}

func read(t testing.TB, path string) (calls []accounts.Call, s transcripts.Stats) {
	t.Helper()
	s, err := transcripts.ReadFile(t.Context(), path, transcripts.Options{Call: func(c accounts.Call) { calls = append(calls, c) }})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return calls, s
}

// failedOf counts the calls that failed.
func failedOf(calls []accounts.Call) (n int) {
	for _, c := range calls {
		if c.Outcome == accounts.Failed {
			n++
		}
	}
	return n
}

// What an outside script counts in the samples, the readers find: calls, failures,
// calls without a result, and those that somebody stopped.
func TestReadersAgreeWithAnOutsideScript(t *testing.T) {
	t.Parallel()
	counted, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	if python, err := exec.LookPath("python3"); err == nil {
		out, err := exec.CommandContext(t.Context(), python, "testdata/count.py", "testdata").Output()
		if err != nil {
			said := ""
			if failed, ok := errors.AsType[*exec.ExitError](err); ok {
				said = string(failed.Stderr)
			}
			t.Fatalf("count.py: %v\n%s", err, said)
		}
		if string(out) != string(counted) {
			t.Errorf("counts.json is not what count.py counts:\n%s", out)
		}
	} else {
		t.Log("no python3: the counts that it made before are compared")
	}
	want, got := map[string][4]int{}, map[string][4]int{}
	if err := json.Unmarshal(counted, &want); err != nil {
		t.Fatal(err)
	}
	for _, path := range samples(t) {
		calls, s := read(t, path)
		if len(calls) != s.Calls {
			t.Errorf("%s: %d calls given, %d counted", path, len(calls), s.Calls)
		}
		name, _ := filepath.Rel("testdata", path)
		got[filepath.ToSlash(name)] = [4]int{s.Calls, failedOf(calls), s.Unfinished, s.Cancelled}
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: calls, failed, unfinished, cancelled are %v, the script says %v", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files read, %d counted", len(got), len(want))
	}
}

// The format of each sample is found out, and each is read the same when it is named.
func TestFormatsAreFoundOut(t *testing.T) {
	t.Parallel()
	folders := map[string]string{
		"codex-0.169.jsonl": "codex", "gemini-0.61.jsonl": "gemini", "langsmith.json": "langsmith", "phoenix.jsonl": "phoenix", "otlp.jsonl": "otlp",
		"responses.jsonl": "openai-responses", "anthropic.jsonl": "anthropic", "openai-chat.jsonl": "openai-chat", "tau2.json": "tau-bench",
		"mini-v2.traj.json": "mini-swe-agent", "openhands-v1.jsonl": "openhands", "claude-fork.jsonl": "claude-code",
	}
	for _, path := range samples(t) {
		want := filepath.Base(filepath.Dir(path))
		if want == "written" {
			want = folders[filepath.Base(path)]
		}
		calls, s := read(t, path)
		if s.Format != want {
			t.Errorf("%s: read as %s", path, s.Format)
		}
		var again []accounts.Call
		if _, err := transcripts.ReadFile(t.Context(), path, transcripts.Options{Format: want, Call: func(c accounts.Call) { again = append(again, c) }}); err != nil || !reflect.DeepEqual(again, calls) {
			t.Errorf("%s: named %s it is read otherwise (%v)", path, want, err)
		}
	}
}

// Every call of the samples can be recorded: valid JSON, no wrapper of a host left in
// the output, an identity of its own.
func TestCallsOfTheSamplesCanBeRecorded(t *testing.T) {
	t.Parallel()
	for _, path := range samples(t) {
		calls, _ := read(t, path)
		refs := map[string]bool{}
		for _, c := range calls {
			r := c.Record()
			if !json.Valid(r.Input) || !json.Valid(r.Metadata) || r.Tool == "" || r.TimeCost < 0 {
				t.Errorf("%s: %+v", path, r)
			}
			if c.Ref() == "" && c.Source != "otlp:gemini" || refs[c.Ref()] { // Gemini's log records have no id
				t.Errorf("%s: two calls are %q", path, c.Ref())
			}
			refs[c.Ref()] = true
			for _, wrapper := range []string{"<returncode>", "<untrusted_context>", "<tool_use_error>", "Process exited with code", "[The command completed"} {
				if strings.Contains(r.Output, wrapper) {
					t.Errorf("%s: %s is left in %q", path, wrapper, r.Output)
				}
			}
		}
	}
}

func TestUnknownShapesSayWhatWasExpectedAndFound(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"weather":"fine","wind":3}`:      "found an object with weather, wind",
		"plain text\n":                     "found no JSON",
		`{"a":`:                            "found",
		`[1,2,3]`:                          "found no object that can be read",
		`{"weather":1}` + "\n{\"wind\":2}": "an object with weather",
	} {
		_, err := transcripts.Read(t.Context(), "f.json", strings.NewReader(doc), transcripts.Options{Call: func(accounts.Call) {}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
	_, err := transcripts.Read(t.Context(), "f", strings.NewReader(`{"weather":1}`), transcripts.Options{Format: "codex", Call: func(accounts.Call) {}})
	if err == nil || !strings.Contains(err.Error(), "expected codex (lines with type and payload") {
		t.Errorf("a named format: %v", err)
	}
	if _, err := transcripts.Read(t.Context(), "f", strings.NewReader(`{}`), transcripts.Options{Format: "codec", Call: func(accounts.Call) {}}); err == nil {
		t.Error("an unknown format is none")
	}
	if s, err := transcripts.Read(context.Background(), "f", strings.NewReader(" \n"), transcripts.Options{Call: func(accounts.Call) {}}); err != nil || s != (transcripts.Stats{}) {
		t.Errorf("an empty file: %v", err)
	}
}

func TestThePageNamesEachFormat(t *testing.T) {
	page, err := os.ReadFile("../../docs/ingest.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range transcripts.Formats() {
		if !strings.Contains(string(page), "`"+format.Name+"`") {
			t.Errorf("docs/ingest.md does not name %s", format.Name)
		}
	}
}
