package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// column is a figure of a table.
type column struct {
	figure, head string
	decimals     int
}

// loopColumns are the figures of agents that are told, without and with a change of rules.
var loopColumns = []column{
	{"loop whole", "loop", 3},
	{"loop last", "loop, last", 3},
	{"loop warned bad", "loop, warned bad", 3},
	{"loop warned good", "loop, warned good", 3},
	{"loop right", "loop, right", 0},
	{"loop broke good", "loop, broke good", 0},
	{"drift whole", "drift", 3},
	{"drift last", "drift, last", 3},
	{"drift warned bad", "drift, warned bad", 3},
	{"drift warned good", "drift, warned good", 3},
	{"drift right", "drift, right", 0},
	{"drift broke good", "drift, broke good", 0},
}

var columns = map[string][]column{
	"judge": {
		{"recordings alarms", "alarms", 0},
		{"recordings missed", "missed", 0},
		{"recordings found", "halves", 0},
		{"recordings dulled", "halved", 0},
		{"sure", "sure", 3},
		{"sure right", "sure right", 4},
		{"labelled outputs alarms", "outputs: alarms", 0},
		{"labelled outputs missed", "missed", 0},
		{"labelled outputs found", "halves", 0},
		{"labelled outputs dulled", "halved", 0},
		{"held out alarms", "aside: alarms", 0},
		{"held out missed", "missed", 0},
		{"kinds/all asked", "kinds: asked", 0},
		{"kinds/all right", "right", 4},
	},
	"guidelines": slices.Concat([]column{
		{"named", "named", 3},
		{"remedy", "remedy", 3},
		{"mean remedy", "remedy, mean", 3},
		{"words", "words", 0},
	}, loopColumns),
	"forecast": slices.Concat([]column{
		{"AUC", "AUC", 3},
		{"cold 5 %", "cold 5 %", 3},
		{"online 5 %", "online 5 %", 3},
		{"online 1 %", "online 1 %", 3},
		{"online warned bad", "warned, bad", 3},
		{"online warned good", "warned, good", 3},
	}, loopColumns),
	"compaction": {
		{"constraint at 20", "orders", 3},
		{"note at 20", "notes", 3},
		{"decision at 20", "choices", 3},
		{"finding at 20", "findings", 3},
		{"deed at 20", "deeds", 3},
		{"refusal at 20", "refusals", 3},
		{"needle at 20", "needle", 3},
		{"checks at 20", "checks", 3},
		{"sentences at 20", "sentences", 3},
		{"rounds at 20", "rounds", 3},
		{"recall at 10", "recall 10 %", 3},
		{"recall at 20", "20 %", 3},
		{"recall at 40", "40 %", 3},
		{"related at 10", "related 10 %", 3},
		{"related at 20", "20 %", 3},
		{"related at 40", "40 %", 3},
	},
}

const preface = `# What each part is worth

` + "`make ablate`" + ` takes out one part at a time and measures again, on the recordings that ` + "`MEMORYD_TEST_DATA`" + ` names and on the labelled outputs
of the judge; this took %s. A figure is the change **without** the part; empty is none. What changes nothing is worth nothing on these data, and
is listed below its table. *sources* counts the recordings, sets or tools that get better (+) and worse (-) without it: leave that one source
out, and a part that helps only it is worth nothing. A new rule or kind of statement shows its line of this table with the change that brings it.

A part is a function that has, with what only it needs, 20 lines (of the judge 6), a list, an entry of a table, a case, a statement, or a number
that ranks. The judge is measured on each source with a score that learned from others. Loops are the fixed seed 5200, and two more seeds where
that and the recordings show no change; conversations are the first ten of each source, and two that were planted in.

*lines* are those of the part and of what only it needs. *µs* is the time in it for each %s, with the clock's own.
A function that changes nothing and has no time was never called: these measurements cannot tell. Of a list that changes nothing, the entries are
not shown. † changes figures that have no column, as those of single tools and of the two more seeds. What cannot be left out alone makes what
follows stumble.
`

