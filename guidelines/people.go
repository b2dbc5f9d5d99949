package guidelines

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"memoryd"
)

// Edit is a person's decision on a line of a guideline. It applies to every later version,
// until a person decides otherwise.
type Edit struct {
	// Line is the id of the item; Section is the line's section.
	Line    string `json:"line"`
	Section string `json:"section"`
	Kind    string `json:"kind"`
	// Text is the person's wording, for EditText only.
	Text string    `json:"text,omitempty"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	// Over is what the program wrote there at the time; "" means nothing.
	Over string `json:"over,omitempty"`
	// Decides is the id of the waiting statement that it decides on; "" for none.
	Decides string `json:"decides,omitempty"`
}

// The kinds of an Edit.
const (
	EditText = "text" // the line reads Text
	EditOut  = "out"  // the line is not shown
	EditBack = "back" // the program's text is used again
)

// ByPerson reports whether a person set the line.
func (it *Item) ByPerson() bool { return strings.HasPrefix(it.Author, memoryd.PersonPrefix) }

// Unedited returns the document as the program writes it, without people's edits.
func (d *Document) Unedited() *Document {
	if d == nil || !slices.ContainsFunc(d.Items, func(it Item) bool { return it.ByPerson() }) {
		return d
	}
	out := *d
	out.Items = nil
	for _, it := range d.Items {
		if it.ByPerson() {
			if it.Unedited == "" {
				continue // a line that people alone have
			}
			it.Text, it.Author, it.Unedited, it.UneditedAuthor, it.Pending, it.Removed = it.Unedited, it.UneditedAuthor, "", "", "", false
		}
		out.Items = append(out.Items, it)
	}
	return &out
}

// figures are what changes in a statement when only the counts behind it do.
var figures = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// Edited returns the document with the lines as people set them; the last edit of a line
// wins. If the program would now write something other than the person knew of, apart from
// figures, that is the line's Pending, and a person decides.
func (d *Document) Edited(edits []Edit) *Document {
	out := *d.Unedited()
	out.Items = slices.Clone(out.Items)
	for i, e := range edits {
		if e.Kind == EditBack || slices.ContainsFunc(edits[i+1:], func(later Edit) bool { return later.Line == e.Line }) {
			continue
		}
		it := out.Line(e.Line)
		if it == nil {
			if e.Kind == EditText {
				out.insert(Item{ID: e.Line, Section: e.Section, Text: e.Text, Author: e.By, Fingerprint: fingerprint(e.Text)})
			}
			continue
		}
		it.Unedited, it.UneditedAuthor, it.Author = it.Text, it.Author, e.By
		if e.Kind == EditOut {
			it.Removed = true
		} else {
			it.Text = e.Text
		}
		if figures.ReplaceAllString(it.Unedited, "#") != figures.ReplaceAllString(e.Over, "#") {
			it.Pending = it.Unedited
		}
	}
	return &out
}

// insert puts an item at the end of its section.
func (d *Document) insert(it Item) {
	at := slices.IndexFunc(d.Items, func(o Item) bool { return bySection(o, it) > 0 })
	if at < 0 {
		at = len(d.Items)
	}
	d.Items = slices.Insert(d.Items, at, it)
}

// LineID returns the id of a line that a person adds.
func LineID(section, text string, at time.Time) string {
	return "item-" + fingerprint("person", section, text, at.Format(time.RFC3339Nano))
}
