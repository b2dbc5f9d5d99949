//go:build unix

package evidence_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// twoKilobytes makes calls of about 2 KB, of which a third fails with one of a few
// hundred messages.
func twoKilobytes(n int) []memoryd.Call {
	calls := make([]memoryd.Call, n)
	page := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 38)
	for i := range calls {
		c := &calls[i]
		c.Key, c.Seq = memoryd.CallKey{byte(i), byte(i >> 8), 1}, int64(i)
		c.Input = json.RawMessage(fmt.Sprintf(`{"url":"https://example.org/p%d","max_length":%d,"mode":"raw","note":"page %d of the report on lazy dogs and their foxes"}`, i, i%9000, i))
		c.Output, c.Success = page, true
		c.Metadata = json.RawMessage(fmt.Sprintf(`{"trajectory_id":"run-%d"}`, i/12))
		c.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess}
		if i%3 == 0 {
			c.Evaluation.Score = memoryd.ScoreFailure
			c.Output = []string{
				"Error: flight HAT%d not available on date 2024-05-13", "Input validation error: 'mode%d' is a required property", "bash: line %d: xxd: command not found\n",
				"Failed to fetch https://example.org/%d - status code 403",
			}[i%4]
			c.Output = fmt.Sprintf(c.Output, i%60) + "\n" + page
		}
	}
	return calls
}

// Mining has to be quick: it is done while an agent waits for a guideline.
func TestMiningTwoThousandCallsIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement: not in short runs")
	}
	calls := twoKilobytes(2000)
	o := evidence.NewObserver()
	obs := make([]evidence.Observation, len(calls))
	for i := range calls {
		obs[i] = o.Observe(&calls[i])
		obs[i].Trim()
	}
	best := time.Hour
	for range 5 {
		start := processorTime(t)
		evidence.Mine("t", obs, calls[len(calls)-100:])
		best = min(best, processorTime(t)-start)
	}
	t.Logf("mining a window of 2,000 calls takes %v of a processor", best)
	if best > 300*time.Millisecond { // the goal is 100 ms on a quiet machine
		t.Errorf("mining takes %v", best)
	}
}

// processorTime is what this process has used: others that run at the same time do
// not count.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkMineTwoKilobytes(b *testing.B) {
	for _, n := range []int{100, 2000} {
		calls := twoKilobytes(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				evidence.Mine(calls[0].Tool, evidence.Merge(nil, calls), calls)
			}
		})
	}
}

func BenchmarkObserve(b *testing.B) {
	calls := twoKilobytes(2000)
	o := evidence.NewObserver().Teach(evidence.NewWorld())
	for i := range b.N {
		o.Observe(&calls[i%len(calls)])
	}
}
