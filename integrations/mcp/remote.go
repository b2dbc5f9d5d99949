package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"memoryd/internal/lifecycle"
)

// Remote is an MCP server reached over streamable HTTP.
type Remote struct {
	URL   string
	Token string // sent as the bearer token; "" for none
}

// bridge carries the lines of a stdio client to a remote server.
type bridge struct {
	*Wrapper
	remote Remote
	ctx    context.Context //nolint:containedctx // the bridge lives as long as its session
	posts  sync.WaitGroup
	// cancels are what ends requests under way, by the raw text of the id.
	cancels sync.Map

	mu                sync.Mutex
	session, protocol string
}

// Bridge forwards messages from in to a remote server, and its answers to out, until in ends.
func (w *Wrapper) Bridge(ctx context.Context, remote Remote, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &bridge{Wrapper: w, remote: remote, ctx: ctx}
	w.toClient, w.toServer = &lineWriter{w: out}, &lineWriter{w: b}
	input := lifecycle.Go(ctx, w.Log, "mcp client", func() error { return eachLine(in, w.fromClient) })
	var err error
	select {
	case err = <-input:
	case <-ctx.Done():
	}
	answered := lifecycle.Go(context.WithoutCancel(ctx), w.Log, "mcp bridge", func() error { b.posts.Wait(); return nil })
	w.wait(answered, 5*time.Second)
	b.leave()
	cancel()
	w.wait(answered, 2*time.Second) // a client that no longer reads must not keep us
	w.calls.abandon("The session ended before the server answered")
	return err
}

// Write sends one line from the client. Requests are sent in the background, because answers
// may arrive in any order. Notifications, and what opens the session, are delivered before
// the lines after them.
func (b *bridge) Write(line []byte) (int, error) {
	body := bytes.Clone(line)
	all := messages(body)
	var one message // but for a batch, which is nothing of what follows
	if len(all) == 1 {
		one = all[0]
	}
	if one.Method == "notifications/cancelled" {
		modern := b.modern()
		if cancel, known := b.cancels.Load(string(in(one.Params)["requestId"])); known {
			cancel.(context.CancelFunc)() //nolint:forcetypeassert // it holds nothing else
		}
		if modern {
			return len(line), nil // closing the request is what cancels it
		}
	}
	ctx, cancel := context.WithCancel(b.ctx)
	if len(one.ID) > 0 {
		b.cancels.Store(string(one.ID), cancel)
	}
	b.posts.Add(1)
	sent := lifecycle.Go(ctx, b.Log, "mcp bridge", func() error {
		defer b.posts.Done()
		defer cancel()
		defer b.cancels.Delete(string(one.ID))
		if err := b.post(ctx, body, all); err != nil && ctx.Err() == nil {
			b.fail(all, err)
		}
		if one.Method == "notifications/initialized" {
			b.listen()
		}
		return nil
	})
	if len(all) == 1 && (len(one.ID) == 0 || one.Method == "initialize") { // what it announces must not be overtaken
		b.wait(sent, 5*time.Second)
	}
	return len(line), nil
}

// stateless is the first revision of the protocol in which each request names it.
const stateless = "2026-07-28"

func (b *bridge) modern() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.session == "" && b.protocol >= stateless
}

// post sends one message or batch and passes its answers on.
func (b *bridge) post(ctx context.Context, body []byte, all []message) error {
	req, err := b.request(ctx, http.MethodPost, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if len(all) == 1 {
		b.describe(req, all[0])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing more is wanted of it
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		b.mu.Lock()
		b.session = id
		b.mu.Unlock()
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch {
	case kind == "text/event-stream":
		return events(resp.Body, b.answer)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		return nil
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if found := messages(text); len(found) > 0 && (found[0].response() || found[0].Error != nil) {
		return b.answer(text)
	}
	return fmt.Errorf("%s answered %s", b.remote.URL, resp.Status)
}

func (b *bridge) request(ctx context.Context, method string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.remote.URL, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if b.remote.Token != "" {
		req.Header.Set("Authorization", "Bearer "+b.remote.Token)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != "" {
		req.Header.Set("Mcp-Session-Id", b.session)
	}
	if b.protocol != "" {
		req.Header.Set("Mcp-Protocol-Version", b.protocol)
	}
	return req, nil
}

// describe sets the headers that mirror the body, as the protocol of 2026-07-28
// demands.
func (b *bridge) describe(req *http.Request, m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if protocol := protocolOf(m.Params); protocol != "" {
		b.protocol = protocol
		req.Header.Set("Mcp-Protocol-Version", protocol)
	}
	if m.Method == "initialize" { // the client fell back to an older protocol
		b.protocol = ""
		req.Header.Del("Mcp-Protocol-Version")
	}
	if m.Method != "" {
		req.Header.Set("Mcp-Method", m.Method)
	}
	if name := in(m.Params).Text("name|uri"); name != "" {
		req.Header.Set("Mcp-Name", name)
	}
}

// answer passes one message of the server on, as a line.
func (b *bridge) answer(text []byte) error {
	var line bytes.Buffer
	if json.Compact(&line, text) != nil {
		return nil // no message
	}
	for _, m := range messages(line.Bytes()) {
		if protocol := in(m.Result).Text("protocolVersion"); m.response() && protocol != "" {
			b.mu.Lock()
			b.protocol = protocol
			b.mu.Unlock()
		}
	}
	line.WriteByte('\n')
	return b.fromServer(line.Bytes())
}

// fail answers requests that never reached the server.
func (b *bridge) fail(all []message, why error) {
	for _, m := range all {
		if len(m.ID) == 0 || m.Method == "" {
			continue
		}
		_ = b.fromServer(append(jsonOf(map[string]any{
			"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32000, "message": why.Error()},
		}), '\n'))
	}
}

// listen opens the stream on which servers of older protocols send requests of
// their own; those that have none answer 405.
func (b *bridge) listen() {
	if b.modern() {
		return
	}
	req, err := b.request(b.ctx, http.MethodGet, nil)
	if err != nil {
		return
	}
	req.Header.Set("Accept", "text/event-stream")
	lifecycle.Go(b.ctx, b.Log, "mcp bridge", func() error {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil // the session goes on without it
		}
		defer resp.Body.Close() //nolint:errcheck // nothing more is wanted of it
		if resp.StatusCode != http.StatusOK {
			return nil
		}
		return events(resp.Body, b.answer)
	})
}

// leave ends a session of the older protocols.
func (b *bridge) leave() {
	b.mu.Lock()
	session := b.session
	b.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), 2*time.Second)
	defer cancel()
	if req, err := b.request(ctx, http.MethodDelete, nil); err == nil {
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close() //nolint:errcheck // nothing more is wanted of it
		}
	}
}

// events gives the data of each event of a stream to f.
func events(stream io.Reader, f func(data []byte) error) error {
	var data []byte
	err := eachLine(stream, func(line []byte) error {
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
		}
		if len(line) > 0 || len(data) == 0 {
			return nil
		}
		event := data
		data = nil
		return f(event)
	})
	if err == nil && len(data) > 0 {
		return f(data)
	}
	return err
}
