package ops

import (
	"context"
	"encoding/json"
	"strings"

	"memoryd"
	"memoryd/guidelines/preflight"
	"memoryd/internal/textsafe"
)

// Forecast is a request about a call before it is made, and its answer.
type Forecast struct {
	Tool  string
	Input json.RawMessage

	Assessment preflight.Assessment
	// Good and Bad are the calls of the history most like the planned one that
	// scored 1, and 0.
	Good, Bad []SimilarCall
}

// SimilarCall is a call of the history that resembles a planned one.
type SimilarCall struct {
	preflight.Similar
	// Input is the beginning of its input text, Summary what the judge said.
	Input   string
	Summary string
}

// PreflightToolCall says what the history lets expect of a call.
type PreflightToolCall struct{ Forecaster *Forecaster }

// Name implements Op.
func (PreflightToolCall) Name() string { return "preflight_tool_call_op" }

// Run implements Op.
func (o PreflightToolCall) Run(ctx context.Context, st *State) error {
	f := &st.Forecast
	l, err := o.Forecaster.learned(ctx, memoryd.ToolRef{Workspace: st.Workspace, Tool: f.Tool})
	if err != nil {
		return err
	}
	f.Assessment = l.model.Assess(f.Input)
	f.Good, f.Bad = l.similar(f.Assessment.SimilarGood), l.similar(f.Assessment.SimilarBad)
	return nil
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
