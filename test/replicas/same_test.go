package replicas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"
)

// recordings are the files of calls that the stores are compared with: those of
// MEMORYD_TEST_DATA, else a small excerpt.
func recordings(t *testing.T) []string {
	pattern := filepath.Join("testdata", "calls_*.jsonl")
	if dir := os.Getenv("MEMORYD_TEST_DATA"); dir != "" {
		pattern = filepath.Join(dir, "calls_*.jsonl.gz")
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings at %s: %v", pattern, err)
	}
	slices.Sort(files)
	return files
}

// backend is a store to compare.
type backend struct {
	name   string
	config string
	dir    string
	p      *daemon.Process
}

// calm is a configuration in which nothing happens by itself but judging.
const calm = "log: {level: error}\nrevisions: {interval: 0s}\nevaluate: {judge: rules}\n"

func backends(t *testing.T) []*backend {
	w, name := serverWire(t)
	t.Logf("on %s", name)
	var all []*backend
	for name, section := range map[string]string{
		"sqlite": "store: {backend: sqlite}\n", "mem": "store: {backend: mem}\n", "qdrant": storeOn(w, prefixOn(t, w), ""),
	} {
		all = append(all, &backend{name: name, config: daemon.ConfigFile(t, section+calm), dir: t.TempDir()})
	}
	slices.SortFunc(all, func(a, b *backend) int { return strings.Compare(a.name, b.name) })
	return all
}

func (b *backend) start(t *testing.T) { b.p = binary.Start(t, b.dir, nil, "--config", b.config) }

