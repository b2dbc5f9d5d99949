package ops

import (
	"context"
	"encoding/json"
	"strings"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/internal/textsafe"
)

// PreflightRequest asks about a call before it is made.
type PreflightRequest struct {
	memoryd.ToolRef

	Input json.RawMessage
}

// Forecast is what the history lets expect of a planned call.
type Forecast struct {
	Tool       string
	Assessment Assessment
	// Good and Bad are the calls of the history most like the planned one that
	// scored 1, and 0.
	Good, Bad []SimilarCall
}

// Assessment is what was computed for the planned call.
type Assessment = preflight.Assessment

// SimilarCall is a call of the history that resembles a planned one.
type SimilarCall struct {
	preflight.Similar
	// Input is the beginning of its input text, Summary what the judge said.
	Input   string
	Summary string
}

func (library) PreflightToolCall() Definition {
	return define("preflight_tool_call_op", Deps.preflight)
}

// preflight says what the history lets expect of a call. It asks no model.
func (d Deps) preflight(ctx context.Context, r PreflightRequest) (*Forecast, error) {
	l, err := d.Forecaster.learned(ctx, r.ToolRef)
	if err != nil {
		return nil, err
	}
	a := l.model.Assess(r.Input)
	return &Forecast{Tool: r.Tool, Assessment: a, Good: l.similar(a.SimilarGood), Bad: l.similar(a.SimilarBad)}, nil
}

// lesson is what was learned from a history, with what an answer shows of its
// calls.
type lesson struct {
	model *preflight.Model
	shown map[memoryd.CallKey]shownCall
	calls int
}

type shownCall struct{ input, summary string }

// shownBytes is how much of an input an answer shows.
const shownBytes = 300

func learn(calls []memoryd.Call, prior *preflight.Prior) *lesson {
	l := &lesson{model: preflight.Learn(calls, prior), shown: make(map[memoryd.CallKey]shownCall, len(calls)), calls: len(calls)}
	for i := range calls {
		c := &calls[i]
		l.shown[c.Key] = shownCall{excerpt(string(memoryd.InputText(c.Input))), strings.Clone(c.Evaluation.Summary)}
	}
	return l
}

// excerpt is the beginning of a text, which it does not keep alive.
func excerpt(s string) string {
	if len(s) <= shownBytes {
		return strings.Clone(s)
	}
	return textsafe.Head(s, shownBytes) + textsafe.Ellipsis
}

func (l *lesson) similar(found []preflight.Similar) []SimilarCall {
	list := make([]SimilarCall, len(found))
	for i, s := range found {
		c := l.shown[s.Call]
		list[i] = SimilarCall{Similar: s, Input: c.input, Summary: c.summary}
	}
	return list
}
