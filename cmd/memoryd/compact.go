package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"memoryd/compact"
	"memoryd/config"
	"memoryd/integrations/transcripts"
	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
	"memoryd/ops"
	"memoryd/store/mem"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/schollz/progressbar/v3"
)

type compactCmd struct {
	Files          []string `arg:"" name:"file" help:"Conversations as JSON or JSON lines, plain or gzipped, or transcripts of coding agents; - reads standard input."`
	Profile        string   `enum:",default,deerflow,forge,ra_aid" default:"" help:"default, deerflow, forge or ra_aid."`
	URL            string   `name:"url" env:"MEMORYD_URL" help:"Address of a server that compacts and keeps the originals. Without it, this command compacts by itself, without a model."`
	Key            string   `env:"MEMORYD_KEY" placeholder:"KEY" help:"API key of the server."`
	Workspace      string   `help:"Workspace in which the server keeps the originals."`
	MaxInputTokens int      `help:"Context size of the model."`
	TargetTokens   int      `help:"Target size in tokens."`
	Force          bool     `help:"Compact even if no trigger fires."`
	DryRun         bool     `help:"Print only the report."`
	Diff           bool     `help:"Show what happened to each message."`
}

// conversation is one conversation of a file, with what stands around its
// messages there.
type conversation struct {
	name     string
	messages []jsontext.Value
	object   jsontext.Value // the object that holds the messages; nil when they stand alone
}

