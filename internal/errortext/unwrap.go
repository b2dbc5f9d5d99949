package errortext

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// wrappers stand before the message that they pass on: "Error executing tool x:",
// "MCP error -32602:".
var wrappers = []string{
	"error executing tool ", "error calling tool ", "error invoking tool ", "error running tool ", "tool execution failed",
	"tool call failed", "mcp error ", "input validation error", "mcp tool error", "toolerror", "tool error", "toolexception",
}

// Unwrap returns the error text of an output. From a structured reply it takes the members
// that hold messages, even inside text that is itself JSON, one per line and each once. From
// a text it takes what follows "Error executing tool x:" and similar wrappers, one after
// another. A list of problems behind a heading, as validators write it, becomes lines below that, and a name above
// what is said of it one line.
// A message is told with the field of the input that it stands under, or that its neighbour "path" or "field"
// names. A member named errors, code or status keeps its number: "status: 404". Other outputs are returned without
// the white space around them.
func Unwrap(output string) string {
	said, _ := read(output)
	return said
}

// read returns the error text of an output, and its first line that is about a field of the input.
func read(output string) (said, placed string) {
	text := trim(output)
	for range maxNesting {
		inner := unwrapText(text)
		if inner == text {
			break
		}
		text = inner
	}
	m := messages{doc: loosejson.Parse(text)}
	if m.doc.OK() {
		m.take(0, 0, false)
	} else if head, problems, found := headed(text); found {
		m.doc = problems
		m.add(head)
		m.take(0, 0, true)
	}
	if len(m.lines) > 0 {
		return strings.Join(m.lines, "\n"), m.placed
	}
	if at := heading.FindStringSubmatch(text); at != nil && !m.doc.OK() {
		return heading.ReplaceAllString(text, "$1: $2"), at[1] + ": " + at[2]
	}
	return text, ""
}

// heading is a name on a line of its own above what is said of it, as validators of Python write it.
var heading = regexp.MustCompile(`(?m)^([\w.\[\]-]+)\n +(\S.*)$`)

// Field is the first line of an output that says what is wrong with a field of the input; "" for none.
func Field(output string) string {
	_, placed := read(output)
	return placed
}

// headed parts a heading from the list of problems that follows it to the end of a line; what stands below is advice.
func headed(text string) (head string, problems *loosejson.Doc, found bool) {
	head, _, found = strings.Cut(text[:min(len(text), shortLine)], ": [")
	if !found || strings.Contains(head, "\n") {
		return "", nil, false
	}
	problems = loosejson.Parse(text[len(head)+len(": "):])
	before := strings.TrimRight(strings.TrimSuffix(text, problems.Rest), " ")
	whole := problems.IsWhole() || problems.OK() && strings.HasSuffix(before, "\n")
	return head + ":", problems, whole && problems.Nodes[problems.Child(0)].Kind == loosejson.Object
}

// unwrapText takes off one wrapper at the beginning.
func unwrapText(text string) string {
	head, _, _ := strings.Cut(text[:min(len(text), 160)], "\n")
	for _, w := range wrappers {
		if !phrases.StartsWith(head, w) {
			continue
		}
		if i := strings.IndexByte(head, ':'); i > 0 {
			if rest := strings.TrimSpace(text[i+1:]); rest != "" {
				return rest
			}
		}
	}
	return text
}

// IsWrapped reports whether a text is a message that a framework passes on behind words of its own.
func IsWrapped(text string) bool { return unwrapText(text) != text }

// messages collects the texts of a structure that describe an error.
type messages struct {
	doc    *loosejson.Doc
	lines  []string
	heard  int    // texts that say something, also what was said before
	place  string // in the input, with a colon; "" where nothing names it
	placed string // the first line with a place
}

func (m *messages) add(s string) {
	if s = trim(s); s == "" {
		return
	}
	if m.heard++; !slices.Contains(m.lines, s) {
		m.lines = append(m.lines, s)
	}
}

// tell adds what is said of a place in the input.
func (m *messages) tell(s string) {
	if s = m.place + s; m.place != "" {
		m.placed = cmp.Or(m.placed, s)
	}
	m.add(s)
}

