package ops

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestWhoWaitsGivesItsTurnAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		st := &State{Turns: turns}
		if err := turns.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("gone"))
		if err := turns.Take(ended); err == nil || err.Error() != "gone" {
			t.Errorf("a second turn: %v", err)
		}
		st.away(func() {
			if err := turns.Take(t.Context()); err != nil {
				t.Error(err)
			}
			turns.Give()
		})
		turns.Give()
		(&State{}).away(func() {}) // without a bound
	})
}
