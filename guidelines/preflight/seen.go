package preflight

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
	"memoryd/store"

	"github.com/go-json-experiment/json/jsontext"
)

// maxSeenBytes bounds how much of a run's outputs is read for values.
const maxSeenBytes = 128 << 10

// seenValue is a value that an output of the run held.
type seenValue struct {
	value string
	// under are the names it stood under: of the member, and of what holds that.
	under []string
	// limit is the number that stands with it, such as a balance.
	limit   float64
	limited bool
}

// seenValues are the identifiers of the outputs of a run, the newest first.
type seenValues struct {
	list    []*seenValue
	byValue map[string]*seenValue
}

// valuesSeen reads the outputs of the run, once.
func (m *Model) valuesSeen(v *view) *seenValues {
	if v.seen == nil {
		v.seen = &seenValues{byValue: map[string]*seenValue{}}
		room := maxSeenBytes
		for i := range v.RunCalls {
			c := &v.RunCalls[i]
			if failed, known := outcome(c); failed && known || len(c.Output) > room {
				continue
			}
			room -= len(c.Output)
			v.seen.read(c)
		}
	}
	return v.seen
}

func (s *seenValues) read(c *store.RunCall) {
	text := strings.TrimSpace(c.Output)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return
	}
	s.scan([]byte(text))
}

// limit is the number that stands with a value, and whether there is one.
func (s *seenValues) limit(value string) (float64, bool) {
	if c := s.byValue[value]; c != nil {
		return c.limit, c.limited
	}
	return 0, false
}

