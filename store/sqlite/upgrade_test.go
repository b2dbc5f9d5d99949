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
		`DROP TABLE runs`, `DROP TABLE search`, `DROP TABLE records`, `ALTER TABLE calls DROP COLUMN extra`,
		`ALTER TABLE verdicts DROP COLUMN extra`, `PRAGMA user_version = 1`,
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
	for _, word := range []string{"leaping", "t"} {
		found, err := s.SearchTools(t.Context(), tref.Workspace, word, 9)
		if err != nil || len(found) != 1 || found[0].Guideline.Revision != 1 {
			t.Errorf("%s: found %v, %v", word, found, err)
		}
	}
	mustAppend(t, s, testBatch(9, "t", 6, 7))
}
