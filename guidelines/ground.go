package guidelines

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/guidelines/evidence"
	"memoryd/internal/stats"
	"memoryd/llm/summarize"

	"memoryd/internal/textsafe"
)

var (
	markup = regexp.MustCompile(`</?[A-Za-z!]|&#?\w+;`)
	// figure is a number with its unit. A number that is part of a word, such as
	// the one in "utf8", is not a figure.
	figure = regexp.MustCompile(`(?i)[-+]?\d[\d,]*(?:\.\d+)?\s?(%|percent\b|ms\b|milliseconds?\b|s\b|secs?\b|seconds?\b|tokens?\b)?`)
	quoted = regexp.MustCompile("`([^`]+)`|\"([^\"]+)\"|“([^”]+)”")
	// filePath is an absolute path, one below the home folder, or a drive.
	filePath = regexp.MustCompile(`(?:^|[\s"'` + "`" + `(=:])(~?/[\w.-]+(?:/[\w.*-]*)*|[A-Za-z]:\\\S+|\.\.?/\S+)`)
	ofTotal  = regexp.MustCompile(`(?i)(\d[\d,]*)\s*(?:of|out of|/)\s*(?:the\s+|all\s+)?(\d[\d,]*)`)
)

// grounds is what a model's statement may refer to. What belongs to one parameter
// or message may only be said of it.
type grounds struct {
	general *scope
	by      map[string]*scope // by parameter, in each of its forms, and by message, flattened
	names   map[string]bool   // parameters, by path and by last name, and the tool
	text    string            // all data of the prompt, folded and in one line
}

// groundsOf collects them from the findings and from what the model was shown.
func groundsOf(f *findings, d draft, parts []summarize.Part) grounds {
	g := grounds{general: newScope(), by: map[string]*scope{}, names: map[string]bool{f.tool.Tool: true}}
	for _, p := range f.evidence.Parameters {
		g.parameter(p)
	}
	g.statistics(f.stats)
	g.evidence(&f.evidence)
	for _, t := range f.goodCost {
		g.general.numbers = append(g.general.numbers, float64(t.calls))
	}
	if t := f.goodCost[evidence.Time]; t.calls > 0 {
		g.general.seconds = append(g.general.seconds, t.median)
	}
	if t := f.goodCost[evidence.Tokens]; t.calls > 0 {
		g.general.tokens = append(g.general.tokens, t.median)
	}
	var b strings.Builder
	for _, p := range parts {
		raw, err := json.Marshal(p.Data)
		if err != nil {
			continue // the prompt would have failed
		}
		b.WriteString(decoded(raw))
		b.WriteByte('\n')
	}
	g.text = flat(b.String())
	for _, statements := range d {
		for _, s := range statements {
			for _, t := range g.scopesOf(s.text) {
				t.drafted(s.text)
			}
		}
	}
	return g
}

// decoded is JSON with its escapes undone, twice for JSON within a text, so that
// a quote can be found in it.
func decoded(raw []byte) string {
	s := string(raw)
	unescape := strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`, `\\`, `\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
	once := unescape.Replace(s)
	return once + "\n" + unescape.Replace(once)
}

// flat makes texts comparable: folded, with single blanks and plain quotes.
func flat(s string) string {
	s = strings.NewReplacer("`", "'", `"`, "'", "“", "'", "”", "'", "‹", "<", "›", ">").Replace(textsafe.Fold(s))
	return strings.Join(strings.Fields(s), " ")
}

