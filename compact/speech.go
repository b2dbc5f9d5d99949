package compact

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd/compact/chat"
	"memoryd/compact/records"
	"memoryd/internal/errortext"
	"memoryd/internal/textsafe"
)

// sentences splits a line of prose.
func sentences(line string) []string {
	var out []string
	from := 0
	for i := 0; i < len(line); i++ {
		if c := line[i]; (c == '.' || c == '!' || c == '?') && (i+1 == len(line) || line[i+1] == ' ') {
			if s := strings.TrimSpace(line[from : i+1]); len(s) > 1 {
				out = append(out, s)
			}
			from = i + 1
		}
	}
	if s := strings.TrimSpace(line[from:]); s != "" {
		out = append(out, s)
	}
	return out
}

// agreement gives a short answer by which somebody agrees to what was proposed, ""
// when it is none.
func agreement(line string) string {
	if len(line) > 160 || strings.Contains(line, "?") {
		return ""
	}
	switch first := strings.ToLower(strings.Trim(firstWord(line), ",.!")); first {
	case "yes", "yeah", "yep", "ok", "okay", "sure", "correct", "confirmed", "confirm", "agreed", "ja", "oui", "si", "sí":
		return records.Shorten(line, 80)
	}
	low := strings.ToLower(line)
	for _, s := range []string{"go ahead", "please proceed", "that's correct", "that is correct", "sounds good", "that works"} {
		if strings.Contains(low, s) {
			return records.Shorten(line, 80)
		}
	}
	return ""
}

// condensed puts a text of several lines on one of at most limit bytes, without the
// marks of lists and emphasis. What is too long loses its middle: the beginning says
// what it is about, the end what is asked.
func condensed(text string, limit int) string {
	var parts []string
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.Trim(records.OneLine(strings.NewReplacer("**", "", "`", "").Replace(l)), "#-*• ")
		if l == "" {
			continue
		}
		if n := len(parts) - 1; n >= 0 && !strings.HasSuffix(parts[n], ".") && !strings.HasSuffix(parts[n], ":") && !strings.HasSuffix(parts[n], "?") && !strings.HasSuffix(parts[n], "!") {
			parts[n] += ";"
		}
		parts = append(parts, l)
	}
	flat := strings.Join(parts, " ")
	if len(flat) <= limit {
		return flat
	}
	return records.Shorten(flat, limit*3/5) + " " + strings.TrimLeft(textsafe.Tail(flat, limit*2/5), " ")
}

// concluded is what a text says before it announces what is done next; "" when it
// only announces.
func concluded(text string) string {
	var out []string
	for _, sentence := range sentences(text) {
		if containsWord(firstWords(sentence, 3), "i will", "i'll", "let me", "let's", "lets", "now", "next", "we will", "we'll", "i am going", "i'm going", "i need to", "first") {
			break
		}
		out = append(out, sentence)
	}
	return strings.Join(out, " ")
}

// firstWords gives the first n words of a sentence.
func firstWords(sentence string, n int) string {
	words := strings.Fields(sentence)
	return strings.Join(words[:min(n, len(words))], " ")
}

// countIdents counts the words of a line that hold a digit.
func countIdents(line string) int {
	n := 0
	for w := range strings.FieldsSeq(line) {
		if strings.ContainsAny(w, "0123456789") {
			n++
		}
	}
	return n
}

// acted is the name and the arguments of what a call did. A tool that runs others
// names them in its arguments.
func acted(call chat.Call) (name, args string) {
	name, args = call.Name, call.Args
	var m map[string]jsontext.Value
	if json.Unmarshal([]byte(args), &m) != nil {
		return name, args
	}
	inner := ""
	for _, k := range []string{"tool_name", "tool", "function", "action", "operation"} {
		if v, ok := m[k]; ok && inner == "" && json.Unmarshal(v, &inner) == nil && (len(inner) > 60 || strings.ContainsAny(inner, " \n")) {
			inner = ""
		}
	}
	if inner == "" {
		return name, args
	}
	for _, k := range []string{"params", "parameters", "arguments", "args", "input", "tool_input"} {
		if v, ok := m[k]; ok && v.Kind() == '{' {
			return inner, string(v)
		}
	}
	return name + " " + inner, args
}

func firstWord(s string) string {
	if i := strings.IndexAny(s, " ,.!"); i > 0 {
		return s[:i]
	}
	return s
}

// limiting reports a sentence that sets terms.
func limiting(s string) bool {
	return containsWord(s, "only", "don't", "do not", "must", "at most", "at least", "no more than", "prefer", "never", "unless", "without", "cannot", "can't", "under $", "cheapest", "instead", "budget") &&
		!containsWord(s, "don't have", "do not have", "don't remember", "don't know", "can't remember", "can't find", "cannot find", "not sure")
}

