package guidelines

import (
	"cmp"
	"slices"
)

// Document is a guideline as statements with their evidence. It is plain data: it can be
// stored as JSON, compared, and rendered again.
type Document struct {
	Tool   string `json:"tool"`
	Author string `json:"author"`
	// Fingerprint identifies everything that the items were written from. As long as it is
	// equal, there is nothing to write.
	Fingerprint string   `json:"fingerprint"`
	Items       []Item   `json:"items"`
	Grounds     []Ground `json:"grounds"`
	// Answers is the section that quotes the tool; "" if there is none.
	Answers string `json:"answers,omitempty"`
	// Statistics is the last section.
	Statistics string `json:"statistics"`
	// MaxWords limits the four sections in Render.
	MaxWords int `json:"max_words"`
}

// Render returns the text of the guideline: the four sections within MaxWords, and the
// statistics.
func (d *Document) Render() string {
	return sectionsOf(within(d.Items, d.MaxWords)) + "\n" + d.Answers + d.Statistics
}

// Tokens estimates the tokens of a text: one per four characters, rounded up, as everywhere
// in this program.
func Tokens(text string) int { return (len(text) + 3) / 4 }

// Within renders the guideline in at most maxTokens, counted by Tokens. It takes the lines
// that people set, then the items of highest value, as long as they fit, in the order of the
// sections. A section without items is left out. The statistics come last, if there is room.
// It returns "" if not even one item fits.
func (d *Document) Within(maxTokens int) string {
	items := shownOf(d.Items)
	kept, order := make([]bool, len(items)), make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &items[a], &items[b]
		if x.ByPerson() != y.ByPerson() {
			return map[bool]int{true: -1, false: 1}[x.ByPerson()]
		}
		return cmp.Compare(y.Value, x.Value)
	})
	text := ""
	for _, i := range order {
		kept[i] = true
		if t := sectionsOf(picked(items, kept)); Tokens(t) <= maxTokens {
			text = t
		} else {
			kept[i] = false
		}
	}
	for _, rest := range []string{"\n" + d.Answers + d.Statistics, "\n" + d.Statistics} {
		if text != "" && Tokens(text+rest) <= maxTokens {
			return text + rest
		}
	}
	return text
}

// Change is a difference between two versions of a guideline.
type Change struct {
	// Kind is "added", "removed" or "changed".
	Kind    string `json:"kind" enum:"added,removed,changed"`
	ID      string `json:"id"`
	Section string `json:"section"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
}

// Diff lists the differences in next, in the order of the items, removed ones first. Either
// may be nil.
func Diff(prev, next *Document) []Change {
	var changes []Change
	of := func(d *Document) []Item {
		if d == nil {
			return nil
		}
		return slices.DeleteFunc(slices.Clone(d.Items), func(it Item) bool { return it.Removed })
	}
	find := func(items []Item, id string) *Item {
		if i := slices.IndexFunc(items, func(it Item) bool { return it.ID == id }); i >= 0 {
			return &items[i]
		}
		return nil
	}
	for _, it := range of(prev) {
		if find(of(next), it.ID) == nil {
			changes = append(changes, Change{Kind: "removed", ID: it.ID, Section: it.Section, Before: it.Text})
		}
	}
	for _, it := range of(next) {
		switch old := find(of(prev), it.ID); {
		case old == nil:
			changes = append(changes, Change{Kind: "added", ID: it.ID, Section: it.Section, After: it.Text})
		case old.Text != it.Text:
			changes = append(changes, Change{Kind: "changed", ID: it.ID, Section: it.Section, Before: old.Text, After: it.Text})
		}
	}
	return changes
}
