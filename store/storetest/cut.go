package storetest

import (
	"slices"
	"strings"

	"memoryd"
	"memoryd/store"
)

func cutCases() []testCase {
	return []testCase{
		{name: "calls that are cut out are gone, the others stay in order", run: func(e *env) {
			calls := append(makeCalls("t", 1, 6), makePending("t", 7), makePending("t", 8))
			e.append(9, calls...)
			e.append(9, makeCalls("u", 1, 2)...)
			e.cut(4, "t", calls[1].Key, calls[3].Key, calls[5].Key, calls[6].Key, memoryd.CallKey{9})
			want := []memoryd.CallKey{calls[0].Key, calls[2].Key, calls[4].Key, calls[7].Key}
			e.wantKeys("t", want)
			if got := e.tool(ref("t")); got.Kept != 4 || got.Lifetime != 8 || got.Pending != 1 {
				e.Errorf("after it: %+v", got)
			}
			if _, err := e.s.Call(e.Context(), ref("t"), calls[1].Key); !memoryd.IsKind(err, memoryd.NotFound) {
				e.Errorf("a call that was cut out is found: %v", err)
			}
			if got := e.claim(0, 9); len(got) != 1 || got[0].Key != calls[7].Key {
				e.Errorf("pending are %v", got)
			}
			e.wantHistory(ref("u"), 1, makeCalls("u", 1, 2)...)
			e.cut(0, "t", calls[1].Key)
			e.cut(0, "nowhere", calls[1].Key)
			if a := e.append(9, calls[1]); a[0].New {
				e.Error("a call that was cut out came again as a new one")
			}
			// It goes on as before: numbers grow, the oldest leave first.
			more := makeCalls("t", 20, 21)
			e.append(5, more...)
			e.wantKeys("t", append(slices.Clone(want[1:]), more[0].Key, more[1].Key))
			samples, err := e.s.Samples(e.Context(), ref("t"))
			if err != nil || len(samples) != 5 || !slices.IsSortedFunc(samples, func(a, b memoryd.Sample) int { return int(a.Seq - b.Seq) }) {
				e.Errorf("samples %v, %v", samples, err)
			}
		}},
		{name: "a history's size is that of the calls which it keeps", run: func(e *env) {
			e.wantSize(store.Size{}, 0)(e.s.HistorySize(e.Context(), ref("t")))
			calls := makeCalls("t", 1, 4)
			calls[2].Output = strings.Repeat("é", 4000)
			calls[2] = identify(calls[2])
			e.append(9, append(calls, makePending("u", 1))...)
			e.wantHistorySize(calls...)
			e.cut(1, "t", calls[2].Key)
			e.wantHistorySize(calls[0], calls[1], calls[3])
			e.append(2, makeCall("t", 5))
			e.wantHistorySize(calls[3], makeCall("t", 5))
		}},
		{name: "a tool whose last call is cut out is gone", run: func(e *env) {
			calls := makeCalls("t", 1, 3)
			e.append(9, calls...)
			e.cut(3, "t", calls[0].Key, calls[1].Key, calls[2].Key)
			e.wantGone("t")
		}},
	}
}

func (e *env) cut(want int, tool string, keys ...memoryd.CallKey) {
	e.Helper()
	if n, err := e.s.DeleteCalls(e.Context(), ref(tool), keys); n != want || err != nil {
		e.Errorf("cut out %d calls, want %d (%v)", n, want, err)
	}
}

// wantKeys compares the history by History and, backwards, by ListCalls.
func (e *env) wantKeys(tool string, want []memoryd.CallKey) {
	e.Helper()
	history, err := e.s.History(e.Context(), ref(tool), 0)
	if err != nil {
		e.Fatal(err)
	}
	page, err := e.s.ListCalls(e.Context(), ref(tool), store.CallPage{Limit: len(want) + 1})
	if err != nil {
		e.Fatal(err)
	}
	slices.Reverse(page)
	for name, calls := range map[string][]memoryd.Call{"History": history, "ListCalls": page} {
		var got []memoryd.CallKey
		for i := range calls {
			got = append(got, calls[i].Key)
		}
		if !slices.Equal(got, want) {
			e.Errorf("%s has %v, want %v", name, got, want)
		}
	}
}

// wantHistorySize expects the tool t to keep calls: their texts, and less than a third of
// a kilobyte of each beside them.
func (e *env) wantHistorySize(calls ...memoryd.Call) {
	e.Helper()
	want := store.Size{Count: int64(len(calls))}
	for _, c := range calls {
		want.Bytes += int64(len(c.Input) + len(c.Output) + len(c.Metadata))
	}
	e.wantSize(want, want.Bytes+want.Count*300)(e.s.HistorySize(e.Context(), ref("t")))
}