// run runs a command and expects that it works.
func run(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := binary.Run(t, "", args...)
	if code != 0 {
		t.Fatalf("memoryd %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// TestTheSameDataGivesTheSameOnAllStores imports recorded calls into each store,
// has guidelines written, and compares all that the memories say.
func TestTheSameDataGivesTheSameOnAllStores(t *testing.T) {
	files, all := recordings(t), backends(t)
	said := map[string]map[string]any{}
	for _, b := range all {
		b.start(t)
		code, out, errs := binary.Run(t, "", slices.Concat([]string{"import", "--url", b.p.URL}, files)...)
		if code != 0 && !strings.Contains(errs, "no tool has this name") { // as two recorded calls were answered
			t.Fatalf("%s: exit code %d\n%s%s", b.name, code, out, errs)
		}
		t.Logf("%s: %s", b.name, lastLine(out))
		run(t, "summarize", "--all", "--url", b.p.URL)
		said[b.name] = b.memories(t)
	}
	want := said["sqlite"]
	for _, b := range all {
		compare(t, b.name, said[b.name], want)
	}
	if !t.Failed() {
		t.Logf("%d tools, the same on %d stores", len(want), len(all))
	}
	moved(t, all)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// page is a page of a list of the native API.
type page struct {
	Workspaces []string `json:"workspaces"`
	Tools      []struct {
		Name string `json:"tool_name"`
	} `json:"tools"`
	Next string `json:"next_cursor"`
}

func (b *backend) list(t *testing.T, path string, take func(page)) {
	t.Helper()
	for cursor := ""; ; {
		r := b.p.Get(path + "?limit=100&cursor=" + url.QueryEscape(cursor))
		var p page
		if err := json.Unmarshal(r.Body, &p); err != nil || r.Status != 200 {
			t.Fatalf("%s: %v: %d %s", path, err, r.Status, r.Body)
		}
		take(p)
		if cursor = p.Next; cursor == "" {
			return
		}
	}
}

// secretHash is what a placeholder for a secret ends in: each server has a key of its own for it.
var secretHash = regexp.MustCompile(`(\[secret:[a-z_]+):[0-9a-f]+\]`)

// memories reads all tools of all workspaces, without what differs by nature: the
// times of the server's clock, the hashes of secrets and of the calls that had one, and the
// number of a guideline, which says whether writing it again changed it.
func (b *backend) memories(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	b.list(t, "/v1/workspaces", func(p page) {
		for _, w := range p.Workspaces {
			b.list(t, "/v1/workspaces/"+url.PathEscape(w)+"/tools", func(p page) {
				for _, tool := range p.Tools {
					out[w+"/"+tool.Name] = b.memory(t, w, tool.Name)
				}
			})
		}
	})
	return out
}

func (b *backend) memory(t *testing.T, workspace, tool string) any {
	t.Helper()
	_, r, ok := send(b.p, "/retrieve_tool_memory", map[string]any{"workspace_id": workspace, "tool_names": []string{tool}})
	if !ok {
		t.Fatalf("%s/%s: %d %s", workspace, tool, r.Status, r.Body)
	}
	var answer struct {
		Answer   string `json:"answer"`
		Metadata struct {
			Memories []map[string]any `json:"memory_list"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(secretHash.ReplaceAll(r.Body, []byte("$1]")), &answer); err != nil || len(answer.Metadata.Memories) != 1 {
		t.Fatalf("%s/%s: %v in %s", workspace, tool, err, r.Body)
	}
	m := answer.Metadata.Memories[0]
	for _, c := range m["tool_call_results"].([]any) {
		call := c.(map[string]any)
		if text, err := json.Marshal(call); err == nil && bytes.Contains(text, []byte("[secret:")) {
			delete(call, "call_hash")
			delete(call["metadata"].(map[string]any), "call_id")
		}
	}
	delete(m, "time_created")
	delete(m, "time_modified")
	m["answer"] = answer.Answer
	metadata := m["metadata"].(map[string]any)
	if n := metadata["statistics"].(map[string]any)["pending_calls"]; n != 0.0 {
		t.Errorf("%s: %s/%s: %v calls are pending", b.name, workspace, tool, n)
	}
	delete(metadata, "guideline_revision")
	return m
}

// compare names what differs, by its path.
func compare(t *testing.T, path string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	g, isMap := got.(map[string]any)
	w, wantMap := want.(map[string]any)
	if isMap && wantMap {
		for key := range w {
			compare(t, path+"."+key, g[key], w[key])
		}
		for key := range g {
			if _, there := w[key]; !there {
				t.Errorf("%s.%s: %v is too much", path, key, g[key])
			}
		}
		return
	}
	gl, isList := got.([]any)
	wl, wantList := want.([]any)
	if isList && wantList && len(gl) == len(wl) {
		for i := range wl {
			compare(t, fmt.Sprintf("%s[%d]", path, i), gl[i], wl[i])
		}
		return
	}
	t.Errorf("%s: got %.1000v, want %.1000v", path, got, want)
}

// moved exports the embedded store, restores that into an empty Qdrant, exports
// it from there, and expects the same bytes apart from the time of the export.
func moved(t *testing.T, all []*backend) {
	t.Helper()
	from := all[slices.IndexFunc(all, func(b *backend) bool { return b.name == "sqlite" })]
	from.p.Stop()
	to := backends(t)[1] // a prefix of its own
	first, second := filepath.Join(t.TempDir(), "first.jsonl"), filepath.Join(t.TempDir(), "second.jsonl")
	run(t, "export", "--config", from.config, "--data", from.dir, first)
	run(t, "restore", "--config", to.config, first)
	run(t, "export", "--config", to.config, second)
	a, b := exported(t, first), exported(t, second)
	if !bytes.Equal(a, b) {
		t.Errorf("the export differs after the move: %s", difference(a, b))
	}
	t.Logf("an export of %d bytes is the same after sqlite -> qdrant", len(a))
}

// created is the time in a manifest, hash the sum in a trailer, which covers it.
const (
	created = `"created":"[^"]*",`
	hash    = `"sha256":"[0-9a-f]*"`
)

// exported reads an export without the time in its manifest and the sum over it.
func exported(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(b, '\n') + 1
	last := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
	head := regexp.MustCompile(created).ReplaceAll(b[:first], nil)
	tail := regexp.MustCompile(hash).ReplaceAll(b[last:], nil)
	if len(head) == first || len(tail) == len(b)-last {
		t.Fatalf("no time in %q or no sum in %q", b[:first], b[last:])
	}
	return slices.Concat(head, b[first:last], tail)
}

// difference shows the first lines that differ.
func difference(a, b []byte) string {
	la, lb := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(la), len(lb)) {
		if !bytes.Equal(la[i], lb[i]) {
			return fmt.Sprintf("line %d:\n%.1500s\n%.1500s", i+1, la[i], lb[i])
		}
	}
	return fmt.Sprintf("%d lines and %d", len(la), len(lb))
}
