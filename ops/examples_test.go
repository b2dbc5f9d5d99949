package ops

import (
	"fmt"
	"testing"

	"memoryd"
)

func TestExamplesShowBothSides(t *testing.T) {
	for _, c := range []struct {
		history, want string
		n             int
	}{
		{"gggggggg", "78", 2}, {"bbbb", "234", 3}, {"gbgbgggg", "24" + "78", 4}, {"bgggggggg", "1789", 4}, {"ggbbbbbb", "128", 3}, {"gb", "12", 9}, {"", "", 3},
	} {
		calls := make([]memoryd.Call, len(c.history))
		for i := range calls {
			calls[i].Seq = int64(i + 1)
			calls[i].Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: map[byte]float64{'g': 1, 'b': 0.5}[c.history[i]]}
		}
		got := ""
		for _, call := range examples(calls, c.n) {
			got += fmt.Sprint(call.Seq)
		}
		if got != c.want {
			t.Errorf("%d of %s: got %s, want %s", c.n, c.history, got, c.want)
		}
	}
}
