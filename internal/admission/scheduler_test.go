package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"

	"pgregory.net/rapid"
)

// acquire takes a slot that is free.
func acquire(t *testing.T, s *Scheduler, workspace string) *Slot {
	t.Helper()
	slot, err := s.Acquire(t.Context(), workspace)
	if err != nil {
		t.Fatal(err)
	}
	return slot
}

func TestWhoWaitsGivesItsSlotAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(1, 0)
		slot := acquire(t, s, "w")
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("gone"))
		if _, err := s.Acquire(ended, "w"); err == nil || err.Error() != "gone" {
			t.Errorf("a second slot: %v", err)
		}
		if err := Blocking(slot, func() {
			other := acquire(t, s, "w")
			other.Release()
		}); err != nil {
			t.Error(err)
		}
		slot.Release()
		slot.Release() // once too often does nothing
		if s.free != 1 {
			t.Errorf("%d slots are free, want 1", s.free)
		}
		ran := false
		if err := Blocking(t.Context(), func() { ran = true }); err != nil || !ran { // without a slot
			t.Errorf("ran %v, %v", ran, err)
		}
	})
}

// Waiting for the slot again ends with the request (it waited without a context
// once, beyond the end of its client).
func TestReacquireEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(1, 0)
		ended, cancel := context.WithCancelCause(t.Context())
		slot, err := s.Acquire(ended, "w")
		if err != nil {
			t.Fatal(err)
		}
		var other *Slot
		ran := false
		time.AfterFunc(time.Second, func() { cancel(errors.New("gone")) })
		err = Blocking(slot, func() {
			other = acquire(t, s, "w") // and keeps it
			ran = true
		})
		if !ran || err == nil || err.Error() != "gone" {
			t.Errorf("ran %v, got %v", ran, err)
		}
		slot.Release() // it is not held: nothing is given back twice
		if s.free != 0 || s.queue.Len() != 0 || s.queue.Flows() != 0 {
			t.Errorf("%d free, %d wait", s.free, s.queue.Len())
		}
		other.Release()
		if s.free != 1 {
			t.Errorf("%d slots are free, want 1", s.free)
		}
	})
}

func TestANilSchedulerHasNoBounds(t *testing.T) {
	var s *Scheduler
	slot, err := s.Acquire(t.Context(), "w")
	if err != nil {
		t.Fatal(err)
	}
	ran := false
	if err := Blocking(slot, func() { ran = true }); err != nil || !ran {
		t.Errorf("ran %v, %v", ran, err)
	}
	slot.Release()
}

// order lets requests of workspaces wait for one slot and says in which order they
// get it.
func order(t *testing.T, waiting ...string) []string {
	t.Helper()
	s := NewScheduler(1, 0)
	first := acquire(t, s, "first")
	var mu sync.Mutex
	var got []string
	for _, w := range waiting {
		go func() {
			slot, err := s.Acquire(t.Context(), w)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			got = append(got, w)
			mu.Unlock()
			slot.Release()
		}()
		synctest.Wait()
	}
	first.Release()
	synctest.Wait()
	if s.queue.Flows() != 0 || s.queue.Len() != 0 || s.free != 1 {
		t.Errorf("something is left: %d flows, %d wait, %d free", s.queue.Flows(), s.queue.Len(), s.free)
	}
	return got
}

func TestWorkspacesShareTheSlots(t *testing.T) {
	for name, c := range map[string]struct{ waiting, want []string }{
		"one alone":       {[]string{"a", "a", "a"}, []string{"a", "a", "a"}},
		"few beside many": {[]string{"a", "a", "a", "a", "b"}, []string{"a", "b", "a", "a", "a"}},
		"three":           {[]string{"a", "a", "a", "b", "b", "c"}, []string{"a", "b", "c", "a", "b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := order(t, c.waiting...); !slices.Equal(got, c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
			})
		})
	}
}

// However requests come, compute, wait for something and give up: no slot is lost
// or made, and nobody is forgotten.
func TestSlotsAreNeitherLostNorMade(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(rt, "slots")
		type visit struct {
			space                         string
			comes, blocks, gives, patient time.Duration
		}
		visits := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) visit {
			ms := func(name string, most int) time.Duration {
				return time.Duration(rapid.IntRange(0, most).Draw(rt, name)) * time.Millisecond
			}
			return visit{fmt.Sprint(rapid.IntRange(0, 2).Draw(rt, "space")), ms("comes", 20), ms("blocks", 5), ms("gives", 5), 1 + ms("patience", 30)}
		}), 1, 40).Draw(rt, "visits")
		synctest.Test(t, func(t *testing.T) {
			s := NewScheduler(n, 0)
			var mu sync.Mutex
			var all sync.WaitGroup
			holding := 0
			hold := func(by int) {
				mu.Lock()
				defer mu.Unlock()
				if holding += by; holding > n {
					rt.Errorf("%d of %d slots are held", holding, n)
				}
			}
			for _, v := range visits {
				all.Go(func() {
					time.Sleep(v.comes)
					ctx, cancel := context.WithTimeout(t.Context(), v.patient)
					defer cancel()
					slot, err := s.Acquire(ctx, v.space)
					if err != nil {
						return
					}
					defer slot.Release()
					hold(1)
					time.Sleep(v.gives)
					hold(-1)
					if v.blocks == 0 || Blocking(slot, func() { time.Sleep(v.blocks) }) != nil {
						return
					}
					hold(1)
					time.Sleep(v.gives)
					hold(-1)
				})
			}
			all.Wait()
			if s.free != n || s.queue.Len() != 0 || s.queue.Flows() != 0 {
				rt.Errorf("%d of %d slots are free, %d wait", s.free, n, s.queue.Len())
			}
		})
	})
}

