package survey

import (
	"cmp"
	"math"
	"slices"
	"time"

	"memoryd/guidelines/effect"
)

// Overview is what the first page shows about a workspace.
type Overview struct {
	Tools      int     `json:"tools"`
	Lifetime   int64   `json:"lifetime_calls"`
	Pending    int64   `json:"pending_calls"`
	Judged     int     `json:"judged"`
	Good       int     `json:"good"`
	Partial    int     `json:"partial"`
	Failed     int     `json:"failed"`
	Unsure     int     `json:"unsure"`
	Corrected  int     `json:"corrected"`
	SecondsBad float64 `json:"seconds_lost"` // of calls with scores below 1
	TokensBad  int64   `json:"tokens_lost"`
	Timed      bool    `json:"-"`
	// Causes are the most frequent causes of failure, by the requested column.
	Causes []Cause `json:"causes"`
	// AllCauses counts all causes.
	AllCauses int `json:"cause_count"`
	// Until is the time of the newest call.
	Until time.Time `json:"until"`
	// Worse are tools whose newest calls failed more than those before.
	Worse []*Tool `json:"worse"`
	// Better are tools whose newest calls failed less.
	Better []*Tool `json:"better"`
	// New are causes of older tools that were first seen in the week before the newest call.
	New []Cause `json:"new_causes"`
	// NewTools are tools first seen in that week.
	NewTools  []*Tool `json:"new_tools"`
	AllNew    bool    `json:"-"`         // no kept call is older
	Unwritten int     `json:"unwritten"` // tools with failures but without a guideline
	// Effect compares runs that got advice with others, over all tools.
	Effect effect.Effect `json:"effect"`
	// Periods are the judged calls in equal periods of time, oldest first.
	Periods []Period `json:"periods"`
	// ThisWeek is the seven days before the newest call.
	ThisWeek Period `json:"this_week"`
	// LastWeek is the seven days before those.
	LastWeek Period `json:"last_week"`
}

// Period is a period of time.
type Period struct {
	From time.Time `json:"from"`
	// Calls counts judged calls.
	Calls int `json:"calls"`
	// Failed counts those that scored 0.
	Failed int `json:"failed"`
	// Written counts the tools whose guideline is from this period.
	Written int `json:"guidelines_written"`
}

// periods is how many parts there are at most, and steps what one may last.
const periods = 30

func steps() []int64 { return []int64{1, 6, 24, 7 * 24, 28 * 24, 364 * 24} } // hours

// between sums the hours after a time up to another.
func (s *Snapshot) between(from, to time.Time) (p Period) {
	p.From = from
	for _, t := range s.Tools {
		for h, n := range t.hours {
			if h > from.Unix()/3600 && h <= to.Unix()/3600 {
				p.Calls, p.Failed = p.Calls+n[0], p.Failed+n[1]
			}
		}
		if t.GuidelineWritten.After(from) && !t.GuidelineWritten.After(to) {
			p.Written++
		}
	}
	return p
}

// periodsOf sums the hours of tools up.
func (s *Snapshot) periodsOf() (list []Period) {
	first, last := int64(math.MaxInt64), int64(0)
	for _, t := range s.Tools {
		for h := range t.hours {
			first, last = min(first, h), max(last, h)
		}
	}
	if last == 0 {
		return nil
	}
	all := steps()
	at := slices.IndexFunc(all, func(h int64) bool { return last/h-first/h < periods })
	if at < 0 {
		at = len(all) - 1
		first = last - all[at]*(periods-1)
	}
	step := all[at]
	begin := first / step
	list = make([]Period, last/step-begin+1)
	for i := range list {
		list[i].From = time.Unix((begin+int64(i))*step*3600, 0).UTC()
	}
	for _, t := range s.Tools {
		for h, n := range t.hours {
			if i := h/step - begin; i >= 0 {
				list[i].Calls, list[i].Failed = list[i].Calls+n[0], list[i].Failed+n[1]
			}
		}
		if i := t.GuidelineWritten.Unix()/3600/step - begin; t.GuidelineRevision > 0 && i >= 0 {
			list[min(i, int64(len(list)-1))].Written++
		}
	}
	return list
}

// week is what "new" means in an overview.
const week = 7 * 24 * time.Hour

// listed is how many entries a list of an overview has at most.
const listed = 10

