package backup_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/mem"
)

func actions(s store.Store, dir string) *backup.Actions {
	return &backup.Actions{Store: s, Dir: dir, Kinds: kinds, RecentCalls: 20, Now: func() time.Time { return base }}
}

func TestADumpIsLoadedWithoutLoss(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	source := makeStore(t)
	want := export(t, source, "a")
	n, err := actions(source, dir).Dump(t.Context(), "a", "./")
	must(t, err)
	if n != 2 {
		t.Errorf("dumped %d tools, want 2", n)
	}
	s := mem.New()
	for range 2 { // loading again changes nothing
		n, err = actions(s, dir).Load(t.Context(), "a", "")
		must(t, err)
		if n != 2 {
			t.Errorf("loaded %d tools, want 2", n)
		}
		must(t, s.PutRecords(t.Context(), []store.Record{ // a dump holds tools only
			{RecordKey: store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "a"}, Kind: "note", ID: "w"}, Data: []byte("ws")},
		}))
		same(t, "load", export(t, s, "a"), want)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind %q, %v", left, err)
	}
	info, err := os.Stat(filepath.Join(dir, "a.jsonl"))
	must(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestADumpIsReadableByOthers(t *testing.T) {
	dir := t.TempDir()
	_, err := actions(makeStore(t), dir).Dump(t.Context(), "a", "sub/other.jsonl")
	must(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "sub", "other.jsonl"))
	must(t, err)
	var m struct {
		WorkspaceID string `json:"workspace_id"`
		MemoryID    string `json:"memory_id"`
		MemoryType  string `json:"memory_type"`
		WhenToUse   string `json:"when_to_use"`
		Content     string
		Score       float64
		Author      string
		Calls       []struct {
			ToolName     string         `json:"tool_name"`
			Input        any            `json:"input"`
			Metadata     map[string]any `json:"metadata"`
			Score        float64        `json:"score"`
			CallHash     string         `json:"call_hash"`
			IsSummarized bool           `json:"is_summarized"`
		} `json:"tool_call_results"`
		Metadata struct {
			Statistics struct {
				TotalCalls    int `json:"total_calls"`
				LifetimeCalls int `json:"lifetime_calls"`
			}
		}
	}
	must(t, json.Unmarshal(linesBytes(b)[0], &m))
	ref := memoryd.ToolRef{Workspace: "a", Tool: "fetch"}
	if m.WorkspaceID != "a" || m.MemoryID != ref.MemoryID() || m.MemoryType != "tool" || m.WhenToUse != "fetch" ||
		m.Content != "Use it.\n�" || m.Author != "rules" || m.Score != 0.5 || len(m.Calls) != 3 ||
		m.Metadata.Statistics.TotalCalls != 3 || m.Metadata.Statistics.LifetimeCalls != 40 {
		t.Errorf("got %+v", m)
	}
	c := m.Calls[0]
	if in, _ := c.Input.(map[string]any); in["n"] != 38.0 || in["q"] != "éé" || c.ToolName != "fetch" || !c.IsSummarized || m.Calls[2].IsSummarized {
		t.Errorf("got %+v", c)
	}
	if c.Metadata["evaluation_state"] != "judged" || c.Metadata["judged_by"] != "person:eve" || c.Metadata["tool_call_id"] != "c38" {
		t.Errorf("got metadata %v", c.Metadata)
	}
	if m.Calls[2].Input != "" || m.Calls[2].Metadata["evaluation_state"] != "pending" {
		t.Errorf("got %+v", m.Calls[2])
	}
}

