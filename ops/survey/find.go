package survey

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"memoryd"
)

// Filter selects calls; "" matches everything.
type Filter struct {
	Tool    string `query:"tool"`                                                                            // Of this tool.
	Verdict string `query:"verdict" enum:"good,partial,failed,pending,given_up,unsure,overstated,corrected"` // With this verdict.
	// `rules`, `cache`, `model`, `person`, or exactly what judged.
	Judge string `query:"judge"`
	Rule  string `query:"rule"` // Judged by this rule.
	// That went wrong so (the text of a cause).
	Cause string `query:"cause"`
	Agent string `query:"agent"` // Of this agent.
	Run   string `query:"run"`   // Of this run.
}

// Verdicts are the values of Filter.Verdict.
func Verdicts() []string {
	return []string{"good", "partial", "failed", "pending", "given_up", "unsure", "overstated", "corrected"}
}

func (f *Filter) takes(c *Call) bool {
	for _, of := range [...]struct{ wanted, is string }{{f.Rule, c.Rule}, {f.Cause, c.Cause}, {f.Agent, c.Agent}, {f.Run, c.Run}} {
		if of.wanted != "" && of.wanted != of.is {
			return false
		}
	}
	return (f.Verdict == "" || f.verdict(c)) && (f.Judge == "" || f.judge(c))
}

func (f *Filter) verdict(c *Call) bool {
	scored := func(score float64) bool { return c.State == memoryd.Judged && c.Score == score }
	for _, of := range [...]struct {
		name  string
		takes bool
	}{
		{"good", scored(memoryd.ScoreSuccess)},
		{"partial", scored(memoryd.ScorePartial)},
		{"failed", scored(memoryd.ScoreFailure)},
		{"pending", c.State == memoryd.Pending},
		{"given_up", c.State == memoryd.Failed},
		{"unsure", c.Unsure},
		{"overstated", c.Success && scored(memoryd.ScoreFailure)},
		{"corrected", c.hasOverrul},
	} {
		if of.name == f.Verdict {
			return of.takes
		}
	}
	return false
}

// judges are the groups of judges that Filter.Judge may name, with how their names begin.
var judges = map[string]string{"model": "llm:", "kind": memoryd.KindPrefix, "person": memoryd.PersonPrefix}

func (f *Filter) judge(c *Call) bool {
	prefix, group := judges[f.Judge]
	return f.Judge == c.JudgedBy || group && strings.HasPrefix(c.JudgedBy, prefix)
}

// Place is where a page of calls begins: after the call with this time and key. The zero
// Place is the newest call.
type Place struct {
	Time time.Time
	Key  memoryd.CallKey
}

// String returns the place as a cursor; "" for the zero Place.
func (p Place) String() string {
	if p.Time.IsZero() {
		return ""
	}
	return string(append(binary.BigEndian.AppendUint64(nil, uint64(p.Time.UnixNano())), p.Key[:]...)) //nolint:gosec // read back as it was
}

// PlaceAt reads a cursor.
func PlaceAt(cursor string) (p Place, known bool) {
	if len(cursor) == 8+len(p.Key) {
		p.Time = time.Unix(0, int64(binary.BigEndian.Uint64([]byte(cursor)))) //nolint:gosec // it was one
		copy(p.Key[:], cursor[8:])
	}
	return p, p.String() == cursor
}

// newer orders calls, the newest first.
func newer(at time.Time, ak memoryd.CallKey, bt time.Time, bk memoryd.CallKey) int {
	return cmp.Or(bt.Compare(at), bytes.Compare(bk[:], ak[:]))
}

// Find returns at most limit calls after a place, newest first, and counts all that match the
// filter.
func (s *Snapshot) Find(f Filter, after Place, limit int) (page []Call, total int) {
	tools := s.newest // so that most calls are older than the page when it is full
	if f.Tool != "" {
		at, found := slices.BinarySearchFunc(s.Tools, f.Tool, func(t *Tool, name string) int { return strings.Compare(t.Name, name) })
		tools = s.Tools[at : at+b2i(found)]
	}
	byPlace := func(a, b Call) int { return newer(a.Time, a.Key, b.Time, b.Key) }
	for _, t := range tools {
		for i := range t.Calls {
			c := &t.Calls[i]
			if !f.takes(c) {
				continue
			}
			total++
			if !after.Time.IsZero() && newer(after.Time, after.Key, c.Time, c.Key) >= 0 {
				continue
			}
			if len(page) >= limit && newer(c.Time, c.Key, page[limit-1].Time, page[limit-1].Key) > 0 {
				continue
			}
			if page = append(page, *c); len(page) >= 2*limit {
				slices.SortFunc(page, byPlace)
				page = page[:limit]
			}
		}
	}
	slices.SortFunc(page, byPlace)
	return page[:min(limit, len(page))], total
}

// ToolName is the name of the call's tool.
func (c *Call) ToolName() string { return c.tool }

// Ranking says which tools to list, and in which order.
type Ranking struct {
	// The name must contain all Words, and be one of Names unless that is nil.
	Words string
	Names []string
	// State is "", failing, worse, better, pending, unwritten (no guideline) or behind.
	State string
	// By is one of Columns; Descending reverses the order.
	By         string
	Descending bool
}

// columns are the orders that tools can be listed in.
var columns = map[string]func(a, b *Tool) int{
	"name":   func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) },
	"calls":  func(a, b *Tool) int { return cmp.Compare(a.Lifetime, b.Lifetime) },
	"failed": func(a, b *Tool) int { return cmp.Compare(a.Failed+a.Partial, b.Failed+b.Partial) },
	"rate": func(a, b *Tool) int {
		return cmp.Or(cmp.Compare(b2i(a.Judged > 0), b2i(b.Judged > 0)), cmp.Compare(a.Rate, b.Rate))
	},
	"p50":       func(a, b *Tool) int { return cmp.Compare(a.P50, b.P50) },
	"p95":       func(a, b *Tool) int { return cmp.Compare(a.P95, b.P95) },
	"tokens":    func(a, b *Tool) int { return cmp.Compare(a.Tokens, b.Tokens) },
	"guideline": func(a, b *Tool) int { return a.GuidelineWritten.Compare(b.GuidelineWritten) },
	"newest":    func(a, b *Tool) int { return a.Newest.Compare(b.Newest) },
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Rank lists the tools that match a ranking.
func (s *Snapshot) Rank(r Ranking) []*Tool {
	words := strings.Fields(strings.ToLower(r.Words))
	var out []*Tool
	for _, t := range s.Tools {
		if r.takes(t, words) {
			out = append(out, t)
		}
	}
	order := columns[r.By]
	if order == nil {
		order = columns["failed"]
	}
	slices.SortStableFunc(out, func(a, b *Tool) int {
		if r.Descending {
			return order(b, a)
		}
		return order(a, b)
	})
	return out
}

func (r *Ranking) takes(t *Tool, words []string) bool {
	if r.Names != nil {
		return slices.Contains(r.Names, t.Name)
	}
	name := strings.ToLower(t.Name)
	if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(name, w) }) {
		return false
	}
	switch r.State {
	case "failing":
		return t.Failed+t.Partial > 0
	case "worse", "better":
		return t.Drift == r.State
	case "pending":
		return t.Pending > 0
	case "unwritten":
		return t.GuidelineRevision == 0
	case "behind":
		return t.GuidelineRevision > 0 && t.Behind > 0
	}
	return true
}
