package sqlite

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRingIsAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring
		var want []int64
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				slot := rapid.Int64().Draw(t, "slot")
				r.push(slot)
				want = append(want, slot)
			},
			"drop": func(t *rapid.T) {
				n := rapid.IntRange(0, len(want)).Draw(t, "n")
				r.drop(n)
				want = want[n:]
			},
			"": func(t *rapid.T) {
				if got := r.all(); !slices.Equal(got, want) {
					t.Fatalf("got %v, want %v", got, want)
				}
			},
		})
		back, err := decodeSlots(encodeSlots(want))
		if err != nil || !slices.Equal(back, want) {
			t.Fatalf("decoded %v, %v, want %v", back, err, want)
		}
	})
}

func TestWindowForgetsTheOldest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 20).Draw(t, "size")
		w := newWindow(size)
		var added []identity
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				id := identity{
					print: rapid.Uint64Range(0, 8).Draw(t, "print"), tool: rapid.Uint32Range(1, 3).Draw(t, "tool"),
				}
				id.key[0] = rapid.Byte().Draw(t, "key") % 30
				w.add(id)
				added = append(added, id)
			},
			"": func(t *rapid.T) {
				kept := added[max(0, len(added)-size):]
				compareWindow(t, w, kept)
			},
		})
	})
}

func compareWindow(t *rapid.T, w *window, kept []identity) {
	tools, prints := map[[16]byte]uint32{}, map[uint64]bool{}
	for i, id := range kept {
		tools[id.key], prints[id.print] = id.tool, true
		if got := *w.get(w.first + uint64(i)); got != id {
			t.Fatalf("position %d: got %v, want %v", i, got, id)
		}
	}
	for k := range byte(30) {
		key := [16]byte{k}
		want, known := tools[key]
		if got, ok := w.tool(&key); ok != known || got != want {
			t.Fatalf("key %d: got %d, %v, want %d, %v", k, got, ok, want, known)
		}
	}
	for print := range uint64(9) {
		if got := w.repeats(print); got != prints[print] {
			t.Fatalf("print %d: got %v", print, got)
		}
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []record
		var b []byte
		for range rapid.IntRange(0, 9).Draw(t, "n") {
			r := record{kind: rapid.SampledFrom([]byte{recordAccepted, recordVerdict, recordTrimmed}).Draw(t, "kind")}
			r.tool = rapid.Uint32().Draw(t, "tool")
			if r.kind != recordVerdict {
				r.dropped = rapid.IntRange(0, 1000).Draw(t, "dropped")
			}
			if r.kind == recordAccepted {
				r.repeat, r.slot = rapid.Bool().Draw(t, "repeat"), rapid.Int64().Draw(t, "slot")
				r.id = identity{print: rapid.Uint64().Draw(t, "print"), tool: r.tool}
				copy(r.id.key[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "key"))
			}
			want = append(want, r)
			b = r.appendTo(b)
		}
		var got []record
		if err := readRecords(b, func(r record) { got = append(got, r) }); err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
		if len(b) > 0 {
			cut := rapid.IntRange(1, len(b)-1+1).Draw(t, "cut")
			var n int
			err := readRecords(b[:len(b)-cut], func(record) { n++ })
			if err == nil && n == len(want) {
				t.Fatal("a cut log was read as a whole one")
			}
		}
	})
}

func FuzzReadRecords(f *testing.F) {
	r := record{kind: recordAccepted, slot: 300, dropped: 2, id: identity{tool: 7}}
	f.Add(r.appendTo(nil))
	v := record{kind: recordVerdict, tool: 1 << 30}
	f.Add(v.appendTo(r.appendTo(nil)))
	f.Add([]byte{recordTrimmed, 0x80})
	f.Add([]byte("nonsense"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var back []byte
		if err := readRecords(b, func(r record) { back = r.appendTo(back) }); err != nil {
			return
		}
		var again []byte
		if err := readRecords(back, func(r record) { again = r.appendTo(again) }); err != nil || !bytes.Equal(back, again) {
			t.Fatalf("not a fixed point: %v\n%x\n%x", err, back, again)
		}
	})
}
