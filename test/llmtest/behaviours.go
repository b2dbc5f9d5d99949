package llmtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Answer is a good reply with the given text.
func Answer(text string) Reply { return Reply{Text: text} }

// JSON is a good reply whose text is v encoded as JSON.
func JSON(v any) Reply {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("llmtest: %v", err)) // a mistake of the test
	}
	return Reply{Text: string(b)}
}

// Body is a 200 with the given body instead of a chat completion.
func Body(text string) Reply { return Reply{Body: []byte(text)} }

// Status is an error reply with an error object that matches the status, in OpenAI's words.
// header may be nil.
func Status(code int, header http.Header) Reply {
	kind, word, message := statusWords(code)
	r := Error(code, kind, word, message)
	maps.Copy(r.Header, header)
	return r
}

func statusWords(code int) (kind, word, message string) {
	switch code {
	case http.StatusUnauthorized:
		return "invalid_request_error", "invalid_api_key", "Incorrect API key provided."
	case http.StatusPaymentRequired:
		return "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."
	case http.StatusNotFound:
		return "invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."
	case http.StatusTooManyRequests:
		return "requests", "rate_limit_exceeded", "Rate limit reached for requests."
	}
	if code >= 500 {
		return "server_error", "", "The server had an error while processing your request."
	}
	return "invalid_request_error", "", http.StatusText(code)
}

// Error is an error reply with the three given parts of an error object; an empty code
// becomes null.
func Error(status int, kind, code, message string) Reply {
	return Reply{Status: status, Header: http.Header{}, Body: errorBody(kind, code, message)}
}

func errorBody(kind, code, message string) []byte {
	var c any
	if code != "" {
		c = code
	}
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": c}})
	if err != nil {
		panic(fmt.Sprintf("llmtest: %v", err))
	}
	return b
}

// ErrorIn200 is a 200 that carries an error object.
func ErrorIn200(kind, code, message string) Reply { return Reply{Body: errorBody(kind, code, message)} }

// QuotaExceeded is the 429 for a spent budget.
func QuotaExceeded() Reply {
	return Error(http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota",
		"You exceeded your current quota, please check your plan and billing details.")
}

// ContextLength is the 400 for a prompt that is too long.
func ContextLength() Reply {
	return Error(http.StatusBadRequest, "invalid_request_error", "context_length_exceeded",
		"This model's maximum context length is 8192 tokens.")
}

// NoFormat is the 400 of a server that does not support a response format.
func NoFormat(format string) Reply {
	return Error(http.StatusBadRequest, "invalid_request_error", "", "'response_format.type' must be a supported type; got '"+format+"'")
}

// RetryAfter is a notation for the wait in a refusal.
type RetryAfter int

// The forms of Retry-After. The last four are wrong on purpose.
const (
	None       RetryAfter = iota
	Seconds               // whole seconds, rounded up
	Decimal               // seconds with three decimals
	HTTPDate              // a date, with the server's Date header for comparison
	Millis                // retry-after-ms
	Garbage               // "soon"
	Negative              // "-5"
	NotANumber            // "NaN"
	Huge                  // "1000000000"
	Past                  // a date an hour ago
)

// header writes wait in the form.
func (f RetryAfter) header(h http.Header, now time.Time, wait time.Duration) {
	switch f {
	case Seconds:
		h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	case Decimal:
		h.Set("Retry-After", strconv.FormatFloat(wait.Seconds()+0.0005, 'f', 3, 64))
	case HTTPDate:
		h.Set("Date", now.UTC().Format(http.TimeFormat))
		h.Set("Retry-After", now.Add(wait+time.Second-1).UTC().Format(http.TimeFormat))
	case Millis:
		h.Set("retry-after-ms", strconv.Itoa(int((wait+time.Millisecond-1)/time.Millisecond)))
	case Garbage:
		h.Set("Retry-After", "soon")
	case Negative:
		h.Set("Retry-After", "-5")
	case NotANumber:
		h.Set("Retry-After", "NaN")
	case Huge:
		h.Set("Retry-After", "1000000000")
	case Past:
		h.Set("Retry-After", now.Add(-time.Hour).UTC().Format(http.TimeFormat))
	}
}

// TooMany is a 429 that gives the wait in the given notation.
func TooMany(form RetryAfter, wait time.Duration) Reply {
	r := Status(http.StatusTooManyRequests, nil)
	form.header(r.Header, time.Now(), wait)
	return r
}

// Unclear is a 200 whose body is neither JSON nor HTML.
func Unclear() Reply { return Body("\x00\xff\xfe{]") }

// HTML is a 200 with a proxy's page.
func HTML() Reply {
	return Body("<html><body>Sign in to the network</body></html>").With("Content-Type", "text/html")
}

// BadGateway is a 502 with a proxy's page.
func BadGateway() Reply {
	r := HTML()
	r.Status = http.StatusBadGateway
	return r
}

// Redirect is a 307 to the given address.
func Redirect(to string) Reply {
	return Reply{Status: http.StatusTemporaryRedirect, Body: []byte{}}.With("Location", to)
}

// NoChoices is a chat completion without choices.
func NoChoices() Reply {
	return Body(`{"id":"chatcmpl-0","object":"chat.completion","created":1,"model":"m","choices":[]}`)
}

// ToolCall is a chat completion that calls a tool instead of answering.
func ToolCall() Reply {
	return Body(`{"id":"chatcmpl-0","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`)
}

// Refusal is a chat completion whose message refuses.
func Refusal(text string) Reply { return Reply{Refusal: text} }

// FinishLength is an answer that was cut at its token limit.
func FinishLength(text string) Reply { return Reply{Text: text, Finish: "length"} }

// ContentFilter is an answer that a content filter cut short.
func ContentFilter(text string) Reply { return Reply{Text: text, Finish: "content_filter"} }

// Hang never answers.
func Hang() Reply { return Reply{end: hang} }

// Reset resets the connection before the first byte.
func Reset() Reply { return Reply{end: reset} }

// CutBody resets the connection in the middle of the body of a good answer.
func CutBody(text string) Reply { return Reply{Text: text, end: cutBody} }

// Endless is a body that never ends.
func Endless() Reply {
	return Reply{Body: []byte(strings.Repeat(" {\"choices\": [", 256)), end: endless}
}

// Drip sends a good answer one byte each interval.
func Drip(text string, each time.Duration) Reply { return Reply{Text: text, drip: each} }

// GzipBomb is a small compressed body that expands to the given number of bytes.
func GzipBomb(size int) Reply {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	chunk := make([]byte, 1<<16)
	for n := 0; n < size; n += len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			panic(fmt.Sprintf("llmtest: %v", err))
		}
	}
	if err := w.Close(); err != nil {
		panic(fmt.Sprintf("llmtest: %v", err))
	}
	return Reply{Body: b.Bytes()}.With("Content-Encoding", "gzip")
}
