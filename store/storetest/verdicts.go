package storetest

import (
	"fmt"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"
)

// claim claims with the clock at base+minutes and a lease of ten minutes.
func (e *env) claim(minutes, limit int) []memoryd.Call {
	e.Helper()
	out, err := e.s.Claim(e.Context(), at(minutes), 10*time.Minute, limit)
	if err != nil {
		e.Fatalf("claim: %v", err)
	}
	return out
}

func at(minutes int) time.Time { return base.Add(time.Duration(minutes) * time.Minute) }

func (e *env) settle(verdicts ...store.Verdict) []bool {
	e.Helper()
	out, err := e.s.Settle(e.Context(), verdicts)
	if err != nil {
		e.Fatalf("settle: %v", err)
	}
	if len(out) != len(verdicts) {
		e.Fatalf("settle answered for %d of %d verdicts", len(out), len(verdicts))
	}
	return out
}

func verdictOn(c memoryd.Call, ev memoryd.Evaluation) store.Verdict {
	return store.Verdict{ToolRef: c.ToolRef, Key: c.Key, Evaluation: ev}
}

// failedTry is what a worker reports of a try that came to nothing.
func failedTry(attempts, notBefore int) memoryd.Evaluation {
	return memoryd.Evaluation{
		State: memoryd.Pending, Attempts: attempts, LastError: "away", NotBefore: at(notBefore),
		Summary: "must not be stored", Score: 1,
	}
}

func settleCases() []testCase {
	return []testCase{
		{name: "a pending call takes its verdict once", run: func(e *env) {
			e.append(9, makePending("t", 1), makePending("t", 2))
			if got := e.settle(verdictOn(makeCall("t", 1), makeVerdict(1))); !got[0] {
				e.Error("not written")
			}
			if got := e.settle(verdictOn(makeCall("t", 1), makeVerdict(2))); got[0] {
				e.Error("written twice")
			}
			e.wantHistory(ref("t"), 1, makeCall("t", 1), makePending("t", 2))
			got := e.tool(ref("t"))
			if got.Pending != 1 || got.Revision != 3 || got.Lifetime != 2 {
				e.Errorf("got %+v", got)
			}
		}},
		{name: "of two verdicts in one call the first counts", run: func(e *env) {
			e.append(9, makePending("t", 1))
			c := makeCall("t", 1)
			got := e.settle(verdictOn(c, makeVerdict(1)), verdictOn(c, makeVerdict(2)))
			if !slices.Equal(got, []bool{true, false}) {
				e.Errorf("got %v", got)
			}
			e.wantHistory(ref("t"), 1, c)
		}},
		{name: "a failed verdict is final too", run: func(e *env) {
			e.append(9, makePending("t", 1))
			gone := memoryd.Evaluation{State: memoryd.Failed, Attempts: 5, LastError: "refused", JudgedAt: base}
			e.settle(verdictOn(makeCall("t", 1), gone))
			want := makeCall("t", 1)
			want.Evaluation = gone
			e.wantHistory(ref("t"), 1, want)
			if got := e.settle(verdictOn(want, makeVerdict(1))); got[0] {
				e.Error("a final verdict was replaced")
			}
		}},
		{name: "a failed try changes only what it may", run: func(e *env) {
			e.append(9, makePending("t", 1))
			if got := e.settle(verdictOn(makeCall("t", 1), failedTry(3, 20))); !got[0] {
				e.Error("not written")
			}
			want := makePending("t", 1)
			want.Evaluation.Attempts, want.Evaluation.LastError, want.Evaluation.NotBefore = 3, "away", at(20)
			e.wantHistory(ref("t"), 1, want)
			if got := e.tool(ref("t")); got.Pending != 1 || got.Revision != 1 {
				e.Errorf("got %+v", got)
			}
		}},
		{name: "what is not there is skipped", run: func(e *env) {
			e.append(1, makePending("t", 1))
			e.append(1, makePending("t", 2))
			judged := makeCall("t", 2)
			elsewhere := verdictOn(judged, makeVerdict(2))
			elsewhere.Tool = "u"
			foreign := verdictOn(judged, makeVerdict(2))
			foreign.Workspace = "v"
			got := e.settle(verdictOn(makeCall("t", 1), makeVerdict(1)), verdictOn(makeCall("t", 7), makeVerdict(7)),
				elsewhere, foreign, verdictOn(judged, makeVerdict(2)))
			if !slices.Equal(got, []bool{false, false, false, false, true}) {
				e.Errorf("got %v", got)
			}
			e.wantHistory(ref("t"), 2, judged)
		}},
		{name: "a call that came with its verdict keeps it", run: func(e *env) {
			e.append(9, makeCall("t", 1))
			if got := e.settle(verdictOn(makeCall("t", 1), makeVerdict(2))); got[0] {
				e.Error("written")
			}
			e.wantHistory(ref("t"), 1, makeCall("t", 1))
		}},
		{name: "an unknown state is invalid and nothing is written", run: func(e *env) {
			e.append(9, makePending("t", 1))
			_, err := e.s.Settle(e.Context(), []store.Verdict{
				verdictOn(makeCall("t", 1), makeVerdict(1)), verdictOn(makeCall("t", 1), memoryd.Evaluation{State: "odd"}),
			})
			e.wantKind(err, memoryd.Invalid)
			e.wantHistory(ref("t"), 1, makePending("t", 1))
		}},
		{name: "samples follow the verdict", run: func(e *env) {
			e.append(9, makePending("t", 1))
			e.wantHistory(ref("t"), 1, makePending("t", 1)) // reads the samples too
			e.settle(verdictOn(makeCall("t", 1), makeVerdict(1)))
			e.wantHistory(ref("t"), 1, makeCall("t", 1))
		}},
	}
}

