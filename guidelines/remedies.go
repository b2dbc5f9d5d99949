package guidelines

import (
	"regexp"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
)

// copied words a "not found" by where good values come from.
func (f *findings) copied(c *evidence.Cause, p *practice) {
	s := f.source(c.Parameter)
	path, known := f.Parameter(c.Parameter)
	if s == nil || !known || !s.Tells() {
		f.changed(c, p)
		return
	}
	from := f.toolNames(s)
	if from == "" {
		return
	}
	p.do = "Copy `" + path + "` exactly from " + from
	if s.Unseen > 0 && s.UnseenFailed > 0 {
		p.counts = ofN(s.UnseenFailed, s.Unseen) + " from no earlier answer failed" + inRuns(p.runs) + ", " + ofN(c.Copied, s.SeenAll) + " copied ones did"
	}
}

// balance names what to compare, and which means of payment failed so.
func (f *findings) balance(c *evidence.Cause, p *practice) {
	path, known := f.Parameter(c.Parameter)
	if !known || c.Prefix == "" || !constraints.Token(c.Prefix) {
		return
	}
	p.do = "Before passing a `" + path + "` that starts with \"" + c.Prefix + "\", compare its balance"
	if s := f.source(c.Parameter); s != nil {
		if from := f.toolNames(s); from != "" {
			p.do += " in " + from
		}
	}
	p.do += " with the amount"
	if c.SafeCalls >= 10 && constraints.Token(c.Safe) {
		p.after = "; none of " + count(c.SafeCalls, "call") + " with \"" + c.Safe + "\" failed so"
	}
}

// mostWorked is how many values that worked are named.
const mostWorked = 3

// worked names values of the parameter that worked, where the message lists none.
func (f *findings) worked(c *evidence.Cause, p *practice) bool {
	path, known := f.Parameter(c.Parameter)
	at := slices.IndexFunc(f.evidence.Parameters, func(p evidence.Parameter) bool { return p.Path == c.Parameter })
	if !known || at < 0 || len(c.Values) > 1 || p.full != "" {
		return false
	}
	var shown []string
	for _, v := range f.evidence.Parameters[at].Worked {
		if !v.Sole && len(shown) < mostWorked && constraints.Token(v.Value) {
			shown = append(shown, "`"+v.Value+"`")
		}
	}
	if len(shown) == 0 {
		return false
	}
	p.do = "Give `" + path + "` only values that are known to work, such as " + list(shown, "or")
	return true
}

// listed says which tools list what is available.
func (f *findings) listed(c *evidence.Cause, p *practice) {
	path, known := f.Parameter(c.Parameter)
	s := f.source(c.Parameter)
	if !known || s == nil {
		return
	}
	if from := f.toolNames(f.listing(s)); from != "" && s.Seen >= 5 {
		p.do = "Send only `" + path + "` values that " + from + " listed as available"
	}
}

// listing is a source without the tools that only show one thing, where others among
// them search or list by their names.
func (f *findings) listing(s *evidence.Provenance) *evidence.Provenance {
	only := *s
	only.Tools = slices.DeleteFunc(slices.Clone(s.Tools), func(t evidence.ToolCount) bool { return !lists.MatchString(t.Tool) || t.Tool == f.tool.Tool })
	if len(only.Tools) == 0 {
		return s
	}
	return &only
}

var lists = regexp.MustCompile(`(?i)search|list|find|query|availab|browse`)

// habits counts the texts that are written as the remedy forbids.
func (f *findings) habits(c *evidence.Cause, p *practice) {
	var counts []string
	for i := range c.Habits {
		h := &c.Habits[i]
		if h.Do != "" {
			if 2*h.Explains < c.Count {
				continue
			}
			p.do = h.Do
		}
		said := h.Words + " failed " + ofN(h.WithFailed, h.With) + inRuns(h.Runs)
		if len(counts) > 0 {
			said = h.Words + " " + ofN(h.WithFailed, h.With) + inRuns(h.Runs)
		} else if h.Without > 0 && len(c.Habits) == 1 {
			said += ", otherwise " + ofN(h.WithoutFailed, h.Without)
		}
		counts = append(counts, said)
	}
	if p.counts = strings.Join(counts, ", "); p.counts != "" {
		p.quotes, p.held = f.quoted(c, habitWords)
	}
}

