package api

import (
	"strings"
	"testing"
)

// An answer is encoded into a buffer of an earlier one, and still is its own: also
// after a large one, whose buffer a small answer must not hold while a slow client reads.
func TestAnAnswerInAUsedBufferIsItsOwn(t *testing.T) {
	large, err := encodeOnce(strings.Repeat("x", 600<<10))
	if err != nil || len(large.body) != 600<<10+2 {
		t.Fatalf("%d bytes (%v)", len(large.body), err)
	}
	large.drop()
	first, err := encodeOnce("first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := encodeOnce("second")
	if err != nil {
		t.Fatal(err)
	}
	if string(first.body) != `"first"` || string(second.body) != `"second"` {
		t.Errorf("got %s and %s", first.body, second.body)
	}
	for _, e := range []encoded{first, second} {
		if cap(e.body) > roomyAnswer {
			t.Errorf("%s holds %d bytes", e.body, cap(e.body))
		}
	}
}
