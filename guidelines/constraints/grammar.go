package constraints

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoryd/internal/phrases"
)

// grammar is one wording of a rule. The named groups of re fill the slots: param,
// other, type, bound, values, format, slot. params and others may hold a list.
type grammar struct {
	name  string
	class Class
	// words are lower-case literals, one of which every match holds.
	words []string
	re    *regexp.Regexp
	// fixed slots.
	op, unit, slot, format, typ string
	// field says that the wording is told from prose only where an issue names
	// the parameter.
	field bool
	// prose says that a word where the parameter stands may be no name.
	prose bool
	// says is the wording of the library in our words, for naming a message that may
	// not be quoted.
	says   string
	groups []string
	need   phrases.Need
}

// rule makes a grammar; words are separated by "|".
func rule(name string, class Class, words, pattern string, set ...func(*grammar)) grammar {
	g := grammar{name: name, class: class, words: strings.Split(words, "|"), re: regexp.MustCompile(pattern)}
	for _, f := range set {
		f(&g)
	}
	g.groups, g.need = g.re.SubexpNames(), phrases.NeedOf(pattern)
	return g
}

func says(s string) func(*grammar) { return func(g *grammar) { g.says = s } }
func op(o string) func(*grammar)   { return func(g *grammar) { g.op = o } }
func unit(u string) func(*grammar) { return func(g *grammar) { g.unit = u } }
func prose() func(*grammar)        { return func(g *grammar) { g.prose = true } }
func inIssue() func(*grammar)      { return func(g *grammar) { g.field = true } }

// maybe reports whether a literal of the grammar is in the text and, of a text of
// ASCII, whether it holds all that the pattern needs.
func (g *grammar) maybe(lower string, grams *phrases.Grams, ascii bool) bool {
	for _, w := range g.words {
		if grams.May(w) && strings.Contains(lower, w) {
			return !ascii || g.need.HeldBy(lower, grams)
		}
	}
	return false
}

// span is a part of a text.
type span struct{ from, to int }

// Around a literal so much of a long text is matched, from the beginning of its line
// where that is near.
const (
	wholeText  = 700
	spanBefore = 300
	spanAfter  = 500
)

