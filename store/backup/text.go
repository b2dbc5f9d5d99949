package backup

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"memoryd"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// strict is how lines are read: unknown and repeated members and invalid UTF-8
// are refused, names are compared exactly.
var strict = json.JoinOptions(json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false))

// text is a string that may hold any bytes.
type text string

type base64Text struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSONTo implements json.MarshalerTo.
func (t text) MarshalJSONTo(enc *jsontext.Encoder) error {
	if utf8.ValidString(string(t)) {
		return enc.WriteToken(jsontext.String(string(t)))
	}
	return json.MarshalEncode(enc, base64Text{[]byte(t)})
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '{' {
		var b base64Text
		err := json.UnmarshalDecode(dec, &b)
		*t = text(b.Base64)
		return err
	}
	var s string
	err := json.UnmarshalDecode(dec, &s)
	*t = text(s)
	return err
}

// raw is JSON text of a caller's as it was sent; nothing stands for nothing.
func raw(b []byte) *text {
	if len(b) == 0 {
		return nil
	}
	return new(text(b))
}

func (t *text) bytes() []byte {
	if t == nil || *t == "" {
		return nil
	}
	return []byte(*t)
}

// number is a float that may be infinite.
type number float64

// numberOf drops the sign of a zero, which not every store keeps.
func numberOf(f float64) number {
	if f == 0 {
		return 0
	}
	return number(f)
}

// MarshalJSONTo implements json.MarshalerTo.
func (n number) MarshalJSONTo(enc *jsontext.Encoder) error {
	if math.IsInf(float64(n), 0) {
		return enc.WriteToken(jsontext.String(strconv.FormatFloat(float64(n), 'g', -1, 64)))
	}
	return enc.WriteToken(jsontext.Float(float64(n)))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '"' {
		return json.UnmarshalDecode(dec, (*float64)(n))
	}
	var s string
	if err := json.UnmarshalDecode(dec, &s); err != nil {
		return err
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !math.IsInf(f, 0) {
		return fmt.Errorf("%q is not a number", s)
	}
	*n = number(f)
	return nil
}

// instant is a time in UTC with microseconds: RFC 3339 where that can write it
// (years 0 to 9999), else microseconds since 1970.
type instant time.Time

// instantOf drops what stores do not keep.
func instantOf(t time.Time) instant {
	if t.IsZero() {
		return instant{}
	}
	return instant(time.UnixMicro(t.UnixMicro()).UTC())
}

// IsZero is for omitzero.
func (i instant) IsZero() bool { return time.Time(i).IsZero() }

// MarshalJSONTo implements json.MarshalerTo.
func (i instant) MarshalJSONTo(enc *jsontext.Encoder) error {
	t := time.Time(i)
	if y := t.Year(); y < 0 || y > 9999 {
		return enc.WriteToken(jsontext.Int(t.UnixMicro()))
	}
	return enc.WriteToken(jsontext.String(t.Format(time.RFC3339Nano)))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (i *instant) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '0' {
		var n int64
		err := json.UnmarshalDecode(dec, &n)
		*i = instant(time.UnixMicro(n).UTC())
		return err
	}
	var s string
	if err := json.UnmarshalDecode(dec, &s); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("%q is not a time", s)
	}
	*i = instantOf(t)
	return nil
}

// key is a call's key as 32 hexadecimal digits.
type key memoryd.CallKey

// MarshalText implements encoding.TextMarshaler.
func (k key) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *key) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(k)) {
		return fmt.Errorf("%.40q is not a key", b)
	}
	_, err := hex.Decode(k[:], b)
	return err
}
