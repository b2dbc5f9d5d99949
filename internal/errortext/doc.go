// Package errortext defines what an error text is: which part of a tool's output is the
// error, whether a line or an output reads like one, and which line says what went wrong. The
// judge, the evidence and the compaction all use this definition. It knows no tool, only
// common forms: beginnings of messages, stack traces, and the members of structured replies.
package errortext

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
	"memoryd/internal/textsafe"
)

// Windows that bound the work on one output, in bytes, and on one message, in
// characters.
const (
	headBytes  = 16 << 10
	tailBytes  = 4 << 10
	lineBytes  = 1200
	shortLine  = 200
	maxNesting = 8
)

// Message returns the line of a failed call's output that says what went wrong, as one line of
// at most 300 characters; "" if nothing reads like a message.
func Message(output string) string {
	text := trim(output)
	said, line := read(text)
	if said == text && loosejson.Parse(text).OK() {
		return ""
	}
	line = cmp.Or(line, findLine(said))
	if first, _, more := strings.Cut(said, "\n"); line == "" && (said != text || !more && utf8.RuneCountInString(text) <= shortLine) {
		line = first
	}
	return textsafe.Line(line, 300)
}

// trim takes off white space and NUL.
func trim(s string) string { return strings.Trim(s, "\x00 \t\r\n\v\f\ufeff") }

// trouble finds the words of trouble in one pass.
var trouble = phrases.NewIndex(map[phrases.Marks][]string{1: troubleWords})

// lineEnds part lines beside the usual one.
var lineEnds = strings.NewReplacer("\r", "\n", "\x00", "\n")

// findLine finds the telling line of a text: what was thrown where there is a
// trace, else the first line that begins as a message does, else the first one
// that speaks of trouble.
func findLine(text string) string {
	if len(text) > headBytes {
		head := textsafe.Head(text, headBytes)
		text = head + "\n" + textsafe.Tail(text[len(head):], tailBytes)
	}
	var weak, heading, thrown string
	traced := false
	for line := range strings.SplitSeq(lineEnds.Replace(text), "\n") {
		line = strings.TrimSpace(textsafe.StripEscapes(line))
		low := strings.ToLower(textsafe.Head(line, lineBytes))
		traced = traced || Traces(low)
		switch {
		case traced && Thrown(line):
			thrown = line
		case heading == "" && (Heads(low) || Thrown(line)):
			heading = line
		case weak == "" && trouble.Scan(low) != 0:
			weak = line
		}
	}
	return cmp.Or(thrown, heading, weak)
}
