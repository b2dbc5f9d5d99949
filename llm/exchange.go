package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"memoryd"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sashabaranov/go-openai"
)

// maxReply bounds the body of a reply with text in bytes, after decompression.
const maxReply = 1 << 20

// What can be wrong with a reply before its content is looked at.
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
	most   int // bytes of the reply's body, after decompression
	status int
	header http.Header
	err    error     // the network's, or one of the above
	api    *apiError // what an error body says, also that of an error inside a 200
}

// Do sends the request and hands the library a reply that is complete, small
// and valid JSON, or an error.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	resp, err := x.http.Do(req)
	if err != nil {
		x.err = err
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // the reply was read or is given up
	x.status, x.header = resp.StatusCode, resp.Header
	body, err := readCapped(resp.Body, x.most)
	if x.err = x.check(resp, body, err); x.err != nil {
		return nil, x.err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

func readCapped(r io.Reader, most int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(body) > most {
		return body[:most], fmt.Errorf("%w: more than %d bytes", errTooLarge, most)
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
		return fmt.Errorf("%w: something follows the value", errNotJSON)
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

// The ways in which a complete reply holds no answer.
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
	done := memoryd.Completion{Model: r.Model, Usage: readUsage(r.Usage)}
	if len(r.Choices) == 0 {
		return done, newFault(badReply, "bad_reply", errNoChoices).temp().retried(1)
	}
	c := r.Choices[0]
	done.Text = textOfMessage(c.Message)
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

// textOfMessage is the message's text, also when it comes in parts.
func textOfMessage(m openai.ChatCompletionMessage) string {
	if len(m.MultiContent) == 0 {
		return m.Content
	}
	var b strings.Builder
	for _, part := range m.MultiContent {
		b.WriteString(part.Text)
	}
	return b.String()
}

// readUsage takes the server's count, but never a negative one.
func readUsage(u openai.Usage) memoryd.Usage {
	return memoryd.Usage{PromptTokens: max(0, u.PromptTokens), CompletionTokens: max(0, u.CompletionTokens)}
}
