package search

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd"

	"pgregory.net/rapid"
)

func vectors(n int) *rapid.Generator[[]float32] {
	return rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Filter(func(v []float32) bool { return length(v) > 1e-3 })
}

func TestAVectorComesBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, ok := unit(vectors(rapid.IntRange(1, 40).Draw(t, "dimensions")).Draw(t, "vector"))
		if !ok {
			t.Fatal("no direction")
		}
		e := entry{
			model: rapid.StringN(-1, -1, mostModelBytes).Draw(t, "model"), asked: rapid.IntRange(0, mostDimensions).Draw(t, "asked"),
			text: digestOf(rapid.String().Draw(t, "text")), vector: v,
		}
		got, err := decode(e.encode())
		if err != nil || got.model != e.model || got.asked != e.asked || got.text != e.text || !slices.Equal(got.vector, e.vector) {
			t.Fatalf("wrote %+v, read %+v, %v", e, got, err)
		}
	})
}

func TestACutOrLengthenedRecordIsRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := entry{model: "m", vector: []float32{0.6, 0.8}}
		b := e.encode()
		if rapid.Bool().Draw(t, "longer") {
			b = append(b, rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "more")...)
		} else {
			b = b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]
		}
		if got, err := decode(b); err == nil {
			t.Fatalf("read %+v of %q", got, b)
		}
	})
}

func TestARecordWithoutAUnitVectorIsRefused(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, v := range map[string][]float32{"no number": {nan, 1}, "infinite": {inf, 0}, "zero": {0, 0}, "too long": {3, 4}, "none": {}} {
		if got, err := decode((&entry{model: "m", vector: v}).encode()); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
		if _, ok := unit(v); ok != (name == "too long") {
			t.Errorf("%s: has a direction: %v", name, ok)
		}
	}
}

// FuzzDecode holds decode to records: no panic, and what it takes is what encode
// would have written.
func FuzzDecode(f *testing.F) {
	f.Add((&entry{model: "m", asked: 2, text: digestOf("t"), vector: []float32{0.6, 0.8}}).encode())
	f.Add([]byte("emb1"))
	f.Add([]byte(formMark + "\xff\xff" + strings.Repeat("\x00", 60)))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decode(b)
		if err == nil && string(e.encode()) != string(b) {
			t.Errorf("%q is read as %+v", b, e)
		}
	})
}

func TestTheTextIsBoundedAndValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, content := rapid.String().Draw(t, "name"), string(rapid.SliceOf(rapid.Byte()).Draw(t, "content"))
		most := rapid.IntRange(0, 40).Draw(t, "most")
		got := textOf(memoryd.Tool{ToolRef: memoryd.ToolRef{Tool: name}, Guideline: memoryd.Guideline{Content: content}}, most)
		if !utf8.ValidString(got) || utf8.ValidString(name+content) && (len(got) > most || !strings.HasPrefix(name+"\n"+content, got)) {
			t.Fatalf("%q of %q %q, at most %d bytes", got, name, content, most)
		}
	})
}

func lists() *rapid.Generator[[]string] {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(strings.Fields("a b c d e f g h i j")), 0, 10, rapid.ID)
}

func TestFusionAddsUpTheReciprocalRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := lists().Draw(t, "a"), lists().Draw(t, "b")
		got := fuse(a, b)
		score := func(name string) (sum float64) {
			for _, list := range [][]string{a, b} {
				if i := slices.Index(list, name); i >= 0 {
					sum += 1 / float64(60+i+1)
				}
			}
			return sum
		}
		if !slices.IsSortedFunc(got, func(x, y string) int {
			switch d := score(y) - score(x); {
			case d > 1e-12:
				return 1
			case d < -1e-12:
				return -1
			}
			return 0
		}) {
			t.Fatalf("%v is not in order", got)
		}
		all := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(a), b...))))
		if !slices.Equal(slices.Sorted(slices.Values(got)), all) {
			t.Fatalf("%v and %v became %v", a, b, got)
		}
		if one := fuse(a, nil); !slices.Equal(one, a) {
			t.Fatalf("alone, %v became %v", a, one)
		}
		if same := fuse(a, a); !slices.Equal(same, a) {
			t.Fatalf("twice, %v became %v", a, same)
		}
	})
}

func TestWhatBothListsHoldComesFirst(t *testing.T) {
	for _, tc := range []struct{ a, b, want string }{
		{"a b", "b c", "b a c"},
		{"a b", "c d", "a c b d"},
		{"", "c d", "c d"},
		{"a", "b a", "a b"},
		{"a b c", "c b a", "a c b"},
	} {
		if got := strings.Join(fuse(strings.Fields(tc.a), strings.Fields(tc.b)), " "); got != tc.want {
			t.Errorf("%q and %q: got %q, want %q", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestNearestIsTheHeadOfASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const dimensions = 6
		s := &vectorSet{}
		var all []found
		query, _ := unit(vectors(dimensions).Draw(t, "query"))
		for i := range rapid.IntRange(0, 30).Draw(t, "tools") {
			v, _ := unit(vectors(dimensions).Draw(t, "vector"))
			s.add(string(rune('A'+i)), v)
			all = append(all, found{string(rune('A' + i)), dot(query, v)})
		}
		s.add("of another model", []float32{1})
		slices.SortFunc(all, found.before)
		n, least := rapid.IntRange(1, 12).Draw(t, "n"), rapid.Float64Range(-1, 1).Draw(t, "least")
		var want []string
		for _, f := range all {
			if f.cosine >= least && len(want) < n {
				want = append(want, f.name)
			}
		}
		if got := s.nearest(query, n, least); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestDotIsTheSumOfProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 33).Draw(t, "dimensions")
		a, b := vectors(n).Draw(t, "a"), vectors(n).Draw(t, "b")
		var want float64
		for i := range a {
			want += float64(a[i]) * float64(b[i])
		}
		if got := dot(a, b); math.Abs(got-want) > 1e-4 {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func BenchmarkNearest(b *testing.B) {
	s := &vectorSet{}
	for range 1000 {
		v := make([]float32, 1536)
		v[len(s.names)] = 1
		s.add("tool", v)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.nearest(s.vectors[7], 10, 0)
	}
}
