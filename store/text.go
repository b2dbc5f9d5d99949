package store

import (
	"slices"

	"memoryd"
	"memoryd/internal/textsafe"
)

// CutOutput shortens an output to MaxRunOutput bytes. It keeps the beginning and, because errors
// are often there, the end. It cuts between characters.
func CutOutput(output string) string {
	const gap = "\n[...]\n"
	if len(output) <= MaxRunOutput {
		return output
	}
	return textsafe.Head(output, MaxRunOutput*3/4-len(gap)) + gap + textsafe.Tail(output, MaxRunOutput/4)
}

// RunCallOf returns a call as RunCalls returns it.
func RunCallOf(c *memoryd.Call) RunCall {
	r := RunCall{
		ToolRef: c.ToolRef, Key: c.Key, Time: c.Time, Output: CutOutput(c.Output), Success: c.Success,
		State: c.Evaluation.State, Score: c.Evaluation.Score,
	}
	if len(c.Input) <= MaxRunInput {
		r.Input = slices.Clone(c.Input)
	}
	return r
}

// ContentOf is what calls have in common that are exact repeats of each other.
func ContentOf(c *memoryd.Call) string {
	if c.Hash != "" {
		return c.Hash
	}
	return memoryd.HashOf(c.Input, c.Output)
}

// TextBytes returns the bytes of a call's texts, which count towards a page.
func TextBytes(c *memoryd.Call) int {
	return len(c.Input) + len(c.Output) + len(c.Metadata) + len(c.Evaluation.Summary) + len(c.Evaluation.Evaluation)
}

// UnknownTool is what a store answers about a tool that it does not hold.
func UnknownTool() error { return memoryd.Errorf(memoryd.NotFound, "there is no such tool") }

// UnknownCall is what it answers about a call that a history does not hold.
func UnknownCall() error { return memoryd.Errorf(memoryd.NotFound, "the history has no such call") }

// UnknownRecord is what it answers about a record that it does not hold.
func UnknownRecord() error { return memoryd.Errorf(memoryd.NotFound, "there is no such record") }

// UnknownVerdict is what it answers about a verdict that it does not cache.
func UnknownVerdict() error {
	return memoryd.Errorf(memoryd.NotFound, "no verdict is cached under this key")
}

// Replaced is what it answers to a write for a revision that does not stand any more.
func Replaced(what string) error {
	return memoryd.Errorf(memoryd.Conflict, "the %s was replaced in the meantime", what)
}

// ToolExists and CallKnown are what it answers to a tool that cannot be restored beside what it
// holds.
func ToolExists() error { return memoryd.Errorf(memoryd.Conflict, "the tool already exists") }

// CallKnown is documented at ToolExists.
func CallKnown() error {
	return memoryd.Errorf(memoryd.Conflict, "a call of the tool is known under another tool")
}