// Overview summarises the workspace; by is calls, time, tokens or cost.
func (s *Snapshot) Overview(by string) Overview {
	if by != "time" && by != "tokens" && by != "cost" {
		by = "calls"
	}
	return s.overviews[by]
}

// sum makes the overviews once for all who ask.
func (s *Snapshot) sum() {
	s.newest = slices.Clone(s.Tools)
	slices.SortStableFunc(s.newest, func(a, b *Tool) int { return b.Newest.Compare(a.Newest) })
	s.Runs = s.runs()
	s.overviews = map[string]Overview{}
	var told effect.Counts
	for _, t := range s.Tools {
		told.Add(t.counts)
	}
	helped, parts := told.Effect(), s.periodsOf()
	for _, by := range []string{"calls", "time", "tokens", "cost"} {
		o := s.overview(by)
		o.Effect, o.Periods = helped, parts
		o.ThisWeek, o.LastWeek = s.between(o.Until.Add(-week), o.Until), s.between(o.Until.Add(-2*week), o.Until.Add(-week))
		s.overviews[by] = o
	}
}

func (s *Snapshot) overview(by string) Overview {
	o := Overview{Tools: len(s.Tools)}
	if len(s.newest) > 0 {
		o.Until = s.newest[0].Newest
	}
	for _, t := range s.Tools {
		o.add(t)
	}
	o.AllCauses = len(o.Causes)
	byCalls := func(a, b Cause) int {
		return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Text, b.Text))
	}
	lost := map[string]func(*Cause) float64{
		"calls": func(*Cause) float64 { return 0 }, "time": func(c *Cause) float64 { return c.Seconds },
		"tokens": func(c *Cause) float64 { return float64(c.Tokens) }, "cost": (*Cause).cost,
	}[by]
	slices.SortFunc(o.Causes, func(a, b Cause) int { return cmp.Or(cmp.Compare(lost(&b), lost(&a)), byCalls(a, b)) })
	slices.SortFunc(o.New, byCalls)
	o.Causes, o.New = slices.Clone(head(o.Causes)), slices.Clone(head(o.New))
	for i := range o.Causes {
		o.Causes[i].weeks(o.Until)
	}
	since := o.Until.Add(-week)
	o.AllNew = !slices.ContainsFunc(s.Tools, func(t *Tool) bool { return t.Oldest.Before(since) })
	o.Worse, o.Better, o.NewTools = head(o.Worse), head(o.Better), head(o.NewTools)
	return o
}

func (o *Overview) add(t *Tool) {
	o.Judged, o.Good, o.Partial, o.Failed = o.Judged+t.Judged, o.Good+t.Good, o.Partial+t.Partial, o.Failed+t.Failed
	o.Lifetime, o.Pending = o.Lifetime+t.Lifetime, o.Pending+t.Pending
	o.Unsure, o.Corrected = o.Unsure+t.UnsureCalls, o.Corrected+t.Corrected
	o.SecondsBad, o.TokensBad = o.SecondsBad+t.SecondsBad, o.TokensBad+t.TokensBad
	o.Timed = o.Timed || t.Timed > 0
	if t.GuidelineRevision == 0 && t.Failed > 0 {
		o.Unwritten++
	}
	switch t.Drift {
	case "worse":
		o.Worse = append(o.Worse, t)
	case "better":
		o.Better = append(o.Better, t)
	}
	since := o.Until.Add(-week)
	if int64(t.Kept) == t.Lifetime && t.Oldest.After(since) {
		o.NewTools = append(o.NewTools, t)
	}
	for _, c := range t.Causes {
		o.Causes = append(o.Causes, c)
		if c.First.After(since) && t.Oldest.Before(since) {
			o.New = append(o.New, c)
		}
	}
}

// turnSeconds is what a failed call costs beside its own time: another turn of the model.
const turnSeconds = 5

func (c *Cause) cost() float64 { return c.Seconds + turnSeconds*float64(c.Calls) }

func (c *Cause) weeks(until time.Time) {
	for _, at := range c.times {
		switch age := until.Sub(time.Unix(at, 0)); {
		case age <= week:
			c.Week++
		case age <= 2*week:
			c.WeekBefore++
		}
	}
}

func head[T any](list []T) []T { return list[:min(listed, len(list))] }
