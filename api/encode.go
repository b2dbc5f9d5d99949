package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"
	"memoryd/ops"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"
)

// statusOf is the one table from kinds of error to HTTP statuses.
var statusOf = map[memoryd.Kind]int{
	memoryd.Unauthenticated: http.StatusUnauthorized,
	memoryd.Misdirected:     http.StatusMisdirectedRequest,
	memoryd.Invalid:         http.StatusUnprocessableEntity,
	memoryd.Forbidden:       http.StatusForbidden,
	memoryd.NotFound:        http.StatusNotFound,
	memoryd.Conflict:        http.StatusConflict,
	memoryd.TooLarge:        http.StatusRequestEntityTooLarge,
	memoryd.Overloaded:      http.StatusTooManyRequests,
	memoryd.OverQuota:       http.StatusInsufficientStorage,
	memoryd.Unavailable:     http.StatusServiceUnavailable,
	memoryd.Closed:          http.StatusServiceUnavailable,
	memoryd.Internal:        http.StatusInternalServerError,
}

// failure is what a caller may see of an error.
type failure struct {
	status     int
	kind       memoryd.Kind
	msg        string
	retryAfter time.Duration
}

// defaultRetryAfter is what a client is told where nobody knows better.
const defaultRetryAfter = time.Second

func describe(err error) failure {
	if r, ok := errors.AsType[*ops.Refusal](err); ok {
		return failure{status: http.StatusOK, msg: access.Present(r.Answer)}
	}
	if fault, ok := errors.AsType[*memoryd.Fault](err); ok {
		return failure{status: http.StatusUnprocessableEntity, kind: memoryd.Invalid, msg: fault.Error()}
	}
	if he, ok := errors.AsType[*echo.HTTPError](err); ok {
		return failure{status: he.Code, kind: kindOfStatus(he.Code), msg: http.StatusText(he.Code)}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = memoryd.Wrap(memoryd.Unavailable, err, "the request was cancelled")
	}
	kind, msg := memoryd.KindOf(err)
	f := failure{status: statusOf[kind], kind: kind, msg: access.Present(msg)}
	if e, ok := errors.AsType[*memoryd.Error](err); ok {
		f.retryAfter = e.RetryAfter
	}
	if f.retryAfter == 0 && (f.status == http.StatusTooManyRequests || f.status == http.StatusServiceUnavailable) {
		f.retryAfter = defaultRetryAfter
	}
	return f
}

// kindOfStatus names Echo's own errors: an unknown path, a wrong method.
func kindOfStatus(status int) memoryd.Kind {
	if status == http.StatusNotFound {
		return memoryd.NotFound
	}
	return memoryd.Invalid
}

// handleError is the one place that writes errors. The tool-memory endpoints
// answer in the form that their clients read, all others as problems.
func (s *server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return // middleware may have reported this error already
	}
	f := describe(err)
	if f.status >= http.StatusInternalServerError && c.Request().Context().Err() == nil { // else nobody waits any more
		s.Logger.ErrorContext(c.Request().Context(), "request failed", "route", c.Path(), "request_id", requestID(c), "err", err)
	}
	if f.retryAfter > 0 {
		seconds := int(math.Ceil(f.retryAfter.Seconds()))
		c.Response().Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	if werr := s.writeFailure(c, err, f); werr != nil {
		s.Logger.WarnContext(c.Request().Context(), "cannot write the error response", "request_id", requestID(c), "err", werr)
	}
}

func problemOf(c echo.Context, f failure) wire.Problem {
	return wire.Problem{
		Type: "about:blank", Title: http.StatusText(f.status), Status: f.status,
		Detail: f.msg, Code: string(f.kind), RequestID: requestID(c),
	}
}

func (s *server) writeFailure(c echo.Context, err error, f failure) error {
	if s.traits[c.Path()]&telemetry != 0 && !isJSON(c.Request()) {
		return c.Blob(f.status, protobufType, statusMessage(f.msg))
	}
	if s.traits[c.Path()]&toolMemory == 0 {
		return writeJSON(c, f.status, problemType, problemOf(c, f))
	}
	if fault, ok := errors.AsType[*memoryd.Fault](err); ok {
		detail := wire.Detail{Type: fault.Code, Loc: fault.Loc, Msg: fault.Msg, Input: fault.Input}
		if fault.Broken {
			detail.Loc, detail.Msg, detail.Input = append(detail.Loc, fault.Offset), "JSON decode error", jsontext.Value("{}")
			detail.Context = map[string]string{"error": fault.Msg}
		}
		return writeJSON(c, f.status, jsonType, wire.ValidationError{Detail: []wire.Detail{detail}})
	}
	answer := wire.Refusal{Reply: wire.Reply{Answer: f.msg}, Metadata: struct{}{}}
	if s.traits[c.Path()]&updating != 0 {
		answer.Metadata = wire.NothingUpdated{}
	}
	return writeJSON(c, f.status, jsonType, answer)
}

