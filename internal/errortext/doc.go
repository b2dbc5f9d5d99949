// Package errortext defines what an error text is: which part of a tool's output is the
// error, whether a line or an output reads like one, and which line says what went wrong. The
// judge, the evidence and the compaction all use this definition. It knows no tool, only
// common forms: beginnings of messages, stack traces, and the members of structured replies.
package errortext

import (
	"slices"
	"strings"

	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
	"memoryd/internal/textsafe"
)

// Windows that bound the work on one output, in bytes, and on one message, in
// characters.
const (
	headBytes   = 16 << 10
	tailBytes   = 4 << 10
	lineBytes   = 1200
	shortLine   = 200
	maxMessages = 64
	maxNesting  = 5
)

// Find returns the line of an output that says what went wrong, as one line of at most 300
// characters, and whether the output reads like an error at all. It knows neither tool nor
// call, so content about errors may read like one.
func Find(output string) (line string, found bool) {
	text := trim(output)
	if d := Parse(text); d.OK() {
		return findIn(d, 0, 0)
	}
	return findLine(text)
}

// Message is Find for the output of a call that is known to have failed. It also accepts the
// message members of a reply, and a text of one short line. It returns "" if nothing reads
// like a message.
func Message(output string) string {
	text := trim(output)
	if line, ok := Find(text); ok {
		return line
	}
	for line := range strings.SplitSeq(textsafe.Head(text, headBytes), "\n") {
		if !Parse(text).OK() && phrases.ContainsAny(strings.ToLower(line), faults) {
			return cleanLine(line)
		}
	}
	if said := Unwrap(text); said != text {
		if line, ok := findLine(said); ok {
			return line
		}
		first, _, _ := strings.Cut(said, "\n")
		return cleanLine(first)
	}
	if lines := strings.Split(textsafe.Head(text, headBytes), "\n"); len(lines) > 1 && len(lines) <= fewLines && !Parse(text).OK() {
		if i := slices.IndexFunc(lines, signed); i >= 0 {
			return cleanLine(lines[i])
		}
	}
	if text == "" || strings.Contains(text, "\n") || len([]rune(textsafe.Head(text, 4*shortLine+4))) > shortLine || Parse(text).OK() {
		return ""
	}
	return cleanLine(text)
}

// fewLines is of how many lines a text may be that is but a message and what surrounds it.
const fewLines = 5

// signed reports whether a line is what a program says behind its name: "expr: non-integer argument".
func signed(line string) bool {
	who, what, ok := strings.Cut(trim(line), ": ")
	return ok && who != "" && len(who) <= 40 && strings.Trim(who, "abcdefghijklmnopqrstuvwxyz0123456789._+/-") == "" && strings.Contains(what, " ")
}

// faults are words that stand in the messages of calls that failed, and in much
// else.
var faults = []string{
	"required", "must ", "limit", "abort", "does not ", "not a ", "malformed", "expired", "too many", "too large", "not enough", "exceed", "status code",
	"not permitted", "unrecognized", "conflict", "unbound", "undefined", "undeclared",
}

// trim takes off white space and NUL.
func trim(s string) string { return strings.Trim(s, "\x00 \t\r\n\v\f\ufeff") }

func cleanLine(s string) string { return textsafe.Line(s, 300) }

// findIn is Find for the value at node i.
func findIn(d *Doc, i int32, depth int) (string, bool) {
	if depth > maxNesting {
		return "", false
	}
	switch n := &d.Nodes[i]; n.Kind {
	case loosejson.String:
		s := trim(d.Str(i))
		if inner := Parse(s); inner.OK() {
			return findIn(inner, 0, depth+1)
		}
		if line, ok := findLine(s); ok && (Reads(strings.ToLower(line)) || Thrown(line)) {
			return line, true
		}
	case loosejson.Array:
		for c := n.Child; c != 0; c = d.Nodes[c].Next {
			if n.Count > 1 && d.Nodes[c].Kind == loosejson.String {
				break // a list of texts is content
			}
			if line, ok := findIn(d, c, depth+1); ok {
				return line, true
			}
		}
	case loosejson.Object:
		r := ReadReply(d, i)
		if ground, _ := r.Failure(); ground != NoGround || r.Exit != 0 && d.Number(r.Exit) != 0 {
			if said := r.Said(); said != "" {
				if line, ok := findLine(said); ok {
					return line, true
				}
				first, _, _ := strings.Cut(trim(said), "\n")
				return cleanLine(first), true
			}
			return cleanLine(d.Nodes[i].Key), true
		}
		lists := [][]int32{r.Envelopes, r.Payloads}
		if r.Others == len(r.Named) {
			lists = append(lists, r.Named)
		}
		for _, list := range lists {
			for _, c := range list {
				if text := d.Nodes[c].Kind == loosejson.String; text && (r.Record || r.Others > 1 || r.Members > 6) {
					continue // a record's text is its data
				}
				if line, ok := findIn(d, c, depth+1); ok {
					return line, true
				}
			}
		}
	default:
	}
	return "", false
}

// findLine finds the telling line of a text: what was thrown where there is a
// trace, else the first line that begins as a message does, else the first one
// that speaks of trouble.
func findLine(text string) (string, bool) {
	head, tail := text, ""
	if len(text) > headBytes {
		head = textsafe.Head(text, headBytes)
		tail = textsafe.Tail(text[len(head):], tailBytes)
	}
	var weak, heading, thrown string
	traced := false
	for _, part := range [...]string{head, tail} {
		for line := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }) {
			line = strings.TrimSpace(textsafe.StripEscapes(line))
			if line == "" {
				continue
			}
			low := strings.ToLower(textsafe.Head(line, lineBytes))
			traced = traced || Traces(low)
			switch {
			case traced && Thrown(line):
				thrown = line
			case heading == "" && (Reads(low) || Thrown(line) || EndsThrown(line)):
				heading = line
			case weak == "" && Troubled(low):
				weak = line
			}
		}
	}
	for _, line := range [...]string{thrown, heading, weak} {
		if line != "" {
			return cleanLine(line), true
		}
	}
	return "", false
}

// Reads reports whether a line in lower case begins like an error message.
func Reads(low string) bool {
	return Heads(low) || HeadsShortly(low) || HeadsQualified(Strip(low))
}

// Troubled reports whether a line in lower case contains a word of trouble that is not
// negated.
func Troubled(low string) bool {
	return (troubleIndex.Scan(low) != 0 || exited(low)) && !phrases.ContainsAny(low, relief)
}

// exited reports whether a line states an exit status other than 0.
func exited(low string) bool {
	for _, p := range []string{"exit code ", "exit code: ", "exit status ", "exit status: ", "exited with ", "exiting with code "} {
		if _, rest, ok := strings.Cut(low, p); ok && !strings.HasPrefix(rest, "0") {
			return true
		}
	}
	return false
}

// relief takes the words of trouble back.
var relief = []string{"no error", "0 error", "without error", "0 failed", "no fail", "0 failures", "errors: 0", "not an error", "error-free", "0 warning"}

var troubleIndex = phrases.NewIndex(map[phrases.Marks][]string{1: troubleWords})