// of lists what a parameter may take: what stood under its name, or as a member of
// something that shares a telling word with it.
func (s *seenValues) of(l *leaf) []*seenValue {
	var out []*seenValue
	for _, c := range s.list {
		for _, name := range c.under {
			if name == l.name() || sharesWord(name, l.name()) {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// scan reads an output that is JSON as far as it can be read.
func (s *seenValues) scan(text []byte) {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	s.value(dec, "", "", nil, 0)
}

// maxSeen bounds the values of a run that are kept.
const maxSeen = 2000

// value reads the next value, the member name of something called parent; own is
// the value that the name is itself, as in {"payment_methods": {"card_1": {...}}}. It
// reports whether reading can go on.
func (s *seenValues) value(dec *jsontext.Decoder, parent, name string, own *seenValue, depth int) bool {
	if depth > 16 || len(s.list) >= maxSeen {
		return dec.SkipValue() == nil
	}
	switch dec.PeekKind() {
	case '{':
		return s.members(dec, name, own, depth)
	case '[':
		if _, err := dec.ReadToken(); err != nil {
			return false
		}
		for dec.PeekKind() != ']' {
			if !s.value(dec, parent, name, nil, depth+1) {
				return false
			}
		}
		_, err := dec.ReadToken()
		return err == nil
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return false
	}
	if tok.Kind() == '"' {
		s.see(tok.String(), name, parent)
	}
	return true
}

func (s *seenValues) members(dec *jsontext.Decoder, name string, own *seenValue, depth int) bool {
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return false
		}
		member := tok.String()
		if dec.PeekKind() == '0' && own != nil && !own.limited {
			tok, err := dec.ReadToken()
			if err != nil {
				return false
			}
			if f, err := tok.Float(); err == nil {
				own.limit, own.limited = f, true
			}
			continue
		}
		var inner *seenValue
		if dec.PeekKind() == '{' {
			inner = s.see(member, name, "")
		}
		if !s.value(dec, name, member, inner, depth+1) {
			return false
		}
	}
	_, err := dec.ReadToken()
	return err == nil
}

// see notes a value and what it stood under. It returns the value if it is new:
// what the newest output says of it counts.
func (s *seenValues) see(value string, under ...string) *seenValue {
	if !isID(&leaf{kind: text, text: value}) {
		return nil
	}
	c := s.byValue[value]
	isNew := c == nil
	if isNew {
		c = &seenValue{value: value}
		s.byValue[value] = c
		s.list = append(s.list, c)
	}
	for _, u := range under {
		if u != "" && !slices.Contains(c.under, u) {
			c.under = append(c.under, u)
		}
	}
	if isNew {
		return c
	}
	return nil
}

// origin is where the values of a parameter came from, as calls showed so far.
type origin struct {
	seen, of int             // values of calls that worked: those that stood in an earlier answer of their run
	runs     map[string]bool // of these, up to 3
	tools    map[string]int  // whose answers held them
	missed   int             // calls whose value stood in none
	failed   int             // of these
	notFound int             // of these, with a message that something was not found
	message  string          // of the newest
	calls    []memoryd.CallKey
}

// tells reports whether a value that stands in no earlier answer is likely wrong:
// those of calls that worked nearly all stood in one, and one that did not was not
// found.
func (o *origin) tells() bool {
	return o != nil && o.of >= 10 && len(o.runs) >= 3 && 20*o.seen >= 19*o.of && o.notFound > 0
}

// origins are those of the parameters, by path without the leading dot.
type origins map[string]*origin

// unseen reports whether an identifier of a call that tells stood in no answer.
func (s origins) unseen(sources []evidence.Source) bool {
	return slices.ContainsFunc(sources, func(src evidence.Source) bool { return src.Tool == "" && s[src.Path].tells() })
}

// mostOrigins bounds the parameters and, of each, the tools that are remembered.
const mostOrigins = 32

// take learns from a judged call.
func (s origins) take(l *learned, sources []evidence.Source, said message) {
	missed := map[string]bool{}
	for _, src := range sources {
		o := s[src.Path]
		if o == nil {
			if len(s) >= mostOrigins {
				continue
			}
			o = &origin{runs: map[string]bool{}, tools: map[string]int{}}
			s[src.Path] = o
		}
		if !l.failed() {
			o.of++
			if len(o.runs) < 3 {
				o.runs[l.run] = true
			}
			if src.Tool != "" {
				o.seen++
				if len(o.tools) < mostOrigins {
					o.tools[src.Tool]++
				}
			}
		}
		if src.Tool != "" || missed[src.Path] {
			continue
		}
		missed[src.Path] = true
		o.missed++
		if l.failed() {
			o.failed++
			if len(o.calls) < shownCalls {
				o.calls = append(o.calls, l.key)
			}
			if said.isOne && said.asks.Class == constraints.NotFound {
				o.notFound++
				o.message = l.message
			}
		}
	}
}

// mostRead bounds how much of a run is searched for a value. What is longer may
// hold it where nobody looked.
const mostRead = 1 << 20

// unseenIn finds the value of a planned call that stood nowhere in its run although
// such values do; -1 for none.
func (s origins) unseenIn(v *view) int {
	if len(v.RunCalls) == 0 || len(v.RunCalls) >= runLookup {
		return -1
	}
	for i := range v.in.leaves {
		l := &v.in.leaves[i]
		if isID(l) && s[strings.TrimPrefix(l.path, ".")].tells() && !v.stood(l.text) {
			return i
		}
	}
	return -1
}

// stood reports whether a value stood in an answer of the run, or in a call of it
// that worked, or may have.
func (v *view) stood(value string) bool {
	room := mostRead
	for i := range v.RunCalls {
		c := &v.RunCalls[i]
		if room -= len(c.Output) + len(c.Input); room < 0 || hasToken(c.Output, value) {
			return true
		}
		if failed, known := outcome(c); known && !failed && hasToken(string(c.Input), value) {
			return true
		}
	}
	return false
}

// uncopied says that a value stood nowhere in the run.
func (m *Model) uncopied(v *view, fix fix) (Warning, bool) {
	at := m.origins.unseenIn(v)
	if at < 0 {
		return Warning{}, false
	}
	path := strings.TrimPrefix(v.in.leaves[at].path, ".")
	o := m.origins[path]
	name, known := m.Parameter(path)
	if !known {
		return Warning{}, false
	}
	do := "Copy it exactly from an earlier answer."
	if from := o.source(m.tool()); from != "" {
		do = "Copy it exactly from what `" + from + "` answers."
	}
	if fix.input != nil && fix.path == v.in.leaves[at].path {
		do = "Take the one suggested, or copy it exactly from an earlier answer."
	}
	return Warning{
		Text: fmt.Sprintf("This `%s` stood in no answer of this run; of %d such calls %d failed%s. %s", name, o.missed, o.failed,
			m.with(o.message, constraints.NotFound), do),
		Calls: o.calls,
	}, true
}

// source is the other tool whose answers held most values; "" when its name had
// better not be shown.
func (o *origin) source(own string) string {
	best := ""
	for tool, n := range o.tools {
		if tool != own && (best == "" || n > o.tools[best] || n == o.tools[best] && tool < best) {
			best = tool
		}
	}
	if !constraints.Token(best) {
		return ""
	}
	return best
}
