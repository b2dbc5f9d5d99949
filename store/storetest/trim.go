package storetest

import (
	"iter"
	"maps"

	"memoryd"
	"memoryd/store"
)

func keysOf[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

func trimCases() []testCase {
	return []testCase{
		{name: "the oldest go first", run: func(e *env) {
			for n := 1; n <= 17; n++ {
				e.append(5, makeCall("t", n))
				first := max(1, n-4)
				e.wantHistory(ref("t"), int64(first), makeCalls("t", first, n)...)
			}
			got := e.tool(ref("t"))
			if got.Kept != 5 || got.Lifetime != 17 || got.Revision != 17 {
				e.Errorf("got %+v", got)
			}
		}},
		{name: "a batch larger than the history keeps its newest", run: func(e *env) {
			e.append(4, makeCalls("t", 1, 11)...)
			e.wantHistory(ref("t"), 8, makeCalls("t", 8, 11)...)
		}},
		{name: "a smaller keep trims", run: func(e *env) {
			e.append(10, makeCalls("t", 1, 13)...)
			e.append(4, makeCall("t", 14))
			e.wantHistory(ref("t"), 11, makeCalls("t", 11, 14)...)
			e.append(4, makeCalls("t", 15, 17)...)
			e.wantHistory(ref("t"), 14, makeCalls("t", 14, 17)...)
		}},
		{name: "a larger keep lets the history grow", run: func(e *env) {
			e.append(3, makeCalls("t", 1, 7)...)
			e.append(6, makeCall("t", 8))
			e.wantHistory(ref("t"), 5, makeCalls("t", 5, 8)...)
			e.append(6, makeCalls("t", 9, 12)...)
			e.wantHistory(ref("t"), 7, makeCalls("t", 7, 12)...)
		}},
		{name: "keep changes back and forth", run: func(e *env) {
			n := 0
			kept := 0
			for _, keep := range []int{3, 1, 5, 5, 2, 7, 7, 7, 7, 1, 1, 4} {
				e.append(keep, makeCalls("t", n+1, n+2)...)
				n += 2
				kept = min(kept+2, keep)
				e.wantHistory(ref("t"), int64(n-kept+1), makeCalls("t", n-kept+1, n)...)
			}
		}},
		{name: "a skipped call still trims its tool", run: func(e *env) {
			e.append(10, makeCalls("t", 1, 6)...)
			e.append(2, makeCall("t", 6))
			e.wantHistory(ref("t"), 5, makeCalls("t", 5, 6)...)
		}},
		{name: "one tool's calls do not push another's out", run: func(e *env) {
			e.append(3, makeCalls("a", 1, 3)...)
			e.append(3, makeCalls("b", 1, 9)...)
			e.wantHistory(ref("a"), 1, makeCalls("a", 1, 3)...)
		}},
		{name: "a pending call that goes is no longer pending", run: func(e *env) {
			e.append(2, makePending("t", 1), makePending("t", 2))
			e.append(2, makeCall("t", 3))
			if got := e.tool(ref("t")).Pending; got != 1 {
				e.Errorf("%d pending, want 1", got)
			}
			e.append(1, makeCall("t", 4))
			if got := e.tool(ref("t")).Pending; got != 0 {
				e.Errorf("%d pending, want 0", got)
			}
		}},
		{name: "calls of very different sizes take each other's place", run: func(e *env) {
			var want []memoryd.Call
			for n := 1; n <= 30; n++ {
				c := makeCall("t", n)
				c.Output = string(make([]byte, (n*7919)%9000))
				want = append(want, c)
				e.append(4, c)
			}
			e.wantHistory(ref("t"), 27, want[26:]...)
		}},
	}
}

func repeatCases() []testCase {
	// again is call 1 made at another time: equal input and output, another key.
	again := func(n int) memoryd.Call {
		c := makeCall("t", 1)
		c.CreateTime = makeCall("t", n).CreateTime
		return identify(c)
	}
	return []testCase{
		{name: "equal input and output at another time is a repeat", run: func(e *env) {
			e.append(100, makeCall("t", 1), makeCall("t", 2))
			if a := e.append(100, again(50))[0]; a != (store.Appended{New: true, Repeat: true, Seq: 3}) {
				e.Errorf("got %+v", a)
			}
			got := e.tool(ref("t"))
			if got.Lifetime != 3 || got.Duplicates != 1 || got.Kept != 3 {
				e.Errorf("got %+v", got)
			}
		}},
		{name: "repeats within one batch are seen", run: func(e *env) {
			got := e.append(100, makeCall("t", 1), again(50), again(51), makeCall("t", 2))
			for i, want := range []bool{false, true, true, false} {
				if got[i].Repeat != want {
					e.Errorf("call %d: repeat is %v", i, got[i].Repeat)
				}
			}
			if d := e.tool(ref("t")).Duplicates; d != 2 {
				e.Errorf("%d duplicates, want 2", d)
			}
		}},
		{name: "a repeat of a call that was let go is seen", run: func(e *env) {
			e.append(2, makeCalls("t", 1, 6)...)
			if a := e.append(2, again(50))[0]; !a.Repeat {
				e.Errorf("got %+v", a)
			}
		}},
		{name: "another tool's equal call is no repeat", run: func(e *env) {
			e.append(100, makeCall("t", 1))
			if a := e.append(100, makeCall("u", 1))[0]; a.Repeat || !a.New {
				e.Errorf("got %+v", a)
			}
		}},
		{name: "the same call sent again is no repeat", run: func(e *env) {
			e.append(100, makeCall("t", 1))
			e.append(100, makeCall("t", 1))
			if d := e.tool(ref("t")).Duplicates; d != 0 {
				e.Errorf("%d duplicates", d)
			}
		}},
	}
}
