package survey

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unique"

	"memoryd"
	"memoryd/guidelines/effect"
	"memoryd/guidelines/mistakes"
	"memoryd/internal/stats"
)

// Tool is what views over all tools show about one tool.
type Tool struct {
	Name     string `json:"tool_name"`
	Lifetime int64  `json:"lifetime_calls"`
	Pending  int64  `json:"pending_calls"`
	Kept     int    `json:"kept"`
	// Judged counts the newest calls with a verdict.
	Judged  int `json:"judged"`
	Good    int `json:"good"`    // with score 1
	Partial int `json:"partial"` // with score 0.5
	Failed  int `json:"failed"`  // with score 0
	// Rate is the share that scored 1.
	Rate     float64         `json:"rate"`
	RateCI95 *stats.Interval `json:"rate_ci95"`
	P50      float64         `json:"p50"` // the median of the seconds, where they are known
	P95      float64         `json:"p95"` // their 95th percentile
	Tokens   int64           `json:"tokens"`
	// Trend is the share of judged calls that scored less than 1, in at most twelve equal
	// groups of calls, oldest first.
	Trend []float64 `json:"trend"`
	// Drift is "worse" or "better" if the newest calls differ from those before them
	// (Fisher's exact test, p < 0.01).
	Drift string `json:"drift"`
	// GuidelineRevision is 0 if no guideline was written.
	GuidelineRevision int64     `json:"guideline_version"`
	GuidelineWritten  time.Time `json:"guideline_written"`
	Behind            int64     `json:"behind"` // calls since then
	Newest            time.Time `json:"newest"` // the time of the newest call
	// Effect compares runs that got advice about the tool with others.
	Effect effect.Effect `json:"effect"`

	// What no answer shows. Seconds is a sum over all calls; the fields that end in Bad sum the calls
	// that scored less than 1.
	Oldest                                 time.Time `json:"-"`
	Revision, TokensBad                    int64     `json:"-"`
	Timed                                  int       `json:"-"`
	Seconds, SecondsBad                    float64   `json:"-"`
	RecentBad, Recent, EarlierBad, Earlier int       `json:"-"`
	UnsureCalls, Corrected                 int       `json:"-"`
	Causes                                 []Cause   `json:"-"`
	Calls                                  []Call    `json:"-"` // newest first

	counts *effect.Counts
	hours  map[int64][2]int // judged calls and failed ones, by hours since 1970
}

