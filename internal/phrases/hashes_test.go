package phrases

import (
	"math/rand/v2"
	"testing"
)

func TestHashesHoldWhatWasAdded(t *testing.T) {
	var s Hashes
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		want := map[uint64]bool{}
		for range r.IntN(3000) {
			h := r.Uint64N(1<<12) << 1 // many are added twice
			s.Add(h)
			want[h] = true
		}
		for h := uint64(0); h < 1<<13; h += 2 {
			if s.Has(h) != want[h] {
				t.Fatalf("%d: %v", h, s.Has(h))
			}
		}
		s.Clear()
		if s.Has(2) {
			t.Fatal("an empty set has something")
		}
	}
}