// take collects from node i; within says that it stands in a member that
// describes an error.
func (m *messages) take(i int32, depth int, within bool) {
	d := m.doc
	if depth > maxNesting {
		return
	}
	switch n := &d.Nodes[i]; n.Kind {
	case loosejson.String:
		if within {
			m.tell(Unwrap(d.Str(i)))
		}
	case loosejson.Array:
		for c := n.Child; c != 0; c = d.Nodes[c].Next {
			m.take(c, depth+1, within)
		}
	case loosejson.Object:
		m.object(i, depth, within)
	default:
	}
}

// object collects from an object.
func (m *messages) object(i int32, depth int, within bool) {
	outer := m.place
	defer func() { m.place = outer }()
	if m.byField(i, within) {
		m.fields(i, depth, true, true)
		return
	}
	placed, before := m.at(m.placeIn(i)), m.heard
	if m.members(i, depth, within, placed); m.heard == before {
		m.fields(i, depth, within, false) // {"a.txt": {"result": "error", "reason": "File not found"}}
	}
	for c := m.doc.Nodes[i].Child; within && c != 0 && m.heard == before; c = m.doc.Nodes[c].Next {
		n := &m.doc.Nodes[c]
		if n.Kind == loosejson.String && roleOf(n.Key) == roleNone && !isPlace(n.Key) {
			m.take(c, depth+1, true) // {"error": {"type": "rate_limit"}}; all else was read before
		}
	}
}

// fields collects from the members that tell of a place by its name, or from all of them.
func (m *messages) fields(i int32, depth int, within, all bool) {
	for c := m.doc.Nodes[i].Child; c != 0; c = m.doc.Nodes[c].Next {
		if all || m.tells(c) {
			m.at(m.doc.Nodes[c].Key)
			m.take(c, depth+1, within)
		}
	}
}

// inTurn are the roles of members in the order in which they are read.
var inTurn = [...]map[role]bool{
	{roleError: true, roleStderr: true, roleErrno: true}, {roleMessage: true}, {roleCode: true, roleStatus: true}, {rolePayload: true},
}

// members collects first what tells of an error, then messages, codes, and what came of it.
func (m *messages) members(i int32, depth int, within, placed bool) {
	d := m.doc
	told := false // by a message: the other members describe the problem
	before := m.heard
	for _, wanted := range inTurn {
		told = told || placed && m.heard > before
		for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
			n := &d.Nodes[c]
			isText := n.Kind == loosejson.String
			switch r := roleOf(n.Key); {
			case r == roleNone && wanted[rolePayload]:
				if m.describes(c, within && !told) {
					m.take(c, depth+1, true)
				}
			case !wanted[r]:
			case told && isText && r == rolePayload && (placed || !tellsMore(d.Str(c))): // {"reason": "File has changed", "content": "a = 1\nb = 2"}
			case told && isText && r == roleCode && m.place != "": // which says it again
			default:
				told = told || r == roleMessage
				m.member(c, r, depth)
			}
		}
	}
}

// describes reports whether a member without a role tells of a problem: within one that has no message, or as a list
// of problems: {"error": "x", "violations": [{"field": "a", "message": "y"}]}.
func (m *messages) describes(c int32, within bool) bool {
	n := &m.doc.Nodes[c]
	return within && (n.Kind != loosejson.String || m.spoken(c)) || m.tells(n.Child)
}

// at notes the place in the input that messages are about from here on; false for a number, which
// is that of an element, and for none.
func (m *messages) at(place string) bool {
	if strings.Trim(place, "0123456789") == "" {
		return false
	}
	m.place = place + ": "
	return true
}

// byField reports whether an object says of each field of the input what is wrong with it:
// {"email": ["This field is required."], "age": {"message": "Must be positive."}}. Within what
// describes an error, sentences tell as well.
func (m *messages) byField(i int32, within bool) bool {
	d, lists, sentences, all, told := m.doc, 0, 0, 0, false
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		all++
		n := &d.Nodes[c]
		r, first := roleOf(n.Key), n.Child
		switch {
		case fieldNames[NormalKey(n.Key)]:
		case r == roleError, r == roleMessage, r != roleNone && !within, isPlace(n.Key):
			return false
		}
		switch {
		case n.Kind == loosejson.String && within && r == roleNone:
			sentences++
			told = told || m.spoken(c)
		case n.Kind == loosejson.Object && m.tells(c):
			lists++
		case n.Kind == loosejson.Array && (m.tells(first) || m.spoken(first)):
			lists++
		default:
			return false
		}
	}
	return all > 0 && (lists == all || sentences == all && told)
}

