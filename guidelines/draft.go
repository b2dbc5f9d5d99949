package guidelines

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// draft collects the items of a guideline.
type draft []Item

// add adds a line. slot names what it is about, beside its evidence; the two and the section
// make its id.
func (d *draft) add(section string, rank int, text, slot string, value float64, evidence ...string) {
	id := "item-" + fingerprint(append([]string{section, slot}, evidence...)...)
	if text != "" && !slices.ContainsFunc(*d, func(o Item) bool { return o.ID == id }) {
		*d = append(*d, Item{ID: id, Section: section, Text: text, Rank: rank, Value: value, Evidence: evidence, Author: AuthorRules})
	}
}

// of lists the lines of a section.
func (d draft) of(section string) []Item {
	return slices.DeleteFunc(slices.Clone(d), func(it Item) bool { return it.Section != section })
}

// fingerprint stands for all lines.
func (d draft) fingerprint(words int) string {
	parts := []string{strconv.Itoa(words)}
	for i := range d {
		parts = append(parts, d[i].ID, d[i].Text)
	}
	return fingerprint(parts...)
}

// bySection sorts items by their sections.
func bySection(a, b Item) int {
	return slices.Index(Sections(), a.Section) - slices.Index(Sections(), b.Section)
}

// shownOf are the items that are shown, in order.
func shownOf(items []Item) []Item {
	shown := slices.DeleteFunc(slices.Clone(items), func(it Item) bool { return it.Removed })
	slices.SortStableFunc(shown, func(a, b Item) int { return cmp.Or(bySection(a, b), a.Rank-b.Rank) })
	return shown
}

// within picks items with at most so many words, the lowest ranks first. The first of each
// section and what people set is always there.
func within(items []Item, words int) []Item {
	items = shownOf(items)
	rank := map[string]int{}
	for i, it := range items {
		if rank[it.ID] = it.Rank; i == 0 || items[i-1].Section != it.Section || it.ByPerson() {
			rank[it.ID] = -1
		}
	}
	return pick(items, func(a, b Item) int { return rank[a.ID] - rank[b.ID] }, func(it *Item, _ []Item) bool {
		n := wordCount(it.Text)
		if n > words && rank[it.ID] >= 0 {
			return false
		}
		words -= n
		return true
	})
}

// pick takes items, by an order of their own, each if it fits with those that were taken before.
// What it gives stands as it stood.
func pick(items []Item, first func(a, b Item) int, fits func(it *Item, with []Item) bool) (taken []Item) {
	is := map[string]bool{}
	for _, it := range slices.SortedStableFunc(slices.Values(items), first) {
		is[it.ID] = true
		with := slices.DeleteFunc(slices.Clone(items), func(it Item) bool { return !is[it.ID] })
		if is[it.ID] = fits(&it, with); is[it.ID] {
			taken = with
		}
	}
	return taken
}

// sectionsOf writes items under the headings of their sections: the core function is prose,
// practices are numbered.
func sectionsOf(items []Item) string {
	var b strings.Builder
	number := 0
	for i, it := range items {
		if i == 0 || items[i-1].Section != it.Section {
			if number = 0; i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString("## " + it.Section + "\n")
		}
		number++
		switch it.Section {
		case coreFunction:
		case bestPractices:
			b.WriteString(strconv.Itoa(min(number, 9)) + ". ")
		default:
			b.WriteString("- ")
		}
		b.WriteString(it.Text + "\n")
	}
	return b.String()
}

// wordCount counts words as a person would: runs between blanks that hold more
// than punctuation.
func wordCount(s string) int {
	return len(slices.DeleteFunc(strings.Fields(s), func(w string) bool { return strings.Trim(w, `-*#"'.,;:()/|`) == "" }))
}