func (g *grounds) statistics(s stats.Statistics) {
	t := g.general
	for _, n := range []int{s.TotalCalls, s.RecentCalls, s.JudgedCalls, s.RecentJudgedCalls, s.TimedCalls, s.TokenCalls} {
		t.numbers = append(t.numbers, float64(n))
	}
	t.numbers = append(t.numbers, 0, 0.5, 1, s.AvgScore, s.RecentAvgScore)
	for _, v := range []float64{s.SuccessRate, s.RecentSuccessRate, s.AvgScore, s.RecentAvgScore} {
		t.rates = append(t.rates, rate{v, anyOutcome})
	}
	t.pair(int(math.Round(s.SuccessRate*float64(s.TotalCalls))), s.TotalCalls, anyOutcome, anyOutcome)
	t.pair(int(math.Round(s.RecentSuccessRate*float64(s.RecentCalls))), s.RecentCalls, anyOutcome, anyOutcome)
	if s.TimedCalls > 0 {
		t.seconds = append(t.seconds, s.AvgTimeCost)
	}
	if s.TokenCalls > 0 {
		t.tokens = append(t.tokens, s.AvgTokenCost)
	}
	for _, i := range []*stats.Interval{s.SuccessRateCI95, s.RecentSuccessRateCI95} {
		if i != nil {
			t.rates = append(t.rates, rate{i[0], anyOutcome}, rate{i[1], anyOutcome})
		}
	}
}

func (g *grounds) evidence(e *evidence.Evidence) {
	g.general.pair(e.Good, e.Judged, one|notFailed, anyOutcome)
	g.general.pair(e.Partial, e.Judged, half, anyOutcome)
	g.general.pair(e.Failed, e.Judged, bad, notFailed)
	g.general.pair(e.Overstated, e.Failed, anyOutcome, anyOutcome)
	for i := range e.Conditions {
		g.condition(&e.Conditions[i], nil)
	}
	wrong := 0
	for i := range e.Errors {
		wrong += e.Errors[i].Count
	}
	g.general.numbers = append(g.general.numbers, float64(wrong))
	for i := range e.Errors {
		c := &e.Errors[i]
		t := g.message(c.Template)
		t.numbers = append(t.numbers, float64(c.Count), float64(c.Failed))
		t.pair(c.Count, wrong, other, other)
		t.pair(c.Count, e.Judged, bad|half|other, other)
		if c.When != nil {
			g.condition(c.When, t)
		}
	}
	for _, c := range e.Costs {
		for _, t := range g.about(c.Facts, c.Contrast) {
			t.cost(c.Resource, c.Cost)
			t.facts(c.Facts)
			t.facts(c.Contrast)
		}
	}
	for _, o := range e.Outliers {
		g.general.pair(o.Count, o.Known, other, other)
		g.general.cost(o.Resource, evidence.Cost{MedianWith: o.Median, MedianWithout: o.Least})
		g.general.cost(o.Resource, evidence.Cost{MedianWith: o.Greatest, MedianWithout: o.Greatest})
	}
	for _, r := range e.Recoveries {
		g.message(r.Template).pair(r.Succeeded, r.Tries, anyOutcome, anyOutcome)
		for _, p := range r.Changed {
			g.scope(p).pair(r.Succeeded, r.Tries, anyOutcome, anyOutcome)
		}
	}
	g.general.pair(e.Repeats.Succeeded, e.Repeats.Tries, anyOutcome, anyOutcome)
	g.general.pair(e.Changes.Succeeded, e.Changes.Tries, anyOutcome, anyOutcome)
}

// condition takes in what may be said of the parameters of c and of its message.
func (g *grounds) condition(c *evidence.Condition, message *scope) {
	scopes := g.about(c.Facts, c.Contrast)
	if message != nil {
		scopes = append(scopes, message)
	}
	is, not := bad|half, one|half|notFailed|other
	switch c.Outcome {
	case evidence.Failed:
		is, not = bad, notFailed
	case evidence.Partial:
		is, not = half, one|notFailed
	}
	for _, t := range scopes {
		t.pair(c.WithBad, c.With, is, not)
		t.pair(c.WithoutBad, c.Without, is, not)
		t.cost(evidence.Time, c.Time)
		t.cost(evidence.Tokens, c.Tokens)
		t.facts(c.Facts)
		t.facts(c.Contrast)
	}
}

