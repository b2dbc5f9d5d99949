package rules

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	longNumber = regexp.MustCompile(`\b[0-9A-Fa-f]{12,}\b|\d{5,}|\d+[.:]\d+`)
	quotation  = regexp.MustCompile("'[^']*'|\"[^\"]*\"|`[^`]*`")
)

// quotes stand on both sides of what a message quotes.
var quotes = [...]string{`'`, `"`, "`"}

// kindOf masks what varies in a message of a tool: the values of the call, and long numbers.
// Statuses and codes stay. repeated are the parameters whose texts the message repeats.
func kindOf(tool, message string, in map[string]value) (kind string, repeated []string) {
	m := message[:min(len(message), 400)]
	for _, name := range slices.Sorted(maps.Keys(in)) {
		v := in[name]
		if _, property := base(name); property != "" {
			continue
		}
		switch v.kind {
		case text:
			masked := MaskText(tool, m, v.text, "@")
			if masked != m {
				m, repeated = masked, append(repeated, name)
			}
		case number:
			m = replaceNumber(m, v.text)
		case absent, truth, other:
		}
	}
	words := strings.Fields(m)
	for i, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			words[i] = longNumber.ReplaceAllString(w, "#")
		}
	}
	return strings.Join(words, " "), repeated
}

// mostQuoted is how many kinds of failure may differ in what their messages quote alone. More are one kind: they name
// what calls gave, or what there is now.
const mostQuoted = 6

// joinKinds makes one kind of many that differ in what their messages quote alone.
func joinKinds(rows []row, kinds map[string]int) {
	variants, joined := map[string]int{}, map[string]string{}
	for k := range kinds {
		joined[k] = quotation.ReplaceAllString(k, "…")
		variants[joined[k]]++
	}
	for i := range rows {
		r := &rows[i]
		if k := joined[r.kind]; r.Bad && variants[k] > mostQuoted {
			r.kind, r.said = k, k
			kinds[k]++
		}
	}
}

// MaskText puts another text in the place of one that a call gave, in a message of its tool: wherever that stands as
// a word, or one that is too short to be meant, where it is quoted. The name of the tool stays as it is.
func MaskText(tool, message, given, by string) string {
	switch {
	case given == "" || !strings.Contains(message, given):
	case strings.Contains(tool, given) && strings.Contains(message, tool):
		parts := strings.Split(message, tool)
		for i := range parts {
			parts[i] = MaskText("", parts[i], given, by)
		}
		return strings.Join(parts, tool)
	case telling(given):
		return replaceWord(message, given, by)
	default:
		for _, q := range quotes {
			message = strings.ReplaceAll(message, q+given+q, q+by+q)
		}
	}
	return message
}

// replaceWord puts another text in the place of a value, wherever that is not a part of a longer
// word: "ann" stands in "ann, bob" and in "user_ann", and not in "cannot".
func replaceWord(message, value, by string) string {
	for from := 0; ; {
		at := strings.Index(message[from:], value)
		if at < 0 {
			return message
		}
		at += from
		end := at + len(value)
		before, _ := utf8.DecodeLastRuneInString(message[:at])
		after, _ := utf8.DecodeRuneInString(message[end:])
		first, _ := utf8.DecodeRuneInString(value)
		last, _ := utf8.DecodeLastRuneInString(value)
		if inWord(before) && inWord(first) || inWord(last) && inWord(after) {
			from = end
			continue
		}
		message = message[:at] + by + message[end:]
		from = at + len(by)
	}
}

// inWord reports whether a character is a letter of a script that parts words by blanks, or a digit.
func inWord(r rune) bool {
	return unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) || unicode.IsDigit(r)
}

// replaceNumber masks a number where it is not a part of another one or of a code.
func replaceNumber(m, n string) string {
	if !strings.Contains(m, n) {
		return m
	}
	for _, at := range slices.Backward(signed.FindAllStringIndex(m, 16)) {
		if m[at[0]:at[1]] == n && (at[0] == 0 || m[at[0]-1] < 'A' || m[at[0]-1] > 'z') {
			m = m[:at[0]] + "@" + m[at[1]:]
		}
	}
	return m
}
