package mcp

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"
)

// A peer that never answers must not fill the memory, whatever it was asked.
func TestRequestsThatAreNeverAnsweredAreForgotten(t *testing.T) {
	for _, method := range []string{"tools/call", "tools/list", "initialize", "server/discover", "tasks/get"} {
		c := newCalls(time.Now, func(openCall, outcome) {})
		for i := range maxOpen + 100 {
			c.sent(message{ID: json.RawMessage(strconv.Itoa(i)), Method: method, Params: json.RawMessage(`{"taskId":"t"}`)}, nil)
		}
		if n := c.underWay(); n != maxOpen {
			t.Errorf("%s: %d requests are kept", method, n)
		}
	}
}

func (c *calls) underWay() int { return len(c.open) + len(c.asks) }
