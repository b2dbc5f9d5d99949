// Package recordtest reads recordings of tool calls (JSON lines with a label in
// metadata.gold) for tests that measure. MEMORYD_TEST_DATA names the folder; without it, such
// tests are skipped with a message.
package recordtest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memoryd"
)

// Env names the environment variable with the folder of the recordings.
const Env = "MEMORYD_TEST_DATA"

// Call is a recorded call and its label: "ok", "partial", "error", or "" if unknown. GoldFrom
// names where the label comes from.
type Call struct {
	memoryd.Call
	Gold, GoldFrom string
}

// Files lists the recordings of calls, sorted by name.
func Files(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		t.Skipf("%s is not set: it names the folder of the recorded calls", Env)
	}
	files, err := filepath.Glob(filepath.Join(dir, "calls_*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in the folder that %s names (%v)", Env, err)
	}
	return files
}

// File is one recording of the folder.
func File(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(filepath.Dir(Files(t)[0]), name)
}

// Read reads a recording. It removes the label from the calls and leaves them without a
// verdict.
func Read(t testing.TB, file string) []Call {
	t.Helper()
	f, err := os.Open(file) //nolint:gosec // the tester names the folder
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var calls []Call
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		c, err := decode(lines.Bytes())
		if err != nil {
			t.Fatalf("%s, line %d: %v", filepath.Base(file), len(calls)+1, err)
		}
		calls = append(calls, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

func decode(line []byte) (c Call, err error) {
	l, err := memoryd.ParseCall(line)
	if err != nil {
		return c, err
	}
	metadata := map[string]json.RawMessage{}
	if err := json.Unmarshal(l.Metadata, &metadata); err != nil {
		return c, err
	}
	c = Call{Call: l.Call(), Gold: take(metadata, "gold"), GoldFrom: take(metadata, "gold_from")}
	if c.Metadata, err = json.Marshal(metadata); err != nil {
		return c, err
	}
	id := memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime}
	c.Key, c.Hash = id.KeyAndHash()
	c.Time, err = time.Parse(memoryd.TimeLayout, c.CreateTime)
	return c, err
}

// take removes a text from metadata and gives it.
func take(metadata map[string]json.RawMessage, name string) string {
	var text string
	_ = json.Unmarshal(metadata[name], &text) // absent is ""
	delete(metadata, name)
	return text
}
