package backup

import (
	"bytes"
	"time"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/stats"
	"memoryd/store"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// memoryLine is a line of a dump: a tool memory as the HTTP answers show it, so
// that other programs can read it, and in metadata.memoryd what they do not show.
type memoryLine struct {
	WorkspaceID     string         `json:"workspace_id"`
	MemoryID        string         `json:"memory_id"`
	MemoryType      string         `json:"memory_type"`
	WhenToUse       string         `json:"when_to_use"`
	Content         string         `json:"content"`
	Score           number         `json:"score"`
	TimeCreated     string         `json:"time_created"`
	TimeModified    string         `json:"time_modified"`
	Author          string         `json:"author"`
	ToolCallResults []wireCall     `json:"tool_call_results"`
	Metadata        memoryMetadata `json:"metadata"`
}

type wireCall struct {
	ToolName     string         `json:"tool_name"`
	Input        jsontext.Value `json:"input"`
	Output       string         `json:"output"`
	Success      bool           `json:"success"`
	TimeCost     number         `json:"time_cost"`
	TokenCost    int64          `json:"token_cost"`
	CreateTime   string         `json:"create_time"`
	Metadata     jsontext.Value `json:"metadata"`
	Summary      string         `json:"summary"`
	Evaluation   string         `json:"evaluation"`
	Score        number         `json:"score"`
	CallHash     string         `json:"call_hash"`
	IsSummarized bool           `json:"is_summarized"`
}

type memoryMetadata struct {
	Statistics        jsontext.Value `json:"statistics,omitzero"`
	GuidelineRevision int64          `json:"guideline_revision"`
	Memoryd           *exact         `json:"memoryd"`
}

// exact is the memory as an export has it. What the line says anyway (the
// guideline's text, and the input and output of a call where they survive JSON)
// is left out and taken from there.
type exact struct {
	Version int          `json:"version"`
	Tool    *toolLine    `json:"tool"`
	Calls   []*callLine  `json:"calls"`
	Records []recordLine `json:"records,omitempty"`
}

// timeLayout is how the HTTP answers write instants, in the server's zone.
const timeLayout = "2006-01-02 15:04:05"

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(timeLayout)
}

// encodeMemory makes the line of a tool, with its end.
func encodeMemory(t *memoryd.Tool, calls []memoryd.Call, documents []store.Record, recent int) ([]byte, error) {
	samples := make([]memoryd.Sample, len(calls))
	x := &exact{Version: Version, Tool: toolLineOf(t, len(calls))}
	g := &t.Guideline
	if l := x.Tool.Guideline; l != nil && utf8.ValidString(g.Content) {
		l.Content = nil
	}
	m := memoryLine{
		WorkspaceID: t.Workspace, MemoryID: t.MemoryID(), MemoryType: "tool", WhenToUse: t.Tool, Content: g.Content,
		TimeCreated: timeText(t.Created), TimeModified: timeText(t.Modified), Author: g.Author,
		ToolCallResults: []wireCall{}, Metadata: memoryMetadata{GuidelineRevision: g.Revision, Memoryd: x},
	}
	for i := range calls {
		samples[i] = calls[i].Sample()
		l := callLineOf(&calls[i])
		m.ToolCallResults = append(m.ToolCallResults, wireCallOf(&calls[i], l, g.ThroughSeq))
		x.Calls = append(x.Calls, l)
	}
	for i := range documents {
		x.Records = append(x.Records, *recordLineOf(&documents[i]))
	}
	figures := stats.Of(samples, recent, t.Counters)
	m.Score = number(figures.AvgScore)
	if b, err := json.Marshal(figures); err == nil { // infinite figures are not shown
		m.Metadata.Statistics = b
	}
	b, err := json.Marshal(m, jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true), json.Deterministic(true))
	return append(b, '\n'), err
}

// wireCallOf shows a call and drops from l what it shows completely.
func wireCallOf(c *memoryd.Call, l *callLine, summarisedThrough int64) wireCall {
	e := &c.Evaluation
	w := wireCall{
		ToolName: c.Tool, Output: c.Output, Success: c.Success, TimeCost: numberOf(c.TimeCost), TokenCost: c.TokenCost,
		CreateTime: c.CreateTime, Metadata: shownMetadata(c), Summary: e.Summary, Evaluation: e.Evaluation,
		Score: numberOf(e.Score), CallHash: c.Hash, IsSummarized: c.Seq <= summarisedThrough,
	}
	if utf8.ValidString(c.Output) {
		l.Output = nil
	}
	input := jsontext.Value(bytes.Clone(c.Input))
	switch {
	case len(c.Input) == 0:
		w.Input, l.Input = jsontext.Value(`""`), new(text(""))
	case input.Compact() != nil || !input.IsValid():
		w.Input = quoted(string(c.Input)) // no JSON that a line could carry
	default:
		w.Input = input
		if bytes.Equal(input, c.Input) {
			l.Input = nil
		}
	}
	return w
}

// quoted is s as a JSON string; what is not valid UTF-8 becomes U+FFFD.
func quoted(s string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, s)
	return b
}

// shownMetadata is the caller's metadata with the judgement, as the HTTP answers
// show it.
func shownMetadata(c *memoryd.Call) jsontext.Value {
	fields := map[string]jsontext.Value{}
	if err := json.Unmarshal(c.Metadata, &fields); err != nil {
		clear(fields)
	}
	e := &c.Evaluation
	for name, value := range map[string]string{
		"evaluation_state": string(e.State), "judged_by": e.JudgedBy, "judged_rule": e.Rule, "evaluation_error": e.LastError,
	} {
		delete(fields, name)
		if value != "" {
			fields[name] = quoted(value)
		}
	}
	b, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return jsontext.Value(`{}`)
	}
	return b
}
