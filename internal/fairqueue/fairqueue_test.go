package fairqueue_test

import (
	"fmt"
	"strings"
	"testing"

	"memoryd/internal/fairqueue"

	"pgregory.net/rapid"
)

// drain takes all in order.
func drain(q *fairqueue.Queue[string]) string {
	var all []string
	for e := q.First(); e != nil; e = q.First() {
		q.Serve(e)
		all = append(all, e.Value)
	}
	return strings.Join(all, " ")
}

func push(q *fairqueue.Queue[string], values ...string) (last *fairqueue.Entry[string]) {
	for _, v := range values {
		last = q.Push(v[:1], 1, v)
	}
	return last
}

func TestFlowsTakeTurnsAndEachKeepsItsOrder(t *testing.T) {
	q := fairqueue.New[string](nil)
	push(q, "a1", "a2", "a3", "b1", "b2", "c1")
	if got := drain(q); got != "a1 b1 c1 a2 b2 a3" {
		t.Error(got)
	}
}

func TestANewcomerStartsLevelAndIdleTimeEarnsNoCredit(t *testing.T) {
	q := fairqueue.New[string](nil)
	push(q, "a1", "a2", "a3", "a4", "a5", "a6")
	for range 4 {
		q.Serve(q.First())
	}
	push(q, "b1", "b2", "b3", "b4") // b did nothing while a was served four times
	if got := drain(q); got != "b1 a5 b2 a6 b3 b4" {
		t.Error(got)
	}
}

func TestCostsAreShared(t *testing.T) {
	q := fairqueue.New[string](nil)
	for i := range 2 {
		q.Push("a", 3, fmt.Sprint("a", i))
	}
	for i := range 6 {
		q.Push("b", 1, fmt.Sprint("b", i))
	}
	if got := drain(q); got != "a0 b0 b1 b2 a1 b3 b4 b5" {
		t.Error(got)
	}
}

func TestWhatComesBackKeepsItsTurn(t *testing.T) {
	q := fairqueue.New[string](nil)
	push(q, "a1", "a2", "b1", "b2")
	first := q.First()
	q.Serve(first)
	q.Return(first)
	if got := drain(q); got != "a1 b1 a2 b2" {
		t.Error(got)
	}
}

func TestWhoHoldsSomethingIsFirst(t *testing.T) {
	q := fairqueue.New[string](nil)
	push(q, "a1", "a2", "b1")
	q.PushFirst("a", "holds1")
	q.PushFirst("b", "holds2")
	if got := drain(q); got != "holds1 holds2 a1 b1 a2" {
		t.Error(got)
	}
}

func TestWhatIsWithdrawnIsUncharged(t *testing.T) {
	q := fairqueue.New[string](nil)
	gone := push(q, "a1", "a2", "a3")
	if !q.Withdraw(gone) || q.Withdraw(gone) || gone.Queued() {
		t.Error("an entry is withdrawn once")
	}
	push(q, "b1", "b2", "b3", "a4")
	if got := drain(q); got != "a1 b1 a2 b2 b3 a4" {
		t.Error(got)
	}
}

func TestTheLastBelongsToWhoWaitsWithTheMost(t *testing.T) {
	q := fairqueue.New[string](nil)
	if q.Last() != nil || q.First() != nil {
		t.Error("an empty queue has entries")
	}
	push(q, "a1", "a2", "a3", "b1")
	if got := q.Last().Value; got != "a3" {
		t.Error(got)
	}
}

func TestQueuesOfOneClockCanBeCompared(t *testing.T) {
	var clock fairqueue.Clock
	one, two := fairqueue.New[string](&clock), fairqueue.New[string](&clock)
	push(one, "a1", "a2")
	push(two, "a3")
	if !one.First().Before(two.First()) || !two.First().Before(one.Last()) {
		t.Error("entries are not in the order of arrival and service")
	}
}

func TestFlowsAreNotRememberedForEver(t *testing.T) {
	q := fairqueue.New[string](nil)
	for i := range 5000 { // z is always busy, so time passes
		q.Push("z", 1, "x")
		q.Push(fmt.Sprint(i), 1, "x")
		q.Serve(q.First())
		q.Serve(q.First())
	}
	if n := q.Flows(); n > 200 {
		t.Errorf("%d flows are remembered", n)
	}
	q.Forget()
	if q.Flows() != 0 {
		t.Error("flows are left")
	}
}

// Whatever comes, goes and is withdrawn: everything is served once, each flow in
// its order, and while two flows wait neither is served more than one entry ahead
// of the other.
func TestServiceIsFairWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := fairqueue.New[string](nil)
		waiting := map[string]*fairqueue.Entry[string]{}
		newest := map[string]int{}
		next := map[string]int{"a": 0, "b": 0}
		lead := 0 // entries of a served beyond b's since both wait
		for step := range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "flow")
			if rapid.Bool().Draw(t, "push") {
				v := fmt.Sprintf("%s%03d", key, newest[key])
				newest[key]++
				waiting[v] = q.Push(key, 1, v)
				continue
			}
			e := q.First()
			if e == nil {
				continue
			}
			both := false
			for v := range waiting {
				both = both || v[:1] != e.Value[:1]
			}
			q.Serve(e)
			if waiting[e.Value] != e {
				t.Fatalf("step %d: %s was served twice", step, e.Value)
			}
			delete(waiting, e.Value)
			flow := e.Value[:1]
			if want := fmt.Sprintf("%s%03d", flow, next[flow]); e.Value != want {
				t.Fatalf("step %d: %s was served before %s", step, e.Value, want)
			}
			next[flow]++
			switch {
			case !both:
				lead = 0
			case flow == "a":
				lead++
			default:
				lead--
			}
			if lead > 2 || lead < -2 {
				t.Fatalf("step %d: one flow is %d ahead while both wait", step, lead)
			}
		}
		if q.Len() != len(waiting) {
			t.Fatalf("%d wait, %d were not served", q.Len(), len(waiting))
		}
	})
}
