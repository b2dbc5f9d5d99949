package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"os/exec"
	"sync"
	"time"

	"memoryd/internal/lifecycle"
	"memoryd/internal/loosejson"
	"memoryd/internal/reading"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Options are what a wrapper does besides forwarding messages.
type Options struct {
	Name        string // the server's name in memoryd; "" uses the name that the server gives itself
	Enrich      string // off, meta or description: where lists of tools show guidelines
	Warn        bool   // adds the warnings about a call to its result
	StopRepeats bool   // refuses to repeat a call that failed in this run

	Memory Memory
	Outbox *Outbox
	Log    *slog.Logger
	Run    string // trajectory_id of the calls; "" generates one
}

// Wrapper sits between an MCP client and a server. It forwards everything byte for byte and
// in order, except for what Options add. Each call of a tool is recorded once, when its last
// result has arrived.
type Wrapper struct {
	Options
	calls *calls
	guide *guide

	mu     sync.Mutex
	failed map[string]string // by tool and arguments: the output with which the call failed in this run

	toClient, toServer *lineWriter
}

// NewWrapper returns a wrapper for one server.
func NewWrapper(o Options) *Wrapper {
	o.Run = cmp.Or(o.Run, uuid.NewString())
	w := &Wrapper{Options: o, guide: &guide{memory: o.Memory, mode: o.Enrich, notes: map[string]note{}}, failed: map[string]string{}}
	w.calls = newCalls(time.Now, w.record)
	return w
}

// toolName gives the name under which a tool is known in memoryd: the one that
// hosts give it, which names the server too.
func (w *Wrapper) toolName(server, tool string) string {
	return "mcp__" + cmp.Or(w.Name, server, "server") + "__" + tool
}

// Serve starts command and forwards what it reads from in and what the command writes, until
// either side ends. It returns the command's exit code. The command's standard error goes to
// stderr, and a SIGTERM or SIGINT that ends ctx is forwarded. No process of the command's
// group is left behind.
func (w *Wrapper) Serve(ctx context.Context, command []string, in io.Reader, out, stderr io.Writer) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = stderr
	ownGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 1, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	w.toClient, w.toServer = &lineWriter{w: out}, &lineWriter{w: stdin}
	// The reader of the client's side may stay blocked after the server's end;
	// it ends with the process.
	input := lifecycle.Go(ctx, w.Log, "mcp client", func() error {
		defer stdin.Close() //nolint:errcheck // the server learns of the end by it
		return eachLine(in, w.fromClient)
	})
	output := lifecycle.Go(ctx, w.Log, "mcp server", func() error { return eachLine(stdout, w.fromServer) })

	select {
	case <-output: // the server closed its side
	case <-input: // the client closed its side: the server may finish what it does
		w.wait(output, 5*time.Second)
	case <-ctx.Done():
		_ = stdin.Close()
		askToEnd(cmd)
		w.wait(output, 5*time.Second)
	}
	return w.end(cmd)
}

func (w *Wrapper) wait(done <-chan error, patience time.Duration) {
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// end ends the command's whole group, politely first, and tells open calls as
// failed.
func (w *Wrapper) end(cmd *exec.Cmd) (int, error) {
	ended := make(chan error, 1)
	done := lifecycle.Go(context.Background(), w.Log, "mcp wait", func() error {
		ended <- cmd.Wait()
		return nil
	})
	for _, press := range []func(*exec.Cmd){func(*exec.Cmd) {}, askToEnd, kill} {
		press(cmd)
		select {
		case <-done:
			kill(cmd) // children that it left behind
			w.calls.abandon("The server exited before it answered")
			err := <-ended
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return exit.ExitCode(), nil
			}
			return 0, err
		case <-time.After(2 * time.Second):
		}
	}
	return 1, errors.New("the server cannot be ended")
}

