package records

import (
	"fmt"
	"slices"
	"strings"
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
	textLimit   = 60  // of one long text among them
)

// act is a call that has a line in the ledger, or stays: a record from before it may show an
// older state of what it names.
type act struct {
	tool  string
	place int
}

// keyOf tells calls apart: the tool and its short arguments; long texts and lists count
// where there is nothing else, lists not where a call has nothing but one.
func keyOf(t *Text) string {
	n, ok := parseJSON(t.Body)
	if !ok || n.kind != '{' {
		return t.Tool + "\x00" + t.Body
	}
	var b strings.Builder
	b.WriteString(t.Tool)
	var long strings.Builder
	for i := range n.kids {
		switch kid := &n.kids[i]; {
		case !kid.scalar():
		case len(kid.text) > valueLimit:
			long.WriteString("\x00" + kid.text)
		case !kid.empty():
			b.WriteString("\x00" + n.keys[i] + "\x00" + kid.text)
		}
	}
	if b.Len() == len(t.Tool) {
		b.WriteString(long.String())
	}
	return b.String()
}

// readCall makes a line of a call, or what it gave of one whose answer is long.
func (s *Set) readCall(texts []Text, i int) {
	t := &texts[i]
	n, ok := parseJSON(t.Body)
	var cells []cell
	limit, plan := argsLimit, false
	if ok && n.kind == '{' {
		cells = (&walker{s: s, t: t, call: true}).cells(&n)
		plan = listed(&n)
	} else if body := OneLine(t.Body); body != "" && body != "{}" {
		text, rest := cut(body, argsLimit)
		text = s.redact("", text)
		cells = []cell{{text: text, rest: rest, values: s.values.words(text, t.Place, true)}}
	}
	if plan {
		limit = listLimit
	}
	it := &item{kind: callItem, place: t.Place, plan: plan}
	for i := range cells {
		for _, k := range cells[i].values {
			v := &s.values.all[k]
			v.passed, v.covered, v.focus = true, v.covered || t.Kept, v.focus || t.Kept
		}
		it.values = append(it.values, cells[i].values...)
	}
	key := keyOf(t)
	later := s.last[key]
	short, given, brief := s.answer(t, cells)
	if !t.Kept && later != i && (brief || sameKind(t.Output, texts[later].Output)) {
		return // made again since
	}
	for i := range cells {
		if brief && cells[i].ident {
			s.acted[cells[i].whole] = &act{label(t.Tool), t.Place}
			s.supersede(identity{cells[i].label, cells[i].text}, given)
		}
	}
	if t.Kept || !brief {
		s.readFresh(t)
	}
	if t.Kept || !brief && t.Output != "" {
		return
	}
	it.text = s.apart(callMark+label(t.Tool)+"(", cells, limit, key) + ")"
	s.times[it.text]++
	if times := s.times[key]; times > 1 {
		it.text += fmt.Sprintf(" (%d times)", times)
	}
	if short != "" {
		it.text += gave + short
		it.values = append(it.values, s.values.words(short, t.Place, false)...)
	}
	s.add(it)
	if ok {
		s.written(t, &n)
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
func (s *Set) answer(t *Text, args []cell) (text string, given []cell, brief bool) {
	body := strings.TrimSpace(unwrapped(t.Output))
	if len(body) > shortOutput || strings.Count(body, "\n") > 3 {
		return "", nil, false
	}
	n, ok := parseJSON(body)
	switch {
	case ok && n.kind == '[' && objects(&n) && len(n.kids) > 1: // records, each with what identifies it first
		return "", nil, false
	case ok && n.kind == '{':
		given = (&walker{s: s, t: t, call: true}).cells(&n)
		given = slices.DeleteFunc(given, func(c cell) bool {
			return c.whole != "" && slices.ContainsFunc(args, func(a cell) bool { return a.label == c.label && a.whole == c.whole })
		})
		return joined(given), given, true
	}
	if body = s.redact("", OneLine(body)); body == "" {
		return "", nil, true
	}
	return "\"" + body + "\"", nil, true // what a tool says, in its own words
}

// written reads long texts that a call wrote, like an output: nothing else tells them.
func (s *Set) written(t *Text, n *node) {
	w := &walker{s: s, t: t}
	for i := range n.kids {
		if kid := &n.kids[i]; kid.scalar() && w.long(kid) {
			s.readLines(t, t.Tool+" was given", kid.text)
		} else if !kid.scalar() {
			s.written(t, kid)
		}
	}
}

// sameKind reports two outputs that consist of lines of the same kinds, as two runs of
// one check do.
func sameKind(a, b string) bool {
	if a == b {
		return true
	}
	x, y := kindsIn(a).of, kindsIn(b).of
	if len(x) > len(y) {
		x, y = y, x
	}
	both := 0
	for k := range x {
		if y[k] != nil {
			both++
		}
	}
	return 2*both > len(x)
}

// view is a record that no other call of the conversation had shown.
type view struct {
	w     *walker
	r     *row
	cells []cell
}

// changed makes a line of a record that an answer shows to be another than before.
func (w *walker) changed(r, old *row, cells []cell) {
	if w.t.From != Call || !w.single || w.t.Kept {
		return
	}
	if old == nil {
		w.s.views = append(w.s.views, view{w, r, cells})
		return
	}
	var out []cell
	for _, c := range cells {
		if before, had := old.texts[c.label]; c.text != r.of.text && before != c.text && (had || len(w.args) > 0) {
			c.text = Shorten(c.text, argsLimit)
			out = append(out, c)
		}
	}
	if len(out) > 0 {
		w.s.acts[w.t.Tool] = true
		w.s.acted[r.of.whole] = &act{label(w.t.Tool), w.t.Place}
		w.tell(r, out)
	}
}

// firstSeen tells of records that nothing showed before where their tool changed others,
// or was given what makes a new one.
func (s *Set) firstSeen() {
	for _, v := range s.views {
		if s.acts[v.w.t.Tool] || len(v.w.args) > 1 && !holds(v.w.args, v.r.of.whole) && v.repeats() {
			v.w.tell(v.r, nil)
		}
	}
	slices.SortStableFunc(s.items, func(a, b *item) int { return a.place - b.place })
	for i, it := range s.items {
		it.order = i + 1
	}
}

// repeats reports a record that holds half of what the call was given.
func (v *view) repeats() bool {
	n := 0
	for i := range v.w.args {
		if holds(v.cells, v.w.args[i].whole) {
			n++
		}
	}
	return 2*n >= len(v.w.args)
}

// tell writes the line of an act that gave a record.
func (w *walker) tell(r *row, out []cell) {
	text := w.s.apart(callMark+label(w.t.Tool)+"(", w.args, argsLimit, keyOf(w.t)+"\x00"+r.of.text) + ")" + gave + r.of.label + " " + r.of.text
	if len(out) > 0 {
		text += ": " + Shorten(joined(out), listLimit/2)
	}
	it := &item{kind: callItem, place: w.t.Place, text: text, values: append([]int32{}, r.of.values...)}
	for _, c := range append(out, w.args...) {
		it.values = append(it.values, c.values...)
	}
	w.s.add(it)
}

// onePerThing leaves one line for each thing that calls of a tool were about: what
// earlier ones were given stands behind the newest, as far as it differs.
func (s *Set) onePerThing() {
	type line struct {
		it     *item
		parts  []string
		answer string
	}
	newest := map[string]line{}
	for _, it := range slices.Backward(s.items) {
		if it.kind != callItem || it.plan {
			continue
		}
		call, answer, _ := strings.Cut(it.text, gave)
		key, parts := thing(call)
		now, ok := newest[key]
		if !ok {
			newest[key] = line{it, parts, answer}
			continue
		}
		differ := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return slices.Contains(now.parts, p) }), ", ")
		answer, before, found := strings.Cut(answer, earlier)
		if newer, _, _ := strings.Cut(now.answer, earlier); answer != newer {
			differ += gave + answer
		}
		text := now.it.text + earlier + differ + ")"
		if found {
			text += earlier + before
		}
		if key == "" || differ == "" || len(text) > listLimit/2 {
			continue
		}
		now.it.text, now.it.cost, it.stale = text, s.o.Count(text)+1, true
		now.it.values = append(now.it.values, it.values...)
	}
}