func claimCases() []testCase {
	return []testCase{
		{name: "pending calls come oldest first", run: func(e *env) {
			e.append(9, makePending("b", 1), makeCall("b", 2), makePending("a", 3))
			e.append(9, makePending("b", 4))
			e.append(9, makePending("a", 5))
			got := e.claim(0, 3)
			e.wantClaimed(got, makePending("b", 1), makePending("a", 3), makePending("b", 4))
			if !got[0].Evaluation.NotBefore.Equal(at(10)) {
				e.Errorf("its lease ends at %v", got[0].Evaluation.NotBefore)
			}
		}},
		{name: "a claimed call is not claimed again before its lease ends", run: func(e *env) {
			e.append(9, makePending("t", 1), makePending("t", 2))
			e.wantClaimed(e.claim(0, 1), makePending("t", 1))
			e.wantClaimed(e.claim(5, 9), makePending("t", 2))
			e.wantClaimed(e.claim(9, 9))
			e.wantClaimed(e.claim(10, 9), makePending("t", 1))
			e.wantClaimed(e.claim(15, 9), makePending("t", 2))
		}},
		{name: "a failed try waits until its time", run: func(e *env) {
			e.append(9, makePending("t", 1), makePending("t", 2))
			e.wantClaimed(e.claim(0, 1), makePending("t", 1))
			e.settle(verdictOn(makeCall("t", 1), failedTry(1, 30)))
			e.wantClaimed(e.claim(29, 9), makePending("t", 2))
			again := e.claim(30, 1)
			e.wantClaimed(again, makePending("t", 1))
			if again[0].Evaluation.Attempts != 1 || again[0].Evaluation.LastError != "away" {
				e.Errorf("got %+v", again[0].Evaluation)
			}
		}},
		{name: "a failed try ends the lease", run: func(e *env) {
			e.append(9, makePending("t", 1))
			e.claim(0, 1)
			e.settle(verdictOn(makeCall("t", 1), failedTry(1, 2)))
			e.wantClaimed(e.claim(3, 1), makePending("t", 1))
		}},
		{name: "judged and let-go calls are not claimed", run: func(e *env) {
			e.append(3, makePending("t", 1), makePending("t", 2), makePending("t", 3))
			e.settle(verdictOn(makeCall("t", 2), makeVerdict(2)))
			e.append(3, makeCall("t", 4))
			e.wantClaimed(e.claim(0, 9), makePending("t", 3))
		}},
		{name: "the clock may go back", run: func(e *env) {
			e.append(9, makePending("t", 1))
			e.claim(0, 1)
			e.wantClaimed(e.claim(100, 1), makePending("t", 1))
			e.wantClaimed(e.claim(50, 1))
			e.wantClaimed(e.claim(110, 1), makePending("t", 1))
		}},
		{name: "a limit of nothing gives nothing", run: func(e *env) {
			e.append(9, makePending("t", 1))
			e.wantClaimed(e.claim(0, 0))
			_, err := e.s.Claim(e.Context(), at(0), time.Minute, -1)
			e.wantKind(err, memoryd.Invalid)
			e.wantClaimed(e.claim(0, 1), makePending("t", 1))
		}},
	}
}

