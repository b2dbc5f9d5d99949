package guidelines

import (
	"cmp"
	"math"
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
	value := func(it Item) float64 {
		if it.ByPerson() {
			return math.Inf(1)
		}
		return it.Value
	}
	text := sectionsOf(pick(shownOf(d.Items), func(a, b Item) int { return cmp.Compare(value(b), value(a)) },
		func(_ *Item, with []Item) bool { return Tokens(sectionsOf(with)) <= maxTokens }))
	for _, rest := range []string{"\n" + d.Answers + d.Statistics, "\n" + d.Statistics} {
		if text != "" && Tokens(text+rest) <= maxTokens {
			return text + rest
		}
	}
	return text
}

// Line finds a line by its id; nil if there is none, or no document.
func (d *Document) Line(id string) *Item {
	if d == nil {
		return nil
	}
	at := slices.IndexFunc(d.Items, func(it Item) bool { return it.ID == id })
	if at < 0 {
		return nil
	}
	return &d.Items[at]
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
func Diff(prev, next *Document) (changes []Change) {
	none := &Document{}
	prev, next = cmp.Or(prev, none), cmp.Or(next, none)
	for _, it := range prev.Items {
		if !it.Removed && !next.shows(it.ID) {
			changes = append(changes, Change{Kind: "removed", ID: it.ID, Section: it.Section, Before: it.Text})
		}
	}
	for _, it := range next.Items {
		switch {
		case it.Removed:
		case !prev.shows(it.ID):
			changes = append(changes, Change{Kind: "added", ID: it.ID, Section: it.Section, After: it.Text})
		case prev.Line(it.ID).Text != it.Text:
			changes = append(changes, Change{Kind: "changed", ID: it.ID, Section: it.Section, Before: prev.Line(it.ID).Text, After: it.Text})
		}
	}
	return changes
}

// shows reports whether a line is shown.
func (d *Document) shows(id string) bool {
	it := d.Line(id)
	return it != nil && !it.Removed
}
