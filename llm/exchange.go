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

	"github.com/go-json-experiment/json/jsontext"
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
	if _, err := dec.ReadToken(); err != io.EOF {
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
