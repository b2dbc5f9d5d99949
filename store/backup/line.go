package backup

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"memoryd"
	"memoryd/store"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// line is one line of the file; exactly one member is set.
type line struct {
	Manifest *manifest   `json:"manifest,omitzero"`
	Tool     *toolLine   `json:"tool,omitzero"`
	Call     *callLine   `json:"call,omitzero"`
	Record   *recordLine `json:"record,omitzero"`
	Trailer  *trailer    `json:"trailer,omitzero"`
}

// The scopes of a file.
const (
	scopeStore     = "store"
	scopeWorkspace = "workspace"
)

type manifest struct {
	Format    string    `json:"format"`
	Version   int       `json:"version"`
	Scope     string    `json:"scope"`
	Workspace string    `json:"workspace,omitzero"`
	Created   time.Time `json:"created,omitzero"`
	Kinds     []string  `json:"kinds,omitempty"` // kinds of exported records
}

type trailer struct {
	Tools   int    `json:"tools"`
	Calls   int    `json:"calls"`
	Records int    `json:"records"`
	SHA256  string `json:"sha256"`
}

type toolLine struct {
	Workspace  string             `json:"workspace"`
	Tool       string             `json:"tool"`
	Calls      int                `json:"calls"` // the number of call lines that follow
	Lifetime   int64              `json:"lifetime"`
	Duplicates int64              `json:"duplicates"`
	Revision   int64              `json:"revision"`
	Created    time.Time          `json:"created,omitzero"`
	Modified   time.Time          `json:"modified,omitzero"`
	Guideline  *memoryd.Guideline `json:"guideline,omitzero"`
}

func toolLineOf(t *memoryd.Tool, calls int) *toolLine {
	l := &toolLine{
		Workspace: t.Workspace, Tool: t.Tool, Calls: calls, Lifetime: t.Lifetime, Duplicates: t.Duplicates,
		Revision: t.Revision, Created: t.Created, Modified: t.Modified,
	}
	if t.Guideline.Revision > 0 {
		l.Guideline = new(t.Guideline)
	}
	return l
}

func (l *toolLine) tool() memoryd.Tool {
	t := memoryd.Tool{
		ToolRef:  memoryd.ToolRef{Workspace: l.Workspace, Tool: l.Tool},
		Counters: memoryd.Counters{Lifetime: l.Lifetime, Duplicates: l.Duplicates},
		Kept:     l.Calls, Revision: l.Revision, Created: l.Created, Modified: l.Modified,
	}
	if l.Guideline != nil {
		t.Guideline = *l.Guideline
	}
	return t
}

type recordLine struct {
	Workspace string    `json:"workspace,omitzero"`
	Tool      string    `json:"tool,omitzero"`
	Kind      string    `json:"kind"`
	ID        string    `json:"id"`
	Expires   time.Time `json:"expires,omitzero"`
	Data      []byte    `json:"data"`
}

func recordLineOf(r *store.Record) *recordLine {
	return &recordLine{r.Workspace, r.Tool, r.Kind, r.ID, r.Expires, r.Data}
}

func (l *recordLine) record() store.Record {
	ref := memoryd.ToolRef{Workspace: l.Workspace, Tool: l.Tool}
	return store.Record{RecordKey: store.RecordKey{ToolRef: ref, Kind: l.Kind, ID: l.ID}, Expires: l.Expires, Data: l.Data}
}

type callLine struct {
	Key        memoryd.CallKey    `json:"key"`
	Seq        int64              `json:"seq"`
	Input      *string            `json:"input,omitzero"`
	Output     *string            `json:"output,omitzero"`
	Success    bool               `json:"success"`
	TimeCost   float64            `json:"time_cost"`
	TokenCost  int64              `json:"token_cost"`
	CreateTime string             `json:"create_time,omitzero"`
	Time       time.Time          `json:"time,omitzero"`
	Metadata   *string            `json:"metadata,omitzero"`
	Hash       string             `json:"hash,omitzero"`
	Evaluation memoryd.Evaluation `json:"evaluation"`
}

// stringOf is JSON text of a caller's as it was sent; nothing stands for nothing.
func stringOf(b []byte) *string {
	if len(b) == 0 {
		return nil
	}
	return new(string(b))
}

func bytesOf(s *string) []byte {
	if s == nil || *s == "" {
		return nil
	}
	return []byte(*s)
}

