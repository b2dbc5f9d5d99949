package constraints

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoryd/internal/errortext"
)

// maxParsed is how long a text may be to be searched for JSON.
const maxParsed = 64 << 10

// Unwrap is the error text of an output: the output as it stands where it tells of a
// validator's list in words of its own, else what internal/errortext takes for the
// error.
func Unwrap(output string) string {
	text := trim(output)
	if !strings.HasPrefix(text, "{") && len(issuesIn(text)) > 0 {
		return text
	}
	return errortext.Unwrap(text)
}

func trim(output string) string { return strings.Trim(output, "\x00 \t\r\n") }

// issue is one entry of a validator's list: where, and what is wrong there. A known
// constraint needs no reading.
type issue struct {
	path, text string
	known      Constraint
	at         int
}

var (
	pydantic  = regexp.MustCompile(`(?m)^([\w.\[\]>\- ]{1,80})\n[ \t]+(\S.{0,300}?) [\[(]type=([\w.]+)`)
	pointer   = regexp.MustCompile(`\bat '(/[^'\n]*)': ([^\n]+)`)
	ajvAt     = regexp.MustCompile(`\bdata((?:/[\w/]+)?) (must [^,\n]+)`)
	instance  = regexp.MustCompile(`On instance((?:\['?[\w-]+'?\])+):`)
	fieldText = regexp.MustCompile(`(?m)(?:^|: )([a-z][\w.\[\]]{1,60}): (Field required|Extra inputs are not permitted|Input should be [^\n]+)`)
	pathNames = []string{"path", "loc", "instancePath", "dataPath", "field", "param", "parameter", "property"}
	sayNames  = []string{"message", "msg", "detail", "description", "error"}
)

// issuesIn finds the validators' lists in a text: JSON issues wherever they begin,
// and the lines of pydantic, santhosh, ajv, jsonschema and Anthropic.
func issuesIn(text string) []issue {
	var list []issue
	if strings.Contains(text, "type=") {
		for _, m := range pydantic.FindAllStringSubmatchIndex(text, maxMatches) {
			list = append(list, issue{path: text[m[2]:m[3]], text: text[m[4]:m[5]], at: m[0]})
		}
	}
	if strings.Contains(text, "at '/") {
		for _, m := range pointer.FindAllStringSubmatchIndex(text, maxMatches) {
			list = append(list, issue{path: text[m[2]:m[3]], text: text[m[4]:m[5]], at: m[0]})
		}
	}
	if strings.Contains(text, " must ") && strings.Contains(text, "data") {
		for _, m := range ajvAt.FindAllStringSubmatchIndex(text, maxMatches) {
			list = append(list, issue{path: text[m[2]:m[3]], text: text[m[4]:m[5]], at: m[0]})
		}
	}
	if !strings.Contains(text, "On instance[") {
		// not jsonschema's long form
	} else if m := instance.FindStringSubmatch(text); m != nil {
		head, _, _ := strings.Cut(text, "\n")
		list = append(list, issue{path: strings.TrimPrefix(indexMark.ReplaceAllString(m[1], ".$1"), "."), text: head})
	}
	if strings.Contains(text, ": Field required") || strings.Contains(text, ": Extra inputs") || strings.Contains(text, ": Input should be") {
		for _, m := range fieldText.FindAllStringSubmatchIndex(text, maxMatches) {
			list = append(list, issue{path: text[m[2]:m[3]], text: text[m[4]:m[5]], at: m[0]})
		}
	}
	if at := strings.IndexAny(text, "[{"); at >= 0 && len(text) <= maxParsed && (strings.Contains(text, "essage") || strings.Contains(text, `"msg"`)) {
		for tries := 0; at >= 0 && tries < 4; tries++ {
			var v any
			if json.NewDecoder(strings.NewReader(text[at:])).Decode(&v) == nil && holdsIssues(v) {
				return jsonIssues(v, at, list)
			}
			next := strings.IndexAny(text[at+1:], "[{")
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	return list
}

// holdsIssues reports whether v holds a list of objects that name a place and say
// something.
func holdsIssues(v any) bool { return len(jsonIssues(v, 0, nil)) > 0 }

func jsonIssues(v any, at int, list []issue) []issue {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			list = jsonIssues(e, at, list)
		}
	case map[string]any:
		if is, ok := jsonIssue(v); ok {
			is.at = at + len(list)
			return append(list, is)
		}
		for _, name := range []string{"detail", "errors", "issues", "error", "details"} {
			switch v[name].(type) {
			case []any, map[string]any:
				list = jsonIssues(v[name], at, list)
			}
		}
	}
	return list
}