// report writes the page.
func (b *bench) report() string {
	var t strings.Builder
	var units []string
	for _, a := range b.areas {
		units = append(units, a.per)
	}
	fmt.Fprintf(&t, preface, b.took.Round(time.Minute), strings.Join(units, " or "))
	for i := range b.areas {
		a := &b.areas[i]
		if slices.ContainsFunc(b.parts, func(p *part) bool { return p.area == a && !p.skip }) {
			b.table(&t, a)
		}
	}
	return t.String()
}

func (b *bench) table(t *strings.Builder, a *area) {
	whole := b.all(a)
	fmt.Fprintf(t, "\n## %s\n\nWith all parts: ", a.title)
	for i, c := range columns[a.name] {
		if i > 0 {
			t.WriteString(", ")
		}
		fmt.Fprintf(t, "%s %.*f", c.head, c.decimals, whole[c.figure])
	}
	t.WriteString(".\n\n| part | lines | µs |")
	for _, c := range columns[a.name] {
		fmt.Fprintf(t, " %s |", c.head)
	}
	t.WriteString(" sources |\n| --- | ---: | ---: |" + strings.Repeat(" ---: |", len(columns[a.name])+1) + "\n")
	var needed, nothing []string
	for _, p := range b.parts {
		switch {
		case p.area != a || p.skip || p.of != nil && p.of.fault == nil && differing(whole, p.of.without) == 0:
		case p.fault != nil:
			needed = append(needed, "`"+p.shown()+"`")
		case differing(whole, p.without) == 0:
			nothing = append(nothing, fmt.Sprintf("- `%s` (%s): %d lines%s\n", p.shown(), p.place(), p.lines, b.micros(p, ", ", " µs")))
		default:
			b.row(t, p)
		}
	}
	if len(needed) > 0 {
		fmt.Fprintf(t, "\nCannot be left out alone: %s.\n", strings.Join(needed, ", "))
	}
	slices.Sort(nothing)
	fmt.Fprintf(t, "\nChange no figure (%d):\n\n%s", len(nothing), strings.Join(nothing, ""))
}

// changes says in short what a part is worth, for who waits.
func (b *bench) changes(p *part) (text string) {
	if p.fault != nil {
		return " cannot be left out alone"
	}
	whole := b.all(p.area)
	if differing(whole, p.without) == 0 {
		return " nothing"
	}
	for _, c := range columns[p.area.name] {
		if d := signed(p.without[c.figure]-whole[c.figure], c.decimals); d != "" {
			text += ", " + c.head + " " + d
		}
	}
	return text
}

// place says where a part is, and what.
func (p *part) place() string {
	where := p.room.dir[strings.LastIndexByte(p.room.dir, '/')+1:]
	if p.kind == function {
		return where
	}
	return where + ", " + string(p.kind)
}

func (b *bench) row(t *strings.Builder, p *part) {
	whole := b.all(p.area)
	cells, mark := "", " †"
	for _, c := range columns[p.area.name] {
		d := signed(p.without[c.figure]-whole[c.figure], c.decimals)
		if cells += " " + d + " |"; d != "" {
			mark = ""
		}
	}
	fmt.Fprintf(t, "| `%s` (%s)%s | %d | %s |%s", p.shown(), p.place(), mark, p.lines, b.micros(p, "", ""), cells)
	better, worse := sources(whole, p.without)
	fmt.Fprintf(t, " +%d -%d |\n", better, worse)
}

// micros is the time of a part for each unit of its area, in the first measurement that
// comes to it.
func (b *bench) micros(p *part, before, after string) string {
	for _, m := range p.area.measurings {
		c, units := b.costs[m][p.key()], b.costs[m][p.area.unit]
		if p.kind == function && c.calls > 0 && units.calls > 0 {
			return fmt.Sprintf("%s%.1f%s", before, float64(c.spent)/float64(units.calls)/float64(time.Microsecond), after)
		}
	}
	return ""
}
