package memoryd

import (
	"bytes"
	"cmp"
	"crypto/md5" //nolint:gosec // call_hash is MD5 by the wire format; it guards nothing
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CallKey identifies a call: two calls with the same key in the same workspace are one call that
// was sent twice. See Identity.
type CallKey [16]byte

// String returns the key as 32 lower-case hexadecimal digits.
func (k CallKey) String() string { return hex.EncodeToString(k[:]) }

// ParseCallKey reads what String returns.
func ParseCallKey(text string) (k CallKey, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || copy(k[:], raw) != len(raw) || len(raw) != len(k) {
		return k, fmt.Errorf("%.40q is not the key of a call: %d hexadecimal digits", text, 2*len(k))
	}
	return k, nil
}

// Call is one recorded tool invocation. The JSON names are those of exports.
type Call struct {
	Key     CallKey `json:"key"`
	ToolRef `json:"-"`

	// Seq numbers the calls of a tool, from 1, in the order in which the store accepted them. The
	// store sets it; 0 means not stored.
	Seq int64 `json:"seq"`

	// Input is the JSON text as the caller sent it: an object or a string.
	Input json.RawMessage `json:"input,omitzero"`
	// Output is the output of the tool, truncated to the configured limit.
	Output string `json:"output,omitzero"`
	// Success is what the caller reported.
	Success bool `json:"success"`
	// TimeCost is the duration in seconds; 0 means unknown.
	TimeCost float64 `json:"time_cost"`
	// TokenCost is the number of tokens; -1 means unknown.
	TokenCost int64 `json:"token_cost"`
	// CreateTime is the caller's text, or the server's clock in the form "2006-01-02 15:04:05".
	// Time is the parsed instant.
	CreateTime string    `json:"create_time,omitzero"`
	Time       time.Time `json:"time,omitzero"`
	// Metadata is the caller's JSON object, as sent; nil means {}.
	Metadata json.RawMessage `json:"metadata,omitzero"`
	// Hash is the call_hash of the wire format; see HashOf.
	Hash string `json:"hash,omitzero"`

	Evaluation Evaluation `json:"evaluation"`
}

// Sample holds what statistics need of a call, without its input and output.
type Sample struct {
	Seq       int64
	Success   bool
	State     EvaluationState
	Score     float64
	TimeCost  float64 // seconds; 0 means unknown
	TokenCost int64   // -1 means unknown
}

// Sample returns what statistics need of the call.
func (c *Call) Sample() Sample {
	return Sample{
		Seq: c.Seq, Success: c.Success, State: c.Evaluation.State, Score: c.Evaluation.Score,
		TimeCost: c.TimeCost, TokenCost: c.TokenCost,
	}
}

// Run returns the run that the call belongs to; see RunOf.
func (c *Call) Run() string { return RunOf(c.Metadata) }

// RunOf returns the run that the metadata of a call name: trajectory_id, otherwise session_id. It
// is a text or a number of at most MaxNameBytes; "" if there is none.
func RunOf(metadata json.RawMessage) string {
	n := NamesOf(metadata)
	return cmp.Or(n.Trajectory, n.Session)
}

// Names are the run, the session and the agent that the metadata of a call name: texts or numbers
// of at most MaxNameBytes, "" where there is none.
type Names struct{ Trajectory, Session, Agent string }

// NamesOf reads the names in the metadata of a call. The first of a name counts.
func NamesOf(metadata json.RawMessage) (n Names) {
	if !bytes.Contains(metadata, []byte(`_id`)) {
		return n
	}
	dec := BorrowDecoder(metadata)
	defer ReturnDecoder(dec)
	if dec.PeekKind() != '{' {
		return n
	}
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() == '"' {
		token, failed := dec.ReadToken()
		if failed != nil {
			break
		}
		var into *string
		switch token.String() {
		case "trajectory_id":
			into = &n.Trajectory
		case "session_id":
			into = &n.Session
		case "agent_id":
			into = &n.Agent
		}
		if kind := dec.PeekKind(); into == nil || kind != '"' && kind != '0' {
			err = dec.SkipValue()
			continue
		}
		if token, err = dec.ReadToken(); err == nil && *into == "" && len(token.String()) <= MaxNameBytes {
			*into = token.String()
		}
	}
	return n
}

// Identity decides whether two calls that were sent are the same call.
type Identity struct {
	ToolRef
	Input      json.RawMessage
	Output     string
	CreateTime string // as the caller sent it; "" if missing
	ToolCallID string // the result of ToolCallID
	// Source is the id of the API key that recorded the call; "" without one. It matters for a
	// call_ref only: another key that guesses a reference cannot turn a call into a duplicate.
	Source string
	// RequestKey and Index identify an item by the Idempotency-Key header of its request and its
	// index there. They count only for items without CreateTime and ToolCallID.
	RequestKey string
	Index      int
}

// Identity returns the identity that the call has by itself.
func (c *Call) Identity() Identity {
	return Identity{
		ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime, ToolCallID: ToolCallID(c.Metadata),
	}
}

// refMark begins a ToolCallID that is a metadata.call_ref: it alone, in its
// workspace and of its source, is the identity of the call, so that accounts of one call that differ in
// the tool's name, the output or the time are known as one.
const refMark = "\x00ref:"

// RefID returns the ToolCallID of a call_ref.
func RefID(ref string) string { return refMark + ref }

// Key returns the first 16 bytes of the SHA-256 of all parts, each prefixed by its length. The
// input is canonicalised, so key order and white space do not matter.
func (id Identity) Key() CallKey {
	key, _ := id.KeyAndHash()
	return key
}

// KeyAndHash returns Key and HashOf, and parses the input only once.
func (id Identity) KeyAndHash() (key CallKey, hash string) {
	withHashedText(id.Input, id.Output, func(text []byte, n int) { key, hash = id.key(text[:n], text[n+1:]), hashOf(text) })
	return key, hash
}

func (id Identity) key(input, output []byte) CallKey {
	h := sha256.New()
	var n [8]byte
	part := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part([]byte(id.Workspace))
	if strings.HasPrefix(id.ToolCallID, refMark) {
		part([]byte(id.ToolCallID))
		if id.Source != "" {
			part([]byte(id.Source))
		}
		var k CallKey
		copy(k[:], h.Sum(nil))
		return k
	}
	part([]byte(id.Tool))
	part(input)
	part(output)
	part([]byte(id.CreateTime))
	part([]byte(id.ToolCallID))
	if id.CreateTime == "" && id.ToolCallID == "" {
		part([]byte(id.RequestKey))
		binary.BigEndian.PutUint64(n[:], uint64(id.Index))
		h.Write(n[:])
	}
	var k CallKey
	copy(k[:], h.Sum(nil))
	return k
}

// SumOf returns the SHA-256 of all parts, each prefixed by its length.
func SumOf(parts ...string) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	h.Sum(sum[:0])
	return sum
}