// Run compacts each conversation. It writes the result to standard output in the form of the
// file, and the report to standard error.
func (c compactCmd) Run(ctx context.Context, std streams) error {
	run, err := c.runner()
	if err != nil {
		return err
	}
	failed := 0
	for _, name := range c.Files {
		each := func(conv conversation) error {
			if err := c.one(ctx, std, run, conv); err != nil {
				failed++
				fmt.Fprintf(std.err, "%s: %v\n", conv.name, err)
			}
			return ctx.Err()
		}
		var err error
		if format, _ := transcripts.Detect(ctx, name); transcripts.HoldsConversations(format) {
			err = eachTranscribed(ctx, name, each)
		} else {
			err = eachConversation(std.in, name, each)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if failed > 0 {
		return exitCode(exitFailed)
	}
	return nil
}

// runner is how a request is carried out: by a server, or here.
func (c compactCmd) runner() (func(context.Context, compact.Request) (compact.Result, error), error) {
	if c.URL != "" {
		return reach{URL: c.URL, Key: c.Key}.compact, nil
	}
	cfg, err := config.Default()
	if err != nil {
		return nil, err
	}
	return compact.New(cfg.Compact, compact.Deps{
		Originals: ops.Originals{Records: mem.New(), Keep: cfg.Compact.KeepOriginals, Now: time.Now}, // nobody asks for them later
		Mask:      textsafe.Mask, Logger: slog.New(slog.DiscardHandler),
	}).Compact, nil
}

// compact lets the server do it.
func (r reach) compact(ctx context.Context, req compact.Request) (res compact.Result, err error) {
	body, err := jsonv2.Marshal(req, jsontext.PreserveRawStrings(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		return res, err
	}
	var answer json.RawMessage
	if err := r.post(ctx, "/compact_conversation", body, &answer); err != nil {
		return res, err
	}
	return res, jsonv2.Unmarshal(answer, &res, jsontext.AllowDuplicateNames(true))
}

func (c compactCmd) one(ctx context.Context, std streams, run func(context.Context,
	compact.Request) (compact.Result, error), conv conversation,
) error {
	bar := newBar(std.err, -1, conv.name, progressbar.OptionShowCount())
	res, err := run(ctx, compact.Request{
		Messages: conv.messages, Workspace: c.Workspace, Profile: c.Profile, MaxInputTokens: c.MaxInputTokens,
		TargetTokens: c.TargetTokens, Force: c.Force, DryRun: c.DryRun,
		Progress: func(e compact.Event) {
			bar.ChangeMax(e.Total)
			_ = bar.Set(e.Done)
		},
	})
	bar.finish()
	if err != nil {
		return err
	}
	c.report(std.err, conv.name, res)
	if c.DryRun {
		return nil
	}
	_, err = std.out.Write(append(conv.with(res.Messages), '\n'))
	return err
}

func (c compactCmd) report(w io.Writer, name string, res compact.Result) {
	r := res.Report
	share := 100.0
	if r.TokensBefore > 0 {
		share = 100 * float64(r.TokensAfter) / float64(r.TokensBefore)
	}
	fmt.Fprintf(w, "%s: %d -> %d messages, %d -> %d tokens (%.0f %%), %s", onTerminal(name, 300),
		r.MessagesBefore, r.MessagesAfter, r.TokensBefore, r.TokensAfter, share, res.Reason)
	if r.ModelCalls > 0 {
		fmt.Fprintf(w, ", %d model calls", r.ModelCalls)
	}
	if res.Detail != "" {
		fmt.Fprintf(w, ": %s", onTerminal(res.Detail, 300))
	}
	fmt.Fprintln(w)
	if !c.Diff {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range r.Messages {
		place := "-"
		if m.Output >= 0 {
			place = fmt.Sprint(m.Output)
		}
		fmt.Fprintf(t, "  %d\t%s\t%d tokens\t%s\t%s\t-> %s\t%s\n", m.Index, onTerminal(m.Role, 20), m.Tokens, m.Disposition, m.Why,
			place, m.Original)
	}
	_ = t.Flush() // who does not read it has gone
}

// with is the conversation as it stood in the file, with other messages.
func (c conversation) with(messages []jsontext.Value) []byte {
	list := loosejson.Join(messages)
	if c.object == nil {
		return list
	}
	from, to, _ := loosejson.Place(c.object, "messages") // which it was read from
	return slices.Concat(c.object[:from], list, c.object[to:])
}

// eachConversation reads a file of one conversation, or of many, one value
// after another.
func eachConversation(stdin io.Reader, name string, each func(conversation) error) error {
	in, err := source(stdin, name)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	text := bufio.NewReader(in.reader)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" { // some editors start files with it
		_, _ = text.Discard(3)
	}
	dec := jsontext.NewDecoder(text, jsontext.AllowDuplicateNames(true))
	for n := 1; ; n++ {
		v, err := dec.ReadValue()
		if errors.Is(err, io.EOF) {
			if n == 1 {
				return errors.New("no conversation found")
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("conversation %d: %w", n, err)
		}
		conv, err := readConversation(v.Clone())
		if err != nil {
			return fmt.Errorf("conversation %d: %w", n, err)
		}
		conv.name = fmt.Sprintf("%s: conversation %d", name, n)
		if err := each(conv); err != nil {
			return err
		}
	}
}

// eachTranscribed gives the conversations of a transcript.
func eachTranscribed(ctx context.Context, name string, each func(conversation) error) error {
	all, err := transcripts.Conversations(ctx, name)
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := each(conversation{name: fmt.Sprintf("%s: %s", name, onTerminal(c.Name, 100)), messages: c.Messages}); err != nil {
			return err
		}
	}
	return nil
}

func readConversation(v jsontext.Value) (conv conversation, err error) {
	switch v.Kind() {
	case '[':
		err = jsonv2.Unmarshal(v, &conv.messages, jsontext.AllowDuplicateNames(true))
	case '{':
		var held struct {
			Messages []jsontext.Value `json:"messages"`
		}
		err = jsonv2.Unmarshal(v, &held, jsontext.AllowDuplicateNames(true))
		if err == nil && held.Messages == nil {
			err = errors.New("messages: missing")
		}
		conv.messages, conv.object = held.Messages, v
	default:
		err = errors.New("must be an array of messages, or an object with messages")
	}
	if err != nil {
		err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return conv, err
}
