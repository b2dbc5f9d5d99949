package api

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"memoryd/api/wire"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// appendAdded appends the JSON of the answer to an add, as jsonv2 would write it: the answer holds
// the texts of the request once more, and reflection took four times as long.
func appendAdded(b []byte, r *wire.AddResponse) ([]byte, error) {
	const list = `{"memory_list":[`
	counts := *r.Metadata
	counts.MemoryList = nil
	rest, err := jsonv2.Marshal(counts, encoding)
	if err != nil {
		return b, err
	}
	b = strconv.AppendBool(appendMember(b, `{"answer":`, r.Answer, `,"success":`), r.Success)
	b = append(b, `,"messages":[],"metadata":`+list...)
	for i := range r.Metadata.MemoryList {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendMemory(b, &r.Metadata.MemoryList[i]); err != nil {
			return b, err
		}
	}
	return append(append(b, rest[len(list):]...), '}'), nil
}

func appendMemory(b []byte, m *wire.Memory) ([]byte, error) {
	b = appendMember(b, `{"workspace_id":`, m.WorkspaceID, `,"memory_id":`)
	b = appendMember(b, ``, m.MemoryID, `,"memory_type":`)
	b = appendMember(b, ``, m.MemoryType, `,"when_to_use":`)
	b = appendMember(b, ``, m.WhenToUse, `,"content":`)
	b = appendFloat(appendMember(b, ``, m.Content, `,"score":`), m.Score)
	b = appendMember(b, `,"time_created":`, m.TimeCreated, `,"time_modified":`)
	b = appendMember(b, ``, m.TimeModified, `,"author":`)
	b = appendMember(b, ``, m.Author, `,"tool_call_results":[`)
	var err error
	for i := range m.ToolCallResults {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendCall(b, &m.ToolCallResults[i]); err != nil {
			return b, err
		}
	}
	rest, err := jsonv2.Marshal(m.Metadata, encoding)
	b = append(append(b, `],"metadata":`...), rest...)
	return append(b, '}'), err
}

func appendCall(b []byte, c *wire.Call) (_ []byte, err error) {
	b = appendMember(b, `{"tool_name":`, c.ToolName, `,"input":`)
	if b, err = jsontext.AppendFormat(b, c.Input, encoding); err != nil {
		return b, err
	}
	b = strconv.AppendBool(appendMember(b, `,"output":`, c.Output, `,"success":`), c.Success)
	b = appendFloat(append(b, `,"time_cost":`...), c.TimeCost)
	b = strconv.AppendInt(append(b, `,"token_cost":`...), c.TokenCost, 10)
	b = appendMember(b, `,"create_time":`, c.CreateTime, `,"metadata":`)
	if b, err = jsontext.AppendFormat(b, c.Metadata, encoding); err != nil {
		return b, err
	}
	b = appendMember(b, `,"summary":`, c.Summary, `,"evaluation":`)
	b = appendFloat(appendMember(b, ``, c.Evaluation, `,"score":`), c.Score)
	b = appendMember(b, `,"call_hash":`, c.CallHash, `,"is_summarized":`)
	return append(strconv.AppendBool(b, c.IsSummarized), '}'), nil
}

// appendMember appends the name of a member, its text, and the name of the next one.
func appendMember(b []byte, name, text, next string) []byte {
	return append(appendText(append(b, name...), text), next...)
}

func appendFloat(b []byte, f wire.Float) []byte {
	if v := float64(f); v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.AppendFloat(b, v, 'f', 1, 64)
	}
	return append(b, jsontext.Float(float64(f)).String()...)
}

// appendText is jsontext.AppendQuote, which looks at each byte by itself.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		n := plainBytes(s)
		if b, s = append(b, s[:n]...), s[n:]; s == "" {
			return append(b, '"')
		}
		if at := strings.IndexByte("\"\\\n\t\r", s[0]); at >= 0 {
			b, s = append(b, '\\', `"\ntr`[at]), s[1:]
			continue
		}
		n = 1
		for n < len(s) && s[n] >= utf8.RuneSelf {
			n++
		}
		quoted, _ := jsontext.AppendQuote(b, s[:n]) // what is no UTF-8 is replaced
		quoted = append(quoted[:len(b)], quoted[len(b)+1:]...)
		b, s = quoted[:len(quoted)-1], s[n:]
	}
}

// plainBytes is how long the beginning of s is that JSON writes as it stands, all of it ASCII.
func plainBytes(s string) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^ones*'"', w^ones*'\\'
		if odd := (w | (w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash) & high; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}