// parts are the parts of a text around the literals of the grammar; a short text is
// one part.
func (g *grammar) parts(lower string) []span {
	if len(lower) <= wholeText {
		return []span{{0, len(lower)}}
	}
	var list []span
	for _, w := range g.words {
		for at, n := 0, 0; n < maxMatches; n++ {
			next := strings.Index(lower[at:], w)
			if next < 0 {
				break
			}
			at += next
			from := max(0, at-spanBefore)
			if line := strings.LastIndexByte(lower[from:at], '\n'); line >= 0 {
				from += line + 1
			}
			list = append(list, span{from, min(len(lower), at+len(w)+spanAfter)})
			at += len(w)
		}
	}
	slices.SortFunc(list, func(a, b span) int { return a.from - b.from })
	merged := list[:0]
	for _, p := range list {
		if n := len(merged); n > 0 && p.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, p.to)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// read fills the slots from one match; a list of parameters gives one constraint
// for each.
func (g *grammar) read(text string, m []int) []Constraint {
	c := Constraint{Class: g.class, Grammar: g.name, Op: g.op, Unit: g.unit, Slot: g.slot, Format: g.format, Type: g.typ}
	var params []string
	for i, name := range g.groups {
		if name == "" || m[2*i] < 0 {
			continue
		}
		v := strings.TrimSpace(text[m[2*i]:m[2*i+1]])
		switch name {
		case "param":
			params = []string{v}
		case "params":
			params = list(v)
		case "other":
			c.Other = clip(v)
		case "type":
			c.Type = typeName(v)
		case "bound":
			b, err := strconv.ParseFloat(strings.TrimRight(strings.ReplaceAll(v, ",", ""), "."), 64)
			if err != nil {
				return nil
			}
			c.Bound = b
		case "values":
			c.Values = valuesOf(v)
		case "format":
			c.Format = clip(v)
		case "slot":
			c.Slot = clip(v)
		case "got":
			c.Got = strings.Trim(clip(v), "'\"")
		case "op":
			c.Op = opOf(v)
		case "unit":
			c.Unit = unitOf(v)
		}
	}
	if len(params) == 0 {
		return []Constraint{c}
	}
	var cs []Constraint
	for _, p := range params {
		if Path(p) != "" && (!g.prose || !slices.Contains(notNames, strings.ToLower(p))) {
			one := c
			one.Parameter = p
			cs = append(cs, one)
		}
	}
	return cs
}

// notNames are words that stand where a wording has its parameter but name none.
var notNames = []string{"to", "the", "a", "an", "in", "for", "of", "is", "this", "that", "it", "on", "at", "and", "or", "value", "number", "string", "field", "argument", "parameter", "request", "input", "which", "length", "size", "you", "password_is", "authentication", "login", "authorization", "payment", "file", "column", "table", "function", "tool", "module", "option", "command", "host", "device", "process"}

// clip bounds what a slot can hold; Imperative checks what it may show.
func clip(s string) string { return s[:min(len(s), 80)] }

var listMark = regexp.MustCompile(`\s*(?:,|;|\||\bor\b|\band\b)\s*`)

// list splits "a, b and c" and its kin.
func list(s string) []string {
	var parts []string
	for _, p := range listMark.Split(s, 3*maxValues) {
		if p = strings.Trim(p, " \t'\"`‘’“”[](){}.:"); p != "" && len(parts) < 2*maxValues {
			parts = append(parts, p)
		}
	}
	return parts
}

// valuesOf reads allowed values; one that is no token makes the list useless.
func valuesOf(s string) []string {
	var vs []string
	for _, v := range list(s) {
		if !Token(v) {
			return nil
		}
		if len(vs) < maxValues {
			vs = append(vs, v)
		}
	}
	return vs
}

func opOf(s string) string {
	switch s = strings.ToLower(s); {
	case s == "<=" || s == ">=" || s == "<" || s == ">":
		return s
	case strings.Contains(s, "or equal") && (strings.Contains(s, "less") || strings.Contains(s, "smaller")):
		return "<="
	case strings.Contains(s, "or equal"):
		return ">="
	case strings.Contains(s, "less") || strings.Contains(s, "smaller") || strings.Contains(s, "below"):
		return "<"
	}
	return ">"
}

func unitOf(s string) string {
	if strings.HasPrefix(strings.ToLower(s), "char") {
		return "characters"
	}
	return "items"
}

// typeName is the JSON name of a type as libraries word it; "" for others.
func typeName(s string) string {
	switch strings.ToLower(strings.Trim(s, "'\"` .,")) {
	case "string", "str", "text":
		return "string"
	case "int", "integer", "int64", "int32", "uint", "uint64":
		return "integer"
	case "number", "float", "float64", "decimal", "double":
		return "number"
	case "bool", "boolean":
		return "boolean"
	case "list", "array", "tuple", "slice", "sequence":
		return "array"
	case "dict", "object", "dictionary", "map", "mapping", "record":
		return "object"
	}
	return ""
}

var (
	indexMark = regexp.MustCompile(`\[(\d+|'[^']*'|"[^"]*"|\w+)\]|\.(\d+)\b|/(\d+)\b`)
	pathForm  = regexp.MustCompile(`^[A-Za-z_][\w-]{0,39}(?:(?:\[\]|\.[A-Za-z_][\w-]{0,39})){0,6}$`)
	tokenForm = regexp.MustCompile(`^(?:[a-z0-9_.:-]{1,24}|[A-Z0-9_.:-]{1,24}|[A-Z][a-z0-9_.:-]{0,23}|[a-z]{1,12}[A-Z][a-z]{1,11})$`)
	hostForm  = regexp.MustCompile(`[A-Za-z]\.[A-Za-z]{2,}|\.\.|::|:[A-Za-z]`)
)

// Path is a parameter's path in the form of this project: members joined by a dot,
// elements of a list as "[]". It is "" for what is no path.
func Path(s string) string {
	if words := strings.Fields(s); len(words) == 2 && !strings.Contains(s, "->") {
		s = strings.ToLower(words[0] + "_" + words[1]) // "End line"
	}
	s = strings.Trim(s, " '\"`‘’$.:/")
	s = strings.NewReplacer(" -> ", ".", "->", ".", "/", ".").Replace(strings.TrimPrefix(s, "data."))
	if strings.IndexByte("0123456789", (s + "x")[0]) >= 0 {
		return ""
	}
	s = indexMark.ReplaceAllStringFunc(s, func(m string) string {
		inner := strings.Trim(m, "[]./'\"")
		if inner != "" && strings.Trim(inner, "0123456789") != "" {
			return "." + inner
		}
		return "[]"
	})
	if len(s) > 96 || !pathForm.MatchString(s) {
		return ""
	}
	return s
}

// Token reports whether a value from a message may stand in an instruction: at most
// 24 letters, digits, and "_.:-", of at most three words and not of mixed case as
// encoded bytes are, and no address.
func Token(s string) bool {
	return tokenForm.MatchString(s) && !hostForm.MatchString(s) && len(strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '-' || r == '.' })) <= 3
}

// number writes a bound without needless digits.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
