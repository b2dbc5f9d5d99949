package revisions

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/store"
)

// LineChange is a person's edit of a line of a guideline.
type LineChange struct {
	// Line is the id of the item; "" adds a line to Section.
	Line, Section string
	// Text is the new wording; Remove removes the line instead.
	Text   string
	Remove bool
	By     string
}

// The bounds of what people set: characters of a line, lines of a guideline, and changes of
// one that can be undone.
const (
	maxLineText    = 600
	maxPeopleLines = 50
	maxLineEdits   = 10
)

func (c *LineChange) check() error {
	switch {
	case c.Remove && c.Line == "":
		return memoryd.Errorf(memoryd.Invalid, "line: expected the id of the line to take out")
	case c.Remove:
		return nil
	case strings.TrimSpace(c.Text) == "" || utf8.RuneCountInString(c.Text) > maxLineText:
		return memoryd.Errorf(memoryd.Invalid, "text: expected 1 to %d characters", maxLineText)
	case strings.ContainsFunc(c.Text, unicode.IsControl):
		return memoryd.Errorf(memoryd.Invalid, "text: expected one line without control characters")
	case strings.HasPrefix(strings.TrimSpace(c.Text), "#"):
		return memoryd.Errorf(memoryd.Invalid, "text: expected a sentence, not a heading")
	case c.Line == "" && !slices.Contains(guidelines.Sections(), c.Section):
		return memoryd.Errorf(memoryd.Invalid, "section: expected one of %s", strings.Join(guidelines.Sections(), ", "))
	}
	return nil
}

// Edit lets a person set, add or remove a line of the tool's guideline. The edit becomes a
// new version at once, and applies to every later version. If the evidence later says
// something else, that waits for a person (Pending). A pinned guideline stays pinned, in its
// new version. The answer names the line.
func (m *Manager) Edit(ctx context.Context, ref memoryd.ToolRef, c LineChange) (e Revision, line string, err error) {
	if err := c.check(); err != nil {
		return e, "", err
	}
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return e, "", err
	}
	cur, err := m.current(ctx, tool)
	if err != nil {
		return e, "", err
	}
	if cur.Document == nil {
		return e, "", memoryd.Errorf(memoryd.Conflict, "the tool has no guideline with lines: have it written first")
	}
	edit := guidelines.Edit{Line: c.Line, Section: c.Section, Kind: guidelines.EditText, Text: strings.TrimSpace(c.Text), By: author(c.By), At: m.Now()}
	if c.Line == "" {
		edit.Line = guidelines.LineID(c.Section, edit.Text, edit.At)
	} else {
		at := slices.IndexFunc(cur.Document.Items, func(it guidelines.Item) bool { return it.ID == c.Line })
		if at < 0 {
			return e, "", memoryd.Errorf(memoryd.NotFound, "the guideline has no line of this id")
		}
		it := &cur.Document.Items[at]
		edit.Section, edit.Over = it.Section, it.Unedited
		if !it.ByPerson() {
			edit.Over = it.Text
		}
	}
	if c.Remove {
		edit.Kind, edit.Text = guidelines.EditOut, ""
	}
	var full error
	err = m.decide(ctx, ref, func(st *Status) { full = st.add(edit) })
	if err = cmp.Or(err, full); err != nil {
		return e, "", err
	}
	e, err = m.republish(ctx, ref, "a line was "+map[bool]string{true: "taken out", false: "set"}[c.Remove]+" by "+edit.By, nil)
	return e, edit.Line, err
}

func author(by string) string { return memoryd.PersonPrefix + cmp.Or(by, "unnamed") }

// add notes an edit and forgets the oldest ones of its line.
func (st *Status) add(e guidelines.Edit) error {
	own := 0
	lines := map[string]bool{e.Line: true}
	for _, old := range st.Edits {
		lines[old.Line] = true
		if old.Line == e.Line {
			own++
		}
	}
	if len(lines) > maxPeopleLines {
		return memoryd.Errorf(memoryd.Conflict, "people have set %d lines of this guideline already, which is the most", maxPeopleLines)
	}
	if own >= maxLineEdits {
		at := slices.IndexFunc(st.Edits, func(old guidelines.Edit) bool { return old.Line == e.Line })
		st.Edits = slices.Delete(st.Edits, at, at+1)
	}
	st.Edits = append(st.Edits, e)
	return nil
}

// lastEdit is the place of the newest edit of a line, -1 where there is none.
func (st *Status) lastEdit(line string) int {
	for i, e := range slices.Backward(st.Edits) {
		if e.Line == line {
			return i
		}
	}
	return -1
}

// UndoEdit undoes the newest edit of a line: the edit before it applies again, or the
// program's text.
func (m *Manager) UndoEdit(ctx context.Context, ref memoryd.ToolRef, line, by string) (Revision, error) {
	if _, err := m.Store.Tool(ctx, ref); err != nil {
		return Revision{}, err
	}
	undone := false
	err := m.decide(ctx, ref, func(st *Status) {
		at := st.lastEdit(line)
		if undone = at >= 0; undone {
			st.Edits = slices.Delete(st.Edits, at, at+1)
		}
	})
	if err == nil && !undone {
		err = memoryd.Errorf(memoryd.NotFound, "no person changed this line")
	}
	if err != nil {
		return Revision{}, err
	}
	return m.republish(ctx, ref, "a change of a line was undone by "+author(by), nil)
}