func linesBytes(b []byte) [][]byte {
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

func TestPathsNeverLeaveTheDumpFolder(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "dumps")
	must(t, os.MkdirAll(filepath.Join(dir, "in"), 0o700))
	must(t, os.WriteFile(filepath.Join(parent, "secret.jsonl"), []byte("secret\n"), 0o600))
	must(t, os.Symlink(parent, filepath.Join(dir, "out")))
	must(t, os.Symlink("../secret.jsonl", filepath.Join(dir, "link.jsonl")))
	must(t, os.Symlink("/etc", filepath.Join(dir, "etc")))
	must(t, os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700))
	a := actions(makeStore(t), dir)
	for _, path := range []string{
		"..", "../", "../x", "../../x", "a/../../x", "in/..", "in/../..", "./../x", "..\\x", "in\\..\\..\\x", "/", "/x", "//x", "/etc/passwd",
		"\\x", "\\\\host\\share", "C:", "C:\\x", "C:x", "c:/x", "x\x00", "\x00", "x\x00.jsonl", "in/\x00/x", "CON", "con.jsonl", "in/nul", "aux.txt",
		"com1", "LPT9.jsonl", "COM¹", ".hidden", "in/.hidden.jsonl", ".jsonl", "...", ". .", "in/ ./x", "x ", "x.", "in./x", "a<b", "a|b", "a?b", "a*b",
		"a\nb", "a:b", "x:stream", "\xff", "in/\xc0\xae\xc0\xae/x", strings.Repeat("x", 256), strings.Repeat("x/", 600), "~/x:", "file:///x",
		"out", "out/x", "out/secret.jsonl", "etc", "etc/passwd.jsonl", "link.jsonl", "folder.jsonl", "../dumps/in", "in/../../dumps/in",
	} {
		if _, err := a.Dump(t.Context(), "a", path); !memoryd.IsKind(err, memoryd.Invalid) {
			t.Errorf("dump to %q: got %v", path, err)
		} else if _, msg := memoryd.KindOf(err); strings.Contains(msg, parent) {
			t.Errorf("dump to %q shows where the folder is", path)
		}
		if _, err := a.Load(t.Context(), "a", path); !memoryd.IsKind(err, memoryd.Invalid) && !memoryd.IsKind(err, memoryd.NotFound) {
			t.Errorf("load from %q: got %v", path, err)
		}
	}
	got, err := os.ReadFile(filepath.Join(parent, "secret.jsonl"))
	must(t, err)
	entries, err := os.ReadDir(parent)
	must(t, err)
	if string(got) != "secret\n" || len(entries) != 2 {
		t.Errorf("something outside changed: %q, %v", got, entries)
	}
	for path, file := range map[string]string{
		"": "a.jsonl", ".": "a.jsonl", "./": "a.jsonl", "in": "in/a.jsonl", "in/": "in/a.jsonl", "./in//": "in/a.jsonl", "new/deep": "new/deep/a.jsonl",
		"other.jsonl": "other.jsonl", "in/b c.jsonl": "in/b c.jsonl", "übung": "übung/a.jsonl",
	} {
		_, err := a.Dump(t.Context(), "a", path)
		must(t, err)
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file))); err != nil || !info.Mode().IsRegular() {
			t.Errorf("dump to %q: %v", path, err)
		}
		_, err = actions(mem.New(), dir).Load(t.Context(), "a", path)
		must(t, err)
	}
}

func TestWorkspacesHaveSafeNamesOfTheirOwn(t *testing.T) {
	long := strings.Repeat("é", 500)
	names := map[string]string{
		"demo": "demo.jsonl", "Demo_1-x.y": "Demo_1-x.y.jsonl", "../x": "%2E.%2Fx.jsonl", "..": "%2E%2E.jsonl", ".": "%2E.jsonl", "a/b": "a%2Fb.jsonl",
		"a%2Fb": "a%252Fb.jsonl", "a\\b": "a%5Cb.jsonl", "C:": "C%3A.jsonl", "a\x00b": "a%00b.jsonl", "con": "%63on.jsonl", "NUL.x": "%4EUL.x.jsonl",
		"x.": "x%2E.jsonl", "x ": "x%20.jsonl", " x": "%20x.jsonl", "a b": "a b.jsonl", "übung": "übung.jsonl", "a~b": "a%7Eb.jsonl", "x.jsonl": "x.jsonl.jsonl",
		"�": "%EF%BF%BD.jsonl", long: backup.FileName(long), long + "x": backup.FileName(long + "x"),
	}
	seen := map[string]bool{}
	for workspace, want := range names {
		got := backup.FileName(workspace)
		if got != want || len(got) > 200 || seen[got] || strings.ContainsAny(got, "/\\:\x00") {
			t.Errorf("%q: got %q, want %q", workspace, got, want)
		}
		seen[got] = true
	}
	s, dir := makeStore(t), t.TempDir()
	_, err := actions(s, dir).Dump(t.Context(), "β/..", "")
	must(t, err)
	if _, err := os.Stat(filepath.Join(dir, "β%2F.%2E.jsonl")); err != nil {
		t.Error(err)
	}
}

func TestADumpThatFailsLeavesTheOlderOne(t *testing.T) {
	dir, inner := t.TempDir(), makeStore(t)
	_, err := actions(inner, dir).Dump(t.Context(), "a", "")
	must(t, err)
	want, err := os.ReadFile(filepath.Join(dir, "a.jsonl"))
	must(t, err)
	for n := 0; ; n++ {
		s, struck := failing(inner, n)
		_, err := actions(s, dir).Dump(t.Context(), "a", "")
		if !*struck {
			must(t, err)
			break
		}
		if !errors.Is(err, errCause) {
			t.Fatalf("fault %d: got %v", n, err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "a.jsonl"))
		must(t, err)
		same(t, "the older dump", got, want)
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Fatalf("fault %d: left %v, %v", n, entries, err)
		}
	}
	if _, err := actions(inner, dir).Dump(t.Context(), "none", ""); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("an empty workspace: %v", err)
	}
}

