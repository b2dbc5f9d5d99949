package ui

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/loosejson"
	"memoryd/internal/origin"
	"memoryd/internal/stats"
	"memoryd/internal/textsafe"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
)

// functions are what templates can say.
func (d *dashboard) functions() template.FuncMap {
	return template.FuncMap{
		"link": link, "name": func(s string) string { return shown(s, memoryd.MaxNameBytes) }, "line": shown, "count": count,
		"percent": percent, "interval": interval,
		"seconds": seconds, "when": when, "spark": spark, "long": long, "plain": plain, "tree": tree,
		"treeOf": func(text string) *node { return tree([]byte(text)) }, "verdict": verdictOf, "judge": judgeName,
		"ago": func(t time.Time) string { return ago(d.Now().Sub(t)) }, "snippet": func(input []byte) string { return shown(plain(input), 110) },
		"add": func(a, b int) int { return a + b }, "sub": func(a, b int) int { return a - b },
		"dict": dict, "complaint": complaint, "short": func(k memoryd.CallKey) string { return k.String() }, "plural": plural, "code": code,
		"bar": bar, "rate": rate, "heat": func(length int) int { return (length + 24) / 25 },
	}
}

// shown is a text of a call, of a tool or of a person as a page shows it; with a limit on one line.
func shown(s string, limit int) string {
	s, _ = origin.Show(origin.Dashboard, origin.Answer, s, limit)
	return s
}

// complaint is what a tool said, of the summary of a failure ("Failed (not found): no such file").
func complaint(cause string) string {
	if verdict, rest, found := strings.Cut(cause, ": "); found && strings.HasPrefix(verdict, "Failed") {
		return rest
	}
	return cause
}

// dict makes the arguments of a template that takes several.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		m[name] = pairs[i+1]
	}
	return m
}

// count writes a whole number with thousands apart.
func count(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

func plural(n any, one, many string) string {
	if fmt.Sprint(n) == "1" {
		return count(n) + " " + one
	}
	return count(n) + " " + many
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 0, 64) + " %" }

// interval writes a 95 % interval of a share.
func interval(ci *stats.Interval) string {
	if ci == nil {
		return ""
	}
	return fmt.Sprintf("%.0f–%.0f %%", 100*ci[0], 100*ci[1])
}

// seconds writes a duration; "–" is unknown.
func seconds(s float64) string {
	switch {
	case !(s > 0) || math.IsInf(s, 0):
		return "–"
	case s < 0.9995:
		return strconv.FormatFloat(1000*s, 'f', 0, 64) + " ms"
	case s < 100:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	case s < 7200:
		return strconv.FormatFloat(s/60, 'f', 0, 64) + " min"
	}
	return strconv.FormatFloat(s/3600, 'f', 1, 64) + " h"
}

// moment is an instant, which the page shows in the reader's zone.
type moment struct{ Exact, Text string }

func when(t time.Time) *moment {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &moment{t.Format(time.RFC3339), t.Format("2006-01-02 15:04") + " UTC"}
}

func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// sparkline is a row of bars, drawn by the template.
type sparkline struct {
	Bars  []sparkBar
	Width int
	Label string
}

type sparkBar struct{ X, Y, Height int }

// The size of a sparkline in units of its drawing.
const (
	sparkStep   = 6
	sparkHeight = 20
)

// spark draws shares between 0 and 1, the oldest first.
func spark(shares []float64) *sparkline {
	if len(shares) == 0 {
		return nil
	}
	s := &sparkline{Width: sparkStep * len(shares)}
	var words []string
	for i, v := range shares {
		h := int(math.Ceil(v * sparkHeight))
		s.Bars = append(s.Bars, sparkBar{i * sparkStep, sparkHeight - h, h})
		words = append(words, percent(v))
	}
	s.Label = "Share of calls that went wrong, oldest to newest: " + strings.Join(words, ", ")
	return s
}

// bar is the length of a bar, 0 to 100, for a part of a greatest value.
func bar(part, most any) int {
	p, m := number(part), number(most)
	if m <= 0 {
		return 0
	}
	return int(math.Ceil(100 * p / m))
}

func number(v any) float64 {
	f, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
	return f
}

// verdict is how a call was judged, in a word and a class of the style sheet.
type verdict struct{ Word, Class string }

func verdictOf(state memoryd.EvaluationState, score float64) verdict {
	switch {
	case state == memoryd.Pending:
		return verdict{"pending", "wait"}
	case state == memoryd.Failed:
		return verdict{"not judged", "wait"}
	case score == memoryd.ScoreSuccess:
		return verdict{"good", "good"}
	case score == memoryd.ScorePartial:
		return verdict{"partial", "warn"}
	}
	return verdict{"failed", "bad"}
}

// judgeName says who judged.
func judgeName(by string) string {
	switch {
	case by == "":
		return "nobody yet"
	case strings.HasPrefix(by, memoryd.KindPrefix):
		return judgeName(by[len(memoryd.KindPrefix):]) + ", on outputs of this kind"
	case strings.HasPrefix(by, "llm:"):
		return "model " + by[len("llm:"):]
	case strings.HasPrefix(by, memoryd.PersonPrefix):
		return "person " + by[len(memoryd.PersonPrefix):]
	}
	return by
}