// earlier begins what earlier calls about a thing were given, and gave.
const earlier = " (earlier: "

// thing names what a line of the ledger is about: the tool, its identifiers and the names
// of other short arguments; "" where it has no identifier. parts are the arguments.
func thing(call string) (key string, parts []string) {
	tool, args, _ := strings.Cut(call, "(")
	if i := strings.LastIndexByte(args, ')'); i >= 0 {
		args = args[:i]
	}
	parts, key = strings.Split(args, ", "), tool
	about := false
	for _, p := range parts {
		name, value, two := strings.Cut(p, " ")
		switch {
		case identifies(value) && !digitsOnly(value):
			about = true
			key += "\x00" + p
		case two && !strings.Contains(value, " ") && len(value) < textLimit:
			key += "\x00" + name
		default:
			key += "\x00" + p
		}
	}
	if !about {
		return "", nil
	}
	return key, parts
}

// nowMark begins the line that says whose records were used last.
const nowMark = callMark + "now: "

// findOwner finds whose records stand side by side: what stands behind one label in records
// of other things, has records of its own or was passed to a call, and is not the same in all.
func (s *Set) findOwner() {
	rows, values := map[string]int{}, map[string]map[string]bool{}
	for _, it := range s.items {
		if it.row == nil || !it.row.keyed || it.row.units[0] != it {
			continue
		}
		for l, v := range it.row.texts {
			k, known := s.values.index[v]
			if l == it.row.of.label || !identifies(v) || !known || !s.values.all[k].passed && s.newest[identity{l, v}] == nil {
				continue
			}
			if rows[l]++; values[l] == nil {
				values[l] = map[string]bool{}
			}
			values[l][v] = true
		}
	}
	most := 0
	for l, n := range rows {
		if len(values[l]) < 2 || n < most || n == most && l > s.owner {
			continue
		}
		most, s.owner, s.serves = n, l, ""
		for v := range values[l] {
			if old := s.values.index[s.serves]; s.serves == "" || s.values.all[s.values.index[v]].last > s.values.all[old].last {
				s.serves = v
			}
		}
	}
}
