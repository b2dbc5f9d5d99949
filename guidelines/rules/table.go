package rules

import (
	"encoding/json"
	"strings"
)

// Limits on what is compared of an input.
const (
	maxPaths = 24
	maxText  = 120
	maxDepth = 3
)

// kind is the type of a value.
type kind uint8

const (
	absent kind = iota
	number
	text
	other // a list, a truth value, or a text that is too long to compare
)

// value is one value of an input.
type value struct {
	kind kind
	num  float64
	text string
}

// inputOf lists the values of an input by path.
func inputOf(raw json.RawMessage) map[string]value {
	var tree any
	if json.Unmarshal(raw, &tree) != nil {
		return nil
	}
	if s, ok := tree.(string); ok && json.Unmarshal([]byte(s), &tree) != nil {
		return nil
	}
	out := map[string]value{}
	flatten(tree, "", 0, out)
	return out
}

func flatten(v any, path string, depth int, out map[string]value) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for name, e := range v {
			if depth < maxDepth {
				flatten(e, strings.TrimPrefix(path+"."+name, "."), depth+1, out)
			}
		}
	case float64:
		out[path] = value{kind: number, num: v}
	case string:
		if len(v) > maxText {
			out[path] = value{kind: other}
			return
		}
		out[path] = value{kind: text, text: v}
	default:
		out[path] = value{kind: other}
	}
}

// form masks letters and digits, and so shows how a text is written.
func form(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return '0'
		case r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
			return 'A'
		}
		return r
	}, s)
}
