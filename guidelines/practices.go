package guidelines

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
)

// mostPractices is how many recommendations are given.
const mostPractices = 8

// habitWords is how many words of a message are shown beside the counts of a habit.
const habitWords = 8

// roomForAsides is how many words all recommendations have together where each says
// all that is known.
const roomForAsides = 130

// fewPractices is up to how many recommendations there is room for pairs of texts.
const fewPractices = 4

// practice is one recommendation: what to do, how often not doing it failed, and a
// few words of the message.
type practice struct {
	do          string
	general     string // the remedy of the class, where no slot of do could be filled
	counts      string // replaces "n calls failed"
	pair        string // a text that failed and one that worked
	after       string // what else is known, after the counts
	quotes      []string
	full, held  string // the action and the quote that the quorum keeps back
	label       string
	calls, runs int
	keys        map[memoryd.CallKey]bool // of the calls, where several causes may share them
	runIDs      map[uint64]bool
	provisional bool
	slot        string
	ids         []string
	programs    []string
	uncertain   bool   // what after says is provisional
	aside       bool   // what is known after the counts may be left out
	issues      bool   // not all of the calls failed
	author      string // the model that worded it
	tested      bool   // calls bear it out: it goes first
	last        bool   // goes after those of equal or fewer runs
}

// practices words what to do, that of most runs first.
func (f *findings) practices(d draft) {
	all := f.stopped()
	if all == nil {
		for i := range f.evidence.Causes {
			all = append(all, f.practice(&f.evidence.Causes[i])...)
		}
		all = echoed(f.quotesDropped(joined(all)))
		all = append(all, f.added...)
		all = append(all, f.before()...)
		all = append(all, f.unchanged()...)
		all = f.tested(all)
	}
	all = slices.DeleteFunc(all, func(p practice) bool { return p.last && p.general != "" && p.after+p.pair == "" }) // it would say nothing of this tool
	slices.SortStableFunc(all, func(a, b practice) int {
		return cmp.Or(cmp.Compare(f.place(a), f.place(b)), compareBool(b.tested, a.tested), compareBool(a.last, b.last), cmp.Compare(b.runs, a.runs), cmp.Compare(b.calls, a.calls))
	})
	if n := len(all); n > mostPractices && all[n-1].slot == "repeat" && all[n-1].runs >= all[mostPractices-1].runs { // short, and of many runs
		all[mostPractices-1] = all[n-1]
	}
	all = all[:min(len(all), mostPractices)]
	brief := f.lengthOf(all) > roomForAsides
	for rank, p := range all {
		if len(all) <= fewPractices {
			p.after += p.pair
		} else if p.aside && brief {
			p.after, p.uncertain = "", false
		}
		d.add(bestPractices, rank, f.line(p), p.slot, float64(p.calls)/float64(max(1, f.evidence.Calls))*adviceShare, p.ids...)
		d.hold(bestPractices, f.heldLine(p))
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
	if len(d[bestPractices]) == 0 {
		f.nothingCame(d)
	}
}

// nothingCame is the recommendation for a tool whose answers were only ever empty.
func (f *findings) nothingCame(d draft) {
	for i := range f.evidence.Causes {
		if c := &f.evidence.Causes[i]; f.empty(c) {
			d.add(bestPractices, 0, "Change the values when nothing comes back: "+count(c.Count, "answer")+" empty"+inRuns(c.Runs)+provisionalNote(alone(c))+".", "empty", f.share(c.Count), c.ID)
			f.advised[c.ID] = true
			return
		}
	}
}

// echoed drops the recommendations that say nothing of their own: without a slot, of
// calls that another one is about.
func echoed(all []practice) []practice {
	return slices.DeleteFunc(slices.Clone(all), func(p practice) bool {
		return p.general != "" && slices.ContainsFunc(all, func(o practice) bool {
			if o.slot != "do" || len(o.keys) <= len(p.keys) && o.general != "" || o.do == p.do {
				return false
			}
			for k := range p.keys {
				if !o.keys[k] {
					return false
				}
			}
			return true
		})
	})
}

// place is where a model put a recommendation; the others come after those.
func (f *findings) place(p practice) int {
	first := math.MaxInt
	for _, id := range p.ids {
		if at := f.chosen[id]; at > 0 {
			first = min(first, at)
		}
	}
	return first
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

// line writes a recommendation: condition and action, and how often not doing it failed.
func (f *findings) line(p practice) string {
	text := strings.TrimSuffix(p.do, ".") + ": "
	if p.counts != "" {
		text += p.counts
	} else {
		text += number(float64(p.calls)) + p.verb() + inRuns(p.runs)
	}
	if p.label != "" && len(p.quotes) == 0 {
		text += ", " + p.label
	}
	text += p.after // what the tool said stands in its own section
	return text + provisionalNote(p.provisional || p.uncertain) + "."
}

// lengthOf is how many words the recommendations take with all that is known.
func (f *findings) lengthOf(all []practice) int {
	n := 0
	for _, p := range all {
		n += wordCount(f.line(p))
	}
	return n
}

// heldLine is the line as it would stand with what the quorum keeps back.
func (f *findings) heldLine(p practice) string {
	if p.full+p.held == "" {
		return ""
	}
	p.do = cmp.Or(p.full, p.do)
	if p.held != "" {
		p.quotes = append(slices.Clone(p.quotes), p.held)
	}
	return f.line(p)
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
// party of several.
func alone(c *evidence.Cause) bool { return c.Runs < 2 || c.Sole }

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
	if schema(top.Class) || top.Class.Mendable() && !top.Refuted() {
		return nil // it was never called rightly
	}
	after := ""
	if top.Refuted() && (top.Class == constraints.State || top.Class == constraints.NothingYet) {
		after = "; nothing is kept between calls: after one that opens or creates, 0 of " + number(float64(top.Followed.Tries)) + " worked" + inRuns(top.FollowedRuns)
	}
	do := "Use another tool or tell the user."
	if top.Class == constraints.UnknownTool {
		do = constraints.Imperative(top.Constraint, f)
	}
	quotes, held := f.quotes(top)
	return []practice{{
		after: after, held: held,
		do: do, counts: "0 of " + count(e.Failed, "call") + " worked" + inRuns(e.Runs), quotes: quotes, label: top.Names(),
		calls: e.Failed, runs: e.Runs, provisional: alone(top), slot: "stop", ids: []string{top.ID},
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
	p := practice{calls: c.Count, issues: c.Failed < c.Count, aside: !c.Class.Rules(), runs: c.Runs, label: c.Names(), provisional: alone(c), ids: []string{c.ID}, slot: "do", keys: map[memoryd.CallKey]bool{}, runIDs: map[uint64]bool{}}
	p.quotes, p.held = f.quotes(c)
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
	if !quorate(evidence.Support{Calls: c.Count, Runs: c.Runs, Sole: c.Sole}) || c.Stated.Calls > 0 && !quorate(c.Stated) {
		if own := constraints.Imperative(c.Bare(), f); own != p.do {
			p.do, p.full = own, p.do
		}
	}
	if strings.TrimSuffix(p.do, ".") == strings.TrimSuffix(constraints.General(c.Class), ".") {
		p.general = constraints.General(c.Class)
	}
	f.habits(c, &p)
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
	case constraints.Unsupported, constraints.Enum, constraints.Invalid:
		if !f.worked(c, &p) {
			f.changed(c, &p)
		}
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
	if c.Count == 1 && p.after == "" && f.evidence.Judged >= 2*f.minCalls && (!c.Class.Rules() || p.general != "" && schema(c.Class)) {
		return nil // one mishap of many calls
	}
	return []practice{p}
}

// joined makes one recommendation of those that say the same, and one of all
// parameters that are to be given.
func joined(all []practice) []practice {
	var out []practice
	for _, p := range all {
		at := slices.IndexFunc(out, func(o practice) bool {
			return o.do == p.do && o.counts == p.counts || p.general != "" && o.general == p.general && min(len(o.counts), len(p.counts)) == 0 || o.slot == "arguments" && p.slot == o.slot || p.counts+o.counts == "" && o.slot == "do" && p.slot == "do" && always(o.do) && always(p.do)
		})
		if at < 0 {
			out = append(out, p)
			continue
		}
		o := &out[at]
		switch {
		case o.slot == "arguments":
			for _, name := range p.programs {
				if len(o.programs) < 3 && !slices.Contains(o.programs, name) {
					o.programs = append(o.programs, name)
				}
			}
			o.do = "Check options and operands of " + list(o.programs, "and")
		case always(o.do) && o.do != p.do:
			given := append(names(o.do), names(p.do)...)
			slices.SortFunc(given, func(a, b string) int { return strings.Compare(strings.Trim(a, "`"), strings.Trim(b, "`")) })
			o.do = "Always give " + list(slices.Compact(given), "and")
		}
		maps.Copy(o.keys, p.keys)
		maps.Copy(o.runIDs, p.runIDs)
		o.calls, o.runs = len(o.keys), len(o.runIDs)
		o.ids = append(o.ids, p.ids...)
		o.provisional = o.provisional && p.provisional
		o.uncertain = o.uncertain || p.after != "" && o.after == "" && p.uncertain
		o.last, o.issues = o.last && p.last, o.issues || p.issues
		o.full, o.held = "", cmp.Or(o.held, p.held)
		for _, q := range p.quotes {
			if len(o.quotes) < 2 && !slices.Contains(o.quotes, q) {
				o.quotes = append(o.quotes, q)
			}
		}
		if p.counts != "" {
			o.do, o.counts = p.do, p.counts
		}
		if o.after == "" {
			o.after = p.after
		}
	}
	return out
}

func always(do string) bool { return strings.HasPrefix(do, "Always give `") }

func names(do string) []string { return backticked.FindAllString(do, -1) }

var backticked = regexp.MustCompile("`[^`]+`")

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