func (g *grounds) parameter(p evidence.Parameter) {
	g.names[p.Path] = true
	for _, part := range strings.FieldsFunc(p.Path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		g.names[part] = true
	}
	t := g.scope(p.Path)
	t.pair(p.Given, p.Of, other, other)
	if p.Least != p.Greatest {
		t.numbers = append(t.numbers, p.Least, p.Greatest)
	}
	for _, v := range p.Top {
		if n, err := strconv.ParseFloat(v.Value, 64); err == nil {
			t.numbers = append(t.numbers, n)
		}
	}
}

// refuse tells why a sentence has no ground in the data; "" when it has.
func (g *grounds) refuse(s string) Reason {
	for _, m := range quoted.FindAllStringSubmatch(s, -1) {
		if m[1] != "" && !g.name(m[1]) {
			return DroppedParameter
		}
		if q := m[2] + m[3]; q != "" && !g.said(q) {
			return DroppedQuote
		}
	}
	for _, m := range filePath.FindAllStringSubmatch(s, -1) {
		if !strings.Contains(g.text, flat(m[1])) || sensitivePath.MatchString(m[1]) {
			return DroppedPath
		}
	}
	if !g.counts(s) {
		return DroppedNumber
	}
	return ""
}

// sensitivePath is a path that no guideline needs, even where calls used it.
var sensitivePath = regexp.MustCompile(`(?i)\.ssh|\.env\b|\.aws|id_rsa|/etc/(?:passwd|shadow|sudoers)|\.netrc|\.kube`)

// name reports whether a text in backticks is the tool, a parameter, or one of
// those with a value from the data, such as "max_results=10".
func (g *grounds) name(s string) bool {
	if g.names[s] {
		return true
	}
	if name, value, ok := strings.Cut(s, "="); ok && g.names[strings.TrimSpace(name)] {
		return g.said(strings.Trim(value, ` "'`))
	}
	return g.said(s)
}

// said reports whether the data holds the text, as whole words.
func (g *grounds) said(s string) bool {
	want := strings.Trim(flat(s), " .,;:!?…")
	if want == "" {
		return false
	}
	for rest, offset := g.text, 0; ; {
		at := strings.Index(rest, want)
		if at < 0 {
			return false
		}
		start, end := offset+at, offset+at+len(want)
		if (start == 0 || !wordByte(g.text[start-1]) || !wordByte(want[0])) && (end == len(g.text) || !wordByte(g.text[end]) || !wordByte(want[len(want)-1])) {
			return true
		}
		offset = start + 1
		rest = g.text[offset:]
	}
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}

// measured is a number in a text.
type measured struct {
	value  float64
	digits int    // after the point
	unit   string // "%", "ms", "s", "token" or ""
	of     outcomes
}

// figuresIn lists the numbers of a text that are not part of a word.
func figuresIn(text string) []measured {
	var found []measured
	for _, m := range figure.FindAllStringSubmatchIndex(text, -1) {
		start, end, unit := m[0], m[1], ""
		if m[2] >= 0 {
			end, unit = m[2], unitOf(text[m[2]:m[3]])
		}
		signed := text[start] == '-' || text[start] == '+'
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		if before == '_' || unicode.IsLetter(before) {
			continue
		}
		if signed && unicode.IsDigit(before) {
			start++ // the hyphen of a range
		}
		literal := strings.TrimSpace(strings.ReplaceAll(text[start:end], ",", ""))
		v, err := strconv.ParseFloat(literal, 64)
		if err != nil {
			continue
		}
		_, fraction, _ := strings.Cut(literal, ".")
		of := anyOutcome
		if v := verb.FindStringSubmatch(text[end:]); v != nil && unit == "%" {
			of = outcomesOf(v[1])
		}
		found = append(found, measured{v, len(fraction), unit, of})
	}
	return found
}

func unitOf(s string) string {
	switch strings.ToLower(s)[:1] {
	case "%", "p":
		return "%"
	case "m":
		return "ms"
	case "t":
		return "token"
	}
	return "s"
}

func whole(s string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(s, ",", "")) // digits by the pattern; too many give a number no pair has
	return n
}
