package guidelines

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
	"memoryd/internal/stats"
)

// LineOutcome compares calls from before a line of a guideline was published with those
// since.
type LineOutcome struct {
	Line string `json:"line"`
	// Since is the version that introduced the line, as far back as versions are kept.
	Since int64 `json:"since"`
	// Tells reports that the line's evidence shows which calls broke it; otherwise none is counted as
	// such.
	Tells  bool       `json:"tells"`
	Before LineCounts `json:"before"` // calls before the line
	After  LineCounts `json:"after"`  // calls since
	Shown  LineCounts `json:"shown"`  // those whose agent saw the line, as far as calls say so
	Untold LineCounts `json:"untold"` // those of runs in the control group
}

// LineCounts counts judged calls in the history. Those that did not break the line followed
// it.
type LineCounts struct {
	Calls  int `json:"calls"`
	Failed int `json:"failed"` // those that scored 0
	// Broke counts those that did what the line warns of, or failed with the message that it is about.
	Broke       int `json:"broke"`
	BrokeFailed int `json:"broke_failed"` // those of them that scored 0
	// FailedCI95 is the 95 % interval of the share that failed; absent without calls.
	FailedCI95 *stats.Interval `json:"failed_ci95,omitzero"`
}

// Published is the version that first had a line, and the newest call at that time.
type Published struct{ Version, Through int64 }

// Outcomes counts, for each line of the document, the stored calls (oldest first) before it
// was published and since. shown returns the version that the agent of a call saw; 0 means
// unknown, below 0 none.
func (d *Document) Outcomes(published map[string]Published, calls []memoryd.Call, shown func(*memoryd.Call) int64) []LineOutcome {
	breaks := d.breaks(calls)
	versions := make([]int64, len(calls))
	for i := range calls {
		versions[i] = shown(&calls[i])
	}
	var list []LineOutcome
	for _, it := range d.Items {
		p, known := published[it.ID]
		if it.Removed || !known {
			continue
		}
		o := LineOutcome{Line: it.ID, Since: p.Version}
		var broke []map[memoryd.CallKey]bool
		for _, id := range it.Evidence {
			if keys, tells := breaks[id]; tells {
				broke, o.Tells = append(broke, keys), true
			}
		}
		for i := range calls {
			c := &calls[i]
			if c.Evaluation.State != memoryd.Judged {
				continue
			}
			if c.Seq <= p.Through {
				o.Before.count(c, broke)
				continue
			}
			o.After.count(c, broke)
			switch {
			case versions[i] < 0:
				o.Untold.count(c, broke)
			case versions[i] >= p.Version:
				o.Shown.count(c, broke)
			}
		}
		for _, n := range []*LineCounts{&o.Before, &o.After, &o.Shown, &o.Untold} {
			n.FailedCI95 = stats.Wilson(n.Failed, n.Calls)
		}
		list = append(list, o)
	}
	return list
}

func (n *LineCounts) count(c *memoryd.Call, broke []map[memoryd.CallKey]bool) {
	n.Calls++
	if c.Evaluation.Bad() {
		n.Failed++
	}
	if !slices.ContainsFunc(broke, func(keys map[memoryd.CallKey]bool) bool { return keys[c.Key] }) {
		return
	}
	n.Broke++
	if c.Evaluation.Bad() {
		n.BrokeFailed++
	}
}

// SourceShare is the part of one source in a tool: its calls that memoryd learns from, the failed ones of
// them, and how many of the guideline's lines rest on rules or messages that its calls show.
type SourceShare struct {
	// The id of an API key, or `local`.
	Source string `json:"source"`
	// Its calls.
	Calls int `json:"calls"`
	// Those that the judge scored 0.
	Failed int `json:"failed"`
	// Lines of the guideline that its calls show to be true.
	Lines int `json:"lines"`
	// Alone are those of Lines that no call of another source shows.
	Alone []SoleLine `json:"alone"`
}

// SoleLine is a line that rests on one source.
type SoleLine struct {
	// Its id.
	Line string `json:"line"`
	Text string `json:"text"`
}

// Shares lists the sources of calls, the one with the most lines of its own first. A line that a person set,
// and one about all calls, rest on no source.
func (d *Document) Shares(calls []memoryd.Call) []SourceShare {
	shares, wrote := map[string]*SourceShare{}, map[string]string{}
	for i := range calls {
		c := &calls[i]
		if wrote[c.Key.String()] != "" {
			continue // it is known from the history
		}
		source := c.Source()
		wrote[c.Key.String()] = source
		s := shares[source]
		if s == nil {
			s = &SourceShare{Source: source, Alone: []SoleLine{}}
			shares[source] = s
		}
		s.Calls++
		if c.Evaluation.Bad() {
			s.Failed++
		}
	}
	for i := range d.Items {
		by := d.shownBy(&d.Items[i], wrote)
		for source := range by {
			shares[source].Lines++
			if len(by) == 1 {
				shares[source].Alone = append(shares[source].Alone, SoleLine{d.Items[i].ID, d.Items[i].Text})
			}
		}
	}
	list := make([]SourceShare, 0, len(shares))
	for _, s := range shares {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b SourceShare) int {
		return cmp.Or(len(b.Alone)-len(a.Alone), b.Lines-a.Lines, strings.Compare(a.Source, b.Source))
	})
	return list
}

// shownBy gives the sources of the calls behind a line; wrote names the source of each call.
func (d *Document) shownBy(it *Item, wrote map[string]string) map[string]bool {
	by := map[string]bool{}
	for _, g := range d.Grounds {
		if it.Removed || it.ByPerson() || g.Kind != "rule" && g.Kind != "message" || !slices.Contains(it.Evidence, g.ID) {
			continue
		}
		for _, key := range g.Calls {
			if source, known := wrote[key]; known {
				by[source] = true
			}
		}
	}
	return by
}

// breaks gives, by ground, the calls that broke its rule, where the tool's own calls show it.
func (d *Document) breaks(calls []memoryd.Call) map[string]map[memoryd.CallKey]bool {
	found := map[string]map[memoryd.CallKey]bool{}
	var planned []*rules.Planned
	for _, g := range d.Grounds {
		var r rules.Rule
		if g.Kind != "rule" || json.Unmarshal(g.Data, &r) != nil || r.About() {
			continue
		}
		if planned == nil {
			o := evidence.NewObserver()
			for i := range calls {
				ob := o.Observe(&calls[i])
				planned = append(planned, ob.Planned())
			}
		}
		keys := map[memoryd.CallKey]bool{}
		for i := range calls {
			if r.Holds(planned[i]) {
				keys[calls[i].Key] = true
			}
		}
		found[g.ID] = keys
	}
	return found
}

// Says reports whether the document has the line: in any wording if it is the program's, in
// the same words if it is a person's.
func (d *Document) Says(line *Item) bool {
	return d != nil && slices.ContainsFunc(d.Items, func(it Item) bool {
		return it.ID == line.ID && it.Removed == line.Removed && it.ByPerson() == line.ByPerson() && (!it.ByPerson() || it.Text == line.Text)
	})
}
