package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/textsafe"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sashabaranov/go-openai"
)

// maxReply bounds the body of a reply with text in bytes, after decompression.
const maxReply = 1 << 20

// Errors of a reply, before its content is read.
var (
	errTooLarge   = errors.New("the reply is too large")
	errRedirected = errors.New("the server redirects; redirects are not followed")
	errNotJSON    = errors.New("the reply is not JSON")
)

// exchange is one request and its reply. It stands between the client library
// and the network as the library's HTTP client: it reads the body whole, under
// a cap, and remembers what the library would not tell.
type exchange struct {
	http   *http.Client
	key    string
	status int
	header http.Header
	err    error     // the network's, or one of the above
	api    *apiError // what an error body says, also that of an error inside a 200
}

// Do sends the request. It returns a reply that is complete, valid JSON and within the size limit,
// or an error.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	resp, err := x.http.Do(req)
	if err != nil {
		x.err = err
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // the reply was read or is given up
	x.status, x.header = resp.StatusCode, resp.Header
	body, err := readCapped(resp.Body)
	if x.err = x.check(resp, body, err); x.err != nil {
		return nil, x.err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

func readCapped(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxReply+1))
	if err == nil && len(body) > maxReply {
		return body[:maxReply], fmt.Errorf("%w: more than %d bytes", errTooLarge, maxReply)
	}
	return body, err
}

func (x *exchange) check(resp *http.Response, body []byte, err error) error {
	switch {
	case resp.StatusCode >= 400: // an error stays one, however its body looks
		x.api = readAPIError(resp.StatusCode, body, x.key)
		return x.api
	case resp.StatusCode >= 300 || resp.StatusCode < 200:
		return errRedirected
	case err != nil:
		return err
	}
	if t := resp.Header.Get("Content-Type"); t != "" && !isJSON(t) {
		return fmt.Errorf("%w: content type %s", errNotJSON, excerpt(t, x.key))
	}
	// Strict: one value, valid UTF-8, no lone surrogates. The library's decoder
	// would replace the latter in silence.
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadValue(); err != nil {
		return fmt.Errorf("%w: %w", errNotJSON, err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: there is text after the value", errNotJSON)
	}
	if hasError(body) {
		x.api = readAPIError(http.StatusOK, body, x.key)
		x.api.status = innerStatus(x.api)
		return x.api
	}
	return nil
}

// hasError reports whether a 200 carries an error instead of an answer.
func hasError(body []byte) bool {
	var v struct {
		Error   json.RawMessage `json:"error"`
		Object  any             `json:"object"`
		Choices json.RawMessage `json:"choices"`
	}
	if json.Unmarshal(body, &v) != nil || (len(v.Choices) > 0 && string(v.Choices) != "null" && string(v.Choices) != "[]") {
		return false
	}
	return v.Object == "error" || (len(v.Error) > 0 && string(v.Error) != "null")
}

func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

// The ways in which a complete reply can lack an answer.
var (
	errNoChoices = errors.New("the reply has no choices")
	errEmpty     = errors.New("the answer is empty")
	errToolCall  = errors.New("the model called a tool instead of answering")
	errRefusal   = errors.New("the model refused")
	errFiltered  = errors.New("the answer was withheld by a content filter")
	errCutAnswer = errors.New("the answer was cut at its token limit")
)

// readReply makes a completion of the library's reply, or says what it lacks.
// An unknown finish reason passes: the caller checks the text anyway.
func readReply(r openai.ChatCompletionResponse) (memoryd.Completion, *fault) {
	done := memoryd.Completion{Model: r.Model, Usage: memoryd.Usage{
		PromptTokens: max(0, r.Usage.PromptTokens), CompletionTokens: max(0, r.Usage.CompletionTokens), // a count is never negative
	}}
	if len(r.Choices) == 0 {
		return done, newFault(badReply, "bad_reply", errNoChoices).temp().retried(1)
	}
	c := r.Choices[0]
	done.Text = c.Message.Content
	for _, part := range c.Message.MultiContent { // it has one or the other
		done.Text += part.Text
	}
	switch {
	case strings.TrimSpace(c.Message.Refusal) != "":
		return done, newFault(final, "refused", errRefusal)
	case c.FinishReason == openai.FinishReasonContentFilter:
		return done, newFault(final, "filtered", errFiltered)
	case c.FinishReason == openai.FinishReasonLength:
		return done, newFault(cut, "bad_reply", errCutAnswer).retried(1)
	case strings.TrimSpace(done.Text) == "" && (len(c.Message.ToolCalls) > 0 || c.Message.FunctionCall != nil):
		return done, newFault(badReply, "bad_reply", errToolCall).retried(1)
	case strings.TrimSpace(done.Text) == "":
		return done, newFault(badReply, "bad_reply", errEmpty).temp().retried(1)
	}
	return done, nil
}

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

// Error returns status, code and message.
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
type errorFields struct{ Message, Detail, Type, Code, Status, Param json.RawMessage }

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
			inner.Message = outer.Error
		}
		fields = &inner
	}
	e.message = excerpt(cleanText(fields.Message, fields.Detail), key)
	e.kind = excerpt(cleanText(fields.Type), key)
	e.code = excerpt(cleanText(fields.Code, fields.Status), key)
	e.param = excerpt(cleanText(fields.Param), key)
	return e
}

// cleanText is the first text of some values: that of a string, any other as JSON.
func cleanText(values ...json.RawMessage) (text string) {
	for _, v := range values {
		if len(v) > 0 && json.Unmarshal(v, &text) != nil {
			text = string(v)
		}
		if text != "" {
			break
		}
	}
	return text
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

// Limits of a wait that a server asks for.
const (
	leastPause   = 500 * time.Millisecond
	longestPause = time.Hour
)

// retryAfter reads the wait that the headers name: retry-after-ms, then
// Retry-After as (decimal) seconds or as an HTTP date, which is compared with
// the reply's own Date so that a wrong clock on either side does no harm. A
// value that is negative, past, or not a number counts as none; others are
// bound to half a second and one hour. 0 means none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms := number(h.Get("retry-after-ms")); ms >= 0 {
		return clampPause(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if seconds := number(text); seconds >= 0 {
		return clampPause(seconds * float64(time.Second))
	}
	at, err := http.ParseTime(strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if d := at.Sub(now); d > 0 {
		return clampPause(float64(d))
	}
	return 0
}

func clampPause(nanos float64) time.Duration {
	return time.Duration(max(float64(leastPause), min(nanos, float64(longestPause))))
}

// number reads a number; what is none is NaN, which no comparison is true of.
func number(text string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}
