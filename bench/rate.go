package main

import (
	"context"
	"math"
	"time"
)

// wantedRate is the fixed rate of adds that the goals name, per second.
const wantedRate = 2000

// calmRate is the fixed rate at which latencies are taken of a server that bears
// capacity requests a second: the wanted rate, or less where that would be more
// than about half of it. Latency above that measures the queue.
func calmRate(capacity float64) float64 {
	return min(wantedRate, math.Floor(0.4*capacity/100)*100+100)
}

// addRate finds the rate for adds to one server.
func addRate(ctx context.Context, p *process, workspace string, tools int) (float64, error) {
	o, err := adds(p.addr, 64, addTemplate(workspace, 1, callBytes), tools, 1<<29).closed(ctx, 500*time.Millisecond)
	if err != nil {
		return 0, err
	}
	return calmRate(o.rate()), nil
}