// spoken reports whether node i is a text of several words.
func (m *messages) spoken(i int32) bool {
	return i != 0 && m.doc.Nodes[i].Kind == loosejson.String && strings.Contains(m.doc.Str(i), " ")
}

// tellsMore reports whether a text beside a message is one, too: not a single word, nor what a file holds.
func tellsMore(s string) bool { return strings.ContainsAny(s, " \n") && Message(s) != "" }

// tells reports whether node i is an object with a member for errors or for messages.
func (m *messages) tells(i int32) bool {
	if i == 0 || m.doc.Nodes[i].Kind != loosejson.Object {
		return false
	}
	for c := m.doc.Nodes[i].Child; c != 0; c = m.doc.Nodes[c].Next {
		if r := roleOf(m.doc.Nodes[c].Key); r == roleError || r == roleMessage {
			return true
		}
	}
	return false
}

// placeNames are the members of a problem that name its place in the input.
var placeNames = phrases.Words("path", "loc", "field", "param", "parameter", "property", "attribute", "pointer", "instancepath", "source",
	"extensions")

// fieldNames are members for messages that are as often fields.
var fieldNames = phrases.Words("title", "description", "note", "info")

func isPlace(key string) bool { return placeNames[NormalKey(key)] }

// placeIn is the place in the input that a problem names, its parts joined; "" for none.
func (m *messages) placeIn(i int32) string {
	d := m.doc
	for c := d.Nodes[i].Child; c != 0; c = d.Nodes[c].Next {
		key := NormalKey(d.Nodes[c].Key)
		if !placeNames[key] {
			continue
		}
		switch d.Nodes[c].Kind {
		case loosejson.Array:
			var names []string
			for n := d.Nodes[c].Child; n != 0; n = d.Nodes[n].Next {
				if d.Nodes[n].Kind == loosejson.String {
					names = append(names, d.Str(n))
				}
			}
			return strings.Join(names, ".")
		case loosejson.Object: // {"source": {"pointer": "/data/attributes/name"}}
			return m.placeIn(c)
		case loosejson.String:
			isRoute := key == "path" && strings.HasPrefix(d.Str(c), "/")
			place := strings.ReplaceAll(strings.Trim(d.Str(c), "/"), "/", ".")
			if key != "source" && !isRoute && !strings.ContainsAny(place, " \n") {
				return place
			}
		default:
		}
	}
	return ""
}

// member collects from a member of a reply.
func (m *messages) member(c int32, r role, depth int) {
	n := &m.doc.Nodes[c]
	switch {
	case r == roleCode || r == roleStatus || r == roleErrno:
		if v := m.doc.Number(c); v >= 400 && v < 600 || v < 0 || r == roleErrno && v != 0 {
			m.add("status: " + strings.TrimSpace(n.Val))
		} else if n.Kind == loosejson.String && v == 0 && r != roleStatus {
			m.tell(m.doc.Str(c)) // a code such as invalid_request
		}
	case r == roleError && isVoid(strings.TrimSpace(n.Val)) && n.Kind != loosejson.Object && n.Kind != loosejson.Array:
	default:
		m.take(c, depth+1, true)
	}
}

// slots are the parts of a message that differ between failures of one kind: quoted texts,
// addresses and paths, names with digits or marks in them, numbers.
var slots = regexp.MustCompile("\"[^\"]*(?:\"|…$)|'[^']*'|“[^”]*”|`[^`']*(?:[`']|…$)|[^\\s\"'`]*[/\\\\][^\\s\"'`]*|[\\pL\\pN_]*[_.:-]?[\\pL\\pN]*\\pN[\\pL\\pN_.:-]*")

// Masked returns a message without its variable parts.
func Masked(message string) string {
	if strings.IndexFunc(message, varies) < 0 {
		return message
	}
	return slots.ReplaceAllString(message, "…")
}

func varies(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("\"'“`/\\", r) }
