package compact

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"memoryd/internal/textsafe"
)

// shortArgs shortens long texts inside the JSON of a call's arguments. It stays
// JSON of the same structure: only string values change. changed is false when
// the arguments are not JSON or hold no long text.
func (t *tiers) shortArgs(args, id string, previewTokens int) (out []byte, changed bool) {
	limit := previewTokens * 2
	var b bytes.Buffer
	dec := jsontext.NewDecoder(strings.NewReader(args), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	enc := jsontext.NewEncoder(&b, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		name := kind == '{' && n%2 == 0
		switch dec.PeekKind() {
		case '{', '}', '[', ']':
			tok, err := dec.ReadToken()
			if err != nil || enc.WriteToken(tok) != nil {
				return nil, false
			}
			if dec.StackDepth() == 0 {
				return bytes.TrimSpace(b.Bytes()), changed
			}
			continue
		}
		if dec.StackDepth() == 0 {
			return nil, false // not an object or list
		}
		v, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		if v.Kind() == '"' && !name && len(v) > limit*2 {
			text, _ := jsontext.AppendUnquote(nil, v) // v is valid
			if short, ok := t.shortText(string(text), id, limit); ok {
				if enc.WriteToken(jsontext.String(short)) != nil {
					return nil, false
				}
				changed = true
				continue
			}
		}
		if enc.WriteValue(v) != nil {
			return nil, false
		}
	}
}

// shortText keeps the beginning and the end of a text.
func (t *tiers) shortText(text, id string, limit int) (string, bool) {
	note := fmt.Sprintf(" [memoryd %s: %d characters left out] ", id, utf8.RuneCountInString(text))
	keep := limit - len(note)
	if keep < 20 {
		return "", false
	}
	head := cutRunes(text, keep*2/3)
	tail := textsafe.TailRunes(text[len(head):], keep/3)
	if len(head)+len(tail)+len(note) >= len(text) {
		return "", false
	}
	return strings.ToValidUTF8(t.redact(head)+note+t.redact(tail), "�"), true
}
