package qdrant

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// Fields of a call's point. Those of the first group stay when the history lets
// the call go, and are indexed as schema.go says.
const (
	fieldLife    = "life"     // of the tool; of all calls that are remembered
	fieldStamp   = "accepted" // when it was accepted: a stamp
	fieldOwner   = "tool_id"  // the tool's point
	fieldNonce   = "nonce"    // of the append that brought it
	fieldVerdict = "verdicts" // how many verdicts replaced a state

	fieldKept    = "kept" // of calls in the history: the tool's life
	fieldSeq     = "seq"
	fieldKeep    = "keep" // how many the history was to keep when it came
	fieldPending = "due"  // of pending calls: when to try next, in microseconds; -1 when judged
	fieldEval    = "evaluation"
	fieldWriter  = "writer" // nonce of the newest change to the evaluation
	fieldJudged  = "judged" // stamp of the newest verdict
	fieldSize    = "size"   // of texts, in bytes
	fieldState   = "state"
	fieldScore   = "score"
	fieldOK      = "ok"
	fieldSeconds = "seconds"
	fieldTokens  = "tokens"
	fieldSpace   = "workspace"
	fieldTool    = "tool"
	fieldKey     = "key"
	fieldInput   = "input"
	fieldOutput  = "output"
	fieldMade    = "create_time"
	fieldTime    = "time"
	fieldMeta    = "metadata"
	fieldHash    = "hash"
	fieldRun     = "run" // what stands for the call's run; see runID
)

// The field of a content's point: the life of its tool. It also has fieldStamp, of
// the call that brought it.
const fieldContent = "content_of"

// encodeCall gives the point of a call without what its acceptance adds.
func encodeCall(c *memoryd.Call) payload {
	p := payload{
		fieldSpace: word(c.Workspace), fieldTool: word(c.Tool), fieldKey: word(c.Key.String()),
		fieldSeq: integer(c.Seq), fieldOK: flag(c.Success), fieldTokens: integer(c.TokenCost),
	}
	if c.Input != nil {
		p[fieldInput] = text(string(c.Input))
	}
	if c.Metadata != nil {
		p[fieldMeta] = text(string(c.Metadata))
	}
	p.putText(fieldOutput, c.Output)
	p.putText(fieldMade, c.CreateTime)
	p.putText(fieldHash, c.Hash)
	p.putTime(fieldTime, c.Time)
	if run := c.Run(); run != "" {
		p[fieldRun] = word(runID(c.Workspace, run))
	}
	p.putFloat(fieldSeconds, c.TimeCost)
	p.putInt(fieldSize, int64(len(c.Input)+len(c.Output)+len(c.Metadata)+len(c.CreateTime)+len(c.Hash)+
		len(c.Evaluation.Summary)+len(c.Evaluation.Evaluation)+len(c.Evaluation.LastError)))
	maps.Copy(p, encodeEvaluation(&c.Evaluation))
	return p
}

// decodeCall reads a call whose point holds all fields.
func decodeCall(p payload) (memoryd.Call, error) {
	r := &reader{payload: p}
	c := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: p.word(fieldSpace), Tool: p.word(fieldTool)},
		Seq:     p.int(fieldSeq), Output: r.text(fieldOutput), Success: p.bool(fieldOK),
		TimeCost: r.float(fieldSeconds), TokenCost: p.int(fieldTokens), CreateTime: r.text(fieldMade),
		Time: p.time(fieldTime), Hash: r.text(fieldHash), Evaluation: decodeEvaluation(r),
	}
	if p.has(fieldInput) {
		c.Input = json.RawMessage(r.text(fieldInput))
	}
	if p.has(fieldMeta) {
		c.Metadata = json.RawMessage(r.text(fieldMeta))
	}
	var err error
	c.Key, err = memoryd.ParseCallKey(p.word(fieldKey))
	r.keep(err)
	return c, damaged("call", r.err)
}

// dueAt is fieldPending of a pending call that may be tried at t.
func dueAt(t time.Time) int64 { return min(max(0, unixMicro(t)), 1<<52) }

func unixMicro(t time.Time) int64 {
	if t.Year() > 9999 {
		return math.MaxInt64
	}
	return t.UnixMicro()
}

// include asks for some fields of a point.
func include(fields ...string) *qd.WithPayloadSelector { return qd.NewWithPayloadInclude(fields...) }

// encodeEvaluation gives the fields that a verdict writes.
func encodeEvaluation(e *memoryd.Evaluation) payload {
	in := payload{}
	in.putText("summary", e.Summary)
	in.putText("text", e.Evaluation)
	in.putText("by", e.JudgedBy)
	in.putText("rule", e.Rule)
	in.putText("version", e.JudgeVersion)
	in.putTime("at", e.JudgedAt)
	in.putText("failed_checks", e.FailedChecks)
	in.putFloat("requests", e.Cost.Requests)
	in.putInt("prompt_tokens", e.Cost.PromptTokens)
	in.putInt("completion_tokens", e.Cost.CompletionTokens)
	in.putInt("attempts", int64(e.Attempts))
	in.putText("error", e.LastError)
	in.putTime("not_before", e.NotBefore)
	if o := e.Overruled; o != nil {
		old := payload{"state": word(string(o.State))}
		old.putFloat("score", o.Score)
		old.putText("by", o.JudgedBy)
		old.putText("rule", o.Rule)
		old.putText("version", o.JudgeVersion)
		in["overruled"] = object(old)
	}
	out := payload{
		fieldState: word(string(e.State)), fieldScore: decimal(e.Score), fieldPending: integer(-1), fieldEval: object(in),
	}
	if e.State == memoryd.Pending {
		out[fieldPending] = integer(dueAt(e.NotBefore))
	}
	return out
}

