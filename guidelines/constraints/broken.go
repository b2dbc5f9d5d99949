package constraints

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Input is a call's input, parsed once for many constraints.
type Input struct{ value any }

// InputOf parses an input. A text that holds a JSON object is read as that object;
// what is no JSON counts as text.
func InputOf(raw json.RawMessage) Input {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return Input{string(raw)}
	}
	if s, ok := v.(string); ok && strings.HasPrefix(strings.TrimSpace(s), "{") {
		var inner any
		if json.Unmarshal([]byte(s), &inner) == nil {
			v = inner
		}
	}
	return Input{v}
}

// At lists the values that the input gives at a path; of a list ("a[].b") those of
// all elements. want is how many there would be if each element gave one.
func (in Input) At(path string) (values []any, want int) {
	level := []any{in.value}
	for _, step := range steps(path) {
		var next []any
		want = 0
		for _, v := range level {
			switch v := v.(type) {
			case map[string]any:
				want++
				if m, ok := v[step]; ok && m != nil {
					next = append(next, m)
				}
			case []any:
				if step == "[]" {
					want += len(v)
					next = append(next, v...)
				}
			}
		}
		level = next
	}
	return level, want
}

// steps splits "a[].b" into a, [] and b.
func steps(path string) []string {
	return strings.Split(strings.ReplaceAll(path, "[]", ".[]"), ".")
}

// Broken reports whether the input breaks the constraint as far as the input alone
// tells: only of a Checkable constraint, and only of values that it speaks of.
func Broken(c Constraint, in Input) bool {
	if !c.Checkable() {
		return false
	}
	values, want := in.At(c.Parameter)
	switch c.Class {
	case Missing:
		return want > 0 && len(values) < want
	case Unknown:
		return len(values) > 0
	}
	return slices.ContainsFunc(values, c.breaks)
}

func (c Constraint) breaks(v any) bool {
	switch c.Class {
	case Type:
		return !hasType(v, c.Type)
	case Enum:
		s, ok := v.(string)
		return ok && len(c.Values) < maxValues && !contains(c.Values, s)
	case Range:
		n, ok := v.(float64)
		return ok && !holds(n, c.Op, c.Bound)
	case Length:
		switch v := v.(type) {
		case string:
			return c.Unit != "items" && !holds(float64(utf8.RuneCountInString(v)), c.Op, c.Bound)
		case []any:
			return c.Unit != "characters" && !holds(float64(len(v)), c.Op, c.Bound)
		}
	case Format:
		s, ok := v.(string)
		return ok && !hasForm(s, strings.TrimSpace(c.Format))
	}
	return false
}

// hasForm reports whether a text has a form of dates and times: a digit for each
// letter but T, every mark as it stands.
func hasForm(s, form string) bool {
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		letter := form[i] != 'T' && strings.IndexByte("YMDHSymdhs", form[i]) >= 0
		if letter && (s[i] < '0' || s[i] > '9') || !letter && s[i] != form[i] {
			return false
		}
	}
	return true
}

// contains ignores case: whether it counts is seldom said.
func contains(values []string, s string) bool {
	for _, v := range values {
		if strings.EqualFold(v, s) {
			return true
		}
	}
	return false
}

func holds(n float64, op string, bound float64) bool {
	switch op {
	case "<=":
		return n <= bound
	case "<":
		return n < bound
	case ">=":
		return n >= bound
	}
	return n > bound
}

func hasType(v any, want string) bool {
	switch v := v.(type) {
	case string:
		return want == "string"
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	case bool:
		return want == "boolean"
	case []any:
		return want == "array"
	case map[string]any:
		return want == "object"
	}
	return true
}