// InputText is the form of a call's input that call_hash is computed from. A string is used
// as it is. An object is JSON with keys sorted at every level by code point, the separators
// ", " and ": ", everything outside printable ASCII as lower-case \uXXXX, integers as they
// are and other numbers in the shortest form that keeps a ".0": what Python's
// json.dumps(value, sort_keys=True) writes, which existing clients use.
//
// Input that is not valid JSON is used as it is.
func InputText(input json.RawMessage) []byte { return appendInputText(nil, input) }

func appendInputText(b []byte, input json.RawMessage) []byte {
	if len(bytes.TrimSpace(input)) == 0 {
		return b
	}
	dec := BorrowDecoder(input)
	defer ReturnDecoder(dec)
	if dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return append(b, input...)
		}
		return append(b, tok.String()...)
	}
	out, err := appendCanonical(slices.Grow(b, len(input)+len(input)/4), dec)
	if err != nil {
		return append(b, input...)
	}
	return out
}

// HashOf returns the call_hash of the wire format: the lower-case hexadecimal MD5 of the input
// text, a vertical bar and the output.
func HashOf(input json.RawMessage, output string) (hash string) {
	withHashedText(input, output, func(text []byte, _ int) { hash = hashOf(text) })
	return hash
}

// withHashedText calls use with the input text, a vertical bar and the output; n is
// the length of the first. The text is used again afterwards.
func withHashedText(input json.RawMessage, output string, use func(text []byte, n int)) {
	buffer := hashed.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	text := appendInputText((*buffer)[:0], input)
	n := len(text)
	text = append(append(text, '|'), output...)
	use(text, n)
	if cap(text) <= maxBuffer {
		*buffer = text
		hashed.Put(buffer)
	}
}

// hashed are buffers for texts that are hashed.
var hashed = sync.Pool{New: func() any { return new([]byte) }}

