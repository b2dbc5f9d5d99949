package guidelines

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/guidelines/evidence"
	"memoryd/statistics"
	"memoryd/summarize"
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

// grounds is what a model's statement may refer to.
type grounds struct {
	rates   []float64 // shares between 0 and 1, for percentages
	seconds []float64
	tokens  []float64
	numbers []float64       // counts, scores and parameter values
	pairs   map[[2]int]bool // counts that belong together: k of n
	names   map[string]bool // parameters, by path and by last name, and the tool
	text    string          // all data of the prompt, folded and in one line
}

// groundsOf collects them from the findings and from what the model was shown.
func groundsOf(f *findings, d draft, parts []summarize.Part) grounds {
	g := grounds{pairs: map[[2]int]bool{}, names: map[string]bool{}}
	g.statistics(f.stats)
	g.evidence(&f.evidence)
	for _, t := range f.goodCost {
		g.numbers = append(g.numbers, float64(t.calls))
	}
	if t := f.goodCost[evidence.Time]; t.calls > 0 {
		g.seconds = append(g.seconds, t.median)
	}
	if t := f.goodCost[evidence.Tokens]; t.calls > 0 {
		g.tokens = append(g.tokens, t.median)
	}
	g.names[f.tool.Tool] = true
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
			g.drafted(s.text)
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
	s = strings.NewReplacer("`", "'", `"`, "'", "“", "'", "”", "'", "‹", "<", "›", ">").Replace(fold(s))
	return strings.Join(strings.Fields(s), " ")
}

func (g *grounds) pair(k, n int) {
	g.pairs[[2]int{k, n}] = true
	g.pairs[[2]int{n - k, n}] = true
	g.numbers = append(g.numbers, float64(k), float64(n-k), float64(n))
	if n > 0 {
		g.rates = append(g.rates, float64(k)/float64(n), float64(n-k)/float64(n))
	}
}

func (g *grounds) statistics(s statistics.Statistics) {
	for _, n := range []int{s.TotalCalls, s.RecentCalls, s.JudgedCalls, s.RecentJudgedCalls, s.TimedCalls, s.TokenCalls} {
		g.numbers = append(g.numbers, float64(n))
	}
	g.numbers = append(g.numbers, 0, 0.5, 1, s.AvgScore, s.RecentAvgScore)
	g.rates = append(g.rates, s.SuccessRate, s.RecentSuccessRate, s.AvgScore, s.RecentAvgScore)
	g.pair(int(math.Round(s.SuccessRate*float64(s.TotalCalls))), s.TotalCalls)
	g.pair(int(math.Round(s.RecentSuccessRate*float64(s.RecentCalls))), s.RecentCalls)
	if s.TimedCalls > 0 {
		g.seconds = append(g.seconds, s.AvgTimeCost)
	}
	if s.TokenCalls > 0 {
		g.tokens = append(g.tokens, s.AvgTokenCost)
	}
	for _, i := range []*statistics.Interval{s.SuccessRateCI95, s.RecentSuccessRateCI95} {
		if i != nil {
			g.rates = append(g.rates, i[0], i[1])
		}
	}
}

