package e2e

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"
)

// releases are what versions of the program left: a data folder, an export and a
// dump of a workspace, and what each answered to readOnly.
var releases = []string{"testdata/01b052c", "testdata/0c2e219"}

// They are written with
// go test ./test/e2e -run OfARelease -write-released path/of/an/old/memoryd -written-to testdata/itscommit.
var (
	writeReleased = flag.String("write-released", "", "the binary of an older version, to write what it leaves")
	writtenTo     = flag.String("written-to", "", "the folder in testdata that -write-released writes, one of the releases")
)

const oldShop = "/v1/workspaces/shop/tools/search"

// readOnly are the requests whose answers an upgrade must not change.
var readOnly = []struct{ path, body string }{
	{path: "/v1/workspaces"},
	{path: "/v1/workspaces/shop/tools"},
	{path: "/v1/workspaces/l%C3%A4den/tools"},
	{path: "/v1/workspaces/shop/corrections"},
	{path: oldShop + "/calls?limit=50"},
	{path: oldShop + "/guidelines"},
	{path: oldShop + "/guidelines/1"},
	{path: oldShop + "/guidelines/2?with=1"}, // recorded as /guidelines/2/diff,
	{path: "/v1/workspaces/shop/tools/fetch%2Fpage/calls"},
	{path: "/retrieve_tool_memory", body: `{"workspace_id":"shop","tool_names":["search","fetch/page","größe"]}`},
	{path: "/retrieve_tool_memory", body: `{"workspace_id":"shop","tool_names":"search","include_history":false}`},
	{path: "/retrieve_tool_memory", body: `{"workspace_id":"läden","tool_names":"search"}`},
}

// TestADataFolderOfAReleaseAnswersTheSame opens what a released version wrote.
func TestADataFolderOfAReleaseAnswersTheSame(t *testing.T) {
	utc(t)
	if *writeReleased != "" {
		writeOldRelease(t, daemon.Binary(*writeReleased), *writtenTo)
	}
	for _, released := range releases {
		t.Run(filepath.Base(released), func(t *testing.T) { checkDataFolder(t, released) })
	}
}

func checkDataFolder(t *testing.T, released string) {
	t.Helper()
	dir := t.TempDir()
	unpack(t, filepath.Join(released, "data.tar.gz"), dir)
	s := start(t, dir, nil)
	checkAnswers(t, s, released, readOnly)
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.Log())
	}
	file := filepath.Join(t.TempDir(), "export.jsonl.gz")
	if code, _, stderr := memoryd(t, "", "export", file, "--data", dir); code != 0 {
		t.Fatal(stderr)
	}
	old, now := contentLines(t, filepath.Join(released, "export.jsonl.gz")), contentLines(t, file)
	if len(old) != len(now) {
		t.Fatalf("the export has %d lines, had %d", len(now), len(old))
	}
	for i := range old {
		if old[i] != now[i] {
			t.Errorf("line %d of the export\n is %.600s\nwas %.600s", i+1, now[i], old[i])
		}
	}
}

// TestAnExportOfAReleaseIsRestored reads a released version's export into a new
// store.
func TestAnExportOfAReleaseIsRestored(t *testing.T) {
	utc(t)
	for _, released := range releases {
		t.Run(filepath.Base(released), func(t *testing.T) {
			dir := t.TempDir()
			if code, _, stderr := memoryd(t, "", "restore", filepath.Join(released, "export.jsonl.gz"), "--data", dir); code != 0 {
				t.Fatal(stderr)
			}
			checkAnswers(t, start(t, dir, nil), released, readOnly)
		})
	}
}

// TestADumpOfAReleaseIsLoaded reads a released version's dump, which holds one
// workspace. It has no seal, so its calls come and its guidelines wait for a person.
func TestADumpOfAReleaseIsLoaded(t *testing.T) {
	utc(t)
	for _, released := range releases {
		t.Run(filepath.Base(released), func(t *testing.T) { checkDump(t, released) })
	}
}