func TestNothingIsLoadedFromADamagedDump(t *testing.T) {
	dir := t.TempDir()
	_, err := actions(makeStore(t), dir).Dump(t.Context(), "a", "")
	must(t, err)
	good, err := os.ReadFile(filepath.Join(dir, "a.jsonl"))
	must(t, err)
	lines := linesBytes(good)
	join := func(l ...[]byte) []byte { return bytes.Join(l, []byte("\n")) }
	swap := func(old, now string) []byte {
		if !bytes.Contains(lines[1], []byte(old)) {
			t.Fatalf("no %q in the second line", old)
		}
		return join(lines[0], bytes.Replace(lines[1], []byte(old), []byte(now), 1))
	}
	for name, file := range map[string][]byte{
		"cut":           good[:len(good)-10],
		"twice":         join(lines[0], lines[0]),
		"no JSON":       join(lines[0], []byte("<xml>")),
		"array":         join(lines[0], []byte("[]")),
		"other name":    swap(`"when_to_use":"sh,ell "`, `"when_to_use":"other"`),
		"newer":         swap(`"memoryd":{"version":1`, `"memoryd":{"version":2`),
		"unknown field": swap(`"memoryd":{"version":1`, `"memoryd":{"odd":1,"version":1`),
		"seq":           swap(`"seq":39`, `"seq":3`),
		"counters":      swap(`"lifetime":40`, `"lifetime":1`),
		"task memory":   join(lines[0], []byte(`{"memory_type":"task","when_to_use":"x"}`)),
	} {
		must(t, os.WriteFile(filepath.Join(dir, "bad.jsonl"), file, 0o600))
		s := mem.New()
		n, err := actions(s, dir).Load(t.Context(), "a", "bad.jsonl")
		if !memoryd.IsKind(err, memoryd.Invalid) || !strings.Contains(err.Error(), "line 2") || n != 0 {
			t.Errorf("%s: got %d, %v", name, n, err)
		}
		if names, _ := s.ListWorkspaces(t.Context(), "", 9); len(names) > 0 {
			t.Errorf("%s: something was loaded", name)
		}
	}
	if _, err := actions(mem.New(), dir).Load(t.Context(), "unknown", ""); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("no dump: %v", err)
	}
	if _, err := actions(mem.New(), filepath.Join(dir, "none")).Load(t.Context(), "a", ""); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("no folder: %v", err)
	}
}

func TestALoadThatFailsLeavesEachToolOldOrNew(t *testing.T) {
	dir := t.TempDir()
	_, err := actions(makeStore(t), dir).Dump(t.Context(), "a", "")
	must(t, err)
	old, _, _ := oldAndNew(t)
	for n := 0; ; n++ {
		inner := old()
		s, struck := failing(inner, n)
		_, err := actions(s, dir).Load(t.Context(), "a", "")
		if !*struck {
			must(t, err)
			return
		}
		if !errors.Is(err, errCause) {
			t.Fatalf("fault %d: got %v", n, err)
		}
		for _, tool := range []string{"fetch", "sh,ell "} {
			if life, kept := lifetime(t, inner, tool); (life != 2 || kept != 2) && (life != 40 || kept != 3) {
				t.Fatalf("fault %d: tool %q has %d calls, %d kept", n, tool, life, kept)
			}
		}
	}
}

func TestACopyIsWholeAndItsOwn(t *testing.T) {
	s := makeStore(t)
	a := actions(s, t.TempDir())
	for range 2 {
		n, err := a.Copy(t.Context(), "a", "copy")
		must(t, err)
		if n != 2 {
			t.Errorf("copied %d", n)
		}
	}
	back := mem.New()
	restore(t, back, export(t, s, "copy"), backup.RestoreOptions{Workspace: "a"})
	must(t, back.PutRecords(t.Context(), []store.Record{
		{RecordKey: store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "a"}, Kind: "note", ID: "w"}, Data: []byte("ws")},
	}))
	same(t, "the copy", export(t, back, "a"), export(t, s, "a"))
	if _, err := a.Copy(t.Context(), "a", "a"); !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("onto itself: %v", err)
	}
	if _, err := a.Copy(t.Context(), "none", "b"); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := a.Copy(t.Context(), "a", ""); !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("to no name: %v", err)
	}
}

func TestToolsAreListedAndDeletedByID(t *testing.T) {
	s := makeStore(t)
	a := actions(s, t.TempDir())
	var names []string
	var ids []string
	for m, err := range a.List(t.Context(), "a") {
		must(t, err)
		names = append(names, m.Tool.Tool)
		ids = append(ids, m.Tool.MemoryID())
		if len(m.Calls) != 3 {
			t.Errorf("%q has %d calls", m.Tool.Tool, len(m.Calls))
		}
	}
	if strings.Join(names, "|") != "fetch|sh,ell " {
		t.Errorf("listed %q", names)
	}
	n, err := a.DeleteIDs(t.Context(), "a", []string{ids[1], "unknown", ids[1]})
	must(t, err)
	if life, _ := lifetime(t, s, "sh,ell "); n != 1 || life != 0 {
		t.Errorf("deleted %d", n)
	}
	n, err = a.Delete(t.Context(), "a")
	must(t, err)
	if life, _ := lifetime(t, s, "fetch"); n != 1 || life != 0 {
		t.Errorf("deleted %d", n)
	}
	if _, err := a.Delete(t.Context(), ""); !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("no name: %v", err)
	}
}
