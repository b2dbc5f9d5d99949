package records

import (
	"slices"
	"strings"

	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value, members in order.
type node struct {
	kind jsontext.Kind // '{', '[', '"', '0', 't', 'f', 'n'
	text string
	keys []string
	kids []node
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
	n, err := readNode(dec, 0)
	return n, err == nil && int(dec.InputOffset()) == len(text)
}

func readNode(dec *jsontext.Decoder, depth int) (n node, err error) {
	if depth > maxDepth {
		v, err := dec.ReadValue()
		return node{kind: '"', text: string(v)}, err
	}
	if n.kind = dec.PeekKind(); !n.scalar() {
		err = loosejson.Walk(dec, func(name string) error {
			kid, err := readNode(dec, depth+1)
			if n.kids = append(n.kids, kid); n.kind == '{' {
				n.keys = append(n.keys, name)
			}
			return err
		})
		return n, err
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return n, err
	}
	n.text = tok.String()
	if last := len(n.text) - 1; n.kind == '"' && last > 20 &&
		(n.text[0] == '{' && n.text[last] == '}' || n.text[0] == '[' && n.text[last] == ']') {
		if inner, ok := parseJSON(n.text); ok && len(inner.kids) > 0 { // JSON in a text
			return inner, nil
		}
	}
	return n, nil
}
