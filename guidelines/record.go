package guidelines

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
	"memoryd/internal/textsafe"
)

// record is one recommendation as a model gives it: never a sentence with counts,
// which the program writes from what it counts itself.
type record struct {
	When      *predicate `json:"when"`
	Do        string     `json:"do"`
	InsteadOf string     `json:"instead_of"`
	Evidence  []string   `json:"evidence"`
	Kind      string     `json:"kind"`
}

// predicate is a property of an input that can be looked up in the calls.
type predicate struct {
	Parameter string `json:"parameter"`
	Predicate string `json:"predicate"`
	Value     any    `json:"value"`
}

// Reason says why a record of a model was dropped.
type Reason string

// The reasons.
const (
	DroppedKind      Reason = "unknown_kind"      // a kind that is not of the list
	DroppedEvidence  Reason = "unknown_evidence"  // it cites nothing, or what it was not shown
	DroppedLength    Reason = "too_long"          // more than maxDoWords words
	DroppedText      Reason = "forbidden_text"    // an address, a secret, markup, invisible or steering text
	DroppedNumber    Reason = "ungrounded_number" // a number that the evidence does not know
	DroppedName      Reason = "unknown_name"      // a name in backticks that is no parameter and no tool
	DroppedWord      Reason = "unknown_word"      // a word that neither this program nor a caller uses
	DroppedPredicate Reason = "unknown_predicate" // a condition that cannot be looked up
	DroppedCalls     Reason = "calls_disagree"    // the calls do not bear it out
	DroppedDuplicate Reason = "duplicate"         // it stands there already
)

// Review counts what became of a model's answer.
type Review struct {
	Kept    int
	Dropped map[Reason]int
}

// Limits on the records of a model.
const (
	maxRecords = 8
	maxDoWords = 20
	// harmless is the share of good calls that a condition may hold for which a
	// record warns of.
	harmless = 0.05
)

// recordsOf reads an answer: JSON with items, in a code fence or not.
func recordsOf(answer string) ([]record, bool) {
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	if from < 0 || to < from {
		return nil, false
	}
	var doc struct {
		Items []record `json:"items"`
	}
	if json.Unmarshal([]byte(answer[from:to+1]), &doc) != nil || doc.Items == nil {
		return nil, false
	}
	return doc.Items[:min(len(doc.Items), maxRecords)], true
}

// reviewer runs the records of a model over the calls.
type reviewer struct {
	f      *findings
	author string
	inputs []constraints.Input
}

// review keeps the records that the calls bear out: those without a condition word
// a recommendation anew, the others are recommendations of their own.
func (r *reviewer) review(records []record) (reworded map[string]practice, added []practice, review Review) {
	review.Dropped = map[Reason]int{}
	reworded = map[string]practice{}
	seen := map[string]bool{}
	for _, rec := range records {
		p, reason := r.check(rec)
		if reason == "" && seen[p.do] {
			reason = DroppedDuplicate
		}
		if reason != "" {
			review.Dropped[reason]++
			continue
		}
		seen[p.do] = true
		review.Kept++
		if rec.When != nil {
			added = append(added, p)
			continue
		}
		reworded[p.ids[0]] = p
	}
	return reworded, added, review
}