// The bounds of a long text on a page, in characters: what is seen at once, and
// what is behind "more".
const (
	firstPart = 1200
	wholePart = 24_000
)

// longText is a text of a call in two parts.
type longText struct {
	First, More []span
	// Left counts the bytes that are on no page.
	Left int
}

// span is a piece of text; a masked one stands for a secret.
type span struct {
	Text   string
	Masked bool
}

func long(s string) longText {
	s, left := shown(s, 0), 0
	if cut := textsafe.HeadRunes(s, wholePart); len(cut) < len(s) {
		s, left = cut, len(s)-len(cut)
	}
	first := s
	if cut := textsafe.HeadRunes(s, firstPart); len(s)-len(cut) > firstPart/4 {
		first = cut
	}
	return longText{First: spans(first), More: spans(s[len(first):]), Left: left}
}

// spans sets the marks of masked secrets apart.
func spans(s string) (out []span) {
	for {
		before, after, found := strings.Cut(s, textsafe.Masked)
		if before != "" {
			out = append(out, span{Text: before})
		}
		if !found {
			return out
		}
		out = append(out, span{"secret", true})
		s = after
	}
}

// node is a value of a JSON text, for folding.
type node struct {
	Key  string
	Kind string // object, array, text, or the literal's own
	Text longText
	Kids []node
	Open bool
}

// The bounds of a tree; a larger value is shown as text.
const (
	mostNodes = 400
	mostDepth = 12
	openKids  = 12
)

// tree reads an object or an array; nil: the text is none, or is too large.
func tree(text []byte) *node {
	dec := jsontext.NewDecoder(strings.NewReader(string(text)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if k := dec.PeekKind(); k != '{' && k != '[' || len(text) > wholePart {
		return nil
	}
	left := mostNodes
	if n, err := readNode(dec, 0, &left); err == nil {
		return n
	}
	return nil
}

var errTooLarge = errors.New("a tree too large to show")

func readNode(dec *jsontext.Decoder, depth int, left *int) (*node, error) {
	if *left--; *left <= 0 || depth > mostDepth {
		return nil, errTooLarge
	}
	n := &node{Kind: "array"}
	switch dec.PeekKind() {
	case '{':
		n.Kind = "object"
		fallthrough
	case '[':
		err := loosejson.Walk(dec, func(name string) error {
			kid, err := readNode(dec, depth+1, left)
			if err == nil {
				kid.Key = shown(name, 200)
				n.Kids = append(n.Kids, *kid)
			}
			return err
		})
		n.Open = depth < 2 && len(n.Kids) <= openKids
		return n, err
	case '"':
		n.Kind = "text"
	default:
		n.Kind = "literal"
	}
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	n.Text = long(token.String())
	return n, nil
}

// code splits a statement at its backticks: what stood between two is shown as
// code.
func code(s string) (out []span) {
	for i, part := range strings.Split(shown(s, 0), "`") {
		if part != "" {
			out = append(out, span{part, i%2 == 1})
		}
	}
	return out
}

// chart is the failure rate over time as a drawing, and as a table for readers of screens.
type chart struct {
	Width, Height int
	Line          string // the points of the rate
	Dots          []dot
	Marks         []mark // where guidelines were written
	Top, Label    string
	First, Last   string
	Rows          []ops.Period
}

type dot struct {
	X, Y int
	Text string
}

type mark struct {
	X     int
	Title string
}

// The size of the drawing in its own units.
const (
	chartWidth  = 720
	chartHeight = 160
)

// chartOf draws periods; nil where there are fewer than two.
func chartOf(periods []ops.Period) *chart {
	if len(periods) < 2 {
		return nil
	}
	c := &chart{Width: chartWidth, Height: chartHeight, Rows: periods}
	most := 0.05
	for _, p := range periods {
		most = max(most, rate(p))
	}
	top := 1.0
	for _, t := range []float64{0.5, 0.25, 0.1} {
		if most <= t {
			top = t
		}
	}
	c.Top = percent(top)
	layout := "2 Jan 2006"
	if step := periods[1].From.Sub(periods[0].From).Hours(); step < 24 {
		layout = "2 Jan 15:04"
	}
	c.First, c.Last = periods[0].From.Format(layout), periods[len(periods)-1].From.Format(layout)
	var points []string
	for i, p := range periods {
		x := i * chartWidth / (len(periods) - 1)
		if p.Written > 0 {
			c.Marks = append(c.Marks, mark{x, p.From.Format(layout) + ": " + plural(p.Written, "guideline", "guidelines") + " written"})
		}
		if p.Calls == 0 {
			continue
		}
		y := chartHeight - int(rate(p)/top*chartHeight)
		points = append(points, fmt.Sprintf("%d,%d", x, y))
		c.Dots = append(c.Dots, dot{x, y, fmt.Sprintf("%s: %d of %d failed", p.From.Format(layout), p.Failed, p.Calls)})
	}
	c.Line = strings.Join(points, " ")
	c.Label = fmt.Sprintf("Failure rate from %s to %s; the table below has the figures", c.First, c.Last)
	return c
}

func rate(p ops.Period) float64 {
	return stats.Share(p.Failed, p.Calls)
}