// requesting reports a sentence that asks for something, and says for what.
func requesting(s string) bool {
	words := 0
	for w := range strings.FieldsSeq(s) {
		if w = strings.ToLower(strings.Trim(w, ".,!?'\"")); len(w) > 4 && !slices.Contains([]string{"please", "could", "would", "thank", "thanks", "about", "there", "these", "those", "which", "where", "should", "confirm", "hello", "assist"}, w) || strings.ContainsAny(w, "0123456789") {
			words++
		}
	}
	return words > 1 && containsWord(s, "want", "need", "would like", "i'd like", "please", "can you", "could you", "help me", "looking", "how ", "what ", "which ", "create", "find", "change", "fix")
}

// containsWord reports whether one of the lower-case words or phrases begins a
// word of s.
func containsWord(s string, words ...string) bool {
	low := " " + strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, " "+w) })
}

// changes reports whether a tool's name says that it changes something: none of
// its words is one of those that name looking something up.
func changes(tool string) bool {
	changing := false
	for w := range strings.FieldsFuncSeq(splitCamel(tool), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch strings.ToLower(w) {
		case "get", "list", "search", "find", "read", "fetch", "show", "view", "query", "lookup", "check", "calculate", "think", "describe", "count", "open", "cat", "ls", "grep", "retrieve", "load", "scroll", "goto", "route", "browse", "validate":
			return false
		case "create", "add", "book", "cancel", "update", "send", "modify", "exchange", "return", "delete", "remove", "set", "write", "edit", "submit", "transfer", "post", "put", "pay", "insert", "move", "copy", "rename", "make", "register", "order", "schedule", "assign", "close", "merge", "commit", "push", "publish", "upload", "save", "generate", "export", "convert", "install", "enable", "disable", "grant", "revoke", "refund", "apply", "reset", "complete", "toggle", "change", "record", "store", "append", "replace":
			changing = true
		}
	}
	return changing
}

// splitCamel puts a space before each capital inside a word.
func splitCamel(s string) string {
	var b strings.Builder
	before := ' '
	for _, r := range s {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// tasksIn reads a JSON list of tasks, or an object that holds one.
func tasksIn(text string) string {
	if !strings.Contains(text, `"status"`) && !strings.Contains(text, `"state"`) {
		return ""
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return ""
	}
	if m, ok := v.(map[string]any); ok {
		for _, name := range []string{"todos", "tasks", "items", "plan", "steps"} {
			if list, ok := m[name].([]any); ok {
				return taskLine(list)
			}
		}
		return ""
	}
	list, _ := v.([]any)
	return taskLine(list)
}

func taskLine(list []any) string {
	var parts []string
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return ""
		}
		state := firstOf(m, "status", "state")
		what := firstOf(m, "content", "title", "task", "description", "text", "name", "step")
		if state == "" || what == "" {
			return ""
		}
		if id := firstOf(m, "id", "task_id", "key"); id != "" {
			what = id + " " + what
		}
		parts = append(parts, fmt.Sprintf("%s [%s]", records.OneLine(what), records.OneLine(state)))
	}
	return strings.Join(parts, "; ")
}

func firstOf(m map[string]any, names ...string) string {
	for _, n := range names {
		switch v := m[n].(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return fmt.Sprint(v)
		}
	}
	return ""
}

// failureEnds is how much of the beginning and of the end of an output of plain
// text is searched for a failure, in bytes: in between stands what was asked for.
const failureEnds = 600

// marked reports a result that says of itself that it is an error, as the Model
// Context Protocol lets tools say it.
func marked(output string) bool {
	for _, part := range []string{textsafe.Head(output, 200), textsafe.Tail(output, 200)} {
		if strings.Contains(part, `"isError": true`) || strings.Contains(part, `"isError":true`) || strings.Contains(part, "isError=True") {
			return true
		}
	}
	return false
}

func structuredText(text string) bool { return text[0] == '{' || text[0] == '[' }

// failureIn is the line of an output that reports a failure, "" when there is none.
func failureIn(output string) string {
	text := strings.TrimSpace(records.Unwrapped(output))
	whole := text
	if len(text) > 2*failureEnds && text[0] != '{' && text[0] != '[' {
		text = text[:failureEnds] + "\n" + text[len(text)-failureEnds:]
	}
	line, ok := errortext.Find(strings.ToValidUTF8(text, ""))
	switch {
	case !ok && marked(output):
		return records.Shorten(records.OneLine(text), 140)
	case !ok || strings.TrimLeft(line, "0123456789") != line && strings.HasPrefix(strings.TrimLeft(line, "0123456789"), ":"):
		return "" // a line of a listing
	case len(whole) > 300 && !errortext.Heads(strings.ToLower(line)) && strings.Contains(textsafe.Tail(output, 200)+textsafe.Head(output, 40), "isError"):
		return "" // it says that it is no error
	case len(whole) > failureEnds && !structuredText(whole) && !strings.HasPrefix(whole, line) && !errortext.Heads(strings.ToLower(line)):
		return "" // a long text that speaks of errors
	case strings.HasSuffix(line, ":"): // what went wrong follows
		_, rest, _ := strings.Cut(whole, line)
		rest, _, _ = strings.Cut(strings.TrimSpace(rest), "\n")
		return line + " " + records.Shorten(records.OneLine(rest), 140)
	}
	return line
}
