package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

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
	a, err := newApp(ctx, cfg, func(string) string { return "" }, slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: slog.LevelWarn})))
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

// demo talks to a server and writes what it says.
type demo struct {
	remote
	out io.Writer
}

func (d demo) show(ctx context.Context) error {
	calls, err := unpacked("demo/calls.jsonl.gz")
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSpace(calls), []byte("\n"))
	for from := 0; from < len(lines); from += 500 {
		var batch []json.RawMessage
		for _, line := range lines[from:min(from+500, len(lines))] {
			batch = append(batch, json.RawMessage(line))
		}
		if err := d.ask(ctx, "/add_tool_call_result", map[string]any{"tool_call_results": batch, "include_history": false}, nil); err != nil {
			return err
		}
	}
	if err := d.say("Recorded %d calls of an airline's service agent. What memoryd tells the next agent:\n\n", len(lines)); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{d.guideline, d.warning, d.compaction} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return d.say("That was all. Start your own server with `memoryd`; README.md shows the requests.\n")
}

// guideline shows what is known of one tool.
func (d demo) guideline(ctx context.Context) error {
	if err := d.ask(ctx, "/summary_tool_memory", map[string]any{"tool_names": demoTool}, nil); err != nil {
		return err
	}
	var got answer[json.RawMessage]
	if err := d.ask(ctx, "/retrieve_tool_memory", map[string]any{"tool_names": demoTool, "include_history": false}, &got); err != nil {
		return err
	}
	return d.say("--- POST /retrieve_tool_memory\n%s\n\n", got.Answer)
}

// warning shows what is said before a call that the history knows to fail.
func (d demo) warning(ctx context.Context) error {
	input := map[string]any{
		"reservation_id": "JG7FMM", "cabin": "economy", "payment_id": "certificate_8544743", "flights": []map[string]string{{"flight_number": "HAT028", "date": "2024-05-21"}},
	}
	shown, err := json.Marshal(input)
	if err != nil {
		return err
	}
	var got answer[struct {
		Risk     *float64 `json:"risk"`
		BaseRate *float64 `json:"base_rate"`
		Warnings []struct {
			Text string `json:"text"`
		} `json:"warnings"`
	}]
	if err := d.ask(ctx, "/preflight_tool_call", map[string]any{"tool_name": demoTool, "input": input}, &got); err != nil {
		return err
	}
	if err := d.say("--- POST /preflight_tool_call %s\n", shown); err != nil {
		return err
	}
	if m := got.Metadata; m.Risk != nil && m.BaseRate != nil {
		if err := d.say("Risk %.0f %%, of all calls %.0f %% failed.\n", 100**m.Risk, 100**m.BaseRate); err != nil {
			return err
		}
	}
	for _, w := range got.Metadata.Warnings {
		if err := d.say("- %s\n", w.Text); err != nil {
			return err
		}
	}
	return d.say("\n")
}

// compaction makes a conversation smaller.
func (d demo) compaction(ctx context.Context) error {
	raw, err := unpacked("demo/chat.json.gz")
	if err != nil {
		return err
	}
	var chat map[string]any
	if err := json.Unmarshal(raw, &chat); err != nil {
		return err
	}
	chat["max_input_tokens"], chat["force"] = demoTokens, true
	var got struct {
		Summary string `json:"summary"`
		Report  struct {
			TokensBefore   int `json:"tokens_before"`
			TokensAfter    int `json:"tokens_after"`
			MessagesBefore int `json:"messages_before"`
			MessagesAfter  int `json:"messages_after"`
		} `json:"report"`
	}
	if err := d.ask(ctx, "/compact_conversation", chat, &got); err != nil {
		return err
	}
	r := got.Report
	return d.say("--- POST /compact_conversation: %d messages and %d tokens become %d and %d\n%s\n\n", r.MessagesBefore, r.TokensBefore, r.MessagesAfter, r.TokensAfter, strings.TrimSpace(got.Summary))
}

func (d demo) ask(ctx context.Context, path string, body map[string]any, out any) error {
	body["workspace_id"] = d.Workspace
	if err := d.post(ctx, path, body, out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (d demo) say(format string, args ...any) error {
	_, err := fmt.Fprintf(d.out, format, args...)
	return err
}

func unpacked(name string) ([]byte, error) {
	f, err := sample.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
