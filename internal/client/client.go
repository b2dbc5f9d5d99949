// Package client calls a memoryd server over HTTP, for the command line and the MCP wrapper.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd/internal/lifecycle"
)

// Server is a memoryd server. It is safe for concurrent use.
type Server struct {
	URL   string       // such as http://127.0.0.1:8002; the scheme defaults to http
	Key   string       // API key; "" for none
	HTTP  *http.Client // nil uses the default client, which waits as long as its context allows
	Tries int          // attempts per request while the server is busy; requests are safe to repeat; 0 means one
}

// Request describes a request.
type Request struct {
	Method, Path string
	Key          string // Idempotency-Key; "" for none
	Body         any    // JSON; bytes are sent as they are; nil for none
}

// Error is a failed request: an error answer, or no answer.
type Error struct {
	Status     int           // 0: no answer; 200: the request was understood and refused
	Reason     string        // the server's message
	Body       []byte        // the answer
	RetryAfter time.Duration // the wait that the server asked for; 0 for none
	Err        error         // why there was no answer
}

func (e *Error) Error() string {
	if e.Status == 0 || e.Status == http.StatusOK {
		return e.Reason
	}
	return fmt.Sprintf("the server answered %d: %s", e.Status, e.Reason)
}

func (e *Error) Unwrap() error { return e.Err }

// Away reports whether the same request may succeed later: the server is unreachable,
// overloaded or broken. A reached quota does not count, because it stays until somebody
// deletes something.
func (e *Error) Away() bool {
	return e.Status == 0 || e.Status == http.StatusTooManyRequests ||
		e.Status >= http.StatusInternalServerError && e.Status != http.StatusInsufficientStorage
}

// busy are the answers of a server that may answer otherwise soon.
var busy = []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}

// maxPause bounds how long one pause between tries may be, and maxReply an
// answer.
const (
	maxPause = 30 * time.Second
	maxReply = 1 << 30
)

// Do sends the request and decodes the answer into answer: as JSON, or as it is into an
// io.Writer. Every failure is an [*Error]. If the server refused with status 200, the answer
// is decoded too.
func (s Server) Do(ctx context.Context, r Request, answer any) error {
	for try := 1; ; try++ {
		err := s.once(ctx, r, answer)
		failed, ok := errors.AsType[*Error](err)
		if !ok || try >= s.Tries || !slices.Contains(busy, failed.Status) {
			return err
		}
		if !lifecycle.Sleep(ctx, min(max(failed.RetryAfter, time.Second)*time.Duration(try), maxPause)) {
			return ctx.Err()
		}
	}
}

func (s Server) once(ctx context.Context, r Request, answer any) error {
	resp, err := s.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if w, stream := answer.(io.Writer); stream && resp.StatusCode == http.StatusOK {
		if _, err = io.Copy(w, resp.Body); err != nil {
			return &Error{Reason: fmt.Sprintf("the answer of %s ended early: %v", r.Path, err), Err: err}
		}
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return &Error{Reason: fmt.Sprintf("the answer of %s ended early: %v", r.Path, err), Err: err}
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNoContent {
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &Error{Status: resp.StatusCode, Reason: reasonIn(body), Body: body, RetryAfter: time.Duration(after) * time.Second}
	}
	return read(body, answer, s.URL)
}

// send sends a request; an answer of any status is one.
func (s Server) send(ctx context.Context, r Request) (*http.Response, error) {
	body, raw := r.Body.([]byte)
	if !raw && r.Body != nil {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return nil, err
		}
	}
	server := strings.TrimSuffix(s.URL, "/")
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, server+r.Path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if r.Key != "" {
		req.Header.Set("Idempotency-Key", r.Key)
	}
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	resp, err := cmp.Or(s.HTTP, http.DefaultClient).Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return nil, &Error{Reason: fmt.Sprintf("no answer from %s: %v", shown(req.URL, server, err), err), Err: err}
	}
	return resp, nil
}

// shown is the address of a server without its password, or the socket that was dialled.
func shown(u *url.URL, server string, err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" && op.Net == "unix" && op.Addr != nil {
		return "unix:" + op.Addr.String()
	}
	if u.User != nil {
		return (&url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}).Redacted()
	}
	return server
}

// read reads an answer. The tool-memory endpoints refuse by success false.
func read(body []byte, answer any, server string) error {
	if len(body) == 0 {
		return nil
	}
	var outcome struct {
		Success *bool   `json:"success"`
		Answer  *string `json:"answer"` // a call has success too
	}
	err := json.Unmarshal(body, &outcome)
	if err == nil && answer != nil {
		err = json.Unmarshal(body, answer)
	}
	switch {
	case err != nil:
		return &Error{Status: http.StatusBadGateway, Reason: fmt.Sprintf("%s is not memoryd: unexpected answer (%v)", server, err), Err: err}
	case outcome.Answer != nil && outcome.Success != nil && !*outcome.Success:
		return &Error{Status: http.StatusOK, Reason: *outcome.Answer}
	}
	return nil
}

// reasonIn finds the sentence for people in any of the server's error bodies.
func reasonIn(body []byte) string {
	var e struct {
		Answer string          `json:"answer"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &e) != nil {
		return strings.TrimSpace(string(body[:min(len(body), 200)]))
	}
	var details []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	var sentence string
	switch {
	case json.Unmarshal(e.Detail, &details) == nil && len(details) > 0:
		sentence = fmt.Sprintf("%v: %s", details[0].Loc, details[0].Msg)
	case json.Unmarshal(e.Detail, &sentence) != nil:
		sentence = string(e.Detail)
	}
	return cmp.Or(e.Answer, sentence)
}
