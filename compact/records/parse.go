package records

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value, members in order.
type node struct {
	kind jsontext.Kind // '{', '[', '"', '0', 't', 'f', 'n'
	text string
	keys []string
	kids []node
	raw  string // the text that it stood in, for JSON in a text
}

func (n *node) scalar() bool { return n.kind != '{' && n.kind != '[' }

// holds reports an object with a plain value.
func (n *node) holds(v string) bool {
	return slices.ContainsFunc(n.kids, func(kid node) bool { return kid.scalar() && kid.text == v })
}

// empty reports values that tell nothing: null, "" and empty lists.
func (n *node) empty() bool {
	return n.kind == 'n' || n.kind == '"' && strings.TrimSpace(n.text) == "" || !n.scalar() && len(n.kids) == 0
}

// maxDepth bounds how deep a text is read; what is deeper stays JSON.
const maxDepth = 24

// parseJSON reads the JSON object or list that a text consists of.
func parseJSON(text string) (node, bool) {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' && text[0] != '[' {
		return node{}, false
	}
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	n, ok := readNode(dec, 0)
	return n, ok && int(dec.InputOffset()) == len(text)
}

func readNode(dec *jsontext.Decoder, depth int) (node, bool) {
	if depth > maxDepth {
		v, err := dec.ReadValue()
		return node{kind: '"', text: string(v)}, err == nil
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return node{}, false
	}
	n := node{kind: tok.Kind()}
	switch n.kind {
	case '{':
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return n, false
			}
			key := name.String()
			kid, ok := readNode(dec, depth+1)
			if !ok {
				return n, false
			}
			n.keys, n.kids = append(n.keys, key), append(n.kids, kid)
		}
		_, err = dec.ReadToken()
	case '[':
		for dec.PeekKind() != ']' {
			kid, ok := readNode(dec, depth+1)
			if !ok {
				return n, false
			}
			n.kids = append(n.kids, kid)
		}
		_, err = dec.ReadToken()
	case '"':
		n.text = tok.String()
		if last := len(n.text) - 1; last > 20 && (n.text[0] == '{' && n.text[last] == '}' || n.text[0] == '[' && n.text[last] == ']') {
			if inner, ok := parseJSON(n.text); ok && len(inner.kids) > 0 { // JSON in a text
				inner.raw = n.text
				return inner, true
			}
		}
	default:
		n.text = tok.String()
	}
	return n, err == nil
}

// unwrapped takes the text of a tool's result out of what the Model Context
// Protocol puts around it, {"content":[{"type":"text","text":"..."}],...}, and out
// of the representation that Python gives such a result.
func unwrapped(text string) string {
	text = unlogged(text)
	if head := text[:min(len(text), 200)]; !strings.Contains(head, `"content"`) || !strings.Contains(head, `"text"`) || strings.TrimSpace(head)[0] != '{' {
		return text
	}
	if n, ok := parseJSON(text); ok {
		if body := n.parts(); body != "" {
			return body
		}
	}
	i := strings.Index(text[:min(len(text), 300)], `"text": "`)
	if i < 0 || strings.HasSuffix(strings.TrimSpace(text), "}") {
		return text
	}
	body, _ := unescape(text[i+len(`"text": "`):], '"') // cut: its first text as far as it goes
	return body
}

// parts joins the texts of a result, "" for what is none.
func (n *node) parts() string {
	for i, key := range n.keys {
		switch list := &n.kids[i]; {
		case key != "content" && key != "isError" && key != "_meta" && key != "meta" && key != "structuredContent":
			return ""
		case key == "content" && !objects(list):
			return ""
		}
	}
	var out []string
	for i, key := range n.keys {
		if key != "content" {
			continue
		}
		for k := range n.kids[i].kids {
			part := &n.kids[i].kids[k]
			for j, name := range part.keys {
				if name == "text" {
					out = append(out, part.kids[j].source())
				}
			}
		}
	}
	return strings.Join(out, "\n")
}

// source is the text that a value was read from.
func (n *node) source() string {
	if n.raw != "" {
		return n.raw
	}
	return n.text
}

// unlogged takes texts out of the representation that Python gives lists of text
// parts, "content=[TextContent(type='text', text='...')]", as programs that log
// such objects send it.
func unlogged(text string) string {
	const part = "TextContent("
	if !strings.Contains(text[:min(len(text), 200)], part) {
		return text
	}
	var out []string
	for {
		i := strings.Index(text, part)
		if i < 0 {
			break
		}
		text = text[i+len(part):]
		j := strings.Index(text, "text=")
		if j < 0 || j > 40 || j+6 > len(text) {
			break
		}
		quote := text[j+5]
		if quote != '\'' && quote != '"' {
			break
		}
		body, rest := unescape(text[j+6:], quote)
		out = append(out, body)
		text = rest
	}
	return strings.Join(out, "\n")
}

// unescape reads a quoted literal up to its closing quote.
func unescape(s string, quote byte) (body, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n', 'r':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'x', 'u', 'U':
				b.WriteByte('\\')
				b.WriteByte(s[i])
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
