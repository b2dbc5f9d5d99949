package guidelines

import (
	"math"

	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
)

// changed adds the change after which the message was gone.
func (f *findings) changed(c *evidence.Cause, p *practice) {
	for i := range c.Repairs {
		r := &c.Repairs[i]
		if r.Succeeded == 0 && (r.Gone == 0 || f.evidence.Good > 0 || !touches(c, r)) || 2*(r.Succeeded+r.Gone) < r.Tries || !touches(c, r) && (r.Runs < 2 || r.Sole || f.chance(r) > chanceLevel) {
			continue
		}
		text := f.change(c, r)
		if text == "" {
			continue
		}
		p.after = "; " + text + " then worked " + ofN(r.Succeeded, r.Tries) + inRuns(r.Runs)
		if c.Class == constraints.Missing && r.Change == evidence.Added {
			p.after = "; with it " + ofN(r.Succeeded, r.Tries) + " then worked" + inRuns(r.Runs)
		}
		if r.Succeeded == 0 {
			p.after = "; " + text + " the message was gone" + inRuns(r.Runs)
		}
		p.uncertain = r.Runs < 2 || r.Sole
		p.last = false
		if bad, ok := f.example(r.Bad); ok && f.evidence.Parties < 2 && r.Runs >= 2 && (r.Change == evidence.Requoted || r.Change == evidence.Edited || r.Change == evidence.Recased) {
			if good, ok := f.example(r.Good); ok {
				p.pair = ", as `" + bad + "` → `" + good + "`"
			}
		}
		return
	}
}

// touches reports whether a repair changed the very parameter that the message names.
func touches(c *evidence.Cause, r *evidence.Repair) bool {
	return c.Parameter != "" && (r.Path == c.Parameter || r.To == c.Parameter)
}

// chanceLevel is how likely the successes after a change may be without it.
const chanceLevel = 0.1

// chance is the probability of so many successes or more among the tries if each
// worked as often as any call: the upper tail of the binomial distribution.
func (f *findings) chance(r *evidence.Repair) float64 {
	e := &f.evidence
	p := float64(e.Good) / float64(max(1, e.Judged))
	tail, choose := 0.0, 1.0
	for k := range r.Tries + 1 {
		if k > 0 {
			choose = choose * float64(r.Tries-k+1) / float64(k)
		}
		if k >= r.Succeeded {
			tail += choose * math.Pow(p, float64(k)) * math.Pow(1-p, float64(r.Tries-k))
		}
	}
	return tail
}

// change words a repair; "" for one that says nothing of how.
func (f *findings) change(c *evidence.Cause, r *evidence.Repair) string {
	path, known := f.Parameter(r.Path)
	name := "`" + path + "`"
	switch r.Change {
	case evidence.Renamed:
		if to, ok := f.Parameter(r.To); ok && constraints.Path(r.Path) != "" && f.Sent(r.Path) {
			return "`" + to + "` instead of `" + r.Path + "`"
		}
	case evidence.Added:
		if known {
			return "giving " + name
		}
	case evidence.Removed:
		if constraints.Path(r.Path) != "" && f.Sent(r.Path) {
			return "leaving out `" + r.Path + "`"
		}
	case evidence.Lowered, evidence.Raised:
		if known && r.Number != 0 && !r.Sole && c.Class == constraints.Range && 2*r.Succeeded >= r.Tries {
			return name + " " + number(r.Number)
		}
	case evidence.Shortened, evidence.Lengthened:
		if known && c.Class == constraints.Length {
			return map[evidence.Change]string{evidence.Shortened: "fewer elements in ", evidence.Lengthened: "more elements in "}[r.Change] + name
		}
	case evidence.Rehosted:
		if known && !c.Class.Rules() {
			return "another host in " + name
		}
	case evidence.Retyped, evidence.Recased, evidence.Requoted, evidence.Respaced, evidence.Absolute:
		if known {
			return map[evidence.Change]string{
				evidence.Retyped: "another type of ", evidence.Recased: "other upper and lower case in ", evidence.Requoted: "other quotes and punctuation in ",
				evidence.Respaced: "other indentation in ", evidence.Absolute: "an absolute path in ",
			}[r.Change] + name
		}
	case evidence.Replaced:
		if known && r.Runs >= 2 && !r.Sole && (c.Class == constraints.NotFound || c.Class == constraints.Exists || c.Class == constraints.Enum) {
			return "another " + name
		}
	}
	return ""
}

// example is a short text of a caller as it may be shown.
func (f *findings) example(s string) (string, bool) {
	q, ok := quotable(s, 60)
	return q, ok && q == s && len(s) <= 60
}
