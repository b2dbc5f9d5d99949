package qdrant

import "time"

// AgeLease makes the store's lease of the clock as old as if nobody had renewed it
// for so long.
func (s *Store) AgeLease(d time.Duration) {
	st := &s.clockLease
	st.mu.Lock()
	defer st.mu.Unlock()
	st.renewAt, st.endsAt = st.renewAt.Add(-d), st.endsAt.Add(-d)
}

// Waiting is how many appends wait for a request that they will share.
func (s *Store) Waiting() int {
	s.batcher.mu.Lock()
	defer s.batcher.mu.Unlock()
	return len(s.batcher.queue)
}
