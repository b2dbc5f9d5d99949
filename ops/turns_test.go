package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"

	"pgregory.net/rapid"
)

func TestWhoWaitsGivesItsTurnAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1, 0)
		st := &State{Turns: turns, Workspace: "w"}
		if err := turns.Take(t.Context(), "w"); err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("gone"))
		if err := turns.Take(ended, "w"); err == nil || err.Error() != "gone" {
			t.Errorf("a second turn: %v", err)
		}
		st.away(func() {
			if err := turns.Take(t.Context(), "w"); err != nil {
				t.Error(err)
			}
			turns.Give()
		})
		turns.Give()
		(&State{}).away(func() {}) // without a bound
	})
}

// order lets requests of workspaces wait for one turn and says in which order they
// get it.
func order(t *testing.T, waiting ...string) []string {
	t.Helper()
	turns := NewTurns(1, 0)
	if err := turns.Take(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	for _, w := range waiting {
		go func() {
			if err := turns.Take(t.Context(), w); err != nil {
				t.Error(err)
			}
			mu.Lock()
			got = append(got, w)
			mu.Unlock()
			turns.Give()
		}()
		synctest.Wait()
	}
	turns.Give()
	synctest.Wait()
	if len(turns.lines) != 0 || len(turns.line) != 0 || turns.free != 1 {
		t.Errorf("something is left: %v, %v, %d", turns.lines, turns.line, turns.free)
	}
	return got
}

func TestWorkspacesShareTheTurns(t *testing.T) {
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

// However requests come, wait and give up: no turn is lost or made, and nobody is
// forgotten.
func TestTurnsAreNeitherLostNorMade(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(rt, "turns")
		type visit struct {
			space                 string
			comes, gives, patient time.Duration
		}
		visits := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) visit {
			ms := func(name string, most int) time.Duration {
				return time.Duration(rapid.IntRange(0, most).Draw(rt, name)) * time.Millisecond
			}
			return visit{fmt.Sprint(rapid.IntRange(0, 2).Draw(rt, "space")), ms("comes", 20), ms("gives", 5), 1 + ms("patience", 30)}
		}), 1, 40).Draw(rt, "visits")
		synctest.Test(t, func(t *testing.T) {
			turns := NewTurns(n, 0)
			var mu sync.Mutex
			var all sync.WaitGroup
			holding := 0
			hold := func(by int) {
				mu.Lock()
				defer mu.Unlock()
				if holding += by; holding > n {
					rt.Errorf("%d of %d turns are held", holding, n)
				}
			}
			for _, v := range visits {
				all.Go(func() {
					time.Sleep(v.comes)
					ctx, cancel := context.WithTimeout(t.Context(), v.patient)
					defer cancel()
					if turns.Take(ctx, v.space) != nil {
						return
					}
					hold(1)
					time.Sleep(v.gives)
					hold(-1)
					turns.Give()
				})
			}
			all.Wait()
			if turns.free != n || len(turns.line) != 0 || len(turns.lines) != 0 {
				rt.Errorf("%d of %d turns are free, %d wait", turns.free, n, len(turns.line))
			}
		})
	})
}

// Who waited long enough is told when to come back, and its place is free.
func TestNobodyWaitsLongerThanItsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1, 2*time.Second)
		if err := turns.Take(t.Context(), "w"); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		err := turns.Take(t.Context(), "w")
		if e, ok := errors.AsType[*memoryd.Error](err); !ok || e.Kind != memoryd.Overloaded || e.RetryAfter < time.Second {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(begun); waited != 2*time.Second {
			t.Errorf("waited %v", waited)
		}
		turns.Give()
		if err := turns.Take(t.Context(), "w"); err != nil {
			t.Errorf("the next one: %v", err)
		}
	})
}

// A request whose call is stored goes before those that have not begun, and is
// never turned away.
func TestWhoHadATurnIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1, time.Second)
		st := &State{Turns: turns, Workspace: "w"}
		if err := turns.Take(t.Context(), "w"); err != nil {
			t.Fatal(err)
		}
		var order []string
		st.away(func() {
			if err := turns.Take(t.Context(), "other"); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"first", "second"} {
				go func() {
					if err := turns.Take(t.Context(), name); err == nil {
						order = append(order, name)
						turns.Give()
					}
				}()
				synctest.Wait()
			}
			go func() {
				time.Sleep(time.Second / 2)
				turns.Give()
			}()
		})
		order = append(order, "had a turn")
		turns.Give()
		synctest.Wait()
		if !slices.Equal(order, []string{"had a turn", "first", "second"}) {
			t.Errorf("got %v", order)
		}
	})
}
