package rules

import (
	"strings"

	"memoryd/internal/errortext"
)

// fewLines may stand before what an output is about: a heading, a warning.
const fewLines = 3

// exception: a trace at the head or the end of the text, or a first line such as
// "ValueError: …".
func exception(v *view) finding {
	t := v.out
	first := t.first()
	switch {
	case v.body.OK():
		return finding{}
	case errortext.Traces(t.opening().s):
		return fails("exception", thrown(t).s, "the output is the report of an uncaught exception")
	case errortext.Thrown(first.s) && t.short(30, 4000):
		return fails("exception", first.s, "the output is an exception")
	case v.ask.is(content):
		return finding{}
	}
	last, traced := t.last().s, false
	for i := range t.lines {
		if errortext.Traces(t.lines[i].s) {
			if traced = true; i < fewLines {
				return fails("exception", thrown(t).s, "the output is the report of an uncaught exception").unsure()
			}
		}
		if l := t.lines[i].s; strings.HasPrefix(t.at(i+1).s, "at ") && errortext.Thrown(l) {
			return fails("exception", l, "the output holds an uncaught exception").unsure()
		}
	}
	if traced && errortext.Thrown(last) {
		return fails("exception", last, "the output ends with an uncaught exception").unsure()
	}
	return finding{}
}

// thrown is the line that names the exception: the last that looks like one.
func thrown(t *text) *line {
	for i := len(t.lines) - 1; i >= 0; i-- {
		if errortext.Thrown(t.lines[i].s) {
			return &t.lines[i]
		}
	}
	return t.first()
}
