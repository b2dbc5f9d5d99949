package transcripts_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"memoryd/integrations/transcripts"
	"memoryd/internal/accounts"
)

const (
	asked  = `{"type":"assistant","uuid":"u","sessionId":"s","message":{"content":[{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"ls"}}]}}` + "\n"
	ended  = `{"type":"user","uuid":"u","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"c%d","content":"a"}]}}` + "\n"
	noFail = "%d calls, %d broken: %v"
)

func readAll(t *testing.T, name string, r io.Reader) (calls int, s transcripts.Stats, err error) {
	t.Helper()
	s, err = transcripts.Read(t.Context(), name, r, transcripts.Options{Call: func(accounts.Call) { calls++ }})
	return calls, s, err
}

// A line that is broken, is no object or is 100 MB long costs itself.
func TestBrokenAndEndlessLinesCostThemselves(t *testing.T) {
	t.Parallel()
	endless := io.MultiReader(
		strings.NewReader(fmt.Sprintf(asked, 1)+fmt.Sprintf(ended, 1)+`{"type":"user","uuid":`+"\n"+`{"a":1}}`+"\n[]\n\x00\xff\n"),
		strings.NewReader(`{"type":"user","sessionId":"s","message":{"content":"`), io.LimitReader(endlessly{}, 100<<20), strings.NewReader("\"}}\n"),
		strings.NewReader(fmt.Sprintf(asked, 2)+fmt.Sprintf(ended, 2)),
	)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	calls, s, err := readAll(t, "x.jsonl", endless)
	runtime.ReadMemStats(&after)
	if err != nil || calls != 2 || s.Broken != 4 {
		t.Errorf(noFail, calls, s.Broken, err)
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 400 {
		t.Errorf("%d MiB were allocated for a line that is not kept", grown)
	}
}

// Bytes that are no text, levels without end and control characters cost their line.
func TestOddLinesCostThemselves(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf(asked, 1) + fmt.Sprintf(ended, 1)
	for name, odd := range map[string]string{
		"deep":             strings.Replace(fmt.Sprintf(asked, 2), `"ls"`, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000), 1),
		"deep, half":       `{"type":"assistant","message":` + strings.Repeat(`{"a":`, 100_000) + "\n",
		"NUL":              strings.Replace(fmt.Sprintf(asked, 2), `"ls"`, "\"l\x00s\"", 1),
		"no UTF-8":         strings.Replace(fmt.Sprintf(asked, 2), `"Bash"`, "\"\xff\xfe\xc3\"", 1),
		"UTF-16 inside":    "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00\n\x00",
		"escapes":          strings.Replace(fmt.Sprintf(asked, 2), `"Bash"`, `"\u001b]0;gotcha\u0007\u202e"`, 1),
		"a lone surrogate": strings.Replace(fmt.Sprintf(asked, 2), `"ls"`, `"\ud800"`, 1),
		"half a line":      fmt.Sprintf(asked, 2)[:60],
	} {
		calls, s, err := readAll(t, "x.jsonl", strings.NewReader(good+odd+strings.ReplaceAll(good, "c1", "c3")))
		if want := 2; name == "half a line" || name == "UTF-16 inside" { // the next line is a part of it
			if calls < 1 || err != nil {
				t.Errorf("%s: "+noFail, name, calls, s.Broken, err)
			}
		} else if calls != want || err != nil {
			t.Errorf("%s: "+noFail, name, calls, s.Broken, err)
		}
	}
}

// Half a file gives the calls that it holds whole and says what is wrong; a file of
// another encoding is named as such.
func TestHalfAFileAndOtherEncodings(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	for i := range 2000 {
		_, _ = io.WriteString(zw, fmt.Sprintf(asked, i)+fmt.Sprintf(ended, i))
	}
	_ = zw.Close()
	half := write(t, "half.jsonl.gz", func(w io.Writer) { _, _ = w.Write(packed.Bytes()[:packed.Len()/2]) })
	s, err := transcripts.ReadFile(t.Context(), half, transcripts.Options{Call: func(accounts.Call) {}})
	if s.Calls < 100 || s.Calls >= 2000 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%+v, %v", s, err)
	}
	wide := write(t, "wide.jsonl", func(w io.Writer) { _, _ = io.WriteString(w, "\xff\xfe{\x00\"\x00a\x00\"\x00:\x001\x00}\x00") })
	if _, err := transcripts.ReadFile(t.Context(), wide, transcripts.Options{Call: func(accounts.Call) {}}); err == nil || !strings.Contains(err.Error(), "UTF-16") {
		t.Errorf("UTF-16: %v", err)
	}
}

// endlessly is a text without end.
type endlessly struct{}