func checkDump(t *testing.T, released string) {
	t.Helper()
	dumps := t.TempDir()
	if err := os.WriteFile(filepath.Join(dumps, "shop.jsonl"), unzipped(t, filepath.Join(released, "dump.jsonl.gz")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, t.TempDir(), nil, "--config", dumpConfig(t, dumps))
	if a := s.Post("/vector_store", map[string]any{"workspace_id": "shop", "action": "load"}); !a.Success {
		t.Fatal(a.Answer)
	}
	checkAnswers(t, s, released, readOnly[3:4])
	var was, is struct{ Calls []struct{ ID, Output string } }
	var golden map[string]json.RawMessage
	if err := json.Unmarshal(unzipped(t, filepath.Join(released, "answers.json.gz")), &golden); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(golden[oldShop+"/calls?limit=50"], &was); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(s.Get(oldShop+"/calls?limit=50").Body, &is); err != nil || len(was.Calls) == 0 || !slices.Equal(is.Calls, was.Calls) {
		t.Errorf("the calls are %v, were %v", is.Calls, was.Calls)
	}
	var pending struct{ Statements []struct{ Tool, Text string } }
	if err := json.Unmarshal(s.Get("/v1/workspaces/shop/pending").Body, &pending); err != nil || len(pending.Statements) == 0 || !strings.Contains(pending.Statements[0].Text, "## Core Function") {
		t.Errorf("pending are %v", pending)
	}
}

// utc makes texts of times independent of the machine.
func utc(t *testing.T) { t.Setenv("TZ", "UTC") }

func dumpConfig(t *testing.T, dir string) string {
	return configFile(t, fmt.Sprintf("op: {vector_store_op: {params: {dump_dir: %q}}}\n", dir))
}

// checkAnswers holds a server to the recorded answers. It may say more than they
// do, nothing else.
func checkAnswers(t *testing.T, s *daemon.Process, released string, requests []struct{ path, body string }) {
	t.Helper()
	golden := map[string]json.RawMessage{}
	if err := json.Unmarshal(unzipped(t, filepath.Join(released, "answers.json.gz")), &golden); err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		var want, got any
		recorded := strings.Replace(r.path, "/guidelines/2?with=1", "/guidelines/2/diff", 1)
		if json.Unmarshal(golden[recorded+r.body], &want) != nil {
			t.Fatalf("no answer was recorded to %s%s", r.path, r.body)
		}
		answer := ask(t, s, r.path, r.body)
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Errorf("%s%s: %v", r.path, r.body, err)
			continue
		}
		for _, fault := range missing(want, got, "") {
			t.Errorf("%s%s: %s", r.path, r.body, fault)
		}
	}
}

// renamed are members of answers whose names a later version changed.
var renamed = map[string]string{"With": "with", "WithBad": "with_bad", "Without": "without", "WithoutBad": "without_bad"}

// missing lists what of want is not in got: members that were added are no fault.
func missing(want, got any, at string) (faults []string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %v", at, got)}
		}
		for name := range w {
			if name == "stale" { // depends on the day
				continue
			}
			faults = append(faults, missing(w[name], g[cmp.Or(renamed[name], name)], at+"."+name)...)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{fmt.Sprintf("%s is %v, was %v", at, got, want)}
		}
		for i := range w {
			faults = append(faults, missing(w[i], g[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
	default:
		if want != got {
			return []string{fmt.Sprintf("%s is %v, was %v", at, got, want)}
		}
	}
	return faults
}

// ask gives the JSON of an answer; JSON-lines as an array.
func ask(t *testing.T, s *daemon.Process, path, body string) []byte {
	t.Helper()
	if body != "" {
		r, err := s.Send(path, []byte(body))
		if err != nil || r.Status != http.StatusOK {
			t.Fatalf("%s: %d %v %s", path, r.Status, err, r.Body)
		}
		return r.Body
	}
	r := s.Get(path)
	if r.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, r.Status, r.Body)
	}
	if r.Header.Get("Content-Type") == "application/x-ndjson" {
		return fmt.Appendf(nil, "[%s]", bytes.Join(bytes.Split(bytes.TrimSpace(r.Body), []byte("\n")), []byte(",")))
	}
	return r.Body
}

// contentLines are the lines of an export but its manifest and its trailer, which
// hold the time.
func contentLines(t *testing.T, file string) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(unzipped(t, file))), "\n")
	return lines[1 : len(lines)-1]
}

