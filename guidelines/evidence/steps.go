package evidence

import (
	"bytes"
	"strings"

	"memoryd"

	"github.com/go-json-experiment/json/jsontext"
)

// step is a value of an input; those of an object or array follow it.
type step struct {
	name string // of the member; "" for others
	text string // of a scalar; a text beyond maxValueBytes is only longer than that
	// size is the number of steps with all that follow within it, count that of its own
	// members or elements. Of an array only the first maxElements follow.
	size, count int32
	kind        kind
	broken      bool // the input ends, or is no JSON, before its end
}

// stepsOf reads an input. A string that holds a JSON object is read as that object;
// what is not JSON counts as text.
func stepsOf(input []byte) []step {
	raw := bytes.TrimSpace(input)
	if len(raw) == 0 {
		return nil
	}
	r := reader{}
	if raw[0] == '"' {
		dec := memoryd.BorrowDecoder(raw)
		tok, err := dec.ReadToken()
		s := strings.TrimSpace(string(raw))
		if err == nil {
			s = strings.TrimSpace(tok.String())
		}
		memoryd.ReturnDecoder(dec)
		if err != nil || !strings.HasPrefix(s, "{") || !jsontext.Value(s).IsValid() {
			return []step{{kind: kindText, text: head(s), size: 1}}
		}
		raw = []byte(s)
	}
	r.dec = memoryd.BorrowDecoder(raw)
	defer memoryd.ReturnDecoder(r.dec)
	r.value("", 0)
	return r.steps
}

// reader reads one input.
type reader struct {
	dec   *jsontext.Decoder
	steps []step
}

// value reads the next value, of a member of that name; it reports whether the input
// goes on.
func (r *reader) value(name string, depth int) bool {
	at := len(r.steps)
	r.steps = append(r.steps, step{name: name})
	count, ok := 0, false
	switch k := r.dec.PeekKind(); {
	case depth > maxDepth:
		ok = r.dec.SkipValue() == nil
	case k == '{':
		r.steps[at].kind = kindObject
		count, ok = r.object(depth)
	case k == '[':
		r.steps[at].kind = kindArray
		count, ok = r.array(depth)
	default:
		tok, err := r.dec.ReadToken()
		if ok = err == nil; ok {
			r.steps[at].kind, r.steps[at].text = scalarOf(tok)
		}
	}
	s := &r.steps[at]
	s.size, s.count, s.broken = int32(len(r.steps)-at), int32(count), !ok //nolint:gosec // an input is far shorter
	return ok
}

func scalarOf(tok jsontext.Token) (kind, string) {
	switch tok.Kind() {
	case '"':
		return kindText, head(tok.String())
	case '0':
		return kindNumber, tok.String()
	case 'n':
		return kindNull, ""
	}
	return kindBool, tok.String()
}

// head cuts a text that is too long to be compared.
func head(s string) string {
	if len(s) > maxValueBytes {
		return strings.Clone(s[:maxValueBytes+1])
	}
	return s
}

func (r *reader) object(depth int) (members int, ok bool) {
	if _, err := r.dec.ReadToken(); err != nil {
		return 0, false
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return members, false
		}
		if text := name.String(); len(text) > maxValueBytes { // no column is named so
			ok = r.dec.SkipValue() == nil
		} else {
			members++
			ok = r.value(text, depth+1)
		}
		if !ok {
			return members, false
		}
	}
	_, err := r.dec.ReadToken()
	return members, err == nil
}

func (r *reader) array(depth int) (elements int, ok bool) {
	if _, err := r.dec.ReadToken(); err != nil {
		return 0, false
	}
	for ; r.dec.PeekKind() != ']'; elements++ {
		if elements < maxElements {
			ok = r.value("", depth+1)
		} else {
			ok = r.dec.SkipValue() == nil
		}
		if !ok {
			return elements + 1, false
		}
	}
	_, err := r.dec.ReadToken()
	return elements, err == nil
}
