package ops_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"memoryd"
	"memoryd/ops"
	"memoryd/ops/survey"
	"memoryd/store"
	"memoryd/store/mem"
)

// However busy the machine is, a page looks through the newest calls.
func TestASearchLooksThroughSomeCallsHoweverLongItTakes(t *testing.T) {
	s := mem.New()
	var calls []memoryd.Call
	for i := range 30 {
		calls = append(calls, memoryd.Call{
			Key: memoryd.CallKey{byte(i), 1}, ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Input: []byte(`{}`), Output: fmt.Sprint("answer ", i),
			Time: noon.Add(time.Duration(i) * time.Second), Evaluation: verdict("rules"),
		})
	}
	if _, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: calls, Keep: 100}); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	view := survey.New(s, log, time.Now)
	t.Cleanup(view.Stop)
	asked := 0
	f := plan(t, 100).Build(ops.Deps{Store: s, Compactor: struct{ ops.Compactor }{}, Keyed: func() bool { return false }, Survey: view, Logger: log, Now: func() time.Time {
		asked++
		return noon.Add(time.Duration(asked) * time.Second)
	}}, nil)
	for tries := 0; ; tries++ {
		got, err := f.FindCalls.Run(t.Context(), ops.FindCalls{Workspace: "w", Text: "answer 0", Limit: 5})
		switch {
		case err != nil:
			t.Fatal(err)
		case got.Reading && tries < 400: // each waits a little
			continue
		case got.Searched != 30 || len(got.Calls) != 1:
			t.Errorf("looked through %d of 30 calls, found %d", got.Searched, len(got.Calls))
		}
		return
	}
}