// programs names what is not installed beside what is no command at all.
func (f *findings) programs(c *evidence.Cause, p practice) []practice {
	var absent []string
	missing := 0
	for _, s := range c.Slots {
		if program.MatchString(s.Text) && s.Sent > 0 && 2*s.Failed > s.All && s.Runs >= 2 && s.Calls >= 2 && !s.Sole && len(absent) < 3 {
			absent = append(absent, "`"+s.Text+"`")
			missing += s.Calls
		}
	}
	p.general = constraints.General(c.Class)
	p.do = p.general
	switch {
	case len(absent) == 0:
	case missing >= c.Count:
		p.do, p.general = "Do not use "+list(absent, "or")+": not installed", ""
	default:
		p.do = strings.TrimSuffix(p.do, ".") + ", no " + list(absent, "or")
	}
	return []practice{p}
}

// arguments names the programs whose options or operands were refused; causes of
// several kinds make one recommendation.
func (f *findings) arguments(c *evidence.Cause, p practice) []practice {
	p.general, p.counts = "", ""
	p.slot, p.label, p.quotes, p.full, p.held = "arguments", "invalid option, value or operand", nil, "", ""
	for _, s := range c.Slots {
		if program.MatchString(s.Text) && s.Sent > 0 && !s.Sole && len(p.programs) < 3 {
			p.programs = append(p.programs, "`"+s.Text+"`")
		}
	}
	if len(p.programs) == 0 {
		p.slot = "do"
		p.quotes, p.held = f.quotes(c)
		return []practice{p}
	}
	p.do = "Check options and operands of " + list(p.programs, "and")
	return []practice{p}
}

var program = regexp.MustCompile(`^[a-z][a-z0-9_+-]{1,23}$`)

// quotesDropped tells of a tool that loses double quotes, where its messages show it,
// and takes in the recommendation on quotes that do not match: they come of it.
func (f *findings) quotesDropped(all []practice) []practice {
	e := &f.evidence.Echoes
	path, known := f.Parameter(e.Path)
	if e.Dropped < 3 || 10*e.Dropped < 9*e.Of || e.With < 10 || e.Without < 10 || e.WithFailed*e.Without <= e.WithoutFailed*e.With {
		return all
	}
	name := "the input text"
	if known {
		name = "`" + path + "`"
	}
	p := practice{
		do:     "Use single quotes, never double, in " + name + " (the tool drops them)",
		counts: ofN(e.Dropped, e.Of) + " echoed" + inRuns(e.Runs) + "; " + ofN(e.WithFailed, e.With) + " with them failed, " + ofN(e.WithoutFailed, e.Without) + " without",
		calls:  e.WithFailed, runs: max(e.Runs, f.mostRuns()), provisional: e.Runs < 2, slot: "echo", ids: []string{echoGround},
	}
	if at := slices.IndexFunc(all, func(o practice) bool { return o.general == constraints.General(constraints.Quotes) }); at >= 0 {
		p.quotes, p.ids = all[at].quotes, append(p.ids, all[at].ids...)
		all = slices.Delete(all, at, at+1)
	}
	return append(all, p)
}

func (f *findings) mostRuns() int {
	most := 0
	for i := range f.evidence.Causes {
		most = max(most, f.evidence.Causes[i].Runs)
	}
	return most
}

// before names the tool whose answer is to be there first, where calls without it
// failed more often. One is enough: others mostly stand for the same.
func (f *findings) before() []practice {
	for _, o := range f.evidence.Orders {
		if o.Tool == f.tool.Tool || o.Sole {
			continue
		}
		return []practice{{
			do: "Call " + code(o.Tool) + " first", counts: "failures in " + ofN(o.WithoutBad, o.Without) + " runs without it, in " + ofN(o.WithBad, o.With) + " with it",
			calls: o.WithoutBad, runs: o.WithoutBad, slot: "before", ids: []string{sourcesGround}, keys: map[memoryd.CallKey]bool{},
		}}
	}
	return nil
}

// unchanged warns of sending a refused call again as it was.
func (f *findings) unchanged() []practice {
	r, runs := f.evidence.Unchanged, f.evidence.UnchangedRuns
	if r.Tries < 3 || 10*r.Succeeded > r.Tries {
		return nil
	}
	return []practice{{
		do: "Never send a refused call again unchanged", counts: ofN(r.Succeeded, r.Tries) + " worked" + inRuns(runs), calls: r.Tries - r.Succeeded, runs: runs,
		provisional: runs < 2, slot: "repeat", ids: []string{retriesGround}, last: true,
	}}
}
