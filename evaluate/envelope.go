package evaluate

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd/internal/textsafe"
)

// doc is the data block of a request. Everything in it comes from callers and
// tools and is not to be trusted, the tool's name included.
type doc struct {
	Tool    string         `json:"tool"`
	About   json.Marshaler `json:"tool_description,omitempty"` // where all calls say the same
	Earlier []example      `json:"earlier_verdicts,omitempty"`
	Call    *brief         `json:"call,omitempty"`
	Calls   []brief        `json:"calls,omitempty"`
}

// document gives the data block's JSON. Several briefs get the ids c1, c2, ….
func document(tool string, earlier []example, briefs []brief) []byte {
	briefs = slices.Clone(briefs)
	d := doc{Tool: tool, About: shared(briefs), Earlier: earlier}
	if len(briefs) == 1 {
		d.Call = &briefs[0]
	} else {
		for i, b := range briefs {
			b.ID = idOf(i)
			d.Calls = append(d.Calls, b)
		}
	}
	text, err := plainJSON(d)
	if err != nil {
		// A brief holds only what can be encoded, so this is a defect; the
		// worker turns the panic into a failed attempt.
		panic(fmt.Sprintf("evaluate: encode the data block: %v", err))
	}
	return escapeHidden(text)
}

func idOf(i int) string { return fmt.Sprintf("c%d", i+1) }

// escapeHidden rewrites JSON text so that it means the same but shows nothing
// that could be mistaken for markup or overlooked: each "<" (which begins tags
// and chat-template tokens) and each invisible character becomes its \u escape.
// In valid JSON these can only stand inside strings.
func escapeHidden(text []byte) []byte {
	text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r != '<' && (r < utf8.RuneSelf && r != 0x7F || !textsafe.Invisible(r)):
			out = append(out, text[:size]...)
		case r > 0xFFFF:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+(r>>10), 0xDC00+(r&0x3FF))
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

// The two lines around the data block, each with the nonce.
const (
	openMark  = "<<<DATA %s>>>"
	closeMark = "<<<END %s>>>"
)

// envelope puts the data, one line of JSON without "<", between two lines that
// carry a fresh random nonce which does not occur in the data. The data can
// hold neither the closing line nor any other line of its own.
func envelope(data []byte) (text, nonce string) {
	for nonce == "" || bytes.Contains(data, []byte(nonce)) {
		nonce = rand.Text()
	}
	var b strings.Builder
	fmt.Fprintf(&b, openMark+"\n", nonce)
	b.Write(data)
	fmt.Fprintf(&b, "\n"+closeMark, nonce)
	return b.String(), nonce
}