func decodeEvaluation(r *reader) memoryd.Evaluation {
	in := &reader{payload: r.object(fieldEval)}
	e := memoryd.Evaluation{
		State: memoryd.EvaluationState(r.word(fieldState)), Score: r.float(fieldScore),
		Summary: in.text("summary"), Evaluation: in.text("text"), JudgedBy: in.text("by"), Rule: in.text("rule"),
		JudgeVersion: in.text("version"), JudgedAt: in.time("at"), FailedChecks: in.text("failed_checks"),
		Cost: memoryd.Cost{
			Requests: in.float("requests"), PromptTokens: in.int("prompt_tokens"),
			CompletionTokens: in.int("completion_tokens"),
		},
		Attempts: int(in.int("attempts")), LastError: in.text("error"), NotBefore: in.time("not_before"),
	}
	if old := (&reader{payload: in.object("overruled")}); old.payload != nil {
		e.Overruled = &memoryd.Overruled{
			State: memoryd.EvaluationState(old.word("state")), Score: old.float("score"), JudgedBy: old.text("by"),
			Rule: old.text("rule"), JudgeVersion: old.text("version"),
		}
		r.keep(old.err)
	}
	r.keep(in.err)
	return e
}

// keep remembers the first damage.
func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

// damaged says what could not be read, if something could not.
func damaged(what string, err error) error {
	if err == nil {
		return nil
	}
	return memoryd.Wrap(memoryd.Internal, err, "a stored "+what+" is damaged")
}

// payload is what a point holds. Numbers that are not whole are kept as text:
// the server stores payloads as JSON, which has no infinities.
type payload map[string]*qd.Value

func integer(n int64) *qd.Value { return &qd.Value{Kind: &qd.Value_IntegerValue{IntegerValue: n}} }

func flag(b bool) *qd.Value { return &qd.Value{Kind: &qd.Value_BoolValue{BoolValue: b}} }

func word(s string) *qd.Value { return &qd.Value{Kind: &qd.Value_StringValue{StringValue: s}} }

// text keeps any bytes: what is not UTF-8 becomes {"base64": ...}.
func text(s string) *qd.Value {
	if utf8.ValidString(s) {
		return word(s)
	}
	return object(payload{"base64": word(base64.StdEncoding.EncodeToString([]byte(s)))})
}

func object(p payload) *qd.Value {
	return &qd.Value{Kind: &qd.Value_StructValue{StructValue: &qd.Struct{Fields: p}}}
}

func words(list []string) *qd.Value {
	values := make([]*qd.Value, len(list))
	for i, w := range list {
		values[i] = word(w)
	}
	return &qd.Value{Kind: &qd.Value_ListValue{ListValue: &qd.ListValue{Values: values}}}
}

func decimal(f float64) *qd.Value { return word(strconv.FormatFloat(f, 'g', -1, 64)) }

// putText, putInt and putFloat leave out what has its zero value.
func (p payload) putText(key, s string) {
	if s != "" {
		p[key] = text(s)
	}
}

func (p payload) putInt(key string, n int64) {
	if n != 0 {
		p[key] = integer(n)
	}
}

func (p payload) putFloat(key string, f float64) {
	if f != 0 || 1/f < 0 { // also the negative zero
		p[key] = decimal(f)
	}
}

// putTime keeps microseconds.
func (p payload) putTime(key string, t time.Time) {
	if !t.IsZero() {
		p[key] = integer(t.UnixMicro())
	}
}

func (p payload) int(key string) int64 { return p[key].GetIntegerValue() }

func (p payload) has(key string) bool { return p[key] != nil }

func (p payload) bool(key string) bool { return p[key].GetBoolValue() }

func (p payload) word(key string) string { return p[key].GetStringValue() }

func (p payload) object(key string) payload { return p[key].GetStructValue().GetFields() }

func (p payload) time(key string) time.Time {
	if !p.has(key) {
		return time.Time{}
	}
	return time.UnixMicro(p.int(key)).UTC()
}

func (p payload) words(key string) []string {
	var out []string
	for _, v := range p[key].GetListValue().GetValues() {
		out = append(out, v.GetStringValue())
	}
	return out
}

// reader reads what may be damaged, and remembers the first damage.
type reader struct {
	payload
	err error
}

func (r *reader) text(key string) string {
	v := r.payload[key]
	if v == nil {
		return ""
	}
	if _, plain := v.GetKind().(*qd.Value_StringValue); plain {
		return v.GetStringValue()
	}
	raw, err := base64.StdEncoding.DecodeString(payload(v.GetStructValue().GetFields()).word("base64"))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("the field %q is damaged: %w", key, err)
	}
	return string(raw)
}

func (r *reader) float(key string) float64 {
	if !r.has(key) {
		return 0
	}
	f, err := strconv.ParseFloat(r.word(key), 64)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("the field %q is damaged: %w", key, err)
	}
	return f
}
