package looptest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Call is one call in the loop as a memory sees it.
type Call struct {
	Tool, Run  string
	Input      map[string]any
	Output     string
	Score      float64 // 0.5 for an empty answer
	Helper     bool    // of a tool that others depend on, which never fails
	Unreported bool    // it failed, but neither its flag nor a judge says so
}

// Advice is what a memory says about a planned call.
type Advice struct {
	Warnings   []string
	Suggestion map[string]any
}

// Memory is the memory that agents work with.
type Memory interface {
	Record(c *Call)
	// Write updates what Text returns; it is called every five runs.
	Write(tool string)
	Text(tool string) string
	Forecast(tool, run string, input map[string]any) Advice
}

// Result counts the results of a loop.
type Result struct {
	Failed, Calls         int
	LastFailed, LastCalls int // of the last 150 calls
	Bad, WarnedBad        int // calls that would have broken a rule
	Good, WarnedGood      int
	Suggested, Right      int
	BrokeGood             int // suggestions that replaced good calls and failed
	// Missed counts the calls that would have broken a rule, and those of them that got no
	// warning, by the rule's family and by how many calls it had already failed: 0 to 5, and
	// more.
	Missed map[string]*[7]struct{ Bad, Silent int }
}

// Add adds another result.
func (r *Result) Add(o Result) {
	r.Failed, r.Calls, r.LastFailed, r.LastCalls = r.Failed+o.Failed, r.Calls+o.Calls, r.LastFailed+o.LastFailed, r.LastCalls+o.LastCalls
	r.Bad, r.WarnedBad, r.Good, r.WarnedGood = r.Bad+o.Bad, r.WarnedBad+o.WarnedBad, r.Good+o.Good, r.WarnedGood+o.WarnedGood
	r.Suggested, r.Right, r.BrokeGood = r.Suggested+o.Suggested, r.Right+o.Right, r.BrokeGood+o.BrokeGood
	for family, of := range o.Missed {
		for k := range of {
			r.miss(family, k, of[k].Bad, of[k].Silent)
		}
	}
}

func (r *Result) miss(family string, failures, bad, silent int) {
	if r.Missed == nil {
		r.Missed = map[string]*[7]struct{ Bad, Silent int }{}
	}
	if r.Missed[family] == nil {
		r.Missed[family] = &[7]struct{ Bad, Silent int }{}
	}
	at := &r.Missed[family][min(failures, 6)]
	at.Bad, at.Silent = at.Bad+bad, at.Silent+silent
}

