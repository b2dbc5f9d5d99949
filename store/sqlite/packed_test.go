package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"memoryd"
	"memoryd/store"
)

// longCalls are calls with texts that packing makes smaller.
func longCalls(tool string, n int) store.Batch {
	b := testBatch(9, tool, 1, n)
	for i := range b.Calls {
		c := &b.Calls[i]
		c.Input = fmt.Appendf(nil, `{"path":"%s"}`, strings.Repeat(fmt.Sprint("/folder", i), 60))
		c.Output = strings.Repeat(fmt.Sprint("line ", i, " of a file\n"), 2000)
		c.Metadata = []byte(`{"trajectory_id":"r"}`)
	}
	return b
}

// storedAs gives the type and length that an output has in the file.
func storedAs(t *testing.T, s *Store) (kind string, bytes int64) {
	t.Helper()
	err := s.read(t.Context(), func(c *conn) error {
		return c.query(t.Context(), `SELECT typeof(output), octet_length(output) FROM calls ORDER BY id LIMIT 1`, func(v []driver.Value) error {
			kind, bytes = str(v[0]), integer(v[1])
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return kind, bytes
}

func TestLongTextsArePackedAndReadAsTheyWere(t *testing.T) {
	s := openTuned(t, settings(t.TempDir()), nil)
	b := longCalls("t", 3)
	b.Calls[2].Evaluation = memoryd.PendingEvaluation()
	mustAppend(t, s, b)
	if kind, n := storedAs(t, s); kind != "blob" || n > int64(len(b.Calls[0].Output)/10) {
		t.Errorf("an output is stored as %s of %d bytes", kind, n)
	}
	amended := memoryd.AmendmentOf(&b.Calls[0])
	amended.Output += "and more\n"
	b.Calls[0].Output = amended.Output
	if _, err := s.Override(t.Context(), store.Verdict{ToolRef: tref, Key: b.Calls[0].Key, Evaluation: b.Calls[0].Evaluation, Amendment: amended}); err != nil {
		t.Fatal(err)
	}
	got, err := s.History(t.Context(), tref, 0)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	runs, err := s.RunCalls(t.Context(), tref.Workspace, "r", 9)
	if err != nil || len(runs) != 3 {
		t.Fatal(runs, err)
	}
	size, err := s.HistorySize(t.Context(), tref)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got {
		want := &b.Calls[i]
		if c.Output != want.Output || string(c.Input) != string(want.Input) {
			t.Errorf("call %d: got %d and %d bytes", i, len(c.Input), len(c.Output))
		}
		if r := runs[2-i]; r.Output != store.CutOutput(want.Output) || string(r.Input) != string(want.Input) {
			t.Errorf("call %d of the run: got %d and %d bytes", i, len(r.Input), len(r.Output))
		}
		size.Bytes -= int64(len(want.Output) + len(want.Input) + len(want.Metadata))
	}
	if size.Bytes < 0 || size.Bytes > 900 {
		t.Errorf("the history is %d bytes larger than its texts", size.Bytes)
	}
}

// TestTextsOfEarlierLayoutsAreRead as they stood there: not packed.
func TestTextsOfEarlierLayoutsAreRead(t *testing.T) {
	cfg := settings(t.TempDir())
	s := openTuned(t, cfg, nil)
	b := longCalls("t", 1)
	mustAppend(t, s, b)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, cfg, `UPDATE calls SET output = 'long '||hex(zeroblob(300)), input = '"x"'`)
	alter(t, cfg, `PRAGMA user_version = 5`)
	s = openTuned(t, cfg, nil)
	got, err := s.History(t.Context(), tref, 0)
	if err != nil || len(got) != 1 || got[0].Output != "long "+strings.Repeat("0", 600) || string(got[0].Input) != `"x"` {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAPackThatAnnouncesGigabytesMakesNoRoomForThem(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got, err := unpacked(append(binary.AppendUvarint(nil, 1<<32-1), 0, 'x')); err == nil {
		t.Error("no error, but ", got)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
		t.Errorf("it took %d bytes", after.TotalAlloc-before.TotalAlloc)
	}
	if _, err := unpacked(s2.Encode(nil, []byte(strings.Repeat("long ", 100)))); err != nil {
		t.Error(err)
	}
}

func TestAPackedTextThatIsDamagedIsAnError(t *testing.T) {
	cfg := settings(t.TempDir())
	s := openTuned(t, cfg, nil)
	mustAppend(t, s, longCalls("t", 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, cfg, `UPDATE calls SET output = substr(output, 1, 9)`)
	s = openTuned(t, cfg, nil)
	if got, err := s.History(t.Context(), tref, 0); err == nil {
		t.Errorf("got %d calls", len(got))
	}
	if got, err := s.RunCalls(t.Context(), tref.Workspace, "r", 9); err == nil {
		t.Errorf("got %d calls", len(got))
	}
}