// Cause is a group of failed calls of a tool with the same verdict, apart from the parts that
// vary (mistakes.Form). It is a mistake as memoryd learn counts them.
type Cause struct {
	Tool string `json:"tool_name"`
	// The verdict, with what varies masked.
	Text      string `json:"text"`
	Untrusted bool   `json:"untrusted" const:"true"` // always true: the verdict repeats what the tool said
	// Failed calls.
	Calls   int       `json:"calls"`
	Seconds float64   `json:"seconds"`
	Tokens  int64     `json:"tokens"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	// Newest is the id of the newest of the calls.
	Newest memoryd.CallKey   `json:"newest"`
	Some   []memoryd.CallKey `json:"-"` // the newest calls
	// Week counts calls in the week before the workspace's newest call.
	Week int `json:"week"`
	// WeekBefore counts those in the week before that.
	WeekBefore int `json:"week_before"`

	times []int64 // of the calls, in seconds since 1970
}

// Call is the short line about a call.
type Call struct {
	Key        memoryd.CallKey
	Time       time.Time
	State      memoryd.EvaluationState
	Score      float64
	Success    bool
	Unsure     bool
	JudgedBy   string
	Rule       string
	Cause      string
	Agent      string
	Run        string
	Told       effect.Side
	tool       string
	timeCost   float64
	tokenCost  int64
	hasOverrul bool
}

// describe takes over what the store says of the tool itself.
func (t *Tool) describe(tool memoryd.Tool) {
	g := tool.Guideline
	t.Name, t.Revision = tool.Tool, tool.Revision
	t.Lifetime, t.Pending, t.Kept = tool.Lifetime, tool.Pending, tool.Kept
	t.GuidelineRevision, t.GuidelineWritten = g.Revision, g.Written
	t.Behind = 0
	if g.Revision > 0 {
		t.Behind = max(0, tool.Lifetime-g.ThroughSeq)
	}
}

// someCalls bounds the calls of a cause by which a line about it is found.
const someCalls = 50

// recentCalls is how many judged calls count as the newest ones for Drift.
const recentCalls = 20

// summarise computes a tool's figures from its newest calls, which stand newest
// first and have no bodies.
func summarise(tool memoryd.Tool, calls []memoryd.Call) *Tool {
	t := &Tool{counts: effect.Count(calls), hours: map[int64][2]int{}}
	t.Effect = t.counts.Effect()
	causes := map[string]*Cause{}
	var seconds []float64
	var bad []bool
	for i := range calls {
		c := &calls[i]
		line := lineOf(c)
		t.count(c, &line, &seconds, causes)
		if line.State == memoryd.Judged {
			bad = append(bad, line.Score < memoryd.ScoreSuccess)
		}
		if len(t.Calls) < lineCalls {
			t.Calls = append(t.Calls, line)
		}
	}
	t.Rate, t.RateCI95 = stats.Share(t.Good, t.Judged), stats.Wilson(t.Good, t.Judged)
	slices.Sort(seconds)
	if t.Timed = len(seconds); t.Timed > 0 {
		t.P50, t.P95 = seconds[t.Timed/2], seconds[min(t.Timed-1, t.Timed*95/100)]
	}
	t.trend(bad)
	for _, c := range causes {
		c.Tool = tool.Tool
		t.Causes = append(t.Causes, *c)
	}
	slices.SortFunc(t.Causes, func(a, b Cause) int { return cmp.Or(b.Calls-a.Calls, strings.Compare(a.Text, b.Text)) })
	t.describe(tool)
	return t
}

func (t *Tool) count(c *memoryd.Call, line *Call, seconds *[]float64, causes map[string]*Cause) {
	if line.Time.After(t.Newest) {
		t.Newest = line.Time
	}
	t.Oldest = stats.Earlier(t.Oldest, line.Time)
	if stats.KnownTime(c.TimeCost) {
		*seconds = append(*seconds, c.TimeCost)
		t.Seconds += c.TimeCost
	}
	t.Tokens += max(0, c.TokenCost)
	if line.hasOverrul {
		t.Corrected++
	}
	if line.Unsure {
		t.UnsureCalls++
	}
	if line.State != memoryd.Judged {
		return
	}
	t.Judged++
	hour := t.hours[line.Time.Unix()/3600]
	hour[0]++
	if c.Evaluation.Bad() {
		hour[1]++
	}
	t.hours[line.Time.Unix()/3600] = hour
	switch c.Evaluation.Score {
	case memoryd.ScoreSuccess:
		t.Good++
		return
	case memoryd.ScorePartial:
		t.Partial++
	default:
		t.Failed++
	}
	t.SecondsBad += max(0, c.TimeCost)
	t.TokensBad += max(0, c.TokenCost)
	if line.Cause == "" {
		return
	}
	cause := causes[line.Cause]
	if cause == nil {
		cause = &Cause{Text: line.Cause, Untrusted: true, First: line.Time, Last: line.Time, Newest: c.Key}
		causes[line.Cause] = cause
	}
	cause.Calls++
	if len(cause.Some) < someCalls {
		cause.Some = append(cause.Some, c.Key)
	}
	cause.times = append(cause.times, line.Time.Unix())
	cause.Seconds += max(0, c.TimeCost)
	cause.Tokens += max(0, c.TokenCost)
	if line.Time.Before(cause.First) {
		cause.First = line.Time
	}
	if line.Time.After(cause.Last) {
		cause.Last = line.Time
	}
}

// trend fills Trend and Drift; bad stands newest first.
func (t *Tool) trend(bad []bool) {
	slices.Reverse(bad)
	groups := min(12, len(bad))
	for g := range groups {
		from, to := g*len(bad)/groups, (g+1)*len(bad)/groups
		t.Trend = append(t.Trend, stats.Share(countTrue(bad[from:to]), to-from))
	}
	t.Recent = min(recentCalls, len(bad)/2)
	t.Earlier = len(bad) - t.Recent
	t.RecentBad, t.EarlierBad = countTrue(bad[t.Earlier:]), countTrue(bad[:t.Earlier])
	table := stats.Table{With: t.Recent, WithBad: t.RecentBad, Without: t.Earlier, WithoutBad: t.EarlierBad}
	if t.Recent < 5 || stats.FisherExact(table) >= 0.01 {
		return
	}
	t.Drift = "better"
	if stats.Share(t.RecentBad, t.Recent) > stats.Share(t.EarlierBad, t.Earlier) {
		t.Drift = "worse"
	}
}

// text is the one copy of a text that many calls share.
func text(s string) string { return unique.Make(s).Value() }

// lineOf is the line about a call.
func lineOf(c *memoryd.Call) Call {
	e, names := &c.Evaluation, memoryd.NamesOf(c.Metadata)
	line := Call{
		tool: c.Tool, Key: c.Key, Time: c.Time, State: e.State, Score: e.Score, Success: c.Success, Unsure: unsure(c),
		JudgedBy: text(e.JudgedBy), Rule: text(e.Rule), Run: text(cmp.Or(names.Trajectory, names.Session)), Agent: text(names.Agent),
		timeCost: c.TimeCost, tokenCost: c.TokenCost, hasOverrul: e.Overruled != nil, Told: effect.SideOf(c.Metadata),
	}
	if e.Bad() {
		line.Cause = text(mistakes.Form(e.Summary))
	}
	return line
}

// unsure reports whether only a look at the call itself settles it: the judge gave up, or a model
// said otherwise than the caller.
func unsure(c *memoryd.Call) bool {
	e := &c.Evaluation
	byModel := strings.HasPrefix(e.JudgedBy, "llm:")
	return e.State == memoryd.Failed || e.State == memoryd.Judged && byModel && c.Success != (e.Score == memoryd.ScoreSuccess)
}

func countTrue(list []bool) (n int) {
	for _, v := range list {
		if v {
			n++
		}
	}
	return n
}

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
