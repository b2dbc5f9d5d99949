package constraints

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// errorMembers are the members of a JSON answer that hold its message.
var errorMembers = []string{
	"error", "errors", "err", "message", "msg", "detail", "details", "error_message", "errorMessage", "reason", "stderr", "title", "status", "code", "text", "content", "response", "results", "issues", "traceback", "exception",
}

// maxParsed is how long a text may be to be read as JSON, maxNesting how deep JSON
// within JSON is followed.
const (
	maxParsed  = 64 << 10
	maxNesting = 5
)

// Unwrap is the error text of an output: of a JSON answer the members that hold
// messages, also within JSON texts, one a line; everything else as it stands.
func Unwrap(output string) string {
	text := strings.Trim(output, "\x00 \t\r\n")
	if text == "" || text[0] != '{' && text[0] != '[' && text[0] != '"' || len(text) > maxParsed {
		return text
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	if holdsIssues(v) {
		return text // the list itself is what is read
	}
	var lines []string
	messages(v, 0, false, &lines)
	if len(lines) == 0 {
		return text
	}
	return strings.Join(lines, "\n")
}

// messages collects the texts of error members; all says that v is within one.
func messages(v any, depth int, all bool, lines *[]string) {
	if depth > maxNesting || len(*lines) >= 64 {
		return
	}
	switch v := v.(type) {
	case string:
		if v = strings.TrimSpace(v); v == "" {
			return
		}
		if inner := Unwrap(v); depth < maxNesting && inner != v {
			v = inner
		}
		*lines = append(*lines, v)
	case []any:
		for _, e := range v {
			messages(e, depth+1, all, lines)
		}
	case map[string]any:
		for _, name := range errorMembers {
			member, ok := v[name]
			if n, isNumber := member.(float64); ok && isNumber && (name == "status" || name == "code") && n >= 400 && n < 600 {
				*lines = append(*lines, "status: "+strconv.Itoa(int(n)))
			} else if s, isText := member.(string); ok && isText && name == "status" {
				if _, err := strconv.Atoi(s); err == nil {
					*lines = append(*lines, "status: "+s)
				}
			} else if ok && !isNumber {
				messages(member, depth+1, true, lines)
			}
		}
		if _, known := v["errors"].(map[string]any); known { // ASP.NET: {"errors": {"Field": ["The Field field is required."]}}
			for _, inner := range sortedMembers(v["errors"].(map[string]any)) {
				messages(inner, depth+1, true, lines)
			}
		}
	}
}

func sortedMembers(m map[string]any) []any {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	var vs []any
	for _, name := range names {
		vs = append(vs, m[name])
	}
	return vs
}

// issue is one entry of a validator's list: where, and what is wrong there. A known
// constraint needs no reading.
type issue struct {
	path, text string
	known      Constraint
	at         int
}

var (
	pydantic  = regexp.MustCompile(`(?m)^([\w.\[\]>\- ]{1,80})\n[ \t]+(\S.{0,300}?) [\[(]type=([\w.]+)`)
	pointer   = regexp.MustCompile(`at '(/[^'\n]*)': ([^\n]+)`)
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
	if m := instance.FindStringSubmatch(text); m != nil {
		head, _, _ := strings.Cut(text, "\n")
		list = append(list, issue{path: strings.TrimPrefix(indexMark.ReplaceAllString(m[1], ".$1"), "."), text: head})
	}
	for _, m := range fieldText.FindAllStringSubmatchIndex(text, maxMatches) {
		list = append(list, issue{path: text[m[2]:m[3]], text: text[m[4]:m[5]], at: m[0]})
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
