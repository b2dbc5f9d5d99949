package survey

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/guidelines/effect"
)

// Run is one run of an agent, as far as its calls are still stored.
type Run struct {
	Name   string `json:"run"`
	Agent  string `json:"agent_id"`
	Calls  int    `json:"calls"`
	Tools  int    `json:"tools"`
	Judged int    `json:"judged"` // calls with a verdict
	Failed int    `json:"failed"` // those that scored 0
	// Repeats counts failed calls that repeat an earlier call of the run; who lists runs
	// counts them.
	Repeats int       `json:"repeats"`
	Seconds float64   `json:"seconds"`
	Tokens  int64     `json:"tokens"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	// Told says whether the agent was shown advice: told, untold (on purpose), or empty (unknown).
	Told effect.Side `json:"told"`
	// Thrashes reports that the run made no progress for a while.
	Thrashes bool `json:"thrashes"`
	// Streak is the longest series of failed calls, OfTen the most failed calls among ten in
	// a row.
	Streak, OfTen int `json:"-"`
}

// A run thrashes when so many calls in a row failed, or so many of ten.
const (
	thrashStreak = 3
	thrashOfTen  = 8
)

// runs gathers the lines of calls by run.
func (s *Snapshot) runs() []Run {
	of := map[string][]*Call{}
	for _, t := range s.Tools {
		for i := range t.Calls {
			if c := &t.Calls[i]; c.Run != "" {
				of[c.Run] = append(of[c.Run], c)
			}
		}
	}
	out := make([]Run, 0, len(of))
	for name, calls := range of {
		slices.SortFunc(calls, func(a, b *Call) int {
			return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Key.String(), b.Key.String()))
		})
		out = append(out, runOf(name, calls))
	}
	slices.SortFunc(out, func(a, b Run) int {
		return cmp.Or(-cmp.Compare(b2i(a.Thrashes), b2i(b.Thrashes)), b.Failed-a.Failed, b.Last.Compare(a.Last), strings.Compare(a.Name, b.Name))
	})
	return out
}

func runOf(name string, calls []*Call) Run {
	r := Run{Name: name, Calls: len(calls), First: calls[0].Time, Last: calls[len(calls)-1].Time}
	tools := map[string]bool{}
	var bad []bool
	streak := 0
	for _, c := range calls {
		tools[c.tool] = true
		r.Agent, r.Told = cmp.Or(r.Agent, c.Agent), max(r.Told, c.Told)
		r.Seconds += max(0, c.timeCost)
		r.Tokens += max(0, c.tokenCost)
		if c.State != memoryd.Judged {
			continue
		}
		r.Judged++
		failed := c.Score <= memoryd.ScoreFailure
		if streak++; !failed {
			streak = 0
		}
		bad = append(bad, failed)
		r.Failed += b2i(failed)
		r.Streak, r.OfTen = max(r.Streak, streak), max(r.OfTen, countTrue(bad[max(0, len(bad)-10):]))
	}
	r.Tools, r.Thrashes = len(tools), r.Streak >= thrashStreak || r.OfTen >= thrashOfTen
	return r
}
