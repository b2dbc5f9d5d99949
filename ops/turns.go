package ops

import "context"

// Turns bounds how many requests compute at a time. Requests beyond it wait for
// their turn instead of all being slow together, so that under overload what is
// small, a question whether the server lives, is still answered at once. Who
// waits for something else, a disk or a model, gives its turn away meanwhile.
type Turns chan struct{}

// NewTurns makes n turns.
func NewTurns(n int) Turns { return make(Turns, n) }

// Take waits for a turn, or for the end of ctx.
func (t Turns) Take(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Give gives the turn back.
func (t Turns) Give() {
	if t != nil {
		<-t
	}
}

// away runs f, which waits for something, without the request's turn.
func (st *State) away(f func()) {
	st.Turns.Give()
	// The turn is taken again whatever became of the request: its holder gives
	// it back, and turns come soon.
	defer func() { _ = st.Turns.Take(context.Background()) }()
	f()
}
