package survey

import (
	"cmp"
	"slices"
	"time"
)

// Overview is what a workspace shows first.
type Overview struct {
	Tools, Judged, Good, Partial, Failed int
	Lifetime, Pending                    int64
	Unsure, Corrected                    int
	SecondsBad                           float64
	TokensBad                            int64
	Timed                                bool
	// Causes are what goes wrong most, by the column that was asked for; AllCauses
	// counts them.
	Causes    []Cause
	AllCauses int
	// Worse and Better are tools whose newest calls differ from those before; New
	// are causes first seen in the week before Until, the time of the newest call,
	// of tools that are older, and NewTools tools first seen in it.
	Until         time.Time
	Worse, Better []*Tool
	New           []Cause
	NewTools      []*Tool
	AllNew        bool // no tool is older
	Unwritten     int  // tools with failures and without a guideline
}

// week is what "new" means in an overview.
const week = 7 * 24 * time.Hour

// listed is how many entries a list of an overview has at most.
const listed = 10

// Overview sums the workspace up; by is calls, time or tokens.
func (s *Snapshot) Overview(by string) Overview {
	if by != "time" && by != "tokens" {
		by = "calls"
	}
	return s.overviews[by]
}

// sum makes the overviews once for all who ask.
func (s *Snapshot) sum() {
	s.newest = slices.Clone(s.Tools)
	slices.SortStableFunc(s.newest, func(a, b *Tool) int { return b.Newest.Compare(a.Newest) })
	s.overviews = map[string]Overview{}
	for _, by := range []string{"calls", "time", "tokens"} {
		s.overviews[by] = s.overview(by)
	}
}

func (s *Snapshot) overview(by string) Overview {
	o := Overview{Tools: len(s.Tools)}
	for _, t := range s.Tools {
		if t.Newest.After(o.Until) {
			o.Until = t.Newest
		}
	}
	for _, t := range s.Tools {
		o.add(t)
	}
	o.AllCauses = len(o.Causes)
	slices.SortFunc(o.Causes, func(a, b Cause) int {
		byCalls := cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Text, b.Text))
		switch by {
		case "time":
			return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), byCalls)
		case "tokens":
			return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), byCalls)
		}
		return byCalls
	})
	slices.SortFunc(o.New, func(a, b Cause) int {
		return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Text, b.Text))
	})
	o.Causes, o.New = slices.Clone(head(o.Causes)), slices.Clone(head(o.New))
	o.AllNew = len(o.NewTools) == len(s.Tools)
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

func head[T any](list []T) []T { return list[:min(listed, len(list))] }
