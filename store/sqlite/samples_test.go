package sqlite

import (
	"testing"

	"memoryd"
)

func TestTheSampleCacheHoldsTheToolsAskedForLast(t *testing.T) {
	c := newSampleCache(6)
	three := []memoryd.Sample{{Seq: 1}, {Seq: 2}, {Seq: 3}}
	c.put(1, three)
	c.put(2, three)
	if _, ok := c.get(1); !ok {
		t.Fatal("tool 1 is gone")
	}
	c.put(3, three) // tool 2 was asked for longest ago
	for tool, want := range map[uint32]bool{1: true, 2: false, 3: true} {
		if _, ok := c.get(tool); ok != want {
			t.Errorf("tool %d: held is %v", tool, ok)
		}
	}
	c.push(3, 2, []memoryd.Sample{{Seq: 4}})
	c.judge(3, 4, &memoryd.Evaluation{State: memoryd.Judged, Score: 1})
	c.judge(3, 1, &memoryd.Evaluation{State: memoryd.Failed}) // let go
	got, _ := c.get(3)
	want := []memoryd.Sample{{Seq: 3}, {Seq: 4, State: memoryd.Judged, Score: 1}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.put(4, make([]memoryd.Sample, 7)) // more than all
	if c.held > 6 || len(c.tools) != c.order.Len() {
		t.Errorf("%d samples of %d tools are held", c.held, len(c.tools))
	}
}
