package revisions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/store"
)

// Decision is what a person decides on a tool's guideline.
type Decision struct {
	Kind string
	// Revision is the version to pin, or to go back to.
	Revision int64
	// Line is the id of the line, or of the statement that waits; "" adds a line to Section.
	Line, Section string
	// Text is the new wording of the line.
	Text string
	By   string
}

// The kinds of decisions: on the guideline, on a line, and on a statement that waits.
const (
	Pin      = "pin"
	Unpin    = "unpin"
	RollBack = "roll_back"
	Set      = "set"
	Remove   = "remove"
	Undo     = "undo"
	Accept   = "accept"
	Refuse   = "refuse"
	Wait     = "wait"
)

// The bounds of what people set: characters of a line, lines of a guideline, and changes of
// one that can be undone.
const (
	maxLineText    = 600
	maxPeopleLines = 50
	maxLineEdits   = 10
)

func (d *Decision) check() error {
	switch {
	case d.Kind == Remove && d.Line == "":
		return memoryd.Errorf(memoryd.Invalid, "line: expected the id of the line to take out")
	case d.Kind != Set:
		return nil
	case strings.TrimSpace(d.Text) == "" || utf8.RuneCountInString(d.Text) > maxLineText:
		return memoryd.Errorf(memoryd.Invalid, "text: expected 1 to %d characters", maxLineText)
	case strings.ContainsFunc(d.Text, unicode.IsControl):
		return memoryd.Errorf(memoryd.Invalid, "text: expected one line without control characters")
	case strings.HasPrefix(strings.TrimSpace(d.Text), "#"):
		return memoryd.Errorf(memoryd.Invalid, "text: expected a sentence, not a heading")
	case d.Line == "" && !slices.Contains(guidelines.Sections(), d.Section):
		return memoryd.Errorf(memoryd.Invalid, "section: expected one of %s", strings.Join(guidelines.Sections(), ", "))
	}
	return nil
}

// Decide carries out a decision. It returns the version that then stands, and the id of the
// line. A line that a person set applies to every later version; if the evidence later says
// something else, that waits for a person (Pending).
func (m *Manager) Decide(ctx context.Context, ref memoryd.ToolRef, d Decision) (e Revision, line string, err error) {
	if err := d.check(); err != nil {
		return e, "", err
	}
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return e, "", err
	}
	switch d.Kind {
	case Pin:
		e, err = m.pin(ctx, tool, d.Revision, d.By)
	case Unpin:
		err = m.decide(ctx, ref, func(st *Status) { st.Pinned = 0 })
	case RollBack:
		e, err = m.rollBack(ctx, tool, d.Revision, "rolled back by "+d.By)
	case Set, Remove:
		return m.edit(ctx, tool, d)
	case Accept, Refuse:
		e, err = m.release(ctx, tool, d)
	default:
		e, err = m.undo(ctx, tool, d)
	}
	return e, d.Line, err
}

