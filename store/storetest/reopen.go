package storetest

import (
	"fmt"

	"memoryd"
	"memoryd/store"
)

func reopenCases() []testCase {
	return []testCase{
		{name: "everything survives", durable: true, run: everythingSurvives},
		{name: "keys and repeats are remembered", durable: true, run: func(e *env) {
			e.append(3, makeCalls("t", 1, 9)...)
			e.reopen()
			for i, a := range e.append(3, makeCalls("t", 1, 9)...) {
				if a.New {
					e.Errorf("call %d was accepted again", i)
				}
			}
			again := makeCall("t", 1)
			again.CreateTime = "another time"
			if a := e.append(3, identify(again))[0]; a != (store.Appended{New: true, Repeat: true, Seq: 10}) {
				e.Errorf("got %+v", a)
			}
		}},
		{name: "pending calls are claimed in their old order", durable: true, run: func(e *env) {
			e.append(9, makePending("b", 1), makePending("a", 2), makePending("b", 3))
			e.settle(verdictOn(makeCall("b", 1), failedTry(2, 500)))
			e.claim(0, 9)
			e.reopen()
			e.wantClaimed(e.claim(20, 9), makePending("a", 2), makePending("b", 3))
			e.wantClaimed(e.claim(501, 1), makePending("b", 1))
		}},
		{name: "what was deleted stays away", durable: true, run: func(e *env) {
			e.append(9, makeCalls("t", 1, 5)...)
			e.append(9, makeCalls("u", 1, 5)...)
			if err := e.s.DeleteTool(e.Context(), ref("t")); err != nil {
				e.Fatal(err)
			}
			e.reopen()
			e.wantGone("t")
			e.append(9, makeCalls("v", 1, 2)...)
			for i, a := range e.append(9, makeCalls("t", 1, 5)...) {
				if !a.New || a.Seq != int64(i)+1 || a.Repeat {
					e.Errorf("call %d: got %+v", i, a)
				}
			}
			e.reopen()
			e.wantHistory(ref("t"), 1, makeCalls("t", 1, 5)...)
			e.wantHistory(ref("u"), 1, makeCalls("u", 1, 5)...)
			e.wantHistory(ref("v"), 1, makeCalls("v", 1, 2)...)
		}},
		{name: "a history goes on where it stopped", durable: true, run: func(e *env) {
			n, kept := 0, 0
			for _, keep := range []int{3, 3, 6, 6, 2, 4, 1} {
				e.append(keep, makeCalls("t", n+1, n+4)...)
				n, kept = n+4, min(kept+4, keep)
				e.reopen()
				e.wantHistory(ref("t"), int64(n-kept+1), makeCalls("t", n-kept+1, n)...)
			}
		}},
	}
}

// everythingSurvives compares all that can be read before and after.
func everythingSurvives(e *env) {
	for i, name := range trickyNames() {
		calls := append(makeCalls(name, i, i+4), makePending(name, i+5), makePending(name, i+6))
		e.append(5, calls...)
		e.settle(verdictOn(makeCall(name, i+5), makeVerdict(i)))
		if i%2 == 0 {
			g := memoryd.Guideline{Content: fmt.Sprintf("text %d\x00", i), Author: "a", BasedOn: 3, ThroughSeq: 2, Written: base}
			if err := e.s.PutGuideline(e.Context(), ref(name), g, 0); err != nil {
				e.Fatal(err)
			}
		}
	}
	for i, name := range trickyNames() {
		if i%3 == 0 {
			e.cut(1, name, makeCall(name, i+3).Key)
		}
	}
	if err := e.s.CacheVerdict(e.Context(), [16]byte{7}, makeVerdict(7)); err != nil {
		e.Fatal(err)
	}
	tools := map[string]memoryd.Tool{}
	calls := map[string][]memoryd.Call{}
	for _, name := range trickyNames() {
		tools[name], calls[name] = e.tool(ref(name)), e.history(ref(name), 0)
	}
	for range 2 {
		e.reopen()
		for _, name := range trickyNames() {
			got := e.tool(ref(name))
			if d := diffTool(got, tools[name]); d != "" {
				e.Fatal(d)
			}
			if !instant(got.Created).Equal(instant(tools[name].Created)) || !instant(got.Modified).Equal(instant(tools[name].Modified)) {
				e.Errorf("%q: times changed from %v, %v to %v, %v", name,
					tools[name].Created, tools[name].Modified, got.Created, got.Modified)
			}
			e.wantHistory(ref(name), calls[name][0].Seq, calls[name]...)
		}
		e.wantCached([16]byte{7}, makeVerdict(7))
	}
	list, err := e.s.ListTools(e.Context(), space, "", 1000)
	if err != nil || len(list) != len(tools) {
		e.Errorf("got %d tools, %v", len(list), err)
	}
}