// check is a record as a recommendation, or why it is none.
func (r *reviewer) check(rec record) (practice, Reason) {
	if !slices.Contains([]string{"constraint", "repair", "provenance", "order", "limit", "stop"}, rec.Kind) {
		return practice{}, DroppedKind
	}
	causes := r.cited(rec.Evidence)
	if len(causes) == 0 {
		return practice{}, DroppedEvidence
	}
	do := strings.TrimRight(strings.TrimSpace(rec.Do), ".")
	if rec.InsteadOf != "" {
		if slices.ContainsFunc(strings.Fields(strings.ToLower(rec.InsteadOf)), func(w string) bool { return containsWord("is are was were be been has have had", w) }) {
			return practice{}, DroppedWord // a claim, no way to call
		}
		do += ", not " + strings.TrimRight(strings.TrimSpace(rec.InsteadOf), ".")
	}
	if reason := r.text(do, rec, causes); reason != "" {
		return practice{}, reason
	}
	c := causes[0]
	p := practice{do: sentence(do), calls: c.Count, runs: c.Runs, issues: c.Failed < c.Count, label: c.Names(), provisional: alone(c), slot: "said", author: r.author}
	p.quotes, _ = r.f.quotes(c)
	for _, c := range causes {
		p.ids = append(p.ids, c.ID)
	}
	if !r.bears(rec, do, causes) {
		return practice{}, DroppedCalls
	}
	if rec.When == nil {
		if c.Class == constraints.Failed && !r.f.advised[c.ID] {
			return practice{}, DroppedCalls // there is nothing that it could word
		}
		return p, ""
	}
	return r.conditional(rec, p)
}

// cited are the causes of the evidence that a record cites; nil when one is unknown.
func (r *reviewer) cited(ids []string) []*evidence.Cause {
	var causes []*evidence.Cause
	for _, id := range ids {
		at := slices.IndexFunc(r.f.evidence.Causes, func(c evidence.Cause) bool { return c.ID == id })
		if at < 0 {
			return nil
		}
		causes = append(causes, &r.f.evidence.Causes[at])
	}
	return causes
}

// bears reports whether what was mined speaks for the kind of a record.
func (r *reviewer) bears(rec record, do string, causes []*evidence.Cause) bool {
	names, c := namesIn(do), causes[0]
	switch rec.Kind {
	case "repair":
		return slices.ContainsFunc(c.Repairs, func(p evidence.Repair) bool {
			return p.Succeeded > 0 && 2*(p.Succeeded+p.Gone) >= p.Tries && (p.Runs >= 2 || p.Path == c.Parameter) && (len(names) == 0 || slices.Contains(names, p.Path) || slices.Contains(names, p.To))
		})
	case "provenance":
		return slices.ContainsFunc(r.f.evidence.Sources, func(s evidence.Provenance) bool {
			return s.Tells() && slices.Contains(names, s.Path) && slices.ContainsFunc(s.Tools, func(t evidence.ToolCount) bool { return slices.Contains(names, t.Tool) })
		})
	case "order":
		return (c.Class == constraints.State || c.Class == constraints.NothingYet || c.Class == constraints.Stale) && !c.Refuted()
	case "stop":
		return rec.When != nil || r.f.evidence.Good == 0 && r.f.evidence.Failed >= 5
	}
	return !c.Refuted()
}

// conditional counts the calls that meet a record's condition: failed ones in two
// runs or more, hardly a good one, and more often failed than the others.
func (r *reviewer) conditional(rec record, p practice) (practice, Reason) {
	path, known := r.f.Parameter(rec.When.Parameter)
	if !known && !r.f.Sent(rec.When.Parameter) {
		return practice{}, DroppedName
	}
	if !known {
		path = rec.When.Parameter
	}
	phrase, ok := rec.When.phrase(path)
	if !ok {
		return practice{}, DroppedPredicate
	}
	with, bad, good, goods := 0, 0, 0, 0
	runs := map[uint64]bool{}
	behind := make([]bool, len(r.f.obs))
	for i := range r.f.obs {
		ob := &r.f.obs[i]
		is := rec.When.holds(path, r.input(i))
		if ob.Good() {
			goods++
			if is {
				good++
			}
		}
		if !is {
			continue
		}
		with++
		if ob.Bad() {
			bad++
			runs[ob.Run], behind[i] = true, true
		}
	}
	e := &r.f.evidence
	switch {
	case bad < quorumCalls || len(runs) < quorumRuns, evidence.Sole(r.f.obs, func(i int) bool { return behind[i] }), bad*e.Judged <= e.Failed*with:
		return practice{}, DroppedCalls
	case rec.Kind == "stop" && (good > 0 || with < 5), rec.Kind != "provenance" && rec.Kind != "repair" && float64(good) > harmless*float64(goods):
		return practice{}, DroppedCalls
	}
	p.do = "When " + phrase + ": " + strings.ToLower(p.do[:1]) + p.do[1:]
	p.counts = ofN(bad, with) + " failed" + inRuns(len(runs))
	p.calls, p.runs, p.provisional = bad, len(runs), false
	return p, ""
}

