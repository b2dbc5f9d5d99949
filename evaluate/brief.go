package evaluate

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/textsafe"
)

// brief is a call as the model is shown it: its input and output within caps,
// its costs and its flag, and what its setting was. Of the call's metadata it
// holds nothing else.
type brief struct {
	ID string `json:"id,omitempty"`
	setting
	// Input is the JSON as sent when it is valid and short, else an excerpt.
	Input   json.Marshaler `json:"input"`
	Output  excerpt        `json:"output"`
	Success bool           `json:"success"`
	// TimeCost and TokenCost are left out where they are unknown.
	TimeCost  float64 `json:"time_cost,omitzero"`
	TokenCost *int64  `json:"token_cost,omitzero"`
}

// newBrief takes from c what the model shall see: up to maxInput bytes of the
// input and maxOutput bytes of the output.
func newBrief(c *memoryd.Call, maxInput, maxOutput int) brief {
	b := brief{
		Input: inputOf(c.Input, maxInput), Output: excerptOf(c.Output, maxOutput),
		Success: c.Success, TimeCost: finite(c.TimeCost),
	}
	if tokens := c.TokenCost; tokens >= 0 {
		b.TokenCost = &tokens
	}
	return b
}

func inputOf(input json.RawMessage, limit int) json.Marshaler {
	var buf bytes.Buffer
	if len(input) <= 4*limit && utf8.Valid(input) && json.Compact(&buf, input) == nil && buf.Len() <= limit {
		return json.RawMessage(buf.Bytes())
	}
	return excerptOf(string(memoryd.InputText(input)), limit)
}

func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// shrunk is b with much smaller caps, for a model whose context was too small.
func (b brief) shrunk() brief {
	const limit = 300
	switch in := b.Input.(type) {
	case excerpt:
		b.Input = in.shrunk(limit)
	case json.RawMessage:
		if len(in) > limit {
			b.Input = excerptOf(string(in), limit)
		}
	}
	b.Output, b.setting = b.Output.shrunk(limit), setting{}
	return b
}

// excerpt is a text within a cap: all of it, or its head and its tail. In JSON a
// whole text is a string and a cut one an object, so that the text itself cannot
// forge the mark of the cut.
type excerpt struct {
	Head string `json:"head"`
	Cut  int    `json:"cut_bytes"` // how many bytes are missing in the middle
	Tail string `json:"tail"`
}

// excerptOf keeps two thirds of limit bytes from the beginning of s and one from
// its end, cut at character borders. It does not keep s alive.
func excerptOf(s string, limit int) excerpt {
	if len(s) <= limit {
		return excerpt{Head: strings.Clone(s)}
	}
	e := excerpt{Head: strings.Clone(textsafe.Head(s, limit*2/3)), Tail: strings.Clone(textsafe.Tail(s, limit/3))}
	e.Cut = len(s) - len(e.Head) - len(e.Tail)
	return e
}

func (e excerpt) shrunk(limit int) excerpt {
	if e.Cut == 0 {
		return excerptOf(e.Head, limit)
	}
	whole := len(e.Head) + e.Cut + len(e.Tail)
	e.Head, e.Tail = textsafe.Head(e.Head, limit*2/3), textsafe.Tail(e.Tail, limit/3)
	e.Cut = whole - len(e.Head) - len(e.Tail)
	return e
}

// MarshalJSON implements json.Marshaler.
func (e excerpt) MarshalJSON() ([]byte, error) {
	if e.Cut == 0 {
		return plainJSON(e.Head)
	}
	type cut excerpt
	return plainJSON(cut(e))
}

// plainJSON is JSON without the escapes that only HTML needs.
func plainJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(buf.Bytes()), err
}
