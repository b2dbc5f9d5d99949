package qdrant

import "time"

// AgeSeat makes the store's seat of the clock as old as if nobody had renewed it
// for so long.
func (s *Store) AgeSeat(d time.Duration) {
	st := &s.seating
	st.mu.Lock()
	defer st.mu.Unlock()
	st.renewAt, st.endsAt = st.renewAt.Add(-d), st.endsAt.Add(-d)
}

// Waiting is how many appends wait for a request that they will share.
func (s *Store) Waiting() int {
	s.sharing.mu.Lock()
	defer s.sharing.mu.Unlock()
	return len(s.sharing.queue)
}
