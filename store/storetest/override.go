package storetest

import (
	"fmt"

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

// amend changes all that an amendment may; a call stays in its run.
func amend(c *memoryd.Call, run string) {
	c.Input, c.Output, c.Metadata = []byte(`{"n": 0, "more": true}`), c.Output+" and the rest", []byte(`{"sources":["a","b"]}`)
	if run != "" {
		c.Metadata = fmt.Appendf(nil, `{"sources":["a","b"],"trajectory_id":%q}`, run)
	}
	c.Success, c.TimeCost, c.Hash = !c.Success, c.TimeCost+1, "amended"+c.Hash
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
		{name: "an amended call is what the further source told, and waits for its judge where it must", run: func(e *env) {
			e.append(9, makeCalls("t", 1, 4)...)
			e.append(9, makePending("t", 5), makePending("t", 6))
			want := append(makeCalls("t", 1, 4), makePending("t", 5), makePending("t", 6))
			amended := []int{1, 2, 4, 5}
			for _, i := range amended {
				c := &want[i]
				amend(c, c.Run())
				if i == 2 || i == 4 {
					c.Evaluation = memoryd.PendingEvaluation()
				} else {
					c.Evaluation = makeVerdict(7)
				}
				v := verdictOn(*c, c.Evaluation)
				v.Amendment = memoryd.AmendmentOf(c)
				was, err := e.s.Override(e.Context(), v)
				if err != nil || was.Output == c.Output {
					e.Fatalf("%v, %+v", err, was)
				}
			}
			e.wantHistory(ref("t"), 1, want...)
			if got := e.tool(ref("t")); got.Pending != 2 || got.Lifetime != 6 {
				e.Errorf("got %+v", got)
			}
			claimed := e.claim(0, 9)
			if len(claimed) != 2 {
				e.Fatalf("%d calls wait", len(claimed))
			}
			for _, i := range []int{2, 4} {
				want[i].Evaluation = makeVerdict(8)
				if got := e.settle(verdictOn(want[i], want[i].Evaluation)); !got[0] {
					e.Error("the judge's verdict on an amended call was not written")
				}
			}
			e.wantHistory(ref("t"), 1, want...)
		}},
		{name: "an amended call survives", durable: true, run: func(e *env) {
			e.append(9, makeCalls("t", 1, 3)...)
			want := makeCalls("t", 1, 3)
			for i := range want[:2] {
				amend(&want[i], want[i].Run())
				if i == 0 {
					want[i].Evaluation = memoryd.PendingEvaluation()
				}
				v := verdictOn(want[i], want[i].Evaluation)
				v.Amendment = memoryd.AmendmentOf(&want[i])
				if _, err := e.s.Override(e.Context(), v); err != nil {
					e.Fatal(err)
				}
			}
			e.reopen()
			e.wantHistory(ref("t"), 1, want...)
			e.wantClaimed(e.claim(0, 9), want[0])
			if got := e.tool(ref("t")); got.Pending != 1 {
				e.Errorf("got %+v", got)
			}
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