func unzipped(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(unzipped(t, archive))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// writeOldRelease makes the files with an old binary: memories of three tools with
// failures, repeats, a correction, two versions of a guideline and a pin.
func writeOldRelease(t *testing.T, old daemon.Binary, released string) {
	t.Helper()
	if err := os.MkdirAll(released, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, dumps := t.TempDir(), t.TempDir()
	s := old.Start(t, dir, nil, "--config", dumpConfig(t, dumps))
	for _, ws := range []string{"shop", "läden"} {
		s.Post("/add_tool_call_result", map[string]any{"workspace_id": ws, "tool_name": "search", "tool_call_results": oldCalls(0, 14)})
	}
	s.Post("/add_tool_call_result", map[string]any{"workspace_id": "shop", "tool_call_results": []any{
		map[string]any{"tool_name": "fetch/page", "input": "https://shop.example/1", "output": "", "create_time": "2026-02-01 10:00:00"},
		map[string]any{"tool_name": "größe", "input": map[string]any{"z": 1.0, "a": "é"}, "output": "42 \u2028 \x00", "create_time": "2026-02-01T10:00:00+02:00"},
		map[string]any{"tool_name": "größe", "output": "zwölf", "create_time": "2026-02-01 10:00:01", "time_cost": 0.25, "token_cost": 7, "metadata": map[string]any{"agent_id": "a1", "nested": []any{1, nil}}},
	}})
	s.Post("/summary_tool_memory", map[string]any{"workspace_id": "shop", "tool_names": "search,größe"})
	s.Post("/add_tool_call_result", map[string]any{"workspace_id": "shop", "tool_name": "search", "tool_call_results": oldCalls(14, 30)})
	var list struct {
		Calls []struct{ ID string } `json:"calls"`
	}
	if err := json.Unmarshal(ask(t, s, oldShop+"/calls?limit=3", ""), &list); err != nil {
		t.Fatal(err)
	}
	put(t, s, oldShop+"/calls/"+url.PathEscape(list.Calls[2].ID)+"/evaluation", `{"score":0.5,"summary":"Half of it is there.","by":"kim"}`)
	s.Post("/summary_tool_memory", map[string]any{"workspace_id": "shop", "tool_names": "search", "force": true})
	put(t, s, oldShop+"/guidelines", `{"decision":"pin","revision":2,"by":"kim"}`)
	s.Post("/vector_store", map[string]any{"workspace_id": "shop", "action": "dump"})
	dump, err := os.ReadFile(filepath.Join(dumps, "shop.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	writeGzip(t, filepath.Join(released, "dump.jsonl.gz"), string(dump))
	answers := map[string]json.RawMessage{}
	for _, r := range readOnly {
		answers[r.path+r.body] = ask(t, s, r.path, r.body)
	}
	text, err := json.Marshal(answers)
	if err != nil {
		t.Fatal(err)
	}
	writeGzip(t, filepath.Join(released, "answers.json.gz"), string(text))
	if code := s.Stop(); code != 0 {
		t.Fatal(s.Log())
	}
	if code, _, stderr := old.Run(t, "", "export", filepath.Join(released, "export.jsonl.gz"), "--data", dir); code != 0 {
		t.Fatal(stderr)
	}
	pack(t, dir, filepath.Join(released, "data.tar.gz"))
}

// oldCalls are searches, of which each third failed for want of a parameter.
func oldCalls(from, to int) (calls []any) {
	for i := from; i < to; i++ {
		c := map[string]any{
			"input": map[string]any{"query": fmt.Sprintf("shoes %d", i%11), "limit": 10 * (1 + i%3)}, "output": fmt.Sprintf("%d shoes found: runner, walker, boot", 3+i%5),
			"time_cost": 0.5 + float64(i)/10, "token_cost": 100 + i, "create_time": fmt.Sprintf("2026-01-%02d 09:30:00", 1+i%28),
			"metadata": map[string]any{"tool_call_id": fmt.Sprintf("call-%d", i), "trajectory_id": fmt.Sprintf("run-%d", i/5)},
		}
		if i%3 == 2 {
			c["input"] = map[string]any{"query": fmt.Sprintf("shoes %d", i%11), "limit": 1000}
			c["output"], c["success"] = `{"error": "limit must be at most 100, got 1000"}`, false
		}
		calls = append(calls, c)
	}
	return calls
}

func put(t *testing.T, s *daemon.Process, path, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", path, resp.StatusCode, err, answer)
	}
}

// pack archives the files of a folder, which has no folders in it.
func pack(t *testing.T, dir, archive string) {
	t.Helper()
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zw, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	tw := tar.NewWriter(zw)
	if err := tw.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []io.Closer{tw, zw} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
