package ops

import (
	"testing"

	"memoryd/guidelines/revisions"
	"memoryd/internal/accounts"
	"memoryd/store/mem"
)

// Each prompt begins a session anew as long as there is nothing to tell of its project.
func TestASessionIsToldALineOnceHoweverManyPromptsFollow(t *testing.T) {
	t.Parallel()
	o := newHooks(Deps{Store: mem.New(), Revisions: &revisions.Manager{}}, HookParams{})
	of := sessionOf{"w", "s"}
	o.tell(of, "a line")
	for range 2 {
		if a, err := o.begin(t.Context(), &accounts.Hook{Moment: accounts.Begins}, of); err != nil || a.Body != nil {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if o.tell(of, "a line") {
		t.Error("it is told again")
	}
	if !o.tell(of, "") {
		t.Error("a session that was told nothing is not begun")
	}
}
