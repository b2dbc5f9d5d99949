package constraints

import "strings"

// Vocabulary is what of the names in a message is known otherwise: only that may
// stand in an instruction.
type Vocabulary interface {
	// Parameter gives a parameter that good calls or a schema know, by its path or,
	// where it is the only one, by its last member.
	Parameter(path string) (string, bool)
	// Sent reports whether callers gave a parameter of this path, well or not.
	Sent(path string) bool
	// Word reports whether callers wrote the word themselves.
	Word(word string) bool
	// Tool reports whether the workspace has a tool of this name.
	Tool(name string) bool
}

// Imperative is what to do about a constraint: one sentence from the wording of its
// class and from slots that v or their form vouches for. It is never empty.
func Imperative(c Constraint, v Vocabulary) string {
	return fill(classOf(c.Class).do, c, v)
}

// Bare is the constraint without what its message filled in: numbers, values and names
// that are not the callers'.
func (c Constraint) Bare() Constraint {
	c.Op, c.Bound, c.Values, c.Slot, c.Format, c.Unit = "", 0, nil, "", "", ""
	return c
}

// General is Imperative without any slot.
func General(c Class) string {
	do := classOf(c).do
	return do[len(do)-1]
}

func fill(templates []string, c Constraint, v Vocabulary) string {
	for i, t := range templates {
		if i == len(templates)-1 && !strings.Contains(t, "{") {
			return t
		}
		if s, ok := filled(t, c, v); ok {
			return s
		}
	}
	return classes[Failed].do[0]
}

// filled puts the slots into a template; it is false when one of them may not be
// shown.
func filled(t string, c Constraint, v Vocabulary) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(t, "{")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		name, after, _ := strings.Cut(rest, "}")
		s, ok := slotText(name, c, v)
		if !ok {
			return "", false
		}
		b.WriteString(s)
		t = after
	}
}

var articles = map[string]string{
	"string": "text", "integer": "an integer", "number": "a number", "boolean": "true or false", "array": "a list", "object": "an object",
}

// formats are the forms that may be named; any other is what a call that worked
// shows.
var formats = map[string]string{
	"url": "a full URL", "uri": "a full URL", "email": "an e-mail address", "date": "a date such as 2024-05-21", "datetime": "a date with time such as 2024-05-21T10:00:00",
	"date-time": "a date with time such as 2024-05-21T10:00:00", "time": "a time such as 10:00", "uuid": "a UUID", "ip": "an IP address", "phone": "a phone number", "zip": "a postcode",
	"postcode": "a postcode", "currency": "a currency code such as EUR", "country": "a country code such as DE", "timezone": "a time zone such as Europe/Berlin",
}

func slotText(name string, c Constraint, v Vocabulary) (string, bool) {
	switch name {
	case "p":
		if c.Class == Unknown && c.Parameter != "" && Token(c.Parameter) && v.Sent(c.Parameter) {
			return "`" + c.Parameter + "`", true // to be left out: no good call has it
		}
		path, ok := v.Parameter(c.Parameter)
		return "`" + path + "`", ok && c.Parameter != ""
	case "o":
		if c.Class == Option || c.Class == Operand {
			return strings.TrimLeft(c.Other, "-"), c.Other != "" && Token(c.Other) && v.Word(strings.TrimLeft(c.Other, "-"))
		}
		path, ok := v.Parameter(c.Other)
		return "`" + path + "`", ok && c.Other != ""
	case "t":
		t, ok := articles[c.Type]
		return t, ok
	case "b":
		return boundText(c)
	case "u":
		return c.Unit, c.Unit != ""
	case "v":
		return values(c.Values)
	case "f":
		if f, ok := formats[strings.ToLower(c.Format)]; ok {
			return f, true
		}
		return "`" + c.Format + "`", dateForm(c.Format)
	case "s":
		if c.Class == State {
			return "`" + c.Slot + "`", c.Slot != "" && v.Tool(c.Slot)
		}
		if c.Class == Capacity { // a word of the grammar's own list
			return strings.ToLower(c.Slot), tokenForm.MatchString(c.Slot)
		}
		return c.Slot, c.Slot != "" && Token(c.Slot) && (isNumber(c.Slot) || v.Word(c.Slot))
	}
	return "", false
}

// values lists allowed values between backticks.
func values(vs []string) (string, bool) {
	if len(vs) < 2 {
		return "", false
	}
	quoted := make([]string, len(vs))
	for i, s := range vs {
		if !Token(s) {
			return "", false
		}
		quoted[i] = "`" + s + "`"
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1], true
}

// boundText words a limit: "at 10 or less", "below 10", or a count.
func boundText(c Constraint) (string, bool) {
	n := number(c.Bound)
	switch {
	case c.Class == Rate:
		return n, c.Bound > 0
	case c.Op == "" || len(n) > 24:
		return "", false
	case c.Class == Length && strings.HasPrefix(c.Op, "<"):
		return "at most " + n, true
	case c.Class == Length:
		return "at least " + n, true
	}
	return map[string]string{"<=": "at " + n + " or less", ">=": "at " + n + " or more", "<": "below " + n, ">": "above " + n}[c.Op], true
}

// dateForm reports whether a format is one of dates and times: letters that stand
// for digits, and marks between them.
func dateForm(f string) bool {
	return len(f) >= 4 && len(f) <= 24 && strings.Trim(f, "YMDHdmyhsS%jpT/:.- ") == "" && strings.Trim(f, "T/:.- ") != ""
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
