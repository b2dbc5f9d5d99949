package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/origin"
	"memoryd/ops/survey"
	"memoryd/store"
)

// ListRuns requests up to Limit runs of a workspace from Offset, those without progress first.
type ListRuns struct {
	Workspace     string
	Offset, Limit int
}

// RunsPage is a page of runs.
type RunsPage struct {
	Seen
	Runs []RankedRun `json:"runs"`
	// Total is the number of runs on all pages.
	Total int `json:"total"`
	// Thrashing is how many of them make no progress.
	Thrashing int `json:"thrashing"`
}

// RankedRun is a run with figures from its calls.
type RankedRun struct {
	survey.Run
	// Why lists the reasons why the run makes no progress; nil if it does.
	Why []string `json:"why"`
	// Turned is where the longest series of failures began. Ended is the call after it, without a
	// tool if there is none.
	Turned RunStep `json:"turned"`
	Ended  RunStep `json:"ended"`
}

// RunStep is a call of a run.
type RunStep struct {
	Tool string          `json:"tool_name"`
	Key  memoryd.CallKey `json:"id"`
	Time time.Time       `json:"time"`
}

func (d *Deps) listRuns(ctx context.Context, r ListRuns) (out RunsPage, err error) {
	s := d.Survey.Of(ctx, r.Workspace)
	from := min(max(0, r.Offset), len(s.Runs))
	out = RunsPage{Seen: s.Seen, Total: len(s.Runs)}
	for i := range s.Runs {
		if s.Runs[i].Thrashes {
			out.Thrashing++
		}
	}
	for _, run := range s.Runs[from:min(len(s.Runs), from+r.Limit)] {
		ranked := RankedRun{Run: run}
		if run.Failed > 0 {
			calls, err := d.listRun(ctx, ListRun{r.Workspace, run.Name})
			if err != nil {
				return out, err
			}
			ranked.explain(calls)
		}
		out.Runs = append(out.Runs, ranked)
	}
	return out, nil
}

// namesTried is how many forms of an input are tried in turn before that is told.
const namesTried = 3

// explain reads the calls of a run, the oldest first.
func (r *RankedRun) explain(calls []store.RunCall) {
	made, forms := map[string]int{}, map[string]map[string]bool{}
	most, begin := 0, -1
	worst := ""
	for i := range calls {
		c := &calls[i]
		if c.State != memoryd.Judged {
			continue
		}
		if c.Score > memoryd.ScoreFailure {
			begin = -1
			continue
		}
		if begin < 0 {
			begin = i
		}
		if n := i - begin + 1; n > most {
			most = n
			r.Turned, r.Ended = stepOf(&calls[begin]), RunStep{}
			if i+1 < len(calls) {
				r.Ended = stepOf(&calls[i+1])
			}
		}
		key := c.Tool + "\x00" + string(c.Input)
		if made[key]++; made[key] > 1 && len(c.Input) > 0 {
			r.Repeats++
			if made[key] > made[worst] || worst == "" {
				worst = key
			}
		}
		if forms[c.Tool] == nil {
			forms[c.Tool] = map[string]bool{}
		}
		forms[c.Tool][formOf(c.Input)] = true
	}
	if !r.Thrashes {
		return
	}
	if n := made[worst]; n > 1 {
		tool, _, _ := strings.Cut(worst, "\x00")
		r.Why = append(r.Why, fmt.Sprintf("%d times the same failing call of %s", n, origin.Title(tool)))
	}
	for _, tool := range slices.Sorted(maps.Keys(forms)) {
		if n := len(forms[tool]); n >= namesTried {
			r.Why = append(r.Why, fmt.Sprintf("%d sets of parameters tried for %s", n, origin.Title(tool)))
		}
	}
	if r.OfTen >= 8 {
		r.Why = append(r.Why, fmt.Sprintf("%d of 10 calls in a row failed", r.OfTen))
	} else if len(r.Why) == 0 {
		r.Why = append(r.Why, fmt.Sprintf("%d failed calls in a row", r.Streak))
	}
}

// formOf is the names of an input's parameters.
func formOf(input json.RawMessage) string {
	return strings.Join(slices.Sorted(maps.Keys(parameters(input))), " ")
}

func stepOf(c *store.RunCall) RunStep { return RunStep{c.Tool, c.Key, c.Time} }