// jsonIssue reads one issue of zod, FastAPI or ajv.
func jsonIssue(o map[string]any) (issue, bool) {
	is := issue{}
	found := false
	for _, name := range sayNames {
		if s, ok := o[name].(string); ok && is.text == "" {
			is.text, found = s, true
		}
	}
	where := false
	for _, name := range pathNames {
		switch p := o[name].(type) {
		case string:
			if !where {
				is.path, where = p, name != "path" || o["code"] != nil
			}
		case []any:
			is.path, where = joinPath(p), true
		}
	}
	if code, ok := o["code"].(string); ok && !found && len(o) <= 4 {
		is.text, found = strings.ReplaceAll(code, "_", " "), true // {"field": "title", "code": "missing_field"}
	}
	if !found || !where {
		return is, false
	}
	is.known = known(o, is.path)
	return is, true
}

// joinPath makes a path of a list of members, without the part of the request that
// FastAPI names first.
func joinPath(parts []any) string {
	var b strings.Builder
	for i, p := range parts {
		switch p := p.(type) {
		case string:
			if i == 0 && len(parts) > 1 && slices.Contains([]string{"body", "query", "path", "header", "params"}, p) {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p)
		case float64:
			b.WriteString("[" + strconv.Itoa(int(p)) + "]")
		}
	}
	return b.String()
}

// known reads the members in which zod and ajv state a rule.
func known(o map[string]any, path string) Constraint {
	c := Constraint{Grammar: "json issue", Parameter: path}
	params, _ := o["params"].(map[string]any)
	say, _ := o["message"].(string)
	switch code, _ := o["code"].(string); code {
	case "invalid_type":
		c.Class = Type
		expected, _ := o["expected"].(string)
		if c.Type = typeName(expected); o["received"] == "undefined" || strings.Contains(say, "received undefined") {
			c.Class, c.Type = Missing, ""
		}
	case "missing_field", "missing", "required":
		c.Class = Missing
	case "unrecognized_keys":
		c.Class = Unknown
		if keys, ok := o["keys"].([]any); ok && len(keys) > 0 {
			key, _ := keys[0].(string)
			c.Parameter = strings.TrimPrefix(path+"."+key, ".")
		}
	case "invalid_enum_value", "invalid_value":
		c.Class, c.Values = Enum, tokens(o["options"], o["values"])
	case "too_big", "too_small":
		c.bound(o, code == "too_big")
	case "invalid_string", "invalid_format":
		c.Class = Format
		for _, name := range []string{"validation", "format"} {
			if f, ok := o[name].(string); ok && f != "regex" {
				c.Format = f
			}
		}
	}
	switch keyword, _ := o["keyword"].(string); keyword {
	case "required":
		missing, _ := params["missingProperty"].(string)
		c.Class, c.Parameter = Missing, strings.TrimPrefix(path+"/"+missing, "/")
	case "additionalProperties":
		extra, _ := params["additionalProperty"].(string)
		c.Class, c.Parameter = Unknown, strings.TrimPrefix(path+"/"+extra, "/")
	case "enum":
		c.Class, c.Values = Enum, tokens(params["allowedValues"])
	}
	return c
}

// bound reads a limit of zod.
func (c *Constraint) bound(o map[string]any, big bool) {
	c.Class = Range
	name, strict, loose := "minimum", ">", ">="
	if big {
		name, strict, loose = "maximum", "<", "<="
	}
	limit, ok := o[name].(float64)
	if !ok {
		return
	}
	c.Bound, c.Op = limit, loose
	if inclusive, said := o["inclusive"].(bool); said && !inclusive {
		c.Op = strict
	}
	for _, origin := range []any{o["origin"], o["type"]} {
		switch origin {
		case "string":
			c.Class, c.Unit = Length, "characters"
		case "array", "set":
			c.Class, c.Unit = Length, "items"
		}
	}
}

// tokens are the values of JSON lists, if all may be shown.
func tokens(lists ...any) []string {
	var vs []string
	for _, l := range lists {
		values, _ := l.([]any)
		for _, v := range values {
			s, ok := v.(string)
			if !ok || !Token(s) {
				return nil
			}
			if len(vs) < maxValues {
				vs = append(vs, s)
			}
		}
	}
	return vs
}
