package llm

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memoryd"

	"github.com/sashabaranov/go-openai"
)

// format is how an answer that fits a schema is asked for: the rungs of the
// ladder, best first.
type format int

const (
	formatSchema format = iota // json_schema, strict
	formatObject               // json_object, the schema in the prompt
	formatText                 // the schema in the prompt
)

// dialect is the form of request that a model's server takes. Each model keeps
// the one that worked last.
type dialect struct {
	format        format
	oldCap        bool // max_tokens instead of max_completion_tokens
	noTemperature bool
}

// newDialect is the form to try first. Reasoning models, told by the names that
// the client library checks too, take no temperature and no max_tokens.
func newDialect(model string) dialect {
	reasoning := slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5", "gpt-6"}, func(prefix string) bool {
		return strings.HasPrefix(model, prefix)
	})
	return dialect{oldCap: !reasoning, noTemperature: reasoning}
}

// without is the next form to try when the server rejected d with e; false when
// the error is about something else.
func (d dialect) without(e *apiError) (dialect, bool) {
	switch {
	case d.oldCap && e.mentions("max_completion_tokens"):
		d.oldCap = false
	case !d.noTemperature && e.mentions("temperature"):
		d.noTemperature = true
	case d.format < formatText && e.mentions("response_format", "json_schema", "json_object", "json mode",
		"structured output", "guided", "grammar"):
		d.format++
	default:
		return d, false
	}
	return d, true
}

// request builds the request for p in dialect d.
func (d dialect) request(model string, temperature float64, maxTokens int, p memoryd.Prompt) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{Model: model}
	system := p.System
	if len(p.Schema) > 0 {
		if d.format != formatSchema {
			if system != "" {
				system += "\n\n"
			}
			system += schemaWords + string(p.Schema)
		}
		req.ResponseFormat = d.responseFormat(p)
	}
	if system != "" {
		req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: system})
	}
	req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: p.User})
	if d.oldCap {
		req.MaxTokens = maxTokens //nolint:staticcheck // older servers know no other name
	} else {
		req.MaxCompletionTokens = maxTokens
	}
	if !d.noTemperature {
		// The library drops a zero; the smallest number above it is sent and
		// means the same to a server.
		req.Temperature = max(float32(temperature), math.SmallestNonzeroFloat32)
	}
	return req
}

func (d dialect) responseFormat(p memoryd.Prompt) *openai.ChatCompletionResponseFormat {
	switch d.format {
	case formatSchema:
		return &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: cmp.Or(p.SchemaName, "answer"), Schema: p.Schema, Strict: true,
			},
		}
	case formatObject:
		return &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return nil
}

// schemaWords stand before a schema in the static part of a prompt. JSON mode demands that the
// word JSON occurs.
const schemaWords = "Answer with one JSON object that fits this JSON Schema, and with nothing else:\n"