func (r *reviewer) input(i int) constraints.Input {
	if r.inputs == nil {
		r.inputs = make([]constraints.Input, len(r.f.obs))
		for k := range r.f.obs {
			r.inputs[k] = constraints.InputOf(r.f.obs[k].Input)
		}
	}
	return r.inputs[i]
}

// phrase words a predicate from its typed parts.
func (p *predicate) phrase(path string) (string, bool) {
	name := "`" + path + "`"
	switch p.Predicate {
	case "given", "missing":
		return name + " is " + p.Predicate, p.Value == nil || p.Value == ""
	case "above", "below":
		n, ok := p.Value.(float64)
		return name + " is " + p.Predicate + " " + number(n), ok
	case "is", "starts_with", "ends_with", "contains":
		s, ok := p.Value.(string)
		return name + " " + strings.ReplaceAll(p.Predicate, "_", " ") + " \"" + s + "\"", ok && constraints.Token(s)
	}
	return "", false
}

func (p *predicate) holds(path string, in constraints.Input) bool {
	values, _ := in.At(path)
	switch p.Predicate {
	case "given":
		return len(values) > 0
	case "missing":
		return len(values) == 0
	}
	return slices.ContainsFunc(values, func(v any) bool {
		n, isNumber := v.(float64)
		bound, _ := p.Value.(float64)
		s, isText := v.(string)
		want, _ := p.Value.(string)
		switch p.Predicate {
		case "above":
			return isNumber && n > bound
		case "below":
			return isNumber && n < bound
		case "is":
			return isText && s == want
		case "starts_with":
			return isText && strings.HasPrefix(s, want)
		case "ends_with":
			return isText && strings.HasSuffix(s, want)
		}
		return isText && strings.Contains(s, want)
	})
}

//go:embed words.txt
var plainWords string

// opening are the words that an instruction on a call begins with.
const opening = "give check do look keep write use send make name ask wait try take read put compare start set quote list leave end create close add work view open only import define copy choose change call always never after before when if where fetch split narrow lower select reduce avoid repeat raise specify include limit page convert encode escape sort count match quotes shorten spell verify test tell"

var (
	marked     = regexp.MustCompile("`([^`]*)`|\"([^\"]*)\"")
	wordForm   = regexp.MustCompile(`[A-Za-z]+(?:'[a-z]+)?`)
	numberForm = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
)

func namesIn(s string) []string {
	var names []string
	for _, m := range marked.FindAllStringSubmatch(s, -1) {
		if m[1] != "" {
			names = append(names, m[1])
		}
	}
	return names
}

// text holds an instruction to the closed grammar: names that callers know, values
// that are tokens of calls, numbers of the evidence, and plain words. Words of a
// message are none of these: whoever writes messages could write advice with them.
func (r *reviewer) text(do string, rec record, causes []*evidence.Cause) Reason {
	if n := wordCount(do); n == 0 || n > maxDoWords {
		return DroppedLength
	}
	if _, bad := textsafe.Steers(do); bad || textsafe.HasHidden(do) || textsafe.HasAddress(do) || textsafe.HasSecret(do) || strings.ContainsAny(do, "\n<>[]{}#*|\\") {
		return DroppedText
	}
	for _, m := range marked.FindAllStringSubmatch(do, -1) {
		switch {
		case m[1] != "" && !r.knows(m[1]):
			return DroppedName
		case m[1] == "" && !r.sent(m[2]):
			return DroppedName
		}
	}
	bare := marked.ReplaceAllString(do, " ")
	for _, n := range numberForm.FindAllString(bare, -1) {
		if !r.counted(n, rec, causes) {
			return DroppedNumber
		}
	}
	said := wordForm.FindAllString(bare, -1)
	if len(said) == 0 || !containsWord(opening, strings.ToLower(said[0])) {
		return DroppedWord // it tells of something instead of saying how to call
	}
	for _, w := range said {
		if !plain(w, causes...) && !r.named(w) {
			return DroppedWord
		}
	}
	if strings.IndexFunc(bare, func(c rune) bool { return c > unicode.MaxASCII && unicode.IsLetter(c) }) >= 0 {
		return DroppedWord
	}
	return ""
}

