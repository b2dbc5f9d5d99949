package backup

import (
	"bytes"
	"math"
	"time"
	"unicode/utf8"

	"memoryd"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// calls reads the calls of a memory and reports up to which of them, by number,
// the guideline was written. A call that is there twice, with the same time and
// id, is one.
func (o ReMe) calls(ref memoryd.ToolRef, list []jsontext.Value) (calls []memoryd.Call, through int64, err error) {
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
func (o ReMe) call(ref memoryd.ToolRef, m members, alike map[string]int) (memoryd.Call, bool) {
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
	id := memoryd.Identity{
		ToolRef: ref, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime, ToolCallID: memoryd.ToolCallID(own),
	}
	content := memoryd.HashOf(c.Input, c.Output)
	if id.CreateTime == "" && id.ToolCallID == "" {
		alike[content]++
		id.RequestKey, id.Index = ReMeJudgeVersion, alike[content]
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
func (o ReMe) setTime(c *memoryd.Call) {
	t, err := o.parseTime(c.CreateTime)
	if err != nil {
		t = o.now()
	}
	c.Time = t
	if c.CreateTime == "" {
		c.CreateTime = t.Format(memoryd.TimeLayout)
	}
}

func (o ReMe) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
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
	e.State, e.JudgedBy, e.JudgeVersion = memoryd.Judged, ReMeJudge, ReMeJudgeVersion
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
