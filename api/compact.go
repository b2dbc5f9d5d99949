package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"memoryd/api/wire"
	"memoryd/internal/lifecycle"
	"memoryd/internal/loosejson"
	"memoryd/ops"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// compactRequest asks for a compaction.
type compactRequest struct {
	Accept string `header:"Accept"`
	Body   wire.CompactRequest
}

// compactConversation makes a conversation smaller without breaking it or losing what is needed later.
//
// Messages that stay keep their bytes; a call and its results stay together; you can fetch what is removed. Where the client accepts
// `text/event-stream`, the answer is a stream of the events `start`, `progress` (a running count that only grows) and last `result` or
// `error`, with `: ping` while nothing happens.
func (s *server) compactConversation(ctx context.Context, r *compactRequest) (any, error) {
	in, err := compaction(&r.Body)
	if err != nil {
		return nil, err
	}
	if in.Workspace, err = ownWorkspace(ctx, in.Workspace); err != nil {
		return nil, err
	}
	if strings.Contains(r.Accept, "text/event-stream") {
		return written(func(c echo.Context) error { return s.streamCompaction(ctx, c, in) }), nil
	}
	res, err := s.Flows.CompactConversation.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	return encodeCompaction(res)
}

func compaction(r *wire.CompactRequest) (in ops.CompactRequest, err error) {
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
		Force: or(r.Force, false), DryRun: or(r.DryRun, false), Pins: each(r.Pins, func(pin int64) int { return int(pin) }),
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
	before, after, _ := bytes.Cut(head, []byte(`"messages":[]`)) // as they are written above
	return encoded{body: slices.Concat(before, []byte(`"messages":`), loosejson.Join(r.Messages), after)}, nil
}

// The timing of an event stream: the time between keep-alives of a silent run, and the time that a
// client has to read.
const (
	pingEvery  = 15 * time.Second
	readWithin = 30 * time.Second
)

// streamCompaction tells of a compaction that runs beside the stream: a slow reader does not delay it.
func (s *server) streamCompaction(ctx context.Context, c echo.Context, in ops.CompactRequest) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan ops.CompactEvent, 2*len(in.Messages)+10) // room for all: nobody waits
	in.Progress = func(e ops.CompactEvent) { events <- e }
	var result encoded
	done := lifecycle.Go(ctx, s.Logger, "compaction", func() error {
		defer close(events)
		res, err := s.Flows.CompactConversation.Run(ctx, in)
		if err == nil {
			result, err = encodeCompaction(res)
		}
		return err
	})
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-cache")
	h.Set("X-Accel-Buffering", "no")
	out := &eventStream{c: c, w: http.NewResponseController(c.Response())}
	for more, err := true, error(nil); more; {
		var event ops.CompactEvent
		select {
		case event, more = <-events:
			if event.Type == "start" || event.Type == "progress" { // the last one is sent below, with the result
				err = out.sendJSON(event.Type, event)
			}
		case <-time.After(pingEvery):
			err = out.write([]byte(": ping\n\n"))
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			cancel()
			<-done
			return nil //nolint:nilerr // the client has gone
		}
	}
	if err := <-done; err != nil {
		return out.sendJSON("error", problemOf(c, describe(err)))
	}
	return out.send("result", result.body)
}

// eventStream writes server-sent events (the HTML standard, section 9.2).
type eventStream struct {
	c echo.Context
	w *http.ResponseController
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

// inOriginal names what a compaction removed.
type inOriginal struct {
	inWorkspace

	// `report.id` of a compaction, or the `original` of a message.
	Original string `path:"original" pattern:"^[co]_[0-9a-f]{14,24}$"`
}

// originalQuery asks for an original, a page of it, or places in it.
type originalQuery struct {
	inOriginal

	Offset *int64 `query:"offset" minimum:"0"` // In characters.
	Limit  *int64 `query:"limit" minimum:"0"`  // Characters of a page, or places found.
	Query  string `query:"query"`
}

// getOriginal shows what compaction removed.
//
// The exact bytes; with `offset` or `limit` a page of the text; with `query` the messages that a compaction, or one before it, removed
// and that contain the words.
func (s *server) getOriginal(ctx context.Context, in *originalQuery) (any, error) {
	of, limit := ops.GetOriginal{Workspace: string(in.Workspace), ID: in.Original}, int(or(in.Limit, 0))
	switch {
	case in.Query != "":
		return s.Flows.SearchOriginals.Run(ctx, ops.SearchOriginals{OriginalRef: of, Words: in.Query, Limit: cmp.Or(limit, defaultPage)})
	case in.Offset != nil || in.Limit != nil:
		return s.Flows.ReadOriginal.Run(ctx, ops.ReadOriginal{OriginalRef: of, Offset: int(or(in.Offset, 0)), Limit: limit})
	}
	kept, err := s.Flows.GetOriginal.Run(ctx, of)
	return exactly[any]{encoded{body: kept.Data}}, err
}

// originalsQuery asks for messages that compactions removed from a conversation.
type originalsQuery struct {
	inWorkspace

	Conversation string `query:"conversation_id" required:"true" minLength:"1"`
	Query        string `query:"query" required:"true" pattern:"[^\\s]"` // Words, identifiers, or the id of an original.
	Kind         string `query:"kind" enum:"user,assistant,call,result"` // Only what a user or the assistant wrote, calls, or results.
	Limit        *int64 `query:"limit" minimum:"0"`                      // Places found.
}

// lookUpOriginals looks up what compaction removed from a conversation.
//
// The messages that hold most of the words, rare words first, then the newest. Each has the id by which its bytes can be fetched.
func (s *server) lookUpOriginals(ctx context.Context, in *originalsQuery) (out ops.OriginalHits, err error) {
	for _, given := range [][2]string{{"conversation_id", in.Conversation}, {"query", in.Query}} {
		if strings.TrimSpace(given[1]) == "" {
			return out, refused("%s: must not be empty", given[0])
		}
	}
	return s.Flows.SearchOriginals.Run(ctx, ops.SearchOriginals{
		OriginalRef: ops.GetOriginal{Workspace: string(in.Workspace)}, Conversation: in.Conversation, Words: in.Query, Kind: in.Kind,
		Limit: int(min(cmp.Or(or(in.Limit, 0), defaultPage), maxPage)),
	})
}

// undoRequest asks for the input of a compaction.
type undoRequest struct {
	inWorkspace

	Original string           `path:"original" pattern:"^c_[0-9a-f]{14,24}$"` // `report.id` of a compaction.
	Body     wire.UndoRequest `body:"optional"`
}

// undoCompaction takes a compaction back.
//
// `report.id` of a compaction gives its exact input. With the messages of a conversation that went on from its result, the answer is
// that conversation with the compaction taken out.
func (s *server) undoCompaction(ctx context.Context, in *undoRequest) (exactly[wire.Conversation], error) {
	of := ops.GetOriginal{Workspace: string(in.Workspace), ID: in.Original}
	return answer(ctx, s.Flows.UndoCompaction, ops.UndoCompaction{OriginalRef: of, Messages: in.Body.Messages},
		func(whole []jsontext.Value) exactly[wire.Conversation] {
			return exactly[wire.Conversation]{encoded{body: slices.Concat([]byte(`{"messages":`), loosejson.Join(whole), []byte("}"))}}
		})
}
