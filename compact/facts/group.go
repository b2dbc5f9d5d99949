package facts

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd/internal/textsafe"
)

// lineReach is how far behind the beginning of its label a value may begin, in
// characters. Behind that the label is repeated on a new line, so that no value
// stands far from the word that says what it is.
const lineReach = 59

// maxLabel bounds a label in bytes.
const maxLabel = 32

// group is a label with the facts behind it.
type group struct {
	label string
	width int
	facts []int32
	best  float64
	col   int // where the next value would begin on the label's last line
}

// cost is what a value of w characters adds to the block behind the label, and
// where the value after it would begin.
func (g *group) cost(w int) (cost, col int) {
	head := g.width + 2
	if g.col == 0 || g.col > lineReach {
		return head + w + 1, head + w + 1
	}
	return w + 1, g.col + w + 1
}

// write lays the groups out, the best first.
func (b *block) write() string {
	groups := slices.DeleteFunc(b.groups, func(g *group) bool { return len(g.facts) == 0 })
	for _, g := range groups {
		slices.Sort(g.facts)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.best, a.best), cmp.Compare(a.facts[0], b.facts[0]))
	})
	var out strings.Builder
	for _, g := range groups {
		g.col = 0
		for _, k := range g.facts {
			f := &b.set.facts[k]
			_, col := g.cost(shownWidth(f.Value))
			fresh := g.col == 0 || g.col > lineReach || f.shape == errText
			g.col = col
			switch {
			case fresh && out.Len() > 0:
				out.WriteString("\n" + g.label + ": ")
			case fresh:
				out.WriteString(g.label + ": ")
			default:
				out.WriteByte(' ')
			}
			out.WriteString(shown(f))
		}
	}
	return out.String()
}

// shown quotes a value that holds a space.
func shown(f *Fact) string {
	if f.shape != errText && strings.IndexByte(f.Value, ' ') >= 0 {
		return `"` + f.Value + `"`
	}
	return f.Value
}

func shownWidth(v string) int {
	if strings.IndexByte(v, ' ') >= 0 {
		return width(v) + 2
	}
	return width(v)
}

// labelText gives a label as it is written: one line, no colon.
func labelText(l string) string {
	if l = strings.Trim(l, ":#*[]-_ "); l == "" {
		return other
	}
	return strings.TrimSpace(textsafe.Head(l, maxLabel))
}

func width(s string) int { return utf8.RuneCountInString(s) }
