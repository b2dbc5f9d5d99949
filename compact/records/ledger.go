package records

import (
	"slices"
	"strings"

	"memoryd/internal/reading"
)

// The ledger has a line for each call whose answer is short: what was asked, and what
// it came to. The same call made again replaces the line. No verb says what changed
// something: an answer that is short, a record that is another than before, a thing that
// nobody had named.

// Bounds of a line, in bytes.
const (
	shortOutput = 240 // an answer up to this is a part of the line
	argsLimit   = 200 // of the arguments
	listLimit   = 900 // of arguments that are a list of things, such as a plan
)

// act is a call that has a line in the ledger, or stays: a record from before it may show an
// older state of what it names.
type act struct {
	tool  string
	place int
}

// keyOf tells calls apart: the tool and its short arguments; long texts where none of these
// identifies a thing.
func keyOf(t *Text) string {
	n, ok := parseJSON(t.Body)
	if !ok || n.kind != '{' {
		return t.Tool + "\x00" + t.Body
	}
	key, long, identified := t.Tool, "", false
	for i := range n.kids {
		switch kid := &n.kids[i]; {
		case !kid.scalar():
			key += "\x00" + n.keys[i] + leaves(kid)
		case len(kid.text) > valueLimit:
			long += "\x00" + kid.text
		case !kid.empty():
			key += "\x00" + n.keys[i] + "\x00" + kid.text
			identified = identified || identifies(kid.text) || written(kid.text)
		}
	}
	if !identified {
		key += long
	}
	return key
}

// leaves are the plain values in a list or an object.
func leaves(n *node) (all string) {
	for i := range n.kids {
		all += "\x00" + n.kids[i].text + leaves(&n.kids[i])
	}
	return all
}

// readCall makes a line of a call, or what it gave of one whose answer is long.
func (s *Set) readCall(texts []Text, i int) {
	t := &texts[i]
	cells, object, plan := s.arguments(t)
	it := &item{kind: callItem, place: t.Place, plan: plan}
	for _, c := range cells {
		it.values = append(it.values, c.values...)
	}
	s.passed(t, it.values)
	later := s.last[keyOf(t)]
	short, brief := s.answer(t, cells)
	if !t.Kept && later != i && (brief || sameKind(t.Output, texts[later].Output)) {
		return // made again since
	}
	if brief {
		for _, c := range cells {
			if c.ident || written(c.whole) {
				s.acted[c.whole] = act{label(t.Tool), t.Place}
			}
		}
	}
	if t.Kept || !brief {
		var args []cell
		if object {
			args = cells
		}
		s.readOutput(t, args)
	}
	if t.Kept || !brief && t.Output != "" {
		return
	}
	limit := argsLimit
	if plan {
		limit = listLimit
	}
	it.text = callMark + label(t.Tool) + "(" + ends(joined(cells), limit) + ")"
	if short != "" {
		it.text += gave + short
		it.values = append(it.values, s.values.words(short, t.Place, false)...)
	}
	s.add(it)
}

// arguments are those of a call, or its text where they are no object; plan reports nothing but
// a list of things.
func (s *Set) arguments(t *Text) (cells []cell, object, plan bool) {
	if n, ok := parseJSON(t.Body); ok && n.kind == '{' {
		return (&walker{s: s, t: t, call: true}).cells(&n), true, listed(&n)
	}
	body := visible(t.Body)
	if body == "" || body == "{}" {
		return nil, false, false
	}
	text := s.redact("", shorten(body, argsLimit))
	return []cell{{text: text, values: s.values.words(text, t.Place, true)}}, false, false
}

// passed notes that values were passed to a call.
func (s *Set) passed(t *Text, values []int32) {
	for _, k := range values {
		v := &s.values.all[k]
		v.passed, v.covered, v.focus = true, v.covered || t.Kept, v.focus || t.Kept || t.Place > s.asked
	}
}

// listed reports arguments that are nothing but a list of things: who makes such a call
// leaves the list as it stands.
func listed(n *node) bool {
	for i := range n.kids {
		kid := &n.kids[i]
		if plain := len(kid.kids) > 1 && all(kid, (*node).scalar); kid.kind != '[' || !objects(kid) && !plain {
			return false
		}
	}
	return len(n.kids) > 0
}

// answer is what a call gave, as it stands in its line, without what only repeats the
// arguments; brief is false where it is too long for one.
func (s *Set) answer(t *Text, args []cell) (text string, brief bool) {
	body := strings.TrimSpace(reading.Inside(t.Output))
	if len(body) > shortOutput {
		return "", false
	}
	n, ok := parseJSON(body)
	switch {
	case ok && n.kind == '[' && objects(&n) && len(n.kids) > 1: // records, each with what identifies it first
		return "", false
	case ok && n.kind == '{':
		given := (&walker{s: s, t: t, call: true}).cells(&n)
		given = slices.DeleteFunc(given, func(c cell) bool {
			return c.whole != "" && slices.ContainsFunc(args, func(a cell) bool { return a.label == c.label && a.whole == c.whole })
		})
		return joined(given), true
	}
	if body = s.redact("", visible(body)); body == "" {
		return "", true
	}
	return "\"" + body + "\"", true // what a tool says, in its own words
}

// sameKind reports two outputs that consist of lines of the same kinds, as two runs of
// one check do.
func sameKind(a, b string) bool {
	x, y, both := kindsIn(a).of, kindsIn(b).of, 0
	for k := range x {
		if y[k] != nil {
			both++
		}
	}
	return a == b || 2*both > min(len(x), len(y))
}

// changed makes a line of a record that an answer shows to be another than before, or for
// the first time: that counts where the tool changed others.
func (w *walker) changed(r, old *row, cells []cell) {
	if w.t.From != Call || !w.one {
		return
	}
	it := &item{kind: callItem, place: w.t.Place, values: slices.Clone(r.of.values), by: w.t.Tool}
	it.text = callMark + label(w.t.Tool) + "(" + ends(joined(w.args), argsLimit) + ")" + gave + r.of.label + " " + r.of.text
	var news []cell
	if old != nil {
		for _, c := range cells {
			if c.text != r.of.text && c.text != old.texts[c.label] {
				c.text = shorten(c.text, argsLimit)
				news = append(news, c)
			}
		}
		if len(news) == 0 {
			return
		}
		w.s.acts[w.t.Tool], w.s.acted[r.of.whole] = true, act{label(w.t.Tool), w.t.Place}
		it.text += ": " + ends(joined(news), shortOutput)
	} else if v := &w.s.values.all[r.of.values[0]]; int(v.first) == w.t.Place && !holds(w.args, r.of.whole) {
		it.by = "" // nobody had named it: the call made it
	}
	for _, c := range append(news, w.args...) {
		it.values = append(it.values, c.values...)
	}
	w.s.add(it)
}