// wantClaimed checks which calls were claimed, and that they came whole.
func (e *env) wantClaimed(got []memoryd.Call, want ...memoryd.Call) {
	e.Helper()
	if len(got) != len(want) {
		e.Fatalf("claimed %d calls, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		g.Seq, g.Evaluation, w.Evaluation = 0, memoryd.Evaluation{}, memoryd.Evaluation{}
		if d := diffCalls([]memoryd.Call{g}, []memoryd.Call{w}); d != "" {
			e.Fatalf("claim %d: %s", i, d)
		}
		if got[i].Evaluation.State != memoryd.Pending || got[i].Seq == 0 {
			e.Errorf("claim %d: state %q, number %d", i, got[i].Evaluation.State, got[i].Seq)
		}
	}
}

func cacheCases() []testCase {
	return []testCase{
		{name: "what was kept is found", run: func(e *env) {
			_, err := e.s.CachedVerdict(e.Context(), [16]byte{1})
			e.wantKind(err, memoryd.NotFound)
			for n := range 5 {
				if err := e.s.CacheVerdict(e.Context(), [16]byte{byte(n), 0, 1}, makeVerdict(n)); err != nil {
					e.Fatal(err)
				}
			}
			for n := range 5 {
				e.wantCached([16]byte{byte(n), 0, 1}, makeVerdict(n))
			}
			_, err = e.s.CachedVerdict(e.Context(), [16]byte{9, 0, 1})
			e.wantKind(err, memoryd.NotFound)
		}},
		{name: "the newest wins", run: func(e *env) {
			for n := range 3 {
				if err := e.s.CacheVerdict(e.Context(), [16]byte{}, makeVerdict(n)); err != nil {
					e.Fatal(err)
				}
				e.wantCached([16]byte{}, makeVerdict(n))
			}
		}},
		{name: "a pending one stands for one that was taken back", run: func(e *env) {
			for _, v := range []memoryd.Evaluation{makeVerdict(1), memoryd.PendingEvaluation()} {
				if err := e.s.CacheVerdict(e.Context(), [16]byte{}, v); err != nil {
					e.Fatal(err)
				}
				e.wantCached([16]byte{}, v)
			}
		}},
	}
}

func (e *env) wantCached(key [16]byte, want memoryd.Evaluation) {
	e.Helper()
	got, err := e.s.CachedVerdict(e.Context(), key)
	if err != nil {
		e.Fatal(err)
	}
	if d := diffEvaluation(got, want); d != "" {
		e.Fatal(d)
	}
}

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
		{name: "a claimed call that is to be judged anew is let go", run: func(e *env) {
			e.append(9, makePending("t", 1), makePending("t", 2))
			e.wantClaimed(e.claim(0, 1), makePending("t", 1))
			c := makePending("t", 1)
			amend(&c, c.Run())
			v := verdictOn(c, memoryd.PendingEvaluation())
			v.Amendment = memoryd.AmendmentOf(&c)
			if _, err := e.s.Override(e.Context(), v); err != nil {
				e.Fatal(err)
			}
			claimed := e.claim(1, 9)
			amended := func(got memoryd.Call) bool { return got.Key == c.Key && got.Output == c.Output }
			if len(claimed) != 2 || !slices.ContainsFunc(claimed, amended) {
				e.Errorf("claimed %+v", claimed)
			}
			if got := e.tool(ref("t")); got.Pending != 2 {
				e.Errorf("%d wait", got.Pending)
			}
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
