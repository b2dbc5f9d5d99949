package guidelines

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
	"memoryd/internal/textsafe"
)

// Parameter implements constraints.Vocabulary: parameters that good calls gave.
func (f *findings) Parameter(path string) (string, bool) {
	found := ""
	for _, p := range f.evidence.Parameters {
		if p.Sole || p.Good == 0 && !f.asked(p.Path) {
			continue
		}
		if p.Path == path && path != "" {
			return path, true
		}
		if strings.HasSuffix(p.Path, "."+path) && path != "" {
			if found != "" {
				return "", false
			}
			found = p.Path
		}
	}
	return found, found != ""
}

// asked reports whether a tool that never worked asked in two runs for a parameter
// that callers gave: then its name is one that both know.
func (f *findings) asked(path string) bool {
	if f.evidence.Good > 0 || slices.ContainsFunc(strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }), func(m string) bool { return !constraints.Token(m) }) {
		return false
	}
	return slices.ContainsFunc(f.evidence.Causes, func(c evidence.Cause) bool {
		return c.Class == constraints.Missing && !alone(&c) && c.Parameter != "" && (path == c.Parameter || strings.HasSuffix(path, "."+c.Parameter))
	})
}

// skeleton is the form of a call as the messages of a tool that never worked ask for
// it: the parameters that they name and callers gave; "" when there are none.
func (f *findings) skeleton() string {
	root := map[string]any{}
	for _, p := range f.evidence.Parameters {
		if !f.asked(p.Path) {
			continue
		}
		if _, bad := textsafe.SuspectInstruction(strings.ReplaceAll(p.Path, "_", " ")); bad {
			continue
		}
		at := root
		steps := strings.Split(p.Path, ".")
		for i, step := range steps {
			name, isList := strings.CutSuffix(step, "[]")
			inner, known := at[name].(map[string]any)
			if list, ok := at[name].([]any); ok {
				inner, known = list[0].(map[string]any)
			}
			switch {
			case i == len(steps)-1 && !known:
				at[name] = map[string]any{"string": "…", "integer": 1, "number": 1, "boolean": true, "array": []any{map[string]any{}}}[p.Types[0]]
			case !known && isList:
				inner = map[string]any{}
				at[name] = []any{inner}
			case !known:
				inner = map[string]any{}
				at[name] = inner
			}
			at = inner
		}
	}
	if len(root) == 0 {
		return ""
	}
	return shown(root, "", exemplarText, nil)
}

// Word implements constraints.Vocabulary: words that callers sent themselves.
func (f *findings) Word(word string) bool {
	for i := range f.evidence.Causes {
		for _, s := range f.evidence.Causes[i].Slots {
			if s.Text == word && s.Sent > 0 && !s.Sole {
				return true
			}
		}
	}
	return false
}

// Tool implements constraints.Vocabulary: tools whose calls were seen in the
// workspace.
func (f *findings) Tool(name string) bool {
	return slices.ContainsFunc(f.evidence.Sources, func(p evidence.Provenance) bool {
		return !p.Sole && slices.ContainsFunc(p.Tools, func(t evidence.ToolCount) bool { return t.Tool == name })
	})
}

// Sent implements constraints.Vocabulary: parameters that callers gave.
func (f *findings) Sent(path string) bool {
	return slices.ContainsFunc(f.evidence.Parameters, func(p evidence.Parameter) bool { return p.Path == path && !p.Sole })
}

func (f *findings) source(path string) *evidence.Provenance {
	for i := range f.evidence.Sources {
		if f.evidence.Sources[i].Path == path && path != "" {
			return &f.evidence.Sources[i]
		}
	}
	return nil
}

// toolNames names the other tools that most values of a parameter came from, at
// most two.
func (f *findings) toolNames(p *evidence.Provenance) string {
	var names []string
	for _, t := range p.Tools {
		if t.Tool != f.tool.Tool && 10*t.Values >= p.Seen && len(names) < 2 {
			names = append(names, code(t.Tool))
		}
	}
	return list(names, "or")
}

// Limits on an exemplar.
const (
	exemplarText   = 24  // characters of a text
	exemplarLength = 160 // characters of the whole: 40 tokens
)

// exemplar is a good call as it may be shown: texts and lists cut, secrets and
// addresses masked; "" when it is too long even so.
func (f *findings) exemplar(x *evidence.Exemplar) string {
	var v any
	if x.Sole || json.Unmarshal(x.Input, &v) != nil {
		return ""
	}
	if s, ok := v.(string); ok {
		if inner := strings.TrimSpace(s); strings.HasPrefix(inner, "{") {
			_ = json.Unmarshal([]byte(inner), &v)
		}
	}
	for keep := exemplarText; keep >= 6; keep /= 2 {
		text := shown(v, "", keep, x.Own)
		if len([]rune(text)) <= exemplarLength {
			return text
		}
	}
	return ""
}

// shown writes a value as JSON, with what may not be shown masked.
func shown(v any, name string, keep int, own []string) string {
	switch v := v.(type) {
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, `"`+plainName(k)+`":`+shown(v[k], k, keep, own))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		switch len(v) {
		case 0:
			return "[]"
		case 1:
			return "[" + shown(v[0], name, keep, own) + "]"
		}
		return "[" + shown(v[0], name, keep, own) + ",…]"
	case string:
		if textsafe.SecretName(name) || slices.Contains(own, v) {
			return `"` + formOf(v) + `"`
		}
		q, ok := quotable(v, keep)
		if !ok && v != "" {
			return `"…"`
		}
		return `"` + strings.ReplaceAll(q, `\`, `\\`) + `"`
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "…"
	}
	if slices.Contains(own, string(b)) {
		return formOf(string(b))
	}
	return string(b)
}

var (
	isoDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	digits  = regexp.MustCompile(`^\d{6,}$`)
)

// formOf tells how a value is written that is not shown.
func formOf(v string) string {
	switch {
	case isoDate.MatchString(v):
		return "<date YYYY-MM-DD>"
	case digits.MatchString(v):
		return "<" + strconv.Itoa(len(v)) + " digits>"
	}
	return "…"
}

// plainName is the name of a member where it is one of a parameter's form.
func plainName(k string) string {
	if constraints.Path(k) != k {
		return "…"
	}
	return k
}
