package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"memoryd/api/wire"
	"memoryd/compact"
	"memoryd/config"
)

// The sample is recorded runs of an airline's service agent; its licence is beside it.
//
//go:embed demo/calls.jsonl.gz demo/chat.json.gz demo/LICENSE
var sample embed.FS

// What the demonstration shows.
const (
	demoWorkspace = "demo"
	demoTool      = "update_reservation_flights"
	demoTokens    = 2000 // of the conversation, after
)

type demoCmd struct {
	Data string `placeholder:"DIR" help:"Keep the store in this folder (default: it is removed)."`
}

// Run demonstrates the program with its own server on a free port.
func (c demoCmd) Run(ctx context.Context, std streams) (err error) {
	dir := c.Data
	if dir == "" {
		if dir, err = os.MkdirTemp("", "memoryd-demo-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	cfg, err := config.Load("", nil)
	if err != nil {
		return err
	}
	cfg.HTTP.Listen, cfg.Store.SQLite.Dir = "127.0.0.1:0", dir
	a, err := newApp(ctx, cfg, func(string) string { return "" },
		slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	a.Start(ctx)
	defer func() {
		if stopErr := a.Stop(context.WithoutCancel(ctx)); err == nil {
			err = stopErr
		}
	}()
	return demo{remote{reach{URL: "http://" + a.Addr().String()}, demoWorkspace}, std.out}.show(ctx)
}

// demo sends requests to a server and prints the answers.
type demo struct {
	remote
	out io.Writer
}

// demoInput is the input of a call that fails, as the recorded calls show.
const demoInput = `{"cabin":"economy","flights":[{"date":"2024-05-21","flight_number":"HAT028"}],"payment_id":"certificate_8544743","reservation_id":"JG7FMM"}`

func (d demo) show(ctx context.Context) error {
	calls, err := unpacked("demo/calls.jsonl.gz")
	if err != nil {
		return err
	}
	chat, err := unpacked("demo/chat.json.gz")
	if err != nil {
		return err
	}
	var items []json.RawMessage
	for line := range bytes.Lines(bytes.TrimSpace(calls)) {
		items = append(items, line)
	}
	for batch := range slices.Chunk(items, 500) {
		if err := d.ask(ctx, "/add_tool_call_result", map[string]any{"tool_call_results": batch, "include_history": false}, nil); err != nil {
			return err
		}
	}
	var guideline answer[json.RawMessage]
	var forecast wire.PreflightResponse
	var compacted compact.Result
	request := map[string]any{}
	if err := json.Unmarshal(chat, &request); err != nil {
		return err
	}
	request["max_input_tokens"], request["force"] = demoTokens, true
	if err := cmp.Or(
		d.ask(ctx, "/summary_tool_memory", map[string]any{"tool_names": demoTool}, nil),
		d.ask(ctx, "/retrieve_tool_memory", map[string]any{"tool_names": demoTool, "include_history": false}, &guideline),
		d.ask(ctx, "/preflight_tool_call", map[string]any{"tool_name": demoTool, "input": json.RawMessage(demoInput)}, &forecast),
		d.ask(ctx, "/compact_conversation", request, &compacted),
	); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "Recorded %d calls of an airline's service agent. What memoryd tells the next agent:\n\n", len(items))
	fmt.Fprintf(d.out, "--- POST /retrieve_tool_memory\n%s\n\n", guideline.Answer)
	fmt.Fprintf(d.out, "--- POST /preflight_tool_call %s\n", demoInput)
	if forecast.Risk != nil {
		fmt.Fprintf(d.out, "Risk %.0f %%, of all calls %.0f %% failed.\n", 100**forecast.Risk, 100*forecast.BaseRate)
	}
	for _, w := range forecast.Warnings {
		fmt.Fprintf(d.out, "- %s\n", w.Text)
	}
	r := compacted.Report
	fmt.Fprintf(d.out, "\n--- POST /compact_conversation: %d messages and %d tokens become %d and %d\n%s\n\n",
		r.MessagesBefore, r.TokensBefore, r.MessagesAfter, r.TokensAfter, strings.TrimSpace(compacted.Summary))
	_, err = fmt.Fprint(d.out, "That was all. Start your own server with `memoryd`; README.md shows the requests.\n")
	return err
}

func (d demo) ask(ctx context.Context, path string, body map[string]any, out any) error {
	body["workspace_id"] = d.Workspace
	if err := d.post(ctx, path, body, out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func unpacked(name string) ([]byte, error) {
	packed, _ := sample.ReadFile(name) // it is embedded
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
