package records

import (
	"regexp"
	"slices"
	"strings"
)

// takes labels the parameters of something that can be called.
const takes = "takes"

// typed matches what describes a parameter: its type comes first.
//
//nolint:gochecknoglobals // a constant pattern
var typed = regexp.MustCompile(`^\((?i:(optional)\W+)?(string|str|integer|int|number|float|boolean|bool|array|list|object|dict|any)\b[^)]*\)`)

// parameters writes the members of a record that describe parameters as one member with
// their names, and types other than text, before what is told in prose: an agent that
// is to make the call needs these.
func parameters(block []cell) []cell {
	if !slices.ContainsFunc(block, func(c cell) bool { return strings.HasPrefix(c.text, "(") }) {
		return block
	}
	var names, first, prose []cell
	for _, c := range block {
		m := typed.FindStringSubmatch(c.text)
		switch {
		case m != nil:
			text := c.label
			if m[1] != "" {
				text += "?"
			}
			if !strings.HasPrefix(m[2], "str") {
				text += " " + m[2]
			}
			names = append(names, cell{text: text})
		case len(c.text) > takesProse && strings.Contains(c.text, " "):
			prose = append(prose, c)
		default:
			first = append(first, c)
		}
	}
	if len(names) == 0 {
		return block
	}
	c := cell{label: takes, shape: takes, text: "[" + joined(names) + "]"}
	c.bare = c.text
	return append(append(first, c), prose...)
}

// takesProse is the length from which a text beside parameters is prose.
const takesProse = 30
