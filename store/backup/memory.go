package backup

import (
	"bytes"
	"math"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/stats"
	"memoryd/store"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Memory is a tool memory in transit: a tool, its stored calls, oldest first, and its records.
type Memory struct {
	// Line is the line of the memory in its file, from 1; 0 if it did not come from a file.
	Line    int
	Tool    memoryd.Tool
	Calls   []memoryd.Call
	Records []store.Record
}

// at puts the line that an error is about before it.
func (m *Memory) at(err error) error {
	if err == nil || m.Line == 0 {
		return err
	}
	return within(err, "line %d", m.Line)
}

// relocate puts the memory into a workspace.
func (m *Memory) relocate(workspace string) {
	relocate(m.Calls, workspace)
	m.Tool.Workspace = workspace
	for i := range m.Records {
		m.Records[i].Workspace = workspace
	}
}

// check refuses a memory that a store could not take.
func (m *Memory) check() error {
	if err := checkTool(&m.Tool, m.Calls); err != nil {
		return err
	}
	for i := range m.Records {
		if r := &m.Records[i]; r.ToolRef != m.Tool.ToolRef {
			return invalid("a record of another tool than %q", m.Tool.Tool)
		}
	}
	return store.CheckRecords(m.Records)
}

// maxCount bounds the counters of what is read, so that a store can go on counting.
const maxCount = 1 << 53

// checkTool refuses a tool that a store could not take or that no store has.
func checkTool(t *memoryd.Tool, calls []memoryd.Call) error {
	if err := store.CheckRestore(t, calls); err != nil {
		return within(err, "tool %.200q", t.Tool)
	}
	if t.Lifetime > maxCount || t.Revision > maxCount || t.Guideline.Revision > maxCount || calls[len(calls)-1].Seq > t.Lifetime {
		return invalid("tool %.200q: its counters or the numbers of its calls are too high", t.Tool)
	}
	return nil
}

// decodeMemory reads a line of a dump: one that encodeMemory wrote, or else one of
// ReMe's.
func decodeMemory(b []byte, reme reMe) (Memory, error) {
	var probe struct {
		Metadata struct {
			Memoryd jsontext.Value `json:"memoryd"`
		} `json:"metadata"`
	}
	if json.Unmarshal(b, &probe, lenient) != nil || probe.Metadata.Memoryd == nil {
		return reme.memory(b)
	}
	ours := probe.Metadata
	var version struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(ours.Memoryd, &version) == nil && version.Version > formatVersion {
		return Memory{}, invalid("the line has version %d, this program reads up to %d: use a newer memoryd", version.Version, formatVersion)
	}
	var x exact
	if err := json.Unmarshal(ours.Memoryd, &x, strict); err != nil {
		return Memory{}, notALine(err)
	}
	var w shownMemory
	if err := json.Unmarshal(b, &w, lenient); err != nil {
		return Memory{}, notALine(err)
	}
	return x.memory(&w)
}

// memory puts together what stands in both halves of the line.
func (x *exact) memory(w *shownMemory) (Memory, error) {
	if x.Version < 1 || x.Tool == nil || x.Tool.Workspace != w.WorkspaceID || x.Tool.Tool != w.WhenToUse ||
		len(x.Calls) != len(w.ToolCallResults) || x.Tool.Kept != len(x.Calls) {
		return Memory{}, invalid("the line contradicts its metadata.memoryd")
	}
	m := Memory{Tool: *x.Tool, Records: x.Records}
	if g := &m.Tool.Guideline; g.Revision > 0 && g.Content == "" {
		g.Content = w.Content
	}
	keys := map[memoryd.CallKey]bool{}
	for i, c := range x.Calls {
		if c == nil || keys[c.Key] {
			return m, invalid("call %d is empty or there twice", i)
		}
		keys[c.Key] = true
		if c.Output == "" {
			c.Output = w.ToolCallResults[i].Output
		}
		if c.Input == nil {
			c.Input = []byte(w.ToolCallResults[i].Input)
		}
		c.ToolRef = m.Tool.ToolRef
		tidy(c)
		m.Calls = append(m.Calls, *c)
	}
	return m, m.check()
}

// memoryLine is a line of a dump: a tool memory as the HTTP answers show it, so
// that other programs can read it, and in metadata.memoryd what they do not show.
type memoryLine struct {
	WorkspaceID     string             `json:"workspace_id"`
	MemoryID        string             `json:"memory_id"`
	MemoryType      string             `json:"memory_type"`
	WhenToUse       string             `json:"when_to_use"`
	Content         string             `json:"content"`
	Score           float64            `json:"score"`
	TimeCreated     string             `json:"time_created"`
	TimeModified    string             `json:"time_modified"`
	Author          string             `json:"author"`
	ToolCallResults []memoryd.CallJSON `json:"tool_call_results"`
	Metadata        memoryMetadata     `json:"metadata"`
}

type memoryMetadata struct {
	Statistics        jsontext.Value `json:"statistics,omitzero"`
	GuidelineRevision int64          `json:"guideline_revision"`
	Memoryd           jsontext.Value `json:"memoryd"`
}

// shownMemory is what is read back of a memoryLine.
type shownMemory struct {
	WorkspaceID     string `json:"workspace_id"`
	WhenToUse       string `json:"when_to_use"`
	Content         string `json:"content"`
	ToolCallResults []struct {
		Input  jsontext.Value `json:"input"`
		Output string         `json:"output"`
	} `json:"tool_call_results"`
}

// exact is the memory as an export has it. What the line says anyway (the
// guideline's text, and the input and output of a call where they survive JSON)
// is left out and taken from there.
type exact struct {
	Version int             `json:"version"`
	Tool    *memoryd.Tool   `json:"tool"`
	Calls   []*memoryd.Call `json:"calls"`
	Records []store.Record  `json:"records,omitempty"`
}

// encodeMemory makes the line of a tool, with its end.
func encodeMemory(of *Memory, recent int) ([]byte, error) {
	t, calls := of.Tool, of.Calls
	samples := make([]memoryd.Sample, len(calls))
	x := &exact{Version: formatVersion, Tool: &of.Tool, Records: of.Records}
	g := &t.Guideline
	if utf8.ValidString(g.Content) {
		x.Tool.Guideline.Content = ""
	}
	m := memoryLine{
		WorkspaceID: t.Workspace, MemoryID: t.MemoryID(), MemoryType: "tool", WhenToUse: t.Tool, Content: g.Content,
		TimeCreated: memoryd.TimeText(t.Created), TimeModified: memoryd.TimeText(t.Modified), Author: g.Author,
		Metadata: memoryMetadata{GuidelineRevision: g.Revision},
	}
	for i := range calls {
		samples[i] = calls[i].Sample()
		m.ToolCallResults = append(m.ToolCallResults, shownCall(&calls[i], g.ThroughSeq))
		x.Calls = append(x.Calls, &calls[i])
	}
	figures := stats.Of(samples, recent, t.Counters)
	if b, err := json.Marshal(figures); err == nil { // infinite figures are not shown
		m.Score, m.Metadata.Statistics = figures.AvgScore, b
	}
	var err error
	if m.Metadata.Memoryd, err = json.Marshal(x, exactly); err != nil {
		return nil, err
	}
	b, err := json.Marshal(m, lenient, jsontext.PreserveRawStrings(true), json.Deterministic(true))
	return append(b, '\n'), err
}

// shownCall shows a call and drops from it what it shows completely.
func shownCall(c *memoryd.Call, summarisedThrough int64) memoryd.CallJSON {
	shown := memoryd.JSONOf(c, summarisedThrough)
	if utf8.ValidString(c.Output) {
		c.Output = ""
	}
	input := jsontext.Value(bytes.Clone(c.Input))
	switch {
	case len(c.Input) == 0:
		c.Input = []byte{} // beside nil, which stands for what is shown
	case input.Compact() != nil || !input.IsValid():
		shown.Input = quoted(string(c.Input)) // no JSON that a line could carry
	default:
		shown.Input = input
		if bytes.Equal(input, c.Input) {
			c.Input = nil
		}
	}
	return shown
}

// quoted is s as a JSON string; what is not valid UTF-8 becomes U+FFFD.
func quoted(s string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, s)
	return b
}