func callLineOf(c *memoryd.Call) *callLine {
	l := &callLine{
		Key: c.Key, Seq: c.Seq, Input: stringOf(c.Input), Output: stringOf([]byte(c.Output)), Success: c.Success,
		TimeCost: c.TimeCost, TokenCost: c.TokenCost, CreateTime: c.CreateTime, Time: c.Time,
		Metadata: stringOf(c.Metadata), Hash: c.Hash, Evaluation: c.Evaluation,
	}
	l.Evaluation.Score += 0 // of -0 that is 0
	return l
}

func (l *callLine) call(ref memoryd.ToolRef) memoryd.Call {
	return memoryd.Call{
		Key: l.Key, ToolRef: ref, Seq: l.Seq, Input: bytesOf(l.Input), Output: string(bytesOf(l.Output)),
		Success: l.Success, TimeCost: l.TimeCost, TokenCost: l.TokenCost, CreateTime: l.CreateTime,
		Time: l.Time, Metadata: bytesOf(l.Metadata), Hash: l.Hash, Evaluation: l.Evaluation,
	}
}

// exactly is how lines are written: every value comes back as it was, whatever the
// store. A text that is not valid UTF-8 is {"base64":"..."}, an infinite number a
// text, an instant UTC with microseconds, a key hexadecimal.
var exactly = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(writeText), json.MarshalToFunc(writeNumber), json.MarshalToFunc(writeInstant), json.MarshalToFunc(writeKey)))

// strict is how they are read: unknown and repeated members and invalid UTF-8 are
// refused, names are compared exactly.
var strict = json.JoinOptions(json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(readText), json.UnmarshalFromFunc(readNumber), json.UnmarshalFromFunc(readInstant),
		json.UnmarshalFromFunc(readKey))))

type base64Text struct {
	Base64 []byte `json:"base64"`
}

func writeText(enc *jsontext.Encoder, s string) error {
	if utf8.ValidString(s) {
		return errors.ErrUnsupported // the usual way
	}
	return json.MarshalEncode(enc, base64Text{[]byte(s)})
}

func readText(dec *jsontext.Decoder, s *string) error {
	if dec.PeekKind() != '{' {
		return errors.ErrUnsupported
	}
	var b base64Text
	err := json.UnmarshalDecode(dec, &b)
	*s = string(b.Base64)
	return err
}

func writeNumber(enc *jsontext.Encoder, f float64) error {
	switch {
	case math.IsInf(f, 0):
		return enc.WriteToken(jsontext.String(strconv.FormatFloat(f, 'g', -1, 64)))
	case f == 0:
		return enc.WriteToken(jsontext.Float(0)) // not every store keeps the sign of a zero
	}
	return errors.ErrUnsupported
}

func readNumber(dec *jsontext.Decoder, f *float64) (err error) {
	if dec.PeekKind() != '"' {
		return errors.ErrUnsupported
	}
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if *f, err = strconv.ParseFloat(token.String(), 64); err != nil || !math.IsInf(*f, 0) {
		return fmt.Errorf("%q is not a number", token.String())
	}
	return nil
}

// instantOf is a time as it is kept: what stores do not keep is dropped.
func instantOf(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}

// writeInstant writes RFC 3339 where that can tell the time (years 0 to 9999),
// else microseconds since 1970.
func writeInstant(enc *jsontext.Encoder, t time.Time) error {
	t = instantOf(t)
	if y := t.Year(); y < 0 || y > 9999 {
		return enc.WriteToken(jsontext.Int(t.UnixMicro()))
	}
	return enc.WriteToken(jsontext.String(t.Format(time.RFC3339Nano)))
}

func readInstant(dec *jsontext.Decoder, t *time.Time) error {
	if dec.PeekKind() == '0' {
		var n int64
		err := json.UnmarshalDecode(dec, &n)
		*t = time.UnixMicro(n).UTC()
		return err
	}
	var s string
	if err := json.UnmarshalDecode(dec, &s); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("%q is not a time", s)
	}
	*t = instantOf(at)
	return nil
}

func writeKey(enc *jsontext.Encoder, k memoryd.CallKey) error {
	return enc.WriteToken(jsontext.String(k.String()))
}

func readKey(dec *jsontext.Decoder, k *memoryd.CallKey) error {
	var s string
	err := json.UnmarshalDecode(dec, &s)
	if err == nil {
		*k, err = memoryd.ParseCallKey(s)
	}
	return err
}
