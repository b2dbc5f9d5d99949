package preflight

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomHistory is calls with random features, some of them equal.
func randomHistory(r *rand.Rand, calls int) *history {
	h := &history{read: newCollector(), calls: make([]learned, calls)}
	seen := map[uint64]int32{}
	for i := range calls {
		words := make([]leaf, 1+r.IntN(6))
		for k := range words {
			words[k] = leaf{path: "q", kind: text, text: string(rune('a'+r.IntN(5))) + " " + string(rune('f'+r.IntN(9))), length: 3}
		}
		h.read.read(words)
		h.calls[i].identity = identityOf(words)
		h.first = append(h.first, h.sameAs(i, seen))
		h.judged = append(h.judged, int32(i)) //nolint:gosec // a few calls
	}
	return h
}

// TestSumsAreTakenInOrder: what is added up four at a time is, to the last bit,
// what it is one at a time.
func TestSumsAreTakenInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h := randomHistory(r, 1+r.IntN(40))
		docs := &h.read.features[view(r.IntN(int(views)))]
		v := newVocabulary(docs, h.judged, len(h.read.known.keys))
		m := h.matrixOf(v, docs, h.judged)
		w, by := make([]float64, len(v.rarity)), make([]float64, m.rows())
		for i := range w {
			w[i] = r.NormFloat64()
		}
		for i := range by {
			by[i] = r.NormFloat64()
		}
		out, point, columns := make([]float64, m.rows()), make([]float64, len(w)), m.transposed(len(w))
		m.times(w, out, make([]float64, m.rows()))
		m.spread(point, by)
		for i, call := range h.judged {
			if x := v.learned(vector{}, docs.of(int(call))); x.dot(w) != out[i] {
				t.Fatalf("row %d: %v, want %v", i, out[i], x.dot(w))
			}
		}
		for f, got := range point {
			in, with := columns.column(int32(f)) //nolint:gosec // a few features
			var want float64
			for k, i := range in {
				want += by[i] * with[k]
			}
			if got != want || !slices.IsSorted(in) {
				t.Fatalf("feature %d: %v, want %v over %v", f, got, want, in)
			}
		}
	}
}

func TestInternerNumbersInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	in, want := newInterner(), map[uint64]int32{}
	for range 20000 {
		key := r.Uint64N(9000) << (8 * r.IntN(7))
		n, known := want[key]
		if !known {
			n = int32(len(want)) //nolint:gosec // a few keys
			want[key] = n
		}
		if got := in.number(key); got != n || in.keys[n] != key {
			t.Fatalf("%x has number %d, want %d", key, got, n)
		}
	}
}
