package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"memoryd/api/wire"
	"memoryd/ops"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// compactConversation answers with the whole result, or, where the client
// accepts an event stream, with an event for each step and the result last.
func (s *server) compactConversation(c echo.Context, req *wire.CompactRequest) (any, error) {
	in, err := compaction(req)
	if err != nil {
		return nil, err
	}
	if in.Workspace, err = ownWorkspace(c.Request().Context(), in.Workspace); err != nil {
		return nil, err
	}
	if strings.Contains(c.Request().Header.Get(echo.HeaderAccept), "text/event-stream") {
		return written(func(c echo.Context) error { return s.streamCompaction(c, in) }), nil
	}
	res, err := s.Flows.CompactConversation.Run(c.Request().Context(), in)
	if err != nil {
		return nil, err
	}
	return encodeCompaction(res)
}

func compaction(r *wire.CompactRequest) (in ops.CompactRequest, err error) {
	if r.Messages == nil {
		return in, missing("messages")
	}
	if err := checkNewName(r.Workspace, "workspace_id"); err != nil {
		return in, err
	}
	overrides, err := ops.JoinOverrides(or(r.Profile, ""), r.Overrides, r.Settings)
	if err != nil {
		return in, invalid("value_error", err.Error(), nil, "overrides")
	}
	in = ops.CompactRequest{
		Messages: r.Messages, Workspace: or(r.Workspace, ""), Conversation: or(r.Conversation, ""), Model: or(r.Model, ""),
		MaxInputTokens: int(or(r.MaxInputTokens, 0)), TargetTokens: int(or(r.TargetTokens, 0)), Tools: r.Tools,
		ReportedTokens: int(or(r.ReportedTokens, 0)), Profile: or(r.Profile, ""), Overrides: overrides,
		Force: or(r.Force, false), DryRun: or(r.DryRun, false),
	}
	for _, pin := range r.Pins {
		in.Pins = append(in.Pins, int(pin))
	}
	return in, nil
}

// encodeCompaction writes a result. The messages stand in it byte for byte,
// white space included.
func encodeCompaction(r *ops.Compacted) (e encoded, err error) {
	result := r.Result
	result.Messages = nil
	head, err := jsonv2.Marshal(result, encoding)
	if err != nil {
		return e, err
	}
	const empty = `"messages":[]`
	at := bytes.Index(head, []byte(empty))
	if at < 0 {
		return e, errors.New("a compaction returned no messages")
	}
	out := append([]byte{}, head[:at+len(empty)-1]...)
	out = appendMessages(out, r.Messages)
	return encoded{body: append(out, head[at+len(empty)-1:]...)}, nil
}

func appendMessages(out []byte, messages []jsontext.Value) []byte {
	for i, m := range messages {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, m...)
	}
	return out
}

// The timing of an event stream: the time between keep-alives of a silent run, and the time that a
// client has to read.
const (
	pingEvery  = 15 * time.Second
	readWithin = 30 * time.Second
)

// streamCompaction tells of a compaction that runs beside the stream.
func (s *server) streamCompaction(c echo.Context, in ops.CompactRequest) error {
	ctx, cancel := context.WithCancel(c.Request().Context())
	defer cancel()
	run := ops.Follow(ctx, s.Logger, &s.Flows.CompactConversation, in)
	out := newEventStream(c)
	if err := out.follow(ctx, run); err != nil {
		cancel()
		_, _ = run.Result()
		return nil //nolint:nilerr // the client has gone
	}
	res, err := run.Result()
	var result encoded
	if err == nil {
		result, err = encodeCompaction(res)
	}
	if err == nil {
		return out.send("result", result.body)
	}
	return out.sendJSON("error", problemOf(c, describe(err)))
}

// eventStream writes server-sent events (the HTML standard, section 9.2).
type eventStream struct {
	c echo.Context
	w *http.ResponseController
}

func newEventStream(c echo.Context) *eventStream {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-cache")
	h.Set("X-Accel-Buffering", "no")
	return &eventStream{c: c, w: http.NewResponseController(c.Response())}
}

// follow passes the events of a run on until its last one, which the caller
// sends itself, with the result.
func (e *eventStream) follow(ctx context.Context, run *ops.Followed) error {
	for {
		wait, stop := context.WithTimeout(ctx, pingEvery)
		event, err := run.Next(wait)
		stop()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			err = e.write([]byte(": ping\n\n"))
		case event.Type == "result" || event.Type == "error":
			return nil
		default:
			err = e.sendJSON(event.Type, event)
		}
		if err != nil {
			return err
		}
	}
}

func (e *eventStream) sendJSON(name string, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return e.send(name, data.body)
}

// send writes one event. A line break in the data, which JSON allows between
// its parts, begins a further line of data.
func (e *eventStream) send(name string, data []byte) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\n", name)
	for line := range bytes.SplitSeq(bytes.ReplaceAll(data, []byte("\r"), []byte(" ")), []byte("\n")) {
		fmt.Fprintf(&b, "data: %s\n", line)
	}
	b.WriteByte('\n')
	return e.write(b.Bytes())
}

func (e *eventStream) write(b []byte) error {
	if err := e.w.SetWriteDeadline(time.Now().Add(readWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := e.c.Response().Write(b); err != nil {
		return err
	}
	e.c.Response().Flush()
	return nil
}

// getOriginal gives the exact bytes of what was removed; with offset or limit a
// page of its text; with query the places where a text stands in the input of a
// compaction.
func (s *server) getOriginal(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	of, text := q.original(), c.QueryParam("query")
	offset, limit := q.number("offset", 0, 0, math.MaxInt), q.number("limit", 0, 0, math.MaxInt)
	switch {
	case text != "":
		return s.searchOriginals(q, ops.SearchOriginals{GetOriginal: of, Text: text, Limit: cmp.Or(limit, defaultPage)})
	case c.QueryParam("offset") != "" || c.QueryParam("limit") != "":
		in := ops.ReadOriginal{GetOriginal: of, Offset: offset, Limit: limit}
		return answer(q, s.Flows.ReadOriginal, in, shown[ops.OriginalPage])
	}
	return answer(q, s.Flows.GetOriginal, of, func(data []byte) any { return encoded{body: data} })
}

// lookUp finds messages that compactions removed from a conversation by words, ids and
// kind.
func (s *server) lookUp(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.SearchOriginals{GetOriginal: ops.GetOriginal{Workspace: q.workspace()}, Conversation: c.QueryParam("conversation_id"), Text: c.QueryParam("query")}
	in.Kind = q.oneOf("kind", "user", "assistant", "call", "result")
	for _, name := range []string{"conversation_id", "query"} {
		if strings.TrimSpace(c.QueryParam(name)) == "" {
			q.refuse("%s: must not be empty", name)
		}
	}
	in.Limit = min(cmp.Or(q.number("limit", 0, 0, math.MaxInt), defaultPage), maxPage)
	return s.searchOriginals(q, in)
}

func (s *server) searchOriginals(q *query, in ops.SearchOriginals) (any, error) {
	return answer(q, s.Flows.SearchOriginals, in, shown[ops.OriginalHits])
}

// undo gives the input of a compaction back; with the messages of a
// conversation that went on, that conversation with the compaction taken out.
func (s *server) undo(c echo.Context, req *wire.UndoRequest) (any, error) {
	q := queryOf(c)
	in := ops.UndoCompaction{GetOriginal: q.original(), Messages: req.Messages}
	return answer(q, s.Flows.UndoCompaction, in, func(whole []jsontext.Value) any {
		return encoded{body: append(appendMessages([]byte(`{"messages":[`), whole), ']', '}')}
	})
}