func (endlessly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestAValueWithoutEndEndsTheFileNotTheMemory(t *testing.T) {
	t.Parallel()
	_, _, err := readAll(t, "x.json", io.MultiReader(strings.NewReader("[\n{\"a\":\""), io.LimitReader(endlessly{}, 1<<30)))
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
	deep := strings.Repeat(`[{"messages":`, 20_000)
	if _, _, err := readAll(t, "x.json", strings.NewReader(deep)); err == nil {
		t.Error("twenty thousand levels are read")
	}
}

func write(t *testing.T, name string, fill func(w io.Writer)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var b bytes.Buffer
	fill(&b)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBombsAreNotUnpacked(t *testing.T) {
	t.Parallel()
	zeros := func(w io.Writer) {
		if _, err := io.CopyN(w, endlessly{}, 66<<20); err != nil {
			t.Error(err)
		}
	}
	gz := write(t, "bomb.jsonl.gz", func(w io.Writer) {
		zw := gzip.NewWriter(w)
		_, _ = io.WriteString(zw, fmt.Sprintf(asked, 1)+fmt.Sprintf(ended, 1))
		zeros(zw)
		_ = zw.Close()
	})
	archive := write(t, "bomb.eval", func(w io.Writer) {
		zw := zip.NewWriter(w)
		for i := range 1 {
			f, _ := zw.Create(fmt.Sprintf("samples/%d.json", i))
			_, _ = io.WriteString(f, `[{"epoch":1,"messages":[]},`)
			zeros(f)
		}
		_ = zw.Close()
	})
	for _, path := range []string{gz, archive} {
		_, err := transcripts.ReadFile(t.Context(), path, transcripts.Options{Call: func(accounts.Call) {}})
		if err == nil {
			t.Errorf("%s was unpacked", path)
		}
	}
}

// Names inside an archive lead nowhere, and those that could steer a terminal are
// shown without what steers.
func TestNamesOfAnArchiveLeadNowhere(t *testing.T) {
	t.Parallel()
	path := write(t, "x.zip", func(w io.Writer) {
		zw := zip.NewWriter(w)
		for _, name := range []string{"../../../tmp/evil.jsonl", "/etc/cron.d/x.jsonl", "a\x1b]0;gotcha\x07\x1b[2J.jsonl"} {
			f, _ := zw.Create(name)
			_, _ = io.WriteString(f, "{broken\n"+fmt.Sprintf(asked, 1)+fmt.Sprintf(ended, 1))
		}
		_ = zw.Close()
	})
	var faults []string
	s, err := transcripts.ReadFile(t.Context(), path, transcripts.Options{Call: func(accounts.Call) {}, Fault: func(f transcripts.Fault) { faults = append(faults, f.String()) }})
	if err != nil || s.Calls != 3 || len(faults) != 3 {
		t.Fatalf("%+v, %v, %q", s, err, faults)
	}
	if all := strings.Join(faults, "\n"); strings.ContainsAny(all, "\x1b\x07") {
		t.Errorf("%q", all)
	}
	if matches, _ := filepath.Glob("/tmp/evil.jsonl"); len(matches) > 0 {
		t.Error("a file was written")
	}
}

func TestLinksAndPipesAreNotFollowed(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.jsonl"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"loop": dir, "out": outside, "out.jsonl": filepath.Join(outside, "secret.jsonl")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "real.jsonl"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := transcripts.Find(dir)
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != "real.jsonl" {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := transcripts.ReadFile(t.Context(), os.DevNull, transcripts.Options{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
}

// A reading that fails says what it had before.
func TestAReadErrorKeepsWhatWasReadBefore(t *testing.T) {
	t.Parallel()
	torn := errors.New("torn")
	calls, _, err := readAll(t, "x.jsonl", io.MultiReader(strings.NewReader(fmt.Sprintf(asked, 1)+fmt.Sprintf(ended, 1)), failing{torn}))
	if calls != 1 || !errors.Is(err, torn) {
		t.Errorf("%d calls, %v", calls, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Any bytes, read as any format, end without a panic, and what is given can be
// recorded.
func FuzzReaders(f *testing.F) {
	for _, path := range samples(f) {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for i := range transcripts.FormatNames() {
			if len(b) < 4_000 {
				f.Add(i, b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, n int, b []byte) {
		names := transcripts.FormatNames()
		if n < 0 || n >= len(names) {
			return
		}
		var given []accounts.Call
		s, _ := transcripts.Read(t.Context(), "f", bytes.NewReader(b), transcripts.Options{Format: names[n], Call: func(c accounts.Call) { given = append(given, c) }})
		if s.Calls != len(given) {
			t.Errorf("%+v of %d", s, len(given))
		}
		for _, c := range given {
			r := c.Record()
			if !c.Whole() || r.Tool == "" || !validInput(r.Input) {
				t.Errorf("%+v", c)
			}
		}
	})
}

// validInput is what a store takes: an object or a string of JSON.
func validInput(b []byte) bool { return len(b) > 1 && (b[0] == '{' || b[0] == '"') }
