package backup

import (
	"strings"
	"testing"

	"memoryd"
)

func TestTheCallsOfAToolAreBounded(t *testing.T) {
	var file strings.Builder
	file.WriteString(`{"manifest":{"format":"memoryd","version":1,"scope":"store"}}` + "\n")
	file.WriteString(`{"tool":{"workspace":"w","tool":"t","calls":1000000000,"lifetime":1000000000,"duplicates":0,"revision":1}}` + "\n")
	for i := range 80 {
		file.WriteString(`{"call":{"key":"` + strings.Repeat("0", 30) + string([]byte{'1' + byte(i/10)}) + string([]byte{'0' + byte(i%10)}) +
			`","seq":1,"success":true,"time_cost":0,"token_cost":-1,"evaluation":{"state":"pending"}}}` + "\n")
	}
	p := newParser(strings.NewReader(file.String()))
	p.toolBytes = 20 << 10
	for _, err := range p.all(func(*manifest) error { return nil }) {
		if !memoryd.IsKind(err, memoryd.TooLarge) || !strings.Contains(err.Error(), `tool "t" has more than`) {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("nothing was refused")
}
