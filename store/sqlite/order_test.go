package sqlite

import (
	"database/sql/driver"
	"testing"

	"memoryd"
	"memoryd/store"
)

// TestAHistoryIsNotAheadOfTheCounters reads a history when the file has a verdict
// that memory does not have yet: whoever saw it could then be told by Tool that
// there is none.
func TestAHistoryIsNotAheadOfTheCounters(t *testing.T) {
	s := openTuned(t, settings(t.TempDir()), nil)
	b := testBatch(9, "t", 1, 2)
	for i := range b.Calls {
		b.Calls[i].Evaluation = memoryd.PendingEvaluation()
	}
	mustAppend(t, s, b)
	read := func() error {
		v, _ := s.cat.view(tref, 0, 0)
		return s.readView(t.Context(), &v, callColumns, nil, func([]driver.Value) error { return nil })
	}
	var between error
	inWriter(t, s, func(d *draft) error {
		d.after = append(d.after, func() {
			working := d.w.commit
			d.w.commit = func() error {
				d.w.commit = working
				err := working()
				between = read()
				return err
			}
		})
		return nil
	})
	v := store.Verdict{ToolRef: tref, Key: b.Calls[0].Key, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1}}
	if _, err := s.Settle(t.Context(), []store.Verdict{v}); err != nil {
		t.Fatal(err)
	}
	if between != errMoved { //nolint:errorlint // never wrapped
		t.Errorf("between commit and memory the reading gave %v, want that it is done again", between)
	}
	if err := read(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
