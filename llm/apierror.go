package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memoryd/internal/textsafe"
)

// apiError is what an error body says, in whichever of the common shapes:
// {"error": {…}} (OpenAI), {"error": "…"} (Ollama), a bare object with message
// (vLLM) or detail (FastAPI), or no JSON at all.
type apiError struct {
	status  int
	code    string
	kind    string
	param   string
	message string
}

// Error gives status, code and message.
func (e *apiError) Error() string {
	s := fmt.Sprintf("status %d", e.status)
	if e.code != "" {
		s += " " + e.code
	} else if e.kind != "" {
		s += " " + e.kind
	}
	if e.message != "" {
		s += ": " + e.message
	}
	return s
}

// mentions reports whether code, type, parameter or message hold one of the
// words, which are lower case.
func (e *apiError) mentions(words ...string) bool {
	text := strings.ToLower(e.code + "\n" + e.kind + "\n" + e.param + "\n" + e.message)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// coded reports whether code or type hold one of the words, in lower case.
func (e *apiError) coded(words ...string) bool {
	text := strings.ToLower(e.code + "\n" + e.kind)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// begins reports whether the message starts with one of the words, in lower
// case.
func (e *apiError) begins(words ...string) bool {
	text := strings.ToLower(e.message)
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(text, w) })
}

// errorFields is the union of the shapes of an error object.
type errorFields struct {
	Message any `json:"message"`
	Detail  any `json:"detail"`
	Type    any `json:"type"`
	Code    any `json:"code"`
	Status  any `json:"status"`
	Param   any `json:"param"`
}

// readAPIError makes what it can of an error body. The key never gets into it.
func readAPIError(status int, body []byte, key string) *apiError {
	e := &apiError{status: status}
	var outer struct {
		Error json.RawMessage `json:"error"`
		errorFields
	}
	fields := &outer.errorFields
	if json.Unmarshal(body, &outer) != nil {
		e.message = excerpt(string(body), key)
		return e
	}
	if len(outer.Error) > 0 && string(outer.Error) != "null" {
		var inner errorFields
		if json.Unmarshal(outer.Error, &inner) != nil {
			inner.Message = textOf(outer.Error)
		}
		fields = &inner
	}
	e.message = excerpt(cleanText(fields.Message, fields.Detail), key)
	e.kind = excerpt(cleanText(fields.Type), key)
	e.code = excerpt(cleanText(fields.Code, fields.Status), key)
	e.param = excerpt(cleanText(fields.Param), key)
	return e
}

func cleanText(values ...any) string {
	for _, v := range values {
		if s := textOf(v); s != "" {
			return s
		}
	}
	return ""
}

// textOf gives a string as it is and anything else as JSON.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.RawMessage:
		var s string
		if json.Unmarshal(v, &s) == nil {
			return s
		}
		return string(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// maxExcerpt bounds, in characters, what of a server's text goes into errors, which
// end in logs and in the store.
const maxExcerpt = 300

// excerpt is the beginning of a server's text on one line, without control
// characters and without the key.
func excerpt(s, key string) string {
	if key != "" {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	return textsafe.Line(textsafe.Head(s, 4*maxExcerpt), maxExcerpt)
}
