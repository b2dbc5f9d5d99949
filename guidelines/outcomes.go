package guidelines

import (
	"encoding/json"
	"slices"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// LineOutcome compares calls from before a line of a guideline was published with those
// since.
type LineOutcome struct {
	Line string `json:"line"`
	// Since is the version that introduced the line, as far back as versions are kept.
	Since int64 `json:"since"`
	// Tells reports that the line's evidence shows which calls broke it. Otherwise Broke and
	// BrokeFailed are 0 everywhere.
	Tells bool `json:"tells"`
	// Shown are those of After whose agent saw the line, as far as calls say so. Untold are
	// those of runs in the control group.
	Before LineCounts `json:"before"`
	After  LineCounts `json:"after"`
	Shown  LineCounts `json:"shown"`
	Untold LineCounts `json:"untold"`
}

// LineCounts counts judged calls in the history. Those that did not break the line followed
// it.
type LineCounts struct {
	// Failed of Calls scored 0. Broke of them did what the line warns of, or failed with the
	// message that it is about; BrokeFailed of these scored 0.
	Calls       int `json:"calls"`
	Failed      int `json:"failed"`
	Broke       int `json:"broke"`
	BrokeFailed int `json:"broke_failed"`
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
		list = append(list, o)
	}
	return list
}

func (n *LineCounts) count(c *memoryd.Call, broke []map[memoryd.CallKey]bool) {
	failed := 0
	if c.Evaluation.Score <= memoryd.ScoreFailure {
		failed = 1
	}
	n.Calls++
	n.Failed += failed
	for _, keys := range broke {
		if keys[c.Key] {
			n.Broke++
			n.BrokeFailed += failed
			return
		}
	}
}

// breaks gives, by ground, the calls that broke its rule.
func (d *Document) breaks(calls []memoryd.Call) map[string]map[memoryd.CallKey]bool {
	found := map[string]map[memoryd.CallKey]bool{}
	var planned []*rules.Planned
	for _, g := range d.Grounds {
		var r rules.Rule
		if g.Kind != "rule" || json.Unmarshal(g.Data, &r) != nil {
			continue
		}
		if planned == nil {
			planned = plans(calls)
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

// plans reads calls as they were about to be made.
func plans(calls []memoryd.Call) []*rules.Planned {
	o := evidence.NewObserver()
	list := make([]*rules.Planned, len(calls))
	for i := range calls {
		ob := o.Observe(&calls[i])
		list[i] = rules.Plan(&rules.Call{Input: ob.Input, Named: ob.Named, Before: ob.Before, Sources: ob.Sources})
	}
	return list
}

// Says reports whether the document has the line: in any wording if it is the program's, in
// the same words if it is a person's.
func (d *Document) Says(line *Item) bool {
	return d != nil && slices.ContainsFunc(d.Items, func(it Item) bool {
		return it.ID == line.ID && it.Removed == line.Removed && it.ByPerson() == line.ByPerson() && (!it.ByPerson() || it.Text == line.Text)
	})
}
