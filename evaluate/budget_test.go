package evaluate

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
)

// A spent budget is no failed try: calls wait for the end of its window, however
// often that happens, and nothing is counted as asked.
func TestASpentBudgetParksCalls(t *testing.T) {
	for name, onFailure := range map[string]string{"pending": leavePending, "rules": takeRules} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeStore()
				var until atomic.Pointer[time.Time]
				m := &scripted{}
				m.answer = func(context.Context, int, memoryd.Prompt) (string, error) {
					if wait := time.Until(*until.Load()); wait > 0 {
						return "", modelError("budget", true, wait)
					}
					return reply(1), nil
				}
				end := time.Now().Add(20 * time.Minute)
				until.Store(&end)
				d := testEvaluator(t, s, m, unsure, func(c *Config) { c.OnModelFailure, c.MaxAttempts = onFailure, 1 })
				d.Start(t.Context())
				calls := record(t.Context(), d, s, someCall(1, "a"), someCall(2, "b"), someCall(3, "c"))
				for range 3 { // windows
					for _, c := range calls {
						e := s.call(c.Key).Evaluation
						if e.State != memoryd.Pending || e.Attempts != 0 || e.LastError != "budget: the budget for model requests is used up" {
							t.Fatalf("got %+v", e)
						}
						if e.NotBefore.Before(end) || e.NotBefore.After(end.Add(time.Minute+time.Second)) {
							t.Errorf("the next try is at %v, the window ends at %v", e.NotBefore, end)
						}
					}
					next := end.Add(time.Hour)
					until.Store(&next)
					time.Sleep(time.Until(end) + 2*time.Minute)
					end = next
				}
				if st := d.Stats(); st.Requests != 0 || st.GivenUp != 0 || st.Failures["budget"] == 0 {
					t.Errorf("got %+v", st)
				}
				past := time.Now()
				until.Store(&past)
				time.Sleep(2 * time.Hour)
				for _, c := range calls {
					if e := s.call(c.Key).Evaluation; e.State != memoryd.Judged || e.Attempts != 0 || !strings.HasPrefix(e.JudgedBy, "llm:") {
						t.Errorf("got %+v", e)
					}
				}
				wantAllCosts(t, s, d)
				d.Stop()
			})
		})
	}
}