func (m *Manager) edit(ctx context.Context, tool memoryd.Tool, d Decision) (e Revision, line string, err error) {
	cur, err := m.current(ctx, tool)
	if err != nil {
		return e, "", err
	}
	if cur.Document == nil {
		return e, "", memoryd.Errorf(memoryd.Conflict, "the tool has no guideline with lines: have it written first")
	}
	edit := guidelines.Edit{
		Line: d.Line, Section: d.Section, Kind: guidelines.EditText, Text: strings.TrimSpace(d.Text), By: author(d.By), At: m.Now(),
	}
	if d.Line == "" {
		edit.Line = guidelines.LineID(d.Section, edit.Text, edit.At)
	} else {
		it := cur.Document.Line(d.Line)
		if it == nil {
			return e, "", memoryd.Errorf(memoryd.NotFound, "the guideline has no line of this id")
		}
		edit.Section, edit.Over = it.Section, it.Unedited
		if !it.ByPerson() {
			edit.Over = it.Text
		}
	}
	what := "set"
	if d.Kind == Remove {
		edit.Kind, edit.Text, what = guidelines.EditOut, "", "taken out"
	}
	var full error
	err = m.decide(ctx, tool.ToolRef, func(st *Status) { full = st.add(edit) })
	if err = cmp.Or(err, full); err != nil {
		return e, "", err
	}
	e, err = m.republish(ctx, tool.ToolRef, "a line was "+what+" by "+edit.By)
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

// last is the place of the newest edit of a line or of a decision, -1 where there is none.
func (st *Status) last(id string) int {
	for i, e := range slices.Backward(st.Edits) {
		if id == e.Line || id == e.Decides {
			return i
		}
	}
	return -1
}

// undo undoes the newest edit of a line, so that the edit before it applies again, or the
// program's text; or a decision on a statement, which then waits again.
func (m *Manager) undo(ctx context.Context, tool memoryd.Tool, d Decision) (e Revision, err error) {
	what, none := "a change of a line", "no person changed this line"
	if d.Kind == Wait {
		what, none = "a decision", "no decision on a statement of this id can be undone"
	}
	why := what + " was undone by " + author(d.By)
	if strings.HasPrefix(d.Line, loadedID+"-") {
		return m.decideLoaded(ctx, tool, d, why, none)
	}
	undone := false
	err = m.decide(ctx, tool.ToolRef, func(st *Status) {
		at := st.last(d.Line)
		if undone = at >= 0; undone {
			st.Edits = slices.Delete(st.Edits, at, at+1)
		}
	})
	if err == nil && !undone {
		err = memoryd.Errorf(memoryd.NotFound, "%s", none)
	}
	if err != nil {
		return Revision{}, err
	}
	return m.republish(ctx, tool.ToolRef, why)
}

// republish makes the guideline, with what people decided on it, a new version. Somebody who
// writes in between is waited for: what people decided is in whatever stands in the end.
func (m *Manager) republish(ctx context.Context, ref memoryd.ToolRef, why string) (Revision, error) {
	for {
		tool, cur, err := m.read(ctx, ref)
		if err != nil || cur.Document == nil {
			return cur, err
		}
		cur.Why, cur.Reasons, cur.RolledBackTo, cur.ByPerson = why, nil, 0, true
		written, err := m.publish(ctx, tool, &cur)
		if err != nil {
			return cur, err
		}
		if written {
			return cur, nil
		}
	}
}

// Pending is a statement that waits for a person: it contradicts a person's line, or it came
// with a dump from another installation.
type Pending struct {
	// Stands for the statement in these very words.
	ID string `json:"id"`
	// Line is the id of the item; "" for a whole guideline.
	Line      string   `json:"-"`
	Section   string   `json:"section"` // "" means a whole guideline that came with a dump
	Text      string   `json:"text"`
	Published string   `json:"published"` // what is published in its place; "" means nothing
	Author    string   `json:"author"`
	Evidence  []string `json:"evidence"` // ids
}

func pendingID(id, text string) string {
	sum := sha256.Sum256([]byte(text))
	return id + "-" + hex.EncodeToString(sum[:5])
}

// Pending lists what waits for a person in a tool's guideline.
func (m *Manager) Pending(ctx context.Context, ref memoryd.ToolRef) ([]Pending, error) {
	_, cur, err := m.read(ctx, ref)
	if err != nil {
		return nil, err
	}
	var list []Pending
	if cur.Document != nil {
		for _, it := range cur.Document.Items {
			if it.Pending == "" {
				continue
			}
			published := it.Text
			if it.Removed {
				published = ""
			}
			list = append(list, Pending{
				ID: pendingID(it.ID, it.Pending), Line: it.ID, Section: it.Section, Text: it.Pending, Published: published,
				Author: it.Author, Evidence: it.Evidence,
			})
		}
	}
	l, err := m.loaded(ctx, ref)
	if err == nil && l.Content != "" && l.Decided == "" {
		list = append(list, Pending{ID: pendingID(loadedID, l.Content), Text: l.Content, Author: l.Author})
	}
	return list, err
}

// release publishes a statement that waits, or discards it. It returns NotFound if nothing
// with that id waits, for example because the wording changed.
func (m *Manager) release(ctx context.Context, tool memoryd.Tool, d Decision) (Revision, error) {
	list, err := m.Pending(ctx, tool.ToolRef)
	if err != nil {
		return Revision{}, err
	}
	at := slices.IndexFunc(list, func(p Pending) bool { return p.ID == d.Line })
	if at < 0 {
		return Revision{}, memoryd.Errorf(memoryd.NotFound, "no statement of this id is pending")
	}
	why := map[string]string{Accept: "accepted by ", Refuse: "refused by "}[d.Kind] + d.By
	p := &list[at]
	if p.Line == "" {
		return m.decideLoaded(ctx, tool, d, why, "")
	}
	err = m.decide(ctx, tool.ToolRef, func(st *Status) {
		edit := guidelines.Edit{Line: p.Line, Section: p.Section, Kind: guidelines.EditBack, By: author(d.By), At: m.Now()}
		if at := st.last(p.Line); at >= 0 && d.Kind == Refuse {
			edit = st.Edits[at] // the person's line stays, whatever the counts will be
			edit.Over = p.Text
		}
		edit.Decides = d.Line
		_ = st.add(edit) // the line is a person's already
	})
	if err != nil {
		return Revision{}, err
	}
	return m.republish(ctx, tool.ToolRef, why)
}

// pendingKind is the kind of the record of a guideline that came from elsewhere; it has one id.
const (
	pendingKind = "guideline_pending"
	loadedID    = "loaded"
)

// loaded is a guideline that came from elsewhere.
type loaded struct {
	Revision

	Decided string `json:"decided,omitempty"` // Accept or Refuse; "" while it waits
}

// SetAside returns the record that keeps a guideline from elsewhere until a person decides.
func SetAside(ref memoryd.ToolRef, g memoryd.Guideline) (store.Record, error) {
	data, err := json.Marshal(Revision{Guideline: memoryd.Guideline{Content: g.Content, Author: g.Author, Written: g.Written}})
	return store.Record{RecordKey: loadedKey(ref), Data: data}, err
}

func loadedKey(ref memoryd.ToolRef) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: pendingKind, ID: loadedID}
}