// calls reads the calls of a memory and reports up to which of them, by number,
// the guideline was written. A call that is there twice, with the same time and
// id, is one.
func (o reMe) calls(ref memoryd.ToolRef, list []jsontext.Value) (calls []memoryd.Call, through int64, err error) {
	known := map[memoryd.CallKey]bool{}
	alike := map[string]int{} // calls of equal content without time and id
	for i, v := range list {
		m := members{}
		if err := json.Unmarshal(v, &m, lenient); err != nil {
			return nil, 0, invalid("tool_call_results: item %d is not an object", i)
		}
		c, summarised := o.call(ref, m, alike)
		if known[c.Key] {
			continue
		}
		known[c.Key] = true
		c.Seq = int64(len(calls)) + 1
		if summarised {
			through = c.Seq
		}
		calls = append(calls, c)
	}
	return calls, through, nil
}

// call reads one call and reports whether a guideline has used it. Members that
// are unknown or of a wrong type end up in its metadata.
func (o reMe) call(ref memoryd.ToolRef, m members, alike map[string]int) (memoryd.Call, bool) {
	c := memoryd.Call{ToolRef: ref, Success: true, TokenCost: -1, Input: m.input()}
	var summarised bool
	m.take("output", &c.Output)
	m.take("success", &c.Success)
	m.take("create_time", &c.CreateTime)
	m.take("call_hash", &c.Hash)
	m.take("is_summarized", &summarised)
	c.TimeCost = m.atLeast("time_cost", 0, 0)
	if tokens := m.atLeast("token_cost", -1, -1); tokens == math.Trunc(tokens) && tokens < 1<<53 {
		c.TokenCost = int64(tokens)
	}
	c.Evaluation = m.evaluation()
	if name, _ := textOf(m["tool_name"]); name == ref.Tool {
		delete(m, "tool_name")
	}
	own := m["metadata"]
	if own.Kind() == '{' {
		delete(m, "metadata")
	} else {
		own = nil
	}
	c.Metadata = []byte(own)
	id := c.Identity()
	content := memoryd.HashOf(c.Input, c.Output)
	if id.CreateTime == "" && id.ToolCallID == "" {
		alike[content]++
		id.RequestKey, id.Index = reMeJudgeVersion, alike[content]
	}
	c.Key = id.Key()
	if c.Hash == "" || len(c.Hash) > memoryd.MaxNameBytes {
		c.Hash = content
	}
	o.setTime(&c)
	c.Metadata = m.into(own)
	return c, summarised
}

