package facts

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// lineWidth is after how many characters a label is repeated, so that no value
// stands far from the word that says what it is.
const lineWidth = 52

// floor is the estimated need below which a value is not worth any space.
const floor = 0.001

// maxLabel bounds a label in bytes.
const maxLabel = 32

// Block writes the facts that are most worth their space, at most limit
// characters, one line per label and every lineWidth characters. Values for
// which known reports true are left out; nil leaves none out. Values of one label
// stand in the order in which they first appeared.
func (s *Set) Block(limit int, known func(value string) bool) string {
	type choice struct {
		fact  int
		worth float64
	}
	order := make([]choice, 0, len(s.facts))
	for i := range s.facts {
		f := &s.facts[i]
		if known != nil && known(f.Value) || f.score < floor {
			continue
		}
		order = append(order, choice{i, f.score / math.Pow(float64(len(f.Value)+8), 0.85)})
	}
	slices.SortStableFunc(order, func(a, b choice) int {
		switch {
		case a.worth > b.worth:
			return -1
		case a.worth < b.worth:
			return 1
		}
		return 0
	})
	picked := map[string][]int{}
	room := limit
	var used map[string]int = map[string]int{}
	misses := 0
	for _, c := range order {
		f := &s.facts[c.fact]
		label := labelOf(f)
		cost := costOf(label, f.Value, used[label])
		if cost > room {
			if misses++; misses > 40 {
				break
			}
			continue
		}
		room -= cost
		used[label] += width(f.Value) + 2
		picked[label] = append(picked[label], c.fact)
	}
	return s.write(picked)
}

// costOf is what a value adds to the block when used characters already stand
// behind its label.
func costOf(label, value string, used int) int {
	cost := width(value) + 2
	before, after := (used+lineWidth-1)/lineWidth, (used+cost+lineWidth-1)/lineWidth
	if used == 0 || after > before {
		cost += width(label) + 1
	}
	return cost
}

func (s *Set) write(picked map[string][]int) string {
	labels := make([]string, 0, len(picked))
	for l, facts := range picked {
		slices.Sort(facts)
		labels = append(labels, l)
	}
	slices.SortFunc(labels, func(a, b string) int { return picked[a][0] - picked[b][0] })
	var b strings.Builder
	for _, l := range labels {
		col := 0
		for i, k := range picked[l] {
			v := shown(s.facts[k].Value)
			switch {
			case i == 0 || col+width(v) > lineWidth:
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(l)
				b.WriteString(": ")
				col = 0
			default:
				b.WriteString(", ")
				col += 2
			}
			b.WriteString(v)
			col += width(v)
		}
	}
	return b.String()
}

// shown quotes a value that holds the separator.
func shown(v string) string {
	if strings.Contains(v, ", ") {
		return `"` + v + `"`
	}
	return v
}

// labelOf gives the label as it is written: one line, no colon.
func labelOf(f *Fact) string {
	l := strings.Trim(f.Label, ":#*[]-_ ")
	if l == "" {
		return "other"
	}
	return cutAt(l, maxLabel)
}

func width(s string) int { return utf8.RuneCountInString(s) }
