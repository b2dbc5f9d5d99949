package guidelines

import (
	"slices"
	"strconv"
	"strings"
)

// statement is one line of a section. Of all statements those with the lowest
// rank get the words first.
type statement struct {
	text string
	rank int
	// slot names what the statement is about, beside its evidence; the two and the
	// section make its id. evidence are the ids of the items that it words, and
	// value is how much heeding it matters: effect times frequency.
	slot     string
	evidence []string
	value    float64
	// author is the model that worded it; "" means the rules.
	author string
	// must says that it stands however many words there are: a person set it.
	must bool
}

// draft is the statements of a guideline by section, each most important first.
type draft map[string][]statement

func (d draft) add(section string, rank int, text, slot string, value float64, evidence ...string) {
	if text != "" {
		d[section] = append(d[section], statement{text: text, rank: rank, slot: slot, value: value, evidence: evidence})
	}
}

// fingerprint stands for all statements.
func (d draft) fingerprint(words int) string {
	parts := []string{strconv.Itoa(words)}
	for _, name := range sectionNames() {
		for i := range d[name] {
			parts = append(parts, itemID(name, &d[name][i]), d[name][i].text)
		}
	}
	return fingerprint(parts...)
}

// render writes the sections with at most words words, not counting headings.
// The first statement of each section and what people set is always there.
func (d draft) render(words int) string {
	kept := map[string][]bool{}
	highest := 0
	for _, name := range sectionNames() {
		slices.SortStableFunc(d[name], func(a, b statement) int { return a.rank - b.rank })
	}
	for _, name := range sectionNames() {
		kept[name] = make([]bool, len(d[name]))
		for i, s := range d[name] {
			highest = max(highest, s.rank)
			if i == 0 || s.must {
				kept[name][i] = true
				words -= wordCount(s.text)
			}
		}
	}
	for rank := 0; rank <= highest; rank++ {
		for _, name := range sectionNames() {
			for i, s := range d[name] {
				if n := wordCount(s.text); s.rank == rank && !kept[name][i] && n <= words {
					kept[name][i] = true
					words -= n
				}
			}
		}
	}
	var b strings.Builder
	for _, name := range sectionNames() {
		if len(d[name]) == 0 {
			continue
		}
		b.WriteString("## " + name + "\n")
		number := 0
		for i, s := range d[name] {
			if !kept[name][i] {
				continue
			}
			number++
			b.WriteString(bullet(name, number) + s.text + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// bullet starts a line: the core function is prose, practices are numbered.
func bullet(section string, number int) string {
	switch section {
	case coreFunction:
		return ""
	case bestPractices:
		return string(rune('0'+min(number, 9))) + ". "
	}
	return "- "
}

// wordCount counts words as a person would: runs between blanks that hold more
// than punctuation.
func wordCount(s string) int {
	return len(slices.DeleteFunc(strings.Fields(s), func(w string) bool { return strings.Trim(w, `-*#"'.,;:()/|`) == "" }))
}
