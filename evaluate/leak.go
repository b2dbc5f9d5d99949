package evaluate

import (
	"encoding/json"
	"errors"
	"strings"

	"memoryd/internal/textsafe"
)

// errForeign is an evaluation that tells of another call. Its text goes back to the
// model, so it holds nothing of the reply.
var errForeign = errors.New("the answer repeats text of another call")

// How much of another call's text an evaluation may repeat, in bytes: a piece that
// begins at every so many bytes of the evaluation is looked for, so that nothing of
// leakPiece + leakStep bytes gets through.
const (
	leakPiece = 32
	leakStep  = 8
)

// leaks reports whether an evaluation repeats, word for word, text that its own call
// does not hold but another one does that stood in the same request: a neighbour
// or an earlier call of the tool. A model that obeys a tool's output would write
// such text.
func leaks(v answer, own string, foreign []string) bool {
	if len(foreign) == 0 {
		return false
	}
	for _, said := range []string{plain(v.summary), plain(v.evaluation)} {
		for i := 0; i+leakPiece <= len(said); i += leakStep {
			piece := said[i : i+leakPiece]
			if strings.Contains(own, piece) {
				continue
			}
			for _, text := range foreign {
				if strings.Contains(text, piece) {
					return true
				}
			}
		}
	}
	return false
}

// plain makes texts comparable: as an evaluation's text is cleaned, in lower case.
func plain(s string) string { return strings.ToLower(textsafe.Visible(s)) }

// text is what a model may quote of a call.
func (b brief) text() string {
	in, _ := b.Input.MarshalJSON() // it was encoded when the request was made
	parts := []string{string(in), b.Output.Head, b.Output.Tail}
	if e, ok := b.Input.(excerpt); ok {
		parts = append(parts, e.Head, e.Tail)
	}
	for _, m := range []json.Marshaler{b.Tool, b.Task} {
		if m == nil {
			continue
		}
		if e, ok := m.(excerpt); ok {
			parts = append(parts, e.Head, e.Tail)
			continue
		}
		raw, _ := m.MarshalJSON()
		parts = append(parts, string(raw))
	}
	return plain(strings.Join(parts, " \n"))
}

func (e example) text() string {
	return plain(strings.Join([]string{e.Input.Head, e.Input.Tail, e.Output.Head, e.Output.Tail}, " \n"))
}

// foreignTo gives the texts in a request that are not of call i.
func foreignTo(i int, briefs []brief, examples []example) []string {
	var list []string
	for _, e := range examples {
		list = append(list, e.text())
	}
	for j, b := range briefs {
		if j != i {
			list = append(list, b.text())
		}
	}
	return list
}