// loaded is the guideline that was set aside; its Content is "" where there is none.
func (m *Manager) loaded(ctx context.Context, ref memoryd.ToolRef) (l loaded, err error) {
	_, err = store.ReadJSON(ctx, m.Store, loadedKey(ref), &l)
	return l, err
}

// decideLoaded publishes a guideline from elsewhere, refuses it, or lets it wait again; none is
// the error where there is no such decision.
func (m *Manager) decideLoaded(ctx context.Context, tool memoryd.Tool, d Decision, why, none string) (e Revision, err error) {
	l, err := m.loaded(ctx, tool.ToolRef)
	if err == nil {
		e, err = m.current(ctx, tool)
	}
	if err != nil {
		return e, err
	}
	was := l.Decided
	switch l.Decided = d.Kind; {
	case d.Kind == Accept:
		e = l.Revision
		e.Why, e.BasedOn, e.ThroughSeq = why, tool.Revision, tool.Lifetime
		_, err = m.publish(ctx, tool, &e)
	case d.Kind == Refuse:
	case was == "" || pendingID(loadedID, l.Content) != d.Line:
		err = memoryd.Errorf(memoryd.NotFound, "%s", none)
	default:
		l.Decided = ""
		if was == Accept && e.Content == l.Content {
			if e, err = m.rollBack(ctx, tool, e.Number-1, why); memoryd.IsKind(err, memoryd.NotFound) {
				err = memoryd.Errorf(memoryd.Conflict, "there is no earlier guideline to go back to")
			}
		}
	}
	if err != nil {
		return e, err
	}
	return e, store.WriteJSON(ctx, m.Store, store.Record{RecordKey: loadedKey(tool.ToolRef), Revision: store.AnyRevision}, l)
}