func (r *reviewer) knows(name string) bool {
	_, parameter := r.f.Parameter(name)
	return parameter || r.f.Tool(name) || r.f.Word(name)
}

// named reports whether a word is part of a parameter's name.
func (r *reviewer) named(w string) bool {
	return slices.ContainsFunc(r.f.evidence.Parameters, func(p evidence.Parameter) bool {
		return p.Good > 0 && !p.Sole && slices.Contains(strings.FieldsFunc(strings.ToLower(p.Path), func(c rune) bool { return !unicode.IsLetter(c) }), strings.TrimSuffix(strings.ToLower(w), "s"))
	})
}

// sent reports whether a value is a token that a good call, or a repaired one, had.
func (r *reviewer) sent(value string) bool {
	if !constraints.Token(value) {
		return false
	}
	for _, p := range r.f.evidence.Parameters {
		if slices.ContainsFunc(p.Top, func(v evidence.ValueCount) bool {
			return !v.Sole && strings.HasPrefix(v.Value, value) && p.Good > 0 && !p.Sole
		}) {
			return true
		}
	}
	return slices.ContainsFunc(r.f.evidence.Causes, func(c evidence.Cause) bool {
		return c.Prefix == value || slices.ContainsFunc(c.Repairs, func(p evidence.Repair) bool { return p.Good == value && p.Runs >= 2 && !p.Sole })
	})
}

// counted reports whether a number is a bound of what is cited, or of the condition.
func (r *reviewer) counted(n string, rec record, causes []*evidence.Cause) bool {
	v, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return false
	}
	if rec.When != nil && rec.When.Value == v {
		return true
	}
	return slices.ContainsFunc(causes, func(c *evidence.Cause) bool {
		return c.Op != "" && c.Bound == v || slices.ContainsFunc(c.Repairs, func(p evidence.Repair) bool { return p.Number == v && v != 0 })
	})
}

// plain reports whether a word is one of this program's: of the plain list, which has
// none that could grant, promise or spend anything, or of the wording of the classes of
// causes.
func plain(w string, causes ...*evidence.Cause) bool {
	w = strings.ToLower(strings.TrimSuffix(w, "'s"))
	if w == "user" || w == "your" { // no forms of "use" and "you"
		return slices.ContainsFunc(causes, func(c *evidence.Cause) bool { return c.Class.Says(w) })
	}
	for _, form := range []string{w, strings.TrimSuffix(w, "r"), strings.TrimSuffix(w, "ies") + "y", strings.TrimSuffix(w, "s"), strings.TrimSuffix(w, "es"), strings.TrimSuffix(w, "ed"), strings.TrimSuffix(w, "d"), strings.TrimSuffix(w, "ing"), strings.TrimSuffix(w, "ing") + "e", strings.TrimSuffix(w, "ly"), strings.TrimSuffix(w, "er")} {
		if len(form) > 0 && (containsWord(plainWords, form) || slices.ContainsFunc(causes, func(c *evidence.Cause) bool { return c.Class.Says(form) })) {
			return true
		}
	}
	return false
}

func containsWord(list, w string) bool {
	for rest := list; ; {
		at := strings.Index(rest, w)
		if at < 0 {
			return false
		}
		end := at + len(w)
		if (at == 0 || rest[at-1] <= ' ') && (end == len(rest) || rest[end] <= ' ') {
			return true
		}
		rest = rest[end:]
	}
}
