package evaluate

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
)

// scoreOf lets a test's model judge by what it is shown: "good …" and the rest.
func scoreOf(t *testing.T) func(shownCall) float64 {
	return func(c shownCall) float64 {
		if strings.HasPrefix(c.output(t), "good") {
			return 1
		}
		return 0
	}
}

func batchEvaluator(t *testing.T, s *fakeStore, m memoryd.Model) *Evaluator {
	return testEvaluator(t, s, m, unsure, func(c *Config) { c.BatchSize, c.Workers, c.EarlierVerdicts = 4, 1, 0 })
}

func mixedCalls(n int) []memoryd.Call {
	calls := make([]memoryd.Call, n)
	for i := range calls {
		calls[i] = someCall(i, fmt.Sprintf("%s output %d", []string{"good", "bad"}[i%2], i))
	}
	return calls
}

func checkMixed(t *testing.T, calls []memoryd.Call) {
	t.Helper()
	for i, c := range calls {
		if e := c.Evaluation; e.State != memoryd.Judged || e.Score != float64(1-i%2) {
			t.Errorf("call %d: got %+v", i, e)
		}
	}
}

func TestCallsOfOneToolShareARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), &scripted{}
		m.answer = func(_ context.Context, _ int, p memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			return batchReply(t, p, scoreOf(t)), nil
		}
		d := batchEvaluator(t, s, m)
		calls := mixedCalls(13)
		calls[12].Tool = "other"
		d.Start(t.Context())
		record(t.Context(), d, s, calls...)
		checkMixed(t, calls)
		if n := m.asked(); n > 5 { // the first may be taken before the others are there
			t.Errorf("%d requests for 13 calls", n)
		}
		for _, p := range m.prompts {
			b := blockOf(t, p)
			if len(b.Calls) > 4 || b.Tool == "other" && len(b.Calls) > 0 {
				t.Errorf("a request for %s with %d calls", b.Tool, len(b.Calls))
			}
		}
		d.Stop()
	})
}

func TestOneBadItemSpoilsNoOther(t *testing.T) {
	for name, spoil := range map[string]func(string) string{
		"missing":        func(s string) string { return strings.Replace(s, `"id":"c2"`, `"id":"x"`, 1) },
		"a wrong score":  func(s string) string { return strings.Replace(s, `"id":"c2"`, `"id":"c2","score":-9`, 1) },
		"cut":            func(s string) string { return s[:strings.LastIndex(s, `"summary"`)] },
		"garbage":        func(string) string { return "all is well" },
		"one for all":    func(string) string { return reply(1) },
		"an empty reply": func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := newFakeStore(), &scripted{}
				m.answer = func(_ context.Context, _ int, p memoryd.Prompt) (string, error) {
					time.Sleep(time.Second)
					text := batchReply(t, p, scoreOf(t))
					if len(blockOf(t, p).Calls) > 1 {
						text = spoil(text)
					}
					return text, nil
				}
				d := batchEvaluator(t, s, m)
				d.Start(t.Context())
				calls := record(t.Context(), d, s, mixedCalls(9)...)
				checkMixed(t, calls)
				d.Stop()
			})
		})
	}
}

func TestABatchThatIsRejectedIsAskedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), &scripted{}
		m.answer = func(_ context.Context, _ int, p memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			for _, c := range append(blockOf(t, p).Calls, blockOf(t, p).Call) {
				if strings.Contains(string(c.Output), "output 3") {
					return "", modelError("filtered", false, 0)
				}
			}
			return batchReply(t, p, scoreOf(t)), nil
		}
		d := batchEvaluator(t, s, m)
		d.Start(t.Context())
		calls := record(t.Context(), d, s, mixedCalls(9)...)
		if e := calls[3].Evaluation; e.State != memoryd.Failed || !strings.HasPrefix(e.LastError, "filtered") {
			t.Errorf("got %+v", e)
		}
		calls[3] = calls[1]
		checkMixed(t, calls)
		d.Stop()
	})
}

func TestABatchFailsTogetherWhenTheEndpointFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newFakeStore(), always("", modelError("server", true, 0))
		m.answer = func(context.Context, int, memoryd.Prompt) (string, error) {
			time.Sleep(time.Second)
			return "", modelError("server", true, 0)
		}
		d := batchEvaluator(t, s, m)
		d.Start(t.Context())
		calls := record(t.Context(), d, s, mixedCalls(5)...)
		for _, c := range calls {
			if e := c.Evaluation; e.State != memoryd.Pending || e.Attempts != 1 {
				t.Errorf("got %+v", e)
			}
		}
		if m.asked() != 2 {
			t.Errorf("%d requests, want one for the first call and one for the other four", m.asked())
		}
		d.Stop()
	})
}
