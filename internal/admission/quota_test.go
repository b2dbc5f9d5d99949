package admission

import (
	"testing"

	"memoryd"

	"pgregory.net/rapid"
)

// A single workspace is not kept from nearly all of the room.
func TestOneWorkspaceAloneGetsNearlyAll(t *testing.T) {
	for room, want := range map[int64]int{1: 1, 4: 4, 16: 15, 1024: 911} {
		s := NewQuota(room, 1<<30)
		got := 0
		for ; got <= int(room); got++ {
			tk, err := s.Admit(1)
			if err != nil {
				break
			}
			if err := tk.Bind("w", 1); err != nil {
				break
			}
		}
		if got != want {
			t.Errorf("of %d it got %d, want %d", room, got, want)
		}
	}
}

// What a body was announced to hold is corrected once it was read.
func TestRoomIsForBytesThatAreThere(t *testing.T) {
	s := NewQuota(10, 100)
	zipped, err := s.Admit(100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Admit(1); !memoryd.IsKind(err, memoryd.Overloaded) {
		t.Errorf("got %v", err)
	}
	if err := zipped.Bind("w", 10); err != nil {
		t.Error(err)
	}
	if _, err := s.Admit(90); err != nil {
		t.Error(err)
	}
}

// Whatever comes and goes: the bounds hold, a workspace that has nothing under way
// gets in, and nothing is left at the end.
func TestQuotasAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := load{requests: rapid.Int64Range(1, 20).Draw(t, "requests"), bytes: rapid.Int64Range(50, 500).Draw(t, "bytes")}
		s := NewQuota(room.requests, room.bytes)
		var under []Lease
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			if len(under) > 0 && rapid.Bool().Draw(t, "end") {
				i := rapid.IntRange(0, len(under)-1).Draw(t, "which")
				under[i].Release()
				under = append(under[:i], under[i+1:]...)
				continue
			}
			workspace, size := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "workspace"), rapid.Int64Range(0, 50).Draw(t, "size")
			tk, err := s.Admit(size)
			if err != nil {
				continue
			}
			_, has := s.byOne[workspace]
			if err := tk.Bind(workspace, size/2); err == nil {
				if tk.Reserve(size) == nil { // the rest arrives
					err = tk.Bind(workspace, rapid.Int64Range(0, size).Draw(t, "real"))
				}
				if under = append(under, tk); err != nil {
					t.Fatalf("one that was let in was refused: %v", err)
				}
			} else if tk.Release(); !has {
				t.Fatalf("a workspace with nothing under way was refused: %v", err)
			}
			if s.used.requests > room.requests || s.used.bytes > room.bytes {
				t.Fatalf("%+v of %+v", s.used, room)
			}
		}
		for i := range under {
			under[i].Release()
		}
		if s.used != (load{}) || len(s.byOne) != 0 {
			t.Fatalf("left: %+v %v", s.used, s.byOne)
		}
	})
}

// Answers that a workspace does not fetch cost it its turn to work, and others nothing.
func TestUnfetchedAnswersCostTheirWorkspaceAlone(t *testing.T) {
	s := NewQuota(100, 900)
	begin := func(workspace string) (Lease, error) {
		l, err := s.Admit(0)
		if err != nil {
			return l, err
		}
		if err := l.Bind(workspace, 1); err != nil {
			l.Release()
			return l, err
		}
		return l, l.Begin()
	}
	var unfetched []Lease
	for {
		l, err := begin("greedy")
		if unfetched = append(unfetched, l); err != nil {
			break
		}
		l.Hold(100)
		unfetched[len(unfetched)-1] = l
	}
	if n := len(unfetched); n < 3 || n > 5 {
		t.Errorf("%d answers were made", n-1)
	}
	unfetched[0].Hold(5000)
	l, err := begin("modest")
	if err != nil {
		t.Errorf("another workspace: %v", err)
	}
	l.Release()
	for i := range unfetched {
		unfetched[i].Release()
	}
	if s.used != (load{}) || len(s.byOne) != 0 {
		t.Errorf("left: %+v", s.used)
	}
}