func (g *grounds) evidence(e *evidence.Evidence) {
	g.pair(e.Good, e.Judged)
	g.pair(e.Partial, e.Judged)
	g.pair(e.Failed, e.Judged)
	g.pair(e.Overstated, e.Failed)
	for i := range e.Conditions {
		g.condition(&e.Conditions[i])
	}
	wrong := 0
	for i := range e.Errors {
		c := &e.Errors[i]
		wrong += c.Count
		g.numbers = append(g.numbers, float64(c.Count), float64(c.Failed))
		if c.When != nil {
			g.condition(c.When)
		}
	}
	for i := range e.Errors {
		g.pair(e.Errors[i].Count, wrong)
		g.pair(e.Errors[i].Count, e.Judged)
	}
	for _, c := range e.Costs {
		g.cost(c.Resource, c.Cost)
		g.facts(c.Facts)
		g.facts(c.Contrast)
	}
	for _, o := range e.Outliers {
		g.pair(o.Count, o.Known)
		g.cost(o.Resource, evidence.Cost{MedianWith: o.Median, MedianWithout: o.Least})
		g.cost(o.Resource, evidence.Cost{MedianWith: o.Greatest, MedianWithout: o.Greatest})
	}
	for _, r := range e.Recoveries {
		g.pair(r.Succeeded, r.Tries)
	}
	g.pair(e.Repeats.Succeeded, e.Repeats.Tries)
	g.pair(e.Changes.Succeeded, e.Changes.Tries)
	for _, p := range e.Parameters {
		g.parameter(p)
	}
}

func (g *grounds) condition(c *evidence.Condition) {
	g.pair(c.WithBad, c.With)
	g.pair(c.WithoutBad, c.Without)
	g.cost(evidence.Time, c.Time)
	g.cost(evidence.Tokens, c.Tokens)
	g.facts(c.Facts)
	g.facts(c.Contrast)
}

func (g *grounds) facts(fs []evidence.Fact) {
	for _, f := range fs {
		g.numbers = append(g.numbers, f.Number)
		if v, err := strconv.ParseFloat(f.Value, 64); err == nil {
			g.numbers = append(g.numbers, v)
		}
	}
}

func (g *grounds) cost(r evidence.Resource, c evidence.Cost) {
	g.numbers = append(g.numbers, float64(c.With), float64(c.Without))
	if r == evidence.Time {
		g.seconds = append(g.seconds, c.MedianWith, c.MedianWithout)
	} else {
		g.tokens = append(g.tokens, c.MedianWith, c.MedianWithout)
	}
}

func (g *grounds) parameter(p evidence.Parameter) {
	g.names[p.Path] = true
	for _, part := range strings.FieldsFunc(p.Path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		g.names[part] = true
	}
	g.pair(p.Given, p.Of)
	if p.Least != p.Greatest {
		g.numbers = append(g.numbers, p.Least, p.Greatest)
	}
	for _, v := range p.Top {
		if n, err := strconv.ParseFloat(v.Value, 64); err == nil {
			g.numbers = append(g.numbers, n)
		}
	}
}

// drafted takes in the numbers of a statement of ours.
func (g *grounds) drafted(text string) {
	for _, n := range figuresIn(text) {
		switch n.unit {
		case "s":
			g.seconds = append(g.seconds, n.value)
		case "token":
			g.tokens = append(g.tokens, n.value)
		case "":
			g.numbers = append(g.numbers, n.value)
		}
	}
	for _, m := range ofTotal.FindAllStringSubmatch(text, -1) {
		k, n := whole(m[1]), whole(m[2])
		g.pairs[[2]int{k, n}] = true
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
	bare := quoted.ReplaceAllString(s, " ")
	for _, m := range ofTotal.FindAllStringSubmatch(bare, -1) {
		if !g.pairs[[2]int{whole(m[1]), whole(m[2])}] {
			return DroppedNumber
		}
	}
	for _, n := range figuresIn(bare) {
		if !g.knows(n) {
			return DroppedNumber
		}
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
		found = append(found, measured{v, len(fraction), unit})
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

// knows reports whether n, rounded as it stands, is a value of its kind.
func (g *grounds) knows(n measured) bool {
	scale, values := 1.0, g.numbers
	switch n.unit {
	case "%":
		scale, values = 100, g.rates
	case "s":
		values = g.seconds
	case "ms":
		scale, values = 1000, g.seconds
	case "token":
		values = g.tokens
	}
	step := math.Pow(10, -float64(n.digits))
	return slices.ContainsFunc(values, func(v float64) bool { return math.Abs(v*scale-n.value) <= step/2+1e-9 })
}
