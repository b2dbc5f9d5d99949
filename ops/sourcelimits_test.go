package ops

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Runs of writers have to say what a list of them says.
func TestWritersCountAsAListOfThem(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var w writers
		var list []string
		for range 60 {
			source, n := []string{"", "a", "b"}[random.IntN(3)], 1+random.IntN(3)
			w = slices.Clone(w).with(source, n)
			list = append(list, slices.Repeat([]string{source}, n)...)
			keep := 5 + random.IntN(40)
			before := w.calls()
			newest := w.newest(keep)
			if w.calls() != before {
				t.Fatal("the writers were changed")
			}
			w, list = newest, list[max(0, len(list)-keep):]
			if w.calls() != len(list) {
				t.Fatalf("seed %d: %d calls, want %d", seed, w.calls(), len(list))
			}
			for _, source := range []string{"", "a", "b"} {
				want := len(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s != source }))
				if got := w.of(source); got != want {
					t.Fatalf("seed %d: %d calls of %q, want %d", seed, got, source, want)
				}
			}
		}
	}
}
