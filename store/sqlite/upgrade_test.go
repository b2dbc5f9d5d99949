package sqlite

import (
	"path/filepath"
	"testing"

	"memoryd"
)

// TestVersion1IsUpgraded turns a store back into the layout of version 1 and
// opens it again.
func TestVersion1IsUpgraded(t *testing.T) {
	cfg := settings(t.TempDir())
	s := openTuned(t, cfg, nil)
	mustAppend(t, s, testBatch(9, "t", 1, 5))
	if err := s.PutGuideline(t.Context(), tref, memoryd.Guideline{Content: "look before leaping"}, 0); err != nil {
		t.Fatal(err)
	}
	want, err := s.History(t.Context(), tref, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := connect(filepath.Join(cfg.Dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range []string{
		`DROP TABLE runs`, `DROP TABLE records`, `ALTER TABLE calls DROP COLUMN extra`,
		`ALTER TABLE verdicts DROP COLUMN extra`, `CREATE TABLE search (words)`, `PRAGMA user_version = 1`,
	} {
		if err := c.exec(st); err != nil {
			t.Fatalf("%s: %v", st, err)
		}
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}

	s = openTuned(t, cfg, nil)
	got, err := s.History(t.Context(), tref, 0)
	if err != nil || len(got) != len(want) || got[4].Output != want[4].Output || got[4].Evaluation.Cost != want[4].Evaluation.Cost {
		t.Errorf("got %v, %v", got, err)
	}
	if tool, err := s.Tool(t.Context(), tref); err != nil || tool.Guideline.Content != "look before leaping" {
		t.Errorf("got %+v, %v", tool, err)
	}
	mustAppend(t, s, testBatch(9, "t", 6, 7))
	if n, err := s.w.c.number(`SELECT count(*) FROM sqlite_schema WHERE name = 'search'`); n != 0 || err != nil {
		t.Errorf("the index of words of versions before 5 is still there: %v", err)
	}
}