// The content types of answers.
const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// encoding writes maps in a fixed order. Texts of calls may hold anything, so
// what is not valid UTF-8 is written as U+FFFD rather than refused.
var encoding = jsonv2.JoinOptions(jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// viewing is encoding with instants and ids of calls as text, for types of package ops.
var viewing = jsonv2.JoinOptions(encoding, jsonv2.WithMarshalers(jsonv2.JoinMarshalers(
	jsonv2.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error { return enc.WriteToken(jsontext.String(instant(t))) }),
	jsonv2.MarshalToFunc(func(enc *jsontext.Encoder, key memoryd.CallKey) error {
		if key == (memoryd.CallKey{}) {
			return enc.WriteToken(jsontext.String(""))
		}
		return enc.WriteToken(jsontext.String(key.String()))
	}),
)))

// formOf is how an answer is encoded. Those of the tool-memory endpoints hold texts alone.
func formOf(v any) jsonv2.Options {
	switch v.(type) {
	case wire.AddResponse, wire.NamesResponse, wire.StoreResponse, wire.Refusal:
		return encoding
	}
	return viewing
}

// encoded is an answer that is JSON already.
type encoded struct {
	body []byte
	tag  *tag // once that was needed
}

// tag is the entity tag of an answer, and the headers that it is sent with, which are not changed.
type tag struct {
	text    string
	headers http.Header
}

func encode(v any) (encoded, error) {
	if e, ok := v.(encoded); ok {
		return e, nil
	}
	body, err := jsonv2.Marshal(v, formOf(v))
	return encoded{body: body}, err
}

// tagged gives the answer with its entity tag. It may be kept, and is asked for again by its tag.
func (e encoded) tagged() encoded {
	if e.tag == nil {
		sum := sha256.Sum256(e.body)
		text := `"` + hex.EncodeToString(sum[:12]) + `"`
		e.tag = &tag{text, http.Header{
			"Etag": {text}, echo.HeaderCacheControl: {"private, no-cache"}, echo.HeaderContentType: {jsonType},
			echo.HeaderContentLength: {strconv.Itoa(len(e.body))},
		}}
	}
	return e
}

func writeJSON(c echo.Context, status int, contentType string, v any) error {
	e, err := encode(v)
	if err != nil {
		return err
	}
	c.Response().Header()[echo.HeaderContentLength] = []string{strconv.Itoa(len(e.body))}
	return c.Blob(status, contentType, e.body)
}

// writeTagged answers with the value and its tag, or, to a client that has the
// same bytes already, only with the tag (RFC 9110, section 13.1.2).
func writeTagged(c echo.Context, e encoded) error {
	e = e.tagged()
	h := c.Response().Header()
	maps.Copy(h, e.tag.headers)
	if known := c.Request().Header.Get("If-None-Match"); known != "" && e.tag.among(known) {
		delete(h, echo.HeaderContentType)
		delete(h, echo.HeaderContentLength)
		return c.NoContent(http.StatusNotModified)
	}
	_, err := c.Response().Write(e.body)
	return err
}

// among reports whether the tag is one of a list.
func (t *tag) among(list string) bool {
	for known := range strings.SplitSeq(list, ",") {
		if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == t.text || known == "*" {
			return true
		}
	}
	return false
}

func memoryOf(m ops.Memory) wire.Memory {
	g := m.Tool.Guideline
	out := wire.Memory{
		WorkspaceID: m.Tool.Workspace, MemoryID: m.Tool.MemoryID(), MemoryType: "tool",
		WhenToUse: m.Tool.Tool, Content: g.Content, Score: wire.Float(m.Statistics.AvgScore),
		TimeCreated: memoryd.TimeText(m.Tool.Created), TimeModified: memoryd.TimeText(m.Tool.Modified), Author: g.Author,
		ToolCallResults: make([]wire.Call, len(m.Calls)),
		Metadata: wire.MemoryMetadata{
			Statistics: m.Statistics, GuidelineRevision: g.Revision,
			AskedAs: slices.DeleteFunc(slices.Clone(m.AskedAs), func(name string) bool { return name == m.Tool.Tool }),
		},
	}
	for i := range m.Calls {
		out.ToolCallResults[i] = callOf(&m.Calls[i], g.ThroughSeq)
	}
	return out
}

func callOf(c *memoryd.Call, summarisedThrough int64) wire.Call {
	j := memoryd.JSONOf(c, summarisedThrough)
	return wire.Call{
		ToolName: j.ToolName, Input: j.Input, Output: j.Output, Success: j.Success, TimeCost: wire.Float(j.TimeCost), TokenCost: j.TokenCost,
		CreateTime: j.CreateTime, Metadata: j.Metadata, Summary: j.Summary, Evaluation: j.Evaluation, Score: wire.Float(j.Score),
		CallHash: j.CallHash, IsSummarized: j.IsSummarized,
	}
}

// Limits of cached answers.
const (
	maxAnswers       = 2048
	maxAnswerRequest = 2 << 10
	maxAnswerBytes   = 16 << 10
)

// answers remembers requests for guidelines and the encoded form of their answers: most
// of what such a request costs is reading and writing the same JSON again. An encoding is
// used only while the answer holds.
type answers = lru.Cache[string, remembered]

type remembered struct {
	workspace string // as the request names it
	names     ops.NamesRequest
	answer    *ops.Retrieved
	encoded   encoded
}

// keep remembers an encoding, if it is small.
func (s *server) keep(request []byte, known remembered) {
	if len(request) <= maxAnswerRequest && len(known.encoded.body) <= maxAnswerBytes {
		s.answers.Add(string(request), known)
	}
}
