package mistakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"memoryd/guidelines/rules"
	"memoryd/internal/textsafe"
)

// Change is one difference between a failed input and the next successful one.
type Change struct {
	// What is "added", "removed", "renamed", "replaced", "edited" or "spaced".
	What string `json:"what"`
	// Path is the parameter, "" for an input that is text; To is its new name.
	Path string `json:"path,omitempty"`
	To   string `json:"to,omitempty"`
	// Bad and Good are the values, or the parts of an edited text that differ; "" if they are
	// too long.
	Bad  string `json:"bad,omitempty"`
	Good string `json:"good,omitempty"`
	// Was and Now show the values around the difference.
	Was string `json:"was,omitempty"`
	Now string `json:"now,omitempty"`
}

// The kinds of change.
const (
	added    = "added"
	removed  = "removed"
	renamed  = "renamed"
	replaced = "replaced"
	edited   = "edited"
	spaced   = "spaced" // blanks and line breaks only
)

// shortValue bounds a value that is told, and shownValue one that is shown around a
// difference.
const (
	shortValue = 60
	shownValue = 140
)

// diff lists what differs between two inputs, and says whether enough stayed the same
// that the second is the first done right, and no other task.
func diff(bad, good json.RawMessage) (changes []Change, near bool) {
	if len(bad) > maxInput || len(good) > maxInput {
		return nil, bytes.Equal(bad, good)
	}
	a, b := valuesOf(bad), valuesOf(good)
	same := 0
	for _, path := range slices.Sorted(maps.Keys(a)) {
		now, given := b[path]
		switch {
		case !given:
			changes = append(changes, Change{What: removed, Path: path, Bad: brief(a[path])})
		case now == a[path]:
			same++
		default:
			c, alike := changeOf(path, a[path], now)
			if alike {
				same++
			}
			changes = append(changes, c)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b)) {
		if _, given := a[path]; given {
			continue
		}
		if i := slices.IndexFunc(changes, func(c Change) bool { return c.What == removed && a[c.Path] == b[path] }); i >= 0 {
			changes[i] = Change{What: renamed, Path: changes[i].Path, To: path}
			same++
			continue
		}
		changes = append(changes, Change{What: added, Path: path, Good: brief(b[path])})
	}
	if len(changes) > maxChanges {
		return nil, false
	}
	return changes, same > 0 || len(changes) == 0 || len(a) == 0
}

// names are parameters that can be told.
var names = regexp.MustCompile(`^[\pL_][][\pL\pN_.-]{0,79}$`)

// valuesOf gives the values of an input by path, each as its text; the elements of a list
// share a path.
func valuesOf(input json.RawMessage) map[string]string {
	out := map[string]string{}
	for _, l := range rules.LeavesOf(input) {
		path, text := l.Path, l.Text
		if l.Kind >= rules.Array && (l.Number > 0 || path == "") {
			continue
		}
		if !names.MatchString(path) {
			path = textsafe.Line(path, shortValue)
		}
		if before, more := out[path]; more {
			text = before + ", " + text
		}
		if path != "" || text != "" {
			out[path] = text
		}
	}
	return out
}

// changeOf is the difference of two values; alike says that half of the words stayed.
func changeOf(path, bad, good string) (c Change, alike bool) {
	wa, wb := words(bad), words(good)
	head := 0
	for head < min(len(wa), len(wb)) && wa[head] == wb[head] {
		head++
	}
	tail := 0
	for tail < min(len(wa), len(wb))-head && wa[len(wa)-1-tail] == wb[len(wb)-1-tail] {
		tail++
	}
	n, same := 0, 0
	for _, w := range slices.DeleteFunc(slices.Clone(wa), func(w string) bool { return !worded(w) }) {
		if n++; slices.Contains(wb, w) {
			same++
		}
	}
	alike = same > 0 && 2*same >= n
	if slices.Equal(strings.Fields(bad), strings.Fields(good)) {
		return Change{What: spaced, Path: path}, true
	}
	c = Change{
		What: edited, Path: path, Bad: brief(strings.Join(wa[head:len(wa)-tail], "")),
		Good: brief(strings.Join(wb[head:len(wb)-tail], "")),
	}
	if !alike || head+tail == 0 {
		c.What, c.Bad, c.Good = replaced, brief(bad), brief(good)
	}
	at := len(strings.Join(wa[:head], ""))
	c.Was, c.Now = around(bad, at), around(good, at)
	return c, alike
}

// around is the part of a text that begins a little before a place.
func around(s string, at int) string {
	mark := ""
	if at > shownValue/4 && len(s) > shownValue {
		s, mark = s[at-shownValue/4:], "…"
	}
	return mark + textsafe.Line(textsafe.Mask(s), shownValue)
}

// words cuts a text into words, runs of blanks and single marks.
func words(s string) (out []string) {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	begin, before := 0, -1
	for i, r := range s {
		if k := class(r); i > 0 && (k != before || k == 0) {
			out = append(out, s[begin:i])
			begin = i
		}
		before = class(r)
	}
	if begin < len(s) {
		out = append(out, s[begin:])
	}
	return out
}

// brief is a value that is short enough to be told, without what looks like a secret.
func brief(s string) string {
	if len(s) > shortValue {
		return ""
	}
	return textsafe.Line(textsafe.Mask(strings.TrimSpace(s)), shortValue)
}

// general is a change without its values.
func (c Change) general() Change { return Change{What: c.What, Path: c.Path, To: c.To} }

// definite says that the change can be told to somebody who sees no example: a
// parameter, or a few words that are no identifier.
func (c Change) definite() bool {
	if c.What != replaced && c.What != edited {
		return c.What != spaced && plain(c.Good)
	}
	return c.Bad != "" && plain(c.Bad) && plain(c.Good) // what lacks a few words cannot be told from others
}

// plain reports whether a value has at most three words and two digits.
func plain(s string) bool {
	digits := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return len(strings.Fields(s)) <= 3 && digits <= 2
}

// String describes the change as an instruction. Untrusted text is between backticks.
func (c Change) String() string {
	of := "the input"
	if c.Path != "" {
		of = code(c.Path)
	}
	switch {
	case c.What == added:
		if c.Good != "" {
			return fmt.Sprintf("give %s, as %s", of, code(c.Good))
		}
		return "give " + of
	case c.What == removed:
		return "leave out " + of
	case c.What == spaced:
		return "change blanks and line breaks in " + of
	case c.What == renamed:
		return fmt.Sprintf("name the parameter %s, not %s", code(c.To), of)
	case c.Bad == "" && c.Good != "":
		return fmt.Sprintf("put %s into %s", code(c.Good), of)
	case c.Good == "" && c.Bad != "":
		return fmt.Sprintf("leave %s out of %s", code(c.Bad), of)
	case c.Good == "":
		return "change " + of
	}
	return fmt.Sprintf("in %s write %s, not %s", of, code(c.Good), code(c.Bad))
}

// code is untrusted text on one line, between backticks.
func code(s string) string {
	return "`" + strings.ReplaceAll(textsafe.Line(s, 120), "`", "'") + "`"
}