// Who waited long enough is told when to come back, and its place is free.
func TestNobodyWaitsLongerThanTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(1, 2*time.Second)
		slot := acquire(t, s, "w")
		begun := time.Now()
		_, err := s.Acquire(t.Context(), "w")
		if e, ok := errors.AsType[*memoryd.Error](err); !ok || e.Kind != memoryd.Overloaded || e.RetryAfter < time.Second {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(begun); waited != 2*time.Second {
			t.Errorf("waited %v", waited)
		}
		slot.Release()
		acquire(t, s, "w")
	})
}

// S24: at five times what the server can do, 99 of 100 who are refused are refused at once, as soon
// as the pace is known, and the slots are never idle for that; a modest workspace is not refused.
func TestWhoseTurnWouldComeTooLateIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const work, all = 100 * time.Millisecond, time.Minute
		s := NewScheduler(1, 2*time.Second)
		var served, refused, late atomic.Int64
		known := time.Now().Add((firstTurns + 2) * work)
		ask := func(workspace string) bool {
			begun := time.Now()
			slot, err := s.Acquire(t.Context(), workspace)
			if err != nil {
				if refused.Add(1); begun.After(known) && time.Since(begun) > 0 {
					late.Add(1)
				}
				return false
			}
			served.Add(1)
			time.Sleep(work)
			slot.Release()
			return true
		}
		var clients sync.WaitGroup
		for n := range int(all / work * 5) {
			if n%50 == 0 {
				clients.Go(func() {
					if !ask("modest") {
						t.Error("the modest workspace is refused")
					}
				})
			}
			clients.Go(func() { ask("greedy") })
			time.Sleep(work / 5)
		}
		clients.Wait()
		if refused.Load() < 2000 || 100*late.Load() > refused.Load() || served.Load() < int64(all/work) {
			t.Errorf("%d served, %d refused, %d of them late", served.Load(), refused.Load(), late.Load())
		}
		if len(s.lines) != 0 {
			t.Errorf("%d lines are remembered", len(s.lines))
		}
	})
}

// Whoever would be refused in the line is told so before it joins; others are not.
func TestALineThatIsTooLongHasNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(1, time.Second)
		slot := acquire(t, s, "greedy")
		for range 30 {
			go func() {
				if slot, err := s.Acquire(t.Context(), "greedy"); err == nil {
					time.Sleep(90 * time.Millisecond)
					slot.Release()
				}
			}()
		}
		synctest.Wait()
		if err := s.Room("greedy"); err != nil {
			t.Errorf("before a pace is known: %v", err)
		}
		slot.Release()
		time.Sleep(850 * time.Millisecond)
		if err := s.Room("greedy"); !memoryd.IsKind(err, memoryd.Overloaded) {
			t.Errorf("%d wait: %v", s.queue.Len(), err)
		}
		if err := s.Room("modest"); err != nil {
			t.Errorf("another workspace: %v", err)
		}
		time.Sleep(time.Minute)
	})
}

// A request whose call is stored goes before those that have not begun, and is
// never refused.
func TestWhoHadASlotIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(1, time.Second)
		mine := acquire(t, s, "w")
		var order []string
		if err := Blocking(mine, func() {
			other := acquire(t, s, "other")
			for _, name := range []string{"first", "second"} {
				go func() {
					if slot, err := s.Acquire(t.Context(), name); err == nil {
						order = append(order, name)
						slot.Release()
					}
				}()
				synctest.Wait()
			}
			go func() {
				time.Sleep(time.Second / 2)
				other.Release()
			}()
		}); err != nil {
			t.Fatal(err)
		}
		order = append(order, "had a slot")
		mine.Release()
		synctest.Wait()
		if !slices.Equal(order, []string{"had a slot", "first", "second"}) {
			t.Errorf("got %v", order)
		}
	})
}

// A line whose next would wait longer than half of the bound takes nobody more.
func TestALineIsTooLongAtHalfOfTheBound(t *testing.T) {
	const bound, pace = time.Second, 10 * time.Millisecond
	for waiting, want := range map[int]bool{0: false, 49: false, 50: true, 90: true} {
		l := line{waiting: waiting, served: firstTurns, pace: pace}
		if got := l.tooLate(bound); got != want {
			t.Errorf("%d wait: too late is %v, want %v", waiting, got, want)
		}
	}
	if l := (line{waiting: 1000, served: firstTurns - 1, pace: pace}); l.tooLate(bound) {
		t.Error("a line whose pace is not known yet refuses")
	}
}
