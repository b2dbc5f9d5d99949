package guidelines

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"

	"memoryd/internal/textsafe"
)

// valueLimit bounds a quoted value, messageLimit a quoted message, in characters.
const (
	valueLimit   = 24
	messageLimit = 110
)

// factPhrase words a fact as a property of a call; "" when it may not be shown.
func factPhrase(f evidence.Fact) string {
	name := pathName(f.Path)
	if name == "" {
		return ""
	}
	switch f.Kind {
	case evidence.Missing:
		return "no " + name
	case evidence.Present:
		return name + " given"
	case evidence.IsEmpty:
		return name + " empty"
	case evidence.TypeIs:
		return name + " of type " + f.Value
	}
	if text, ok := boundPhrase(name, f); ok {
		return text
	}
	value, ok := shownValue(f.Path, f.Value)
	if !ok {
		return ""
	}
	return name + " " + value
}

// boundPhrase words a bound on a number, a length or a count.
func boundPhrase(name string, f evidence.Fact) (string, bool) {
	n := number(f.Number)
	switch f.Kind {
	case evidence.AtLeast:
		return name + " of " + n + " or more", true
	case evidence.AtMost:
		return name + " of at most " + n, true
	case evidence.ItemsMin:
		return name + " with " + n + " or more items", true
	case evidence.ItemsMax:
		return name + " with at most " + plural(f.Number, "item"), true
	}
	return "", false
}

// facts joins what may be shown of the first few of fs.
func facts(fs []evidence.Fact, phrase func(evidence.Fact) string) string {
	var texts []string
	for _, f := range fs {
		if t := phrase(f); t != "" && len(texts) < shownFacts {
			texts = append(texts, t)
		}
	}
	return list(texts, "and")
}

// pathName is a parameter as it stands in a text.
func pathName(path string) string {
	if path == "" {
		return "the input text"
	}
	if constraints.Path(path) == "" {
		return "(name withheld)"
	}
	return code(path)
}

// shownValue is a value between quotation marks, or as it stands for a number or
// truth value; it is false where nothing may be shown.
func shownValue(path, value string) (string, bool) {
	if textsafe.SecretName(path) {
		return "", false
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil || value == "true" || value == "false" {
		return value, len(value) <= valueLimit
	}
	// Anything but a token is free text: whoever sends values could write with it.
	return `"` + value + `"`, constraints.Token(value) && textsafe.MaskStrict(value) == value
}

// number writes a number without needless digits.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// seconds writes a duration with two digits or, from ten seconds on, whole ones.
func seconds(f float64) string {
	if f >= 9.95 {
		return strconv.FormatFloat(f, 'f', 0, 64) + " s"
	}
	if f >= 0.1 {
		return strconv.FormatFloat(f, 'f', 1, 64) + " s"
	}
	return strconv.FormatFloat(f, 'g', 2, 64) + " s"
}

// amount writes a cost with its unit.
func amount(r evidence.Resource, f float64) string {
	if r == evidence.Time {
		return seconds(f)
	}
	return plural(math.Round(f), "token")
}

func plural(n float64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

func count(n int, noun string) string { return plural(float64(n), noun) }

// list joins texts as a sentence does.
func list(texts []string, last string) string {
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	case 2:
		return texts[0] + " " + last + " " + texts[1]
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " " + last + " " + texts[len(texts)-1]
}

// sentence starts s with a capital letter, unless it starts with a name.
func sentence(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return fmt.Sprintf("%c%s", s[0]-'a'+'A', s[1:])
}
