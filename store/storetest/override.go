package storetest

import (
	"memoryd"
)

// correction is a person's verdict in the place of old.
func correction(score float64, old memoryd.Evaluation) memoryd.Evaluation {
	return memoryd.Evaluation{
		State: memoryd.Judged, Score: score, Summary: "a person says so", Evaluation: "seen with own eyes",
		JudgedBy: memoryd.PersonPrefix + "ann", JudgedAt: base,
		Overruled: &memoryd.Overruled{
			State: old.State, Score: old.Score, JudgedBy: old.JudgedBy, Rule: old.Rule, JudgeVersion: old.JudgeVersion,
		},
	}
}

func overrideCases() []testCase {
	return []testCase{
		{name: "a correction replaces a verdict and gives back the old", run: func(e *env) {
			e.append(9, makeCalls("t", 1, 3)...)
			old := e.history(ref("t"), 0)[1]
			before := e.tool(ref("t"))
			fixed := makeCall("t", 2)
			fixed.Evaluation = correction(0, old.Evaluation)
			got, err := e.s.Override(e.Context(), verdictOn(fixed, fixed.Evaluation))
			if err != nil {
				e.Fatal(err)
			}
			if d := diffCalls([]memoryd.Call{got}, []memoryd.Call{old}); d != "" {
				e.Error(d)
			}
			e.wantHistory(ref("t"), 1, makeCall("t", 1), fixed, makeCall("t", 3))
			if after := e.tool(ref("t")); after.Revision <= before.Revision || after.Lifetime != 3 || after.Pending != 0 {
				e.Errorf("got %+v", after)
			}
		}},
		{name: "a correction of a pending call ends its waiting", run: func(e *env) {
			e.append(9, makePending("t", 1), makePending("t", 2))
			fixed := makeCall("t", 1)
			fixed.Evaluation = correction(1, memoryd.PendingEvaluation())
			if _, err := e.s.Override(e.Context(), verdictOn(fixed, fixed.Evaluation)); err != nil {
				e.Fatal(err)
			}
			e.wantClaimed(e.claim(0, 9), makePending("t", 2))
			if got := e.settle(verdictOn(fixed, makeVerdict(2))); got[0] {
				e.Error("a judge wrote over a person")
			}
			e.wantHistory(ref("t"), 1, fixed, makePending("t", 2))
			if got := e.tool(ref("t")); got.Pending != 1 {
				e.Errorf("got %+v", got)
			}
		}},
		{name: "only kept calls can be corrected, and only by a verdict", run: func(e *env) {
			e.append(2, makeCalls("t", 1, 3)...)
			for _, c := range []memoryd.Call{makeCall("t", 1), makeCall("u", 2), makeCall("t", 9)} {
				_, err := e.s.Override(e.Context(), verdictOn(c, correction(1, memoryd.Evaluation{})))
				e.wantKind(err, memoryd.NotFound)
			}
			_, err := e.s.Override(e.Context(), verdictOn(makeCall("t", 3), memoryd.PendingEvaluation()))
			e.wantKind(err, memoryd.Invalid)
			e.wantHistory(ref("t"), 2, makeCalls("t", 2, 3)...)
		}},
		{name: "a correction survives", durable: true, run: func(e *env) {
			e.append(9, makeCalls("t", 1, 2)...)
			fixed := makeCall("t", 2)
			fixed.Evaluation = correction(0.5, fixed.Evaluation)
			if _, err := e.s.Override(e.Context(), verdictOn(fixed, fixed.Evaluation)); err != nil {
				e.Fatal(err)
			}
			want := e.tool(ref("t"))
			e.reopen()
			e.wantHistory(ref("t"), 1, makeCall("t", 1), fixed)
			if d := diffTool(e.tool(ref("t")), want); d != "" {
				e.Error(d)
			}
		}},
	}
}
