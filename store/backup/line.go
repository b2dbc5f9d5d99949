package backup

import (
	rawjson "encoding/json"
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
	Manifest *manifest     `json:"manifest,omitzero"`
	Tool     *memoryd.Tool `json:"tool,omitzero"`
	Call     *memoryd.Call `json:"call,omitzero"`
	Record   *store.Record `json:"record,omitzero"`
	Trailer  *trailer      `json:"trailer,omitzero"`
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

// tidy drops the difference between no text and an empty one, which not every store keeps.
func tidy(c *memoryd.Call) {
	if len(c.Input) == 0 {
		c.Input = nil
	}
	if len(c.Metadata) == 0 {
		c.Metadata = nil
	}
}

// exactly is how lines are written: every value comes back as it was, whatever the
// store. A text that is not valid UTF-8 is {"base64":"..."}, an infinite number a
// text, an instant UTC with microseconds, a key hexadecimal, JSON of a caller's a text.
var exactly = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(writeText), json.MarshalToFunc(writeNumber), json.MarshalToFunc(writeInstant), json.MarshalToFunc(writeKey),
	json.MarshalToFunc(writeJSON)))

// strict is how they are read: unknown and repeated members and invalid UTF-8 are
// refused, names are compared exactly.
var strict = json.JoinOptions(json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(readText), json.UnmarshalFromFunc(readNumber), json.UnmarshalFromFunc(readInstant),
		json.UnmarshalFromFunc(readKey), json.UnmarshalFromFunc(readJSON))))

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

func writeJSON(enc *jsontext.Encoder, v rawjson.RawMessage) error {
	return json.MarshalEncode(enc, string(v))
}

func readJSON(dec *jsontext.Decoder, v *rawjson.RawMessage) error {
	var s string
	err := json.UnmarshalDecode(dec, &s)
	*v = rawjson.RawMessage(s)
	return err
}