// MissedTable lists the calls without a warning among those that would have broken a rule,
// a line for each family, by how many calls the rule had failed before.
func (r *Result) MissedTable() string {
	var b strings.Builder
	for _, family := range slices.Sorted(maps.Keys(r.Missed)) {
		fmt.Fprintf(&b, "%-10s", family)
		for k, n := range r.Missed[family] {
			fmt.Fprintf(&b, "  %d: %d of %d", k, n.Silent, n.Bad)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Whole returns the share of failed calls, Last that of the last 150.
func (r *Result) Whole() float64 { return float64(r.Failed) / float64(max(1, r.Calls)) }

// Last returns the share of failed calls among the last 150.
func (r *Result) Last() float64 { return float64(r.LastFailed) / float64(max(1, r.LastCalls)) }

func (r *Result) String() string {
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	return fmt.Sprintf("%d calls, failed %.3f, of the last 150 %.3f; warned of %.2f of calls that break a rule, %.3f of good ones; suggested %d, right %d, broke a good call %d",
		r.Calls, r.Whole(), r.Last(), share(r.WarnedBad, r.Bad), share(r.WarnedGood, r.Good), r.Suggested, r.Right, r.BrokeGood)
}

// Options are the sizes of a loop. Drift changes one rule of each tool halfway.
type Options struct {
	Runs, Tools int
	Drift       bool
}

// run is what one run of an agent has at hand.
type run struct {
	name     string
	r        *rand.Rand
	handles  map[string]string // state by identifier
	last     map[string]string // identifier by state
	fresh    []string          // given out and not recorded yet
	prepared bool              // the helper of the tool in use was called for this call
	opened   bool              // or earlier in the run
}

// tool is a made-up tool.
type tool struct {
	name, helper, free string
	rules              []*hidden
}

// loop is the state of one loop.
type loop struct {
	r      *rand.Rand
	memory Memory
	result Result
	failed []bool
}

// Run lets agents work that follow nine in ten pieces of advice.
func Run(seed uint64, m Memory, o Options) Result {
	l := &loop{r: rand.New(rand.NewPCG(seed, 32)), memory: m} //nolint:gosec // no secret
	tools := l.tools(o.Tools)
	for n := range o.Runs {
		if o.Drift && n == o.Runs/2 {
			for _, t := range tools {
				for _, k := range l.r.Perm(len(t.rules)) {
					if t.rules[k].change(l.r) {
						break
					}
				}
			}
		}
		if n > 0 && n%5 == 0 {
			for _, t := range tools {
				m.Write(t.name)
			}
		}
		for _, k := range l.r.Perm(len(tools))[:len(tools)/2] {
			u := &run{name: fmt.Sprintf("r%d-%d", n, k), r: l.r, handles: map[string]string{}, last: map[string]string{}}
			for range 1 + l.r.IntN(2) {
				l.work(tools[k], u)
			}
		}
	}
	count := func(of []bool) (n int) {
		for _, f := range of {
			if f {
				n++
			}
		}
		return n
	}
	late := l.failed[max(0, len(l.failed)-150):]
	l.result.Calls, l.result.Failed, l.result.LastCalls, l.result.LastFailed = len(l.failed), count(l.failed), len(late), count(late)
	return l.result
}

func (l *loop) tools(n int) (list []*tool) {
	for i := range n {
		pool := slices.Clone(names)
		l.r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		t := &tool{name: fmt.Sprintf("do_%d", i), helper: fmt.Sprintf("open_%d", i), free: "note"}
		for _, f := range l.r.Perm(len(families))[:2+l.r.IntN(2)] {
			t.rules = append(t.rules, newHidden(l.r, families[f], t.helper, &pool))
		}
		list = append(list, t)
	}
	return list
}

// build makes an input that breaks some rules, and calls what it depends on before.
func (l *loop) build(t *tool, u *run, bad map[*hidden]bool) map[string]any {
	in := map[string]any{t.free: fmt.Sprintf("n%d", l.r.IntN(30))}
	u.prepared = true
	for _, h := range t.rules {
		h.fill(in, u)
	}
	for _, h := range t.rules {
		if bad[h] {
			h.spoil(in, u)
		}
	}
	if u.prepared && !u.opened && slices.ContainsFunc(t.rules, func(h *hidden) bool { return h.family == "order" }) {
		u.opened = true
		l.memory.Record(&Call{
			Tool: t.helper, Run: u.name, Input: map[string]any{"name": in[t.free]}, Output: `{"ready":true}`,
			Score: 1, Helper: true,
		})
	}
	for _, id := range u.fresh {
		l.memory.Record(&Call{
			Tool: t.helper, Run: u.name, Input: map[string]any{"name": in[t.free]},
			Output: fmt.Sprintf(`{"id":%q,"status":%q}`, id, u.handles[id]), Score: 1, Helper: true,
		})
	}
	u.fresh = nil
	return in
}

func (t *tool) broken(in map[string]any, u *run) *hidden {
	for _, h := range t.rules {
		if h.breaks(in, u) {
			return h
		}
	}
	return nil
}

// work makes a call of a tool in a run, again where it failed.
func (l *loop) work(t *tool, u *run) {
	text := l.memory.Text(t.name)
	bad := map[*hidden]bool{}
	for _, h := range t.rules {
		bad[h] = l.r.Float64() < 0.4 && (!h.told(text) || l.r.Float64() > 0.9)
	}
	in := l.build(t, u, bad)
	for range 3 {
		in = l.heed(t, u, bad, in)
		broke := t.broken(in, u)
		c := &Call{Tool: t.name, Run: u.name, Input: in, Output: `{"rows":["a"],"count":1}`, Score: 1}
		if broke != nil {
			c.Output, c.Score = broke.say, 0
			if broke.say == `{"rows":[],"count":0}` {
				c.Score = 0.5
			} else if broke.informs && len(broke.say)%2 == 1 {
				c.Score, c.Unreported = 1, true
			}
		}
		l.memory.Record(c)
		if l.failed = append(l.failed, broke != nil); broke == nil {
			return
		}
		broke.failed++
		if d := l.r.Float64(); d < 0.6 {
			bad[broke] = false
			in = l.build(t, u, bad)
		} else if d > 0.85 {
			return
		}
	}
}

// heed asks for advice on a call and gives the call that is made.
func (l *loop) heed(t *tool, u *run, bad map[*hidden]bool, in map[string]any) map[string]any {
	a := l.memory.Forecast(t.name, u.name, in)
	broke := t.broken(in, u)
	if broke != nil {
		l.result.Bad++
	} else {
		l.result.Good++
	}
	if broke != nil {
		silent := 0
		if len(a.Warnings) == 0 {
			silent = 1
		}
		l.result.miss(broke.family, broke.failed, 1, silent)
	}
	if len(a.Warnings) > 0 && broke != nil {
		l.result.WarnedBad++
	} else if len(a.Warnings) > 0 {
		l.result.WarnedGood++
	}
	if a.Suggestion != nil {
		after := t.broken(a.Suggestion, u)
		l.result.Suggested++
		if broke != nil && after == nil {
			l.result.Right++
		} else if broke == nil && after != nil {
			l.result.BrokeGood++
		}
		return a.Suggestion
	}
	for _, w := range a.Warnings {
		if broke != nil && broke.told(w) && l.r.Float64() < 0.9 {
			bad[broke] = false
			return l.build(t, u, bad)
		}
	}
	return in
}

// Nothing is a memory without advice.
type Nothing struct{}

// Record does nothing.
func (Nothing) Record(*Call) {}

// Write does nothing.
func (Nothing) Write(string) {}

// Text is empty.
func (Nothing) Text(string) string { return "" }

// Forecast is empty.
func (Nothing) Forecast(string, string, map[string]any) Advice { return Advice{} }

// encoded is an input as it is sent.
func encoded(in map[string]any) json.RawMessage {
	raw, _ := json.Marshal(in) //nolint:errchkjson // texts and numbers
	return raw
}