// setTime finds the instant of a call. A call without a time gets the clock's, as
// one that is sent does; a text that is no time stays as it is.
func (o reMe) setTime(c *memoryd.Call) {
	t, err := o.parseTime(c.CreateTime)
	if err != nil {
		t = o.now()
	}
	c.Time = t
	if c.CreateTime == "" {
		c.CreateTime = t.Format(memoryd.TimeLayout)
	}
}

// take moves a member into v; null and a member of another type stay.
func (m members) take(name string, v any) {
	if raw, there := m[name]; there && raw.Kind() != 'n' && json.Unmarshal(raw, v, lenient) == nil {
		delete(m, name)
	}
}

// atLeast takes a finite number that is not below low.
func (m members) atLeast(name string, low, otherwise float64) float64 {
	var f *float64
	if raw, there := m[name]; !there || json.Unmarshal(raw, &f, lenient) != nil || f == nil || *f < low {
		return otherwise
	}
	delete(m, name)
	return *f
}

// input takes the input: an object or a string as it stands, anything else as the
// string of its JSON, in the one form that call_hash uses.
func (m members) input() []byte {
	v := m["input"]
	delete(m, "input")
	switch v.Kind() {
	case '{', '"':
		return sound(v)
	case 0, 'n':
		return []byte(`""`)
	}
	return quoted(string(memoryd.InputText([]byte(v))))
}

// sound gives v as it stands, or with U+FFFD for what is not valid UTF-8.
func sound(v jsontext.Value) []byte {
	v = v.Clone()
	if v.IsValid(jsontext.AllowDuplicateNames(true)) {
		return v
	}
	if err := v.Format(lenient, jsontext.PreserveRawStrings(false)); err != nil {
		return quoted(string(v))
	}
	return bytes.ToValidUTF8(v, []byte(string(utf8.RuneError)))
}

// evaluation takes the verdict.
func (m members) evaluation() memoryd.Evaluation {
	e := memoryd.PendingEvaluation()
	var score float64
	m.take("summary", &e.Summary)
	m.take("evaluation", &e.Evaluation)
	if e.Summary == "" && e.Evaluation == "" {
		if raw := m["score"]; string(raw) == "0" || string(raw) == "0.0" {
			delete(m, "score") // the default of a call that was never judged
		}
		return e
	}
	odd := m["score"]
	m.take("score", &score)
	if e.Score = nearest(score); e.Score != score {
		m["score"] = odd
	}
	e.State, e.JudgedBy, e.JudgeVersion = memoryd.Judged, reMeJudge, reMeJudgeVersion
	return e
}

func nearest(score float64) float64 {
	switch {
	case score < 0.25:
		return memoryd.ScoreFailure
	case score < 0.75:
		return memoryd.ScorePartial
	}
	return memoryd.ScoreSuccess
}

// into puts what is left into a call's own metadata, which stays as it was sent
// when nothing is.
func (m members) into(own jsontext.Value) []byte {
	if len(m) == 0 {
		if own == nil {
			return nil
		}
		return sound(own)
	}
	fields := members{}
	if own != nil && json.Unmarshal(own, &fields, lenient) != nil {
		clear(fields)
	}
	rest, err := json.Marshal(m, json.Deterministic(true), lenient)
	if err != nil {
		rest = quoted(err.Error())
	}
	name := "reme"
	for fields[name] != nil {
		name += "_"
	}
	fields[name] = rest
	b, err := json.Marshal(fields, json.Deterministic(true), lenient)
	if err != nil {
		return nil
	}
	return sound(b)
}
