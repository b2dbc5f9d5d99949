package qdrant

import (
	"encoding/json"
	"math"
	"time"

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

// The field of a content's point: the life of its tool. It also has fieldStamp
// and, as fieldOwner, the call that brought it.
const fieldContent = "content_of"

// bodyFields is what goes when the history lets a call go, the large ones first: a
// server writes the point again for each.
var bodyFields = [...]string{
	fieldOutput, fieldInput, fieldMeta, fieldEval, fieldKept, fieldSeq, fieldKeep, fieldPending, fieldWriter,
	fieldJudged, fieldSize, fieldState, fieldScore, fieldOK, fieldSeconds, fieldTokens, fieldTool, fieldKey,
	fieldMade, fieldTime, fieldHash, fieldSpace, fieldRun,
}

// narrowFields is what a look over a history needs.
var narrowFields = [...]string{
	fieldSeq, fieldStamp, fieldKeep, fieldPending, fieldJudged, fieldSize, fieldState, fieldScore, fieldOK,
	fieldSeconds, fieldTokens, fieldVerdict,
}

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
	for k, v := range encodeEvaluation(&c.Evaluation) {
		p[k] = v
	}
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
	key, err := parseKey(p.word(fieldKey))
	if err != nil {
		return c, memoryd.Wrap(memoryd.Internal, err, "a stored call is damaged")
	}
	c.Key = key
	if r.err != nil {
		return c, memoryd.Wrap(memoryd.Internal, r.err, "a stored call is damaged")
	}
	return c, nil
}

func decodeSample(p payload) (memoryd.Sample, error) {
	r := &reader{payload: p}
	out := memoryd.Sample{
		Seq: p.int(fieldSeq), Success: p.bool(fieldOK), State: memoryd.EvaluationState(p.word(fieldState)),
		Score: r.float(fieldScore), TimeCost: r.float(fieldSeconds), TokenCost: p.int(fieldTokens),
	}
	if r.err != nil {
		return out, memoryd.Wrap(memoryd.Internal, r.err, "a stored call is damaged")
	}
	return out, nil
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
