package transcripts_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// Each program's own files give the calls in them, with their ends. Those of opencode
// (1.18.33), Pydantic AI (2.68.0), LangChain (core 1.7.2) and the AI SDK (6.0.326, model.json)
// were written by the programs; the others have the shapes that their readers document.
func TestSessionsOfHostsAreReadByTheirForms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		file           string
		calls, failed  int
		tool, in, said string // of the last call
	}{
		{"opencode/export.json", 3, 2, "bash", "ls /none; exit 3", "ls: cannot access '/none'"},
		{"opencode/opencode.db", 3, 2, "bash", "ls /none; exit 3", "ls: cannot access '/none'"},
		{"goose/session.jsonl", 2, 1, "developer__shell", "cat b.txt", "No such file"},
		{"goose/sessions.db", 2, 1, "developer__shell", "cat b.txt", "No such file"},
		{"copilot/events.jsonl", 2, 1, "view", "/p/b.txt", "Path does not exist"},
		{"pi/session.jsonl", 2, 1, "bash", "false", "exited with code 1"},
		{"cursor/stream.jsonl", 2, 1, "shell", "ls /none", "ls: cannot access '/none'"},
		{"cline/api_conversation_history.json", 2, 1, "execute_command", "cat b.txt", "No such file"},
		{"pydantic-ai/messages.json", 2, 1, "weather", "Nowhere", "unknown city Nowhere"},
		{"langchain/dict.json", 2, 1, "div", `"b"`, "division by zero"},
		{"langchain/dumpd.json", 2, 1, "div", `"b"`, "division by zero"},
		{"ai-sdk/model.json", 2, 1, "weather", "Nowhere", "unknown city Nowhere"},
		{"ai-sdk/ui.json", 2, 1, "weather", "Nowhere", "unknown city"},
		{"ai-sdk/ui4.json", 1, 0, "weather", "Berlin", "sunny"},
	} {
		t.Run(tc.file, func(t *testing.T) {
			t.Parallel()
			calls, s := read(t, filepath.Join("testdata", "hosts", filepath.FromSlash(tc.file)))
			if want := filepath.Dir(tc.file); s.Format != want || s.Calls != tc.calls || failedOf(calls) != tc.failed || s.Broken > 0 {
				t.Fatalf("%+v", s)
			}
			last := calls[len(calls)-1]
			if last.Tool != tc.tool || !strings.Contains(string(last.Input), tc.in) || !strings.Contains(last.Output, tc.said) || last.Conversation == "" {
				t.Errorf("%+v, input %s", last, last.Input)
			}
			refs := map[string]bool{}
			for _, c := range calls {
				refs[c.Ref()] = true
			}
			if len(refs) != tc.calls {
				t.Errorf("%d calls have the names %v", tc.calls, refs)
			}
		})
	}
	a, _ := read(t, filepath.Join("testdata", "hosts", "opencode", "export.json"))
	b, _ := read(t, filepath.Join("testdata", "hosts", "opencode", "opencode.db"))
	for i := range a {
		if a[i].Ref() != b[i].Ref() {
			t.Errorf("%s is %s in the database: the call would count twice", a[i].Ref(), b[i].Ref())
		}
	}
}