func hashOf(text []byte) string {
	sum := md5.Sum(text) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// ToolCallID returns the caller's id of a call: the member tool_call_id of its metadata, or
// call_ref, which takes precedence over all other members (see Identity); "" if there is neither.
func ToolCallID(metadata []byte) string {
	if !bytes.Contains(metadata, []byte("tool_call_id")) && !bytes.Contains(metadata, []byte("call_ref")) {
		return ""
	}
	var known struct {
		ID  jsontext.Value `json:"tool_call_id"`
		Ref jsontext.Value `json:"call_ref"`
	}
	if jsonv2.Unmarshal(metadata, &known, callText) != nil {
		return ""
	}
	if known.Ref.Kind() == '"' && len(known.Ref) > len(`""`) {
		return RefID(Unquote(known.Ref))
	}
	if known.ID.Kind() != '"' {
		return ""
	}
	return Unquote(known.ID)
}

// EvaluationState is the progress of a call's evaluation.
type EvaluationState string

// The states. Pending evaluations are retried in the background. Failed ones are final unless a
// person or a forced run asks again.
const (
	Pending EvaluationState = "pending"
	Judged  EvaluationState = "judged"
	Failed  EvaluationState = "failed"
)

// The three scores that a judge may give.
const (
	ScoreFailure = 0.0 // execution failed, or the parameters were wrong
	ScorePartial = 0.5 // it ran, with problems
	ScoreSuccess = 1.0 // it ran, and the parameters were right
)

// The values of Evaluation.JudgedBy. The prefixes for models and people are followed by a name.
const (
	JudgedByRules = "rules"
	JudgedByCache = "cache"

	PersonPrefix = "person:"
	// KindPrefix marks a verdict on the kind of the output; another value follows it, as in
	// "kind:llm:<model>" or "kind:person:<name>".
	KindPrefix = "kind:"
)

// Evaluation is the verdict of a judge on a call. The JSON names are those of exports.
type Evaluation struct {
	State EvaluationState `json:"state"`
	// Score is one of the three scores. It is valid only if State is Judged.
	Score float64 `json:"score,omitzero"`
	// Summary says in one line what happened. Evaluation gives the reasons.
	Summary    string `json:"summary,omitzero"`
	Evaluation string `json:"evaluation,omitzero"`
	// JudgedBy is "rules", "cache", "llm:<model>" or "person:<name>"; "" while
	// pending.
	JudgedBy string `json:"judged_by,omitzero"`
	// Rule is the name of the rule that decided, if one did.
	Rule string `json:"rule,omitzero"`
	// JudgeVersion identifies the judge's model, prompt and settings, to tell the verdicts of
	// different judges apart.
	JudgeVersion string `json:"judge_version,omitzero"`
	// JudgedAt is when the verdict was reached.
	JudgedAt time.Time `json:"judged_at,omitzero"`
	// FailedChecks lists, separated by spaces, the checks of the model's prompt that the call did
	// not pass.
	FailedChecks string `json:"failed_checks,omitzero"`
	// Cost is the cost of the model requests for this call.
	Cost Cost `json:"cost,omitzero"`
	// Overruled is the verdict that a person replaced; nil if none.
	Overruled *Overruled `json:"overruled,omitzero"`

	// Attempts counts failed attempts. LastError is the error of the last one, and NotBefore is the
	// earliest time of the next.
	Attempts  int       `json:"attempts,omitzero"`
	LastError string    `json:"last_error,omitzero"`
	NotBefore time.Time `json:"not_before,omitzero"`
}

// Good reports a verdict of success. Without a verdict it is false, and so are Partial and Bad.
func (e *Evaluation) Good() bool { return e.State == Judged && e.Score >= ScoreSuccess }

// Partial reports a verdict between success and failure.
func (e *Evaluation) Partial() bool { return e.State == Judged && !e.Good() && !e.Bad() }

// Bad reports a verdict of failure.
func (e *Evaluation) Bad() bool { return e.State == Judged && e.Score <= ScoreFailure }

// Reported reports that rules used what the call itself says about its outcome: a flag or the
// exit status of a process.
func (e *Evaluation) Reported() bool {
	return e.Rule == "success-flag" || e.Rule == "exit-code" || e.Rule == "body-flag"
}

// FoundNothing reports that rules scored a call 0.5 because it returned nothing, or a result without content.
func (e *Evaluation) FoundNothing() bool {
	return e.Partial() && (e.Rule == "empty-result" || e.Rule == "empty-output")
}

// Settlement is the evaluation of one stored call.
type Settlement struct {
	ToolRef
	Key        CallKey
	Evaluation Evaluation
	// Amendment is what else to change in the call; nil changes nothing. Only
	// store.Verdicts.Override accepts one.
	Amendment *Amendment
}

// Amendment replaces parts of a stored call after another source reported the same call. Key,
// number, time, tool and run stay as they were.
type Amendment struct {
	Input    json.RawMessage
	Output   string
	Success  bool
	TimeCost float64
	Metadata json.RawMessage
	Hash     string
}

// Apply replaces the amended members of the call.
func (a *Amendment) Apply(c *Call) {
	if a != nil {
		c.Input, c.Output, c.Success, c.TimeCost, c.Metadata, c.Hash = slices.Clone(a.Input), a.Output, a.Success, a.TimeCost,
			slices.Clone(a.Metadata), a.Hash
	}
}

// AmendmentOf returns an amendment with the members of the call.
func AmendmentOf(c *Call) *Amendment {
	return &Amendment{c.Input, c.Output, c.Success, c.TimeCost, c.Metadata, c.Hash}
}

// Cost is a call's share of model requests. Calls can share a request, and a call can need several.
type Cost struct {
	Requests         float64 `json:"requests,omitzero"`
	PromptTokens     int64   `json:"prompt_tokens,omitzero"`
	CompletionTokens int64   `json:"completion_tokens,omitzero"`
}

// Add returns the sum of both costs.
func (c Cost) Add(o Cost) Cost {
	return Cost{c.Requests + o.Requests, c.PromptTokens + o.PromptTokens, c.CompletionTokens + o.CompletionTokens}
}

// Overruled is a verdict that a person corrected. It is kept to measure the judge.
type Overruled struct {
	State        EvaluationState `json:"state"`
	Score        float64         `json:"score"`
	JudgedBy     string          `json:"judged_by,omitzero"`
	Rule         string          `json:"rule,omitzero"`
	JudgeVersion string          `json:"judge_version,omitzero"`
}

// PendingEvaluation returns the evaluation of a call that has not been judged.
func PendingEvaluation() Evaluation { return Evaluation{State: Pending} }