// republish makes the guideline, with what people decided on it, a new version; change,
// where there is one, is applied to the document first. Somebody who writes in between
// is waited for: what people decided is in whatever stands in the end.
func (m *Manager) republish(ctx context.Context, ref memoryd.ToolRef, why string, change func(*guidelines.Document)) (Revision, error) {
	for {
		tool, err := m.Store.Tool(ctx, ref)
		if err != nil {
			return Revision{}, err
		}
		cur, err := m.current(ctx, tool)
		if err != nil || cur.Document == nil {
			return cur, err
		}
		st, _, err := m.status(ctx, ref)
		if err != nil {
			return cur, err
		}
		doc := *cur.Document.Unedited()
		doc.Items = slices.Clone(doc.Items)
		if change != nil {
			change(&doc)
		}
		cur.Document, cur.Why, cur.Reasons, cur.RolledBackTo, cur.ByPerson = st.applied(&doc), why, nil, 0, true
		cur.Content = cur.Document.Render()
		err = m.replace(ctx, tool, &cur)
		if memoryd.IsKind(err, memoryd.Conflict) {
			continue
		}
		if err != nil {
			return cur, err
		}
		return cur, m.decide(ctx, ref, func(st *Status) {
			if st.Pinned > 0 {
				st.Pinned = cur.Number
			}
		})
	}
}

// Decided is a decision on a pending statement, with what is needed to undo it.
type Decided struct {
	ID   string `json:"id"`
	Line string `json:"line,omitempty"`
	// Text was pending, and Published was in its place.
	Text      string    `json:"text,omitempty"`
	Published string    `json:"published,omitempty"`
	Accept    bool      `json:"accept"`
	By        string    `json:"by"`
	At        time.Time `json:"at"`
	// Over is, for a person's line, what the line replaced.
	Over   string `json:"over,omitempty"`
	Person bool   `json:"person,omitempty"`
	// Loaded is the guideline from elsewhere that the decision was about.
	Loaded *Revision `json:"loaded,omitempty"`
}

// maxUndo is how many decisions can be undone.
const maxUndo = 20

// take notes a decision on a statement.
func (st *Status) take(d Decided) {
	at := st.lastEdit(d.Line)
	d.Person = at >= 0 && st.Edits[at].Kind != guidelines.EditBack && d.Line != ""
	switch {
	case d.Person && d.Accept: // the person's line goes
		st.Edits = append(st.Edits, guidelines.Edit{Line: d.Line, Section: st.Edits[at].Section, Kind: guidelines.EditBack, By: author(d.By), At: d.At})
		st.Accepted = append(st.Accepted, d.ID)
	case d.Person: // and stays, whatever the counts will be
		d.Over = st.Edits[at].Over
		st.Edits[at].Over = d.Text
		st.Refused = append(st.Refused, d.ID)
	case d.Loaded != nil:
	case d.Accept:
		st.Accepted = append(st.Accepted, d.ID)
	default:
		st.Refused = append(st.Refused, d.ID)
	}
	st.Decided = append(st.Decided, d)
	st.Decided = st.Decided[max(0, len(st.Decided)-maxUndo):]
}

// untake forgets the newest decision on a statement.
func (st *Status) untake(id string) (d Decided, known bool) {
	for i, old := range slices.Backward(st.Decided) {
		if old.ID == id {
			d, known = old, true
			st.Decided = slices.Delete(st.Decided, i, i+1)
			break
		}
	}
	isIt := func(other string) bool { return other == id }
	st.Accepted, st.Refused = slices.DeleteFunc(st.Accepted, isIt), slices.DeleteFunc(st.Refused, isIt)
	if at := st.lastEdit(d.Line); d.Person && at >= 0 {
		if d.Accept {
			st.Edits = slices.Delete(st.Edits, at, at+1)
		} else {
			st.Edits[at].Over = d.Over
		}
	}
	return d, known
}

// UndoRelease undoes a decision on a pending statement: it waits again. Only recent decisions
// can be undone.
func (m *Manager) UndoRelease(ctx context.Context, ref memoryd.ToolRef, id, by string) (Revision, error) {
	if _, err := m.Store.Tool(ctx, ref); err != nil {
		return Revision{}, err
	}
	var d Decided
	known := false
	err := m.decide(ctx, ref, func(st *Status) { d, known = st.untake(id) })
	if err == nil && !known {
		err = memoryd.Errorf(memoryd.NotFound, "no decision on a statement of this id can be undone")
	}
	if err != nil {
		return Revision{}, err
	}
	why := "a decision was undone by " + author(by)
	if d.Loaded != nil {
		return m.unload(ctx, ref, d, why)
	}
	return m.republish(ctx, ref, why, func(doc *guidelines.Document) {
		for i := range doc.Items {
			it := &doc.Items[i]
			if it.ID != d.Line {
				continue
			}
			if d.Accept && !d.Person && it.Text == d.Text {
				it.Text = d.Published
			}
			if it.Pending == "" && it.Text != d.Text {
				it.Pending = d.Text
			}
		}
	})
}

// unload lets a guideline from elsewhere wait again.
func (m *Manager) unload(ctx context.Context, ref memoryd.ToolRef, d Decided, why string) (Revision, error) {
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return Revision{}, err
	}
	cur, err := m.current(ctx, tool)
	if err != nil {
		return cur, err
	}
	if d.Accept && cur.Content == d.Loaded.Content {
		prev, err := m.Revision(ctx, ref, cur.Number-1)
		if memoryd.IsKind(err, memoryd.NotFound) {
			err = memoryd.Errorf(memoryd.Conflict, "there is no earlier guideline to go back to")
		}
		if err == nil {
			cur, err = m.restore(ctx, tool, prev, why)
		}
		if err != nil {
			return cur, err
		}
	}
	_, err = store.WriteJSON(ctx, m.Store, store.Record{RecordKey: loadedKey(ref), Revision: store.AnyRevision}, d.Loaded)
	return cur, err
}
