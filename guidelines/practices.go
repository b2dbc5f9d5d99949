package guidelines

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
)

// mostPractices is how many recommendations are given.
const mostPractices = 8

// fewPractices is up to how many recommendations there is room for pairs of texts.
const fewPractices = 4

// practice is one recommendation: what to do, how often not doing it failed, and a
// few words of the message.
type practice struct {
	do          string
	counts      string // replaces "n calls failed"
	pair        string // a text that failed and one that worked
	after       string // what else is known, after the counts
	quotes      []string
	label       string
	calls, runs int
	keys        map[memoryd.CallKey]bool // of the calls, where several causes may share them
	runIDs      map[uint64]bool
	provisional bool
	slot        string
	ids         []string
	programs    []string
	aside       bool   // what is known after the counts may be left out
	issues      bool   // not all of the calls failed
	author      string // the model that worded it
	last        bool   // goes after those of equal or fewer runs
}

// practices words what to do, that of most runs first.
func (f *findings) practices(d draft) {
	all := f.stopped()
	if all == nil {
		for i := range f.evidence.Causes {
			all = append(all, f.practice(&f.evidence.Causes[i])...)
		}
		all = joined(append(all, f.quotesDropped()...))
		for i := range all {
			if said, ok := f.reworded[all[i].ids[0]]; ok {
				all[i].do, all[i].author = said.do, said.author
			}
		}
		all = append(all, f.added...)
		all = append(all, f.unchanged()...)
	}
	slices.SortStableFunc(all, func(a, b practice) int {
		return cmp.Or(compareBool(a.last, b.last), cmp.Compare(b.runs, a.runs), cmp.Compare(b.calls, a.calls))
	})
	all = all[:min(len(all), mostPractices)]
	for rank, p := range all {
		if len(all) <= fewPractices {
			p.after += p.pair
		} else if p.aside {
			p.after = ""
		}
		d.add(bestPractices, rank, f.line(p), p.slot, float64(p.calls)/float64(max(1, f.evidence.Calls))*adviceShare, p.ids...)
		if p.author != "" {
			d[bestPractices][len(d[bestPractices])-1].author = p.author
		}
		for _, id := range p.ids {
			f.advised[id] = true
		}
	}
	if len(all) == 0 {
		f.callLike(d)
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// line writes a recommendation: condition and action, count, words of the message.
func (f *findings) line(p practice) string {
	text := strings.TrimSuffix(p.do, ".") + ": "
	if p.counts != "" {
		text += p.counts
	} else {
		text += number(float64(p.calls)) + p.verb() + inRuns(p.runs)
	}
	switch {
	case len(p.quotes) > 0:
		text += ", " + strings.Join(p.quotes, " or ")
	case p.label != "":
		text += ", " + p.label
	}
	text += p.after
	return text + standing(p.provisional) + "."
}

// verb says what became of the calls: they failed, or some only had issues.
func (p *practice) verb() string {
	if p.issues {
		return " went wrong"
	}
	return " failed"
}

func inRuns(runs int) string { return " (" + count(runs, "run") + ")" }

// alone reports whether what is known of a cause comes from one run, or from one
// agent of several.
func (f *findings) alone(c *evidence.Cause) bool { return c.Runs < 2 || c.Agents == 1 && f.agents > 1 }

// stopped is the one thing to say of a tool that never worked; nil of any other.
func (f *findings) stopped() []practice {
	e := &f.evidence
	if e.Good+e.Partial > 0 || e.Failed < 5 || len(e.Causes) == 0 {
		return nil
	}
	top := &e.Causes[0]
	for i := range e.Causes {
		if e.Causes[i].Count > top.Count {
			top = &e.Causes[i]
		}
	}
	if schema(top.Class) {
		return nil // it was never called rightly
	}
	after := ""
	if top.Refuted() && (top.Class == constraints.State || top.Class == constraints.NothingYet) {
		after = "; nothing is kept between calls: after one that opens or creates, 0 of " + number(float64(top.Followed.Tries)) + " worked" + inRuns(top.FollowedRuns)
	}
	return []practice{{
		after: after,
		do:    "Do not call it: use another tool or tell the user.", counts: "0 of " + count(e.Failed, "call") + " worked" + inRuns(e.Runs), quotes: f.quotes(top), label: top.Names(),
		calls: e.Failed, runs: e.Runs, provisional: f.alone(top), slot: "stop", ids: []string{top.ID},
	}}
}

// schema reports whether a class is about the form of the parameters.
func schema(c constraints.Class) bool {
	switch c {
	case constraints.Missing, constraints.Unknown, constraints.Type, constraints.Enum, constraints.Range, constraints.Length, constraints.Format, constraints.Dependency, constraints.Serialize, constraints.Invalid:
		return true
	}
	return false
}

// practice turns a cause into what to do about it.
func (f *findings) practice(c *evidence.Cause) []practice {
	p := practice{calls: c.Count, issues: c.Failed < c.Count, aside: !c.Class.Rules(), runs: c.Runs, quotes: f.quotes(c), label: c.Names(), provisional: f.alone(c), ids: []string{c.ID}, slot: "do", keys: map[memoryd.CallKey]bool{}, runIDs: map[uint64]bool{}}
	for _, k := range c.Calls {
		p.keys[k] = true
	}
	for _, r := range c.RunIDs {
		p.runIDs[r] = true
	}
	if c.Class == constraints.Failed && len(p.quotes) == 0 && c.Count < 2 {
		return nil
	}
	p.do = constraints.Imperative(c.Constraint, f)
	switch c.Class {
	case constraints.Failed:
		if len(p.quotes) == 0 {
			return nil // nothing is known but that it failed
		}
		p.last = true
		f.changed(c, &p)
	case constraints.NotFound:
		f.copied(c, &p)
	case constraints.Forbidden:
		if c.Prefix != "" && constraints.Token(c.Prefix) {
			if path, ok := f.Parameter(c.Parameter); ok {
				p.do = "Never pass a `" + path + "` that starts with \"" + c.Prefix + "\""
			}
		}
	case constraints.Balance:
		f.balance(c, &p)
	case constraints.SoldOut:
		f.listed(c, &p)
	case constraints.State, constraints.NothingYet:
		if c.Refuted() {
			p.do = "Do not count on an earlier call that opened or created it: nothing is kept between calls; use a tool that does it in one call"
			p.after = "; after such a call 0 of " + number(float64(c.Followed.Tries)) + " worked" + inRuns(c.FollowedRuns)
			p.provisional = p.provisional || c.FollowedRuns < 2
		}
	case constraints.Sum:
		if path, ok := f.Parameter(c.EachOf); ok && c.EachRuns >= 3 {
			p.after = "; those with `" + path + "` were short by " + number(c.Each) + " for each" + inRuns(c.EachRuns)
		}
	case constraints.NoCommand:
		return f.programs(c, p)
	case constraints.Option, constraints.Operand, constraints.BadValue, constraints.Usage:
		return f.arguments(c, p)
	default:
		f.changed(c, &p)
	}
	return []practice{p}
}

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
		p.counts = ofN(s.UnseenFailed, s.Unseen) + " that stood in no earlier answer failed" + inRuns(p.runs)
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
}

// listed says which tools list what is available.
func (f *findings) listed(c *evidence.Cause, p *practice) {
	path, known := f.Parameter(c.Parameter)
	s := f.source(c.Parameter)
	if !known || s == nil {
		return
	}
	if from := f.toolNames(s); from != "" && s.Seen >= 5 {
		p.do = "Send only `" + path + "` values that " + from + " listed as available"
	}
}

// programs parts what is not installed from what is no command at all.
func (f *findings) programs(c *evidence.Cause, p practice) []practice {
	var absent []string
	one := practice{quotes: []string{}, label: c.Names(), runs: 0, ids: []string{c.ID}, slot: "programs"}
	for _, s := range c.Slots {
		if program.MatchString(s.Text) && s.Sent > 0 && s.Worked == 0 && s.Runs >= 2 && s.Calls >= 2 {
			absent = append(absent, "`"+s.Text+"`")
			one.calls += s.Calls
			one.runs = max(one.runs, s.Runs)
		}
	}
	p.do = constraints.General(c.Class)
	if len(absent) == 0 {
		return []practice{p}
	}
	one.do = "Do not use " + list(absent, "or") + ": not installed"
	one.provisional = one.runs < 2
	if p.calls -= one.calls; p.calls <= 0 {
		one.quotes = p.quotes
		return []practice{one}
	}
	return []practice{p, one}
}

// arguments names the programs whose options or operands were refused; causes of
// several kinds make one recommendation.
func (f *findings) arguments(c *evidence.Cause, p practice) []practice {
	p.slot, p.label, p.quotes = "arguments", "invalid option, value or operand", nil
	for _, s := range c.Slots {
		if program.MatchString(s.Text) && s.Sent > 0 && len(p.programs) < 3 {
			p.programs = append(p.programs, "`"+s.Text+"`")
		}
	}
	if len(p.programs) == 0 {
		return nil
	}
	p.do = "Check options and operands of " + list(p.programs, "and")
	return []practice{p}
}

var program = regexp.MustCompile(`^[a-z][a-z0-9_+-]{1,23}$`)

// quotesDropped tells of a tool that loses double quotes, where its messages show it.
func (f *findings) quotesDropped() []practice {
	e := &f.evidence.Echoes
	path, known := f.Parameter(e.Path)
	if e.Dropped < 3 || 10*e.Dropped < 9*e.Of || e.With < 10 || e.Without < 10 || e.WithFailed*e.Without <= e.WithoutFailed*e.With {
		return nil
	}
	name := "the input text"
	if known {
		name = "`" + path + "`"
	}
	return []practice{{
		do:     "Use single quotes, no double quotes, in " + name + " (the tool drops them)",
		counts: ofN(e.Dropped, e.Of) + " echoed" + inRuns(e.Runs) + "; with them " + ofN(e.WithFailed, e.With) + " failed, without " + ofN(e.WithoutFailed, e.Without),
		calls:  e.WithFailed, runs: max(e.Runs, f.mostRuns()), provisional: e.Runs < 2, slot: "echo", ids: []string{echoGround},
	}}
}

func (f *findings) mostRuns() int {
	most := 0
	for i := range f.evidence.Causes {
		most = max(most, f.evidence.Causes[i].Runs)
	}
	return most
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

// joined makes one recommendation of those that say the same, and one of all
// parameters that are to be given.
func joined(all []practice) []practice {
	var out []practice
	for _, p := range all {
		at := slices.IndexFunc(out, func(o practice) bool {
			return o.do == p.do && o.counts == p.counts || o.slot == "arguments" && p.slot == o.slot || p.counts+o.counts == "" && o.slot == "do" && p.slot == "do" && always(o.do) && always(p.do)
		})
		if at < 0 {
			out = append(out, p)
			continue
		}
		o := &out[at]
		switch {
		case o.slot == "arguments":
			for _, name := range p.programs {
				if len(o.programs) < 5 && !slices.Contains(o.programs, name) {
					o.programs = append(o.programs, name)
				}
			}
			o.do = "Check options and operands of " + list(o.programs, "and")
		case o.do != p.do:
			o.do = "Always give " + andName(names(o.do), names(p.do)...)
		}
		maps.Copy(o.keys, p.keys)
		maps.Copy(o.runIDs, p.runIDs)
		o.calls, o.runs = len(o.keys), len(o.runIDs)
		o.ids = append(o.ids, p.ids...)
		o.provisional = o.provisional && p.provisional
		o.last, o.issues = o.last && p.last, o.issues || p.issues
		for _, q := range p.quotes {
			if len(o.quotes) < 2 && !slices.Contains(o.quotes, q) {
				o.quotes = append(o.quotes, q)
			}
		}
		if o.after == "" {
			o.after = p.after
		}
	}
	return out
}

func always(do string) bool { return strings.HasPrefix(do, "Always give `") }

func names(do string) []string {
	var ns []string
	ns = append(ns, backticked.FindAllString(do, -1)...)
	return ns
}

var backticked = regexp.MustCompile("`[^`]+`")

func andName(have []string, more ...string) string {
	for _, n := range more {
		if !slices.Contains(have, n) {
			have = append(have, n)
		}
	}
	return list(have, "and")
}

// callLike is the recommendation of a tool that has not failed: a good call.
func (f *findings) callLike(d draft) {
	x := f.evidence.Exemplar
	if x == nil {
		return
	}
	if shown := f.exemplar(x); shown != "" {
		d.add(bestPractices, 0, "Call it as in `"+shown+"`: "+ofN(x.Calls, x.Good)+" good calls gave these parameters.", "like", coreValue/2, exemplarGround)
	}
}
