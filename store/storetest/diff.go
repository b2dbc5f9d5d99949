package storetest

import (
	"fmt"
	"reflect"
	"time"

	"memoryd"
)

// diffCalls says where two histories differ, "" when they do not. Instants are
// compared to the microsecond.
func diffCalls(got, want []memoryd.Call) string {
	if len(got) != len(want) {
		return fmt.Sprintf("got %d calls (seqs %v), want %d (seqs %v)", len(got), seqs(got), len(want), seqs(want))
	}
	for i := range got {
		g, w := plain(got[i]), plain(want[i])
		if !reflect.DeepEqual(g, w) {
			return fmt.Sprintf("call %d differs\ngot  %.2000s\nwant %.2000s", i, fmt.Sprintf("%+v", g), fmt.Sprintf("%+v", w))
		}
	}
	return ""
}

func diffSamples(got []memoryd.Sample, want []memoryd.Call) string {
	if len(got) != len(want) {
		return fmt.Sprintf("got %d samples, want %d", len(got), len(want))
	}
	for i := range got {
		if w := want[i].Sample(); got[i] != w {
			return fmt.Sprintf("sample %d: got %+v, want %+v", i, got[i], w)
		}
	}
	return ""
}

// diffTool compares all but Created and Modified, which are the store's clock.
func diffTool(got, want memoryd.Tool) string {
	for _, t := range []*memoryd.Tool{&got, &want} {
		t.Created, t.Modified = time.Time{}, time.Time{}
		t.Guideline.Written = instant(t.Guideline.Written)
	}
	if got != want {
		return fmt.Sprintf("tool differs\ngot  %+v\nwant %+v", got, want)
	}
	return ""
}

func diffEvaluation(got, want memoryd.Evaluation) string {
	if g, w := plainEvaluation(got), plainEvaluation(want); g != w {
		return fmt.Sprintf("evaluation differs\ngot  %+v\nwant %+v", g, w)
	}
	return ""
}

// plain gives equal calls an equal form.
func plain(c memoryd.Call) memoryd.Call {
	c.Time = instant(c.Time)
	c.Evaluation = plainEvaluation(c.Evaluation)
	return c
}

func plainEvaluation(e memoryd.Evaluation) memoryd.Evaluation {
	e.JudgedAt, e.NotBefore = instant(e.JudgedAt), instant(e.NotBefore)
	return e
}

func instant(t time.Time) time.Time { return t.Truncate(time.Microsecond).UTC() }

func seqs(calls []memoryd.Call) []int64 {
	var out []int64
	for i := range calls {
		out = append(out, calls[i].Seq)
	}
	return out
}
