package backup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"memoryd"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exactly is how lines are written: every value comes back as it was, whatever the
// store. A text that is not valid UTF-8 is {"base64":"..."}, an infinite number a
// text, an instant UTC with microseconds, a key hexadecimal.
var exactly = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(writeText), json.MarshalToFunc(writeNumber), json.MarshalToFunc(writeInstant), json.MarshalToFunc(writeKey),
	json.MarshalToFunc(func(enc *jsontext.Encoder, c memoryd.Cost) error { return json.MarshalEncode(enc, costLine(c)) }),
	json.MarshalToFunc(func(enc *jsontext.Encoder, o memoryd.Overruled) error {
		return json.MarshalEncode(enc, overruledLine(o))
	})))

// strict is how they are read: unknown and repeated members and invalid UTF-8 are
// refused, names are compared exactly.
var strict = json.JoinOptions(json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(readText), json.UnmarshalFromFunc(readNumber), json.UnmarshalFromFunc(readInstant), json.UnmarshalFromFunc(readKey),
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, c *memoryd.Cost) error { return json.UnmarshalDecode(dec, (*costLine)(c)) }),
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, o *memoryd.Overruled) error {
			return json.UnmarshalDecode(dec, (*overruledLine)(o))
		}))))

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
	if err := json.UnmarshalDecode(dec, &s); err != nil {
		return err
	}
	if len(s) != hex.EncodedLen(len(k)) {
		return fmt.Errorf("%.40q is not a key", s)
	}
	_, err := hex.Decode(k[:], []byte(s))
	return err
}