// eachLine gives each line of r, its end included, to f; lines have no bound.
func eachLine(r io.Reader, f func(line []byte) error) error {
	for line, err := range loosejson.NewLines(r, math.MaxInt, nil).All() {
		if len(line) > 0 {
			err = cmp.Or(f(bytes.Clone(line)), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lineWriter writes whole lines from several goroutines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) write(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.w.Write(line)
	return err
}

// fromClient looks at a line of the client and passes it on.
func (w *Wrapper) fromClient(line []byte) error {
	if answer := w.sent(messages(line)); answer != nil {
		return w.toClient.write(answer)
	}
	return w.toServer.write(line)
}

// fromServer looks at a line of the server and passes it on.
func (w *Wrapper) fromServer(line []byte) error { return w.toClient.write(w.received(line)) }

// sent looks at what a client sends. It gives an answer where the server is not
// to be asked.
func (w *Wrapper) sent(all []message) []byte {
	if w.StopRepeats && len(all) == 1 && all[0].Method == "tools/call" {
		if reason, again := w.repeats(all[0]); again {
			return refusal(all[0], reason)
		}
	}
	for _, m := range all {
		w.calls.sent(m, w.noteFor)
	}
	return nil
}

// received looks at what a server sends and gives what the client is to get:
// the same, enriched where that was asked for. Batches pass unchanged.
func (w *Wrapper) received(line []byte) []byte {
	all := messages(line)
	for _, m := range all {
		r := w.calls.received(m)
		if len(all) > 1 {
			continue
		}
		switch {
		case r.list && w.guide.on():
			line = w.guide.enrich(line, func(tool string) string { return w.toolName(r.server, tool) })
		case r.note != nil:
			line = appendNote(line, r.note)
		}
	}
	return line
}

// record tells memoryd of a call. It is called once for each, by calls, which
// holds its own lock meanwhile.
func (w *Wrapper) record(c openCall, o outcome) {
	key := callKey(c.name, c.arguments)
	w.mu.Lock()
	if o.failed && len(w.failed) < maxOpen {
		w.failed[key] = o.text
	} else if !o.cancelled {
		delete(w.failed, key)
	}
	w.mu.Unlock()
	id := uuid.NewString()
	metadata := map[string]any{
		"tool_call_id": id, "call_ref": "mcp-wrap/" + id, "sources": []string{"mcp-wrap"}, "trajectory_id": w.Run,
		"source": "mcp-wrap", "mcp_tool": c.name,
	}
	add := func(key, value string) {
		if value != "" {
			metadata[key] = value
		}
	}
	add("mcp_server", cmp.Or(w.Name, w.calls.server))
	add("agent_id", w.calls.client)
	add("traceparent", c.traceparent)
	if shown := w.guide.shown(c.name); shown > 0 {
		metadata["guideline_version"] = shown
	}
	if c.rounds > 0 {
		metadata["rounds"] = c.rounds
	}
	if o.cancelled {
		metadata["cancelled"] = true
	}
	w.Outbox.Put(jsonOf(map[string]any{
		"tool_name": w.toolName(w.calls.server, c.name),
		"input":     inputOf(c.arguments), "output": o.text, "success": !o.failed, "time_cost": time.Since(c.began).Seconds(),
		"create_time": c.began.UTC().Format(time.RFC3339Nano), "metadata": metadata,
	}))
}

// inputOf is the arguments of a call; none stand for an empty object.
func inputOf(arguments json.RawMessage) json.RawMessage {
	if jsontext.Value(arguments).Kind() == '{' && json.Valid(arguments) {
		return arguments
	}
	return json.RawMessage("{}")
}

// callKey names a call by tool and arguments, whatever the order of keys.
func callKey(name string, arguments json.RawMessage) string {
	var v any
	if json.Unmarshal(arguments, &v) == nil {
		if sorted, err := json.Marshal(v); err == nil {
			arguments = sorted
		}
	}
	return name + "\x00" + string(arguments)
}

// repeats reports whether this very call failed in this run, and how.
func (w *Wrapper) repeats(m message) (string, bool) {
	var p callParams
	if json.Unmarshal(m.Params, &p) != nil || p.RequestState != "" {
		return "", false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	text, failed := w.failed[callKey(p.Name, p.Arguments)]
	return text, failed
}

// refusal answers a call that is not made because it failed before. From 2026-07-28
// on, where each request names its protocol, a result says its type.
func refusal(m message, text string) []byte {
	result := map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": reading.NotCalled + text}}}
	if protocolOf(m.Params) >= stateless {
		result["resultType"] = "complete"
	}
	return append(jsonOf(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}), '\n')
}
