package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/ingest"
	"memoryd/internal/lifecycle"
	"memoryd/internal/textsafe"
	"memoryd/ops"
	"memoryd/store"
)

type learnCmd struct {
	opened
	Paths     []string `arg:"" optional:"" name:"path" help:"Files or folders to read (default: the transcripts of the coding agents on this machine)."`
	Format    string   `default:"auto" help:"Format of the files: ${formats}."`
	Workspace string   `env:"MEMORYD_WORKSPACE" default:"default" help:"The workspace to record in."`
	HTML      string   `name:"html" type:"path" placeholder:"FILE" help:"Also write the report as an HTML page."`
	JSON      bool     `name:"json" help:"Print the report as JSON."`
	Top       int      `default:"10" help:"Number of tools to show; 0 shows all."`
}

// Validate finds a format that is none.
func (c learnCmd) Validate() error {
	return checkFormat(c.Format, ingest.FormatNames())
}

// Run reads, records and reports.
func (c learnCmd) Run(ctx context.Context, std streams) (err error) {
	files, err := c.files()
	if err != nil {
		return err
	}
	if err := c.recognise(ctx, files); err != nil {
		return err // and no store is made
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	defer limitMemory(learnMemory)()
	a := &app{cfg: cfg}
	a.log = slog.New(a.panics.Handler(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: slog.LevelWarn})))
	defer func() { err = errors.Join(err, a.Stop(context.WithoutCancel(ctx))) }()
	if _, err := a.openParts(ctx, os.Getenv); err != nil {
		return fmt.Errorf("%w (a server that uses the store takes transcripts with memoryd import)", err)
	}
	a.Start(ctx)
	l := &learner{app: a, ctx: ctx, command: c, report: report{Store: a.storeName, Workspace: c.Workspace, Since: time.Now()}}
	if err := l.read(files, std); err != nil {
		return err
	}
	if err := l.conclude(); err != nil {
		return err
	}
	if c.HTML != "" {
		if err := replaceFile(c.HTML, l.report.html); err != nil {
			return err
		}
	}
	if c.JSON {
		out := json.NewEncoder(std.out)
		out.SetIndent("", "  ")
		return out.Encode(l.report)
	}
	return l.report.text(std.out, c.Top)
}

// transcript is a file to read, and whether it was named itself.
type transcript struct {
	path  string
	info  os.FileInfo
	named bool
}

// files lists what is to be read, the oldest first, so that the newest calls are the
// ones that a history keeps.
func (c learnCmd) files() (files []transcript, err error) {
	paths := c.Paths
	if len(paths) == 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		if paths = ingest.Places(home, os.Getenv); len(paths) == 0 {
			return nil, errors.New("no transcripts of Claude Code, Codex CLI, Gemini CLI, OpenHands or mini-swe-agent are on this machine: name a file or a folder")
		}
	}
	for _, path := range paths {
		found, err := ingest.Find(path)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			info, err := os.Stat(f)
			if err != nil {
				continue // it was there a moment ago
			}
			files = append(files, transcript{f, info, f == path})
		}
	}
	slices.SortStableFunc(files, func(a, b transcript) int {
		return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), strings.Compare(a.path, b.path))
	})
	return slices.CompactFunc(files, func(a, b transcript) bool { return a.path == b.path }), nil
}

// recognise fails where no file is of a format that is known.
func (c learnCmd) recognise(ctx context.Context, files []transcript) error {
	var first error
	for _, f := range files {
		if c.Format != ingest.Auto {
			return nil
		}
		_, err := ingest.Detect(ctx, f.path)
		if _, odd := errors.AsType[*ingest.UnknownShape](err); !odd {
			return nil // it is known, or its fault is told when it is read
		}
		if first == nil {
			first = fmt.Errorf("%s: %w", textsafe.Line(f.path, 300), err)
		}
	}
	if first == nil {
		return fmt.Errorf("there are no files in %s", textsafe.Line(strings.Join(c.Paths, ", "), 300))
	}
	if len(files) > 1 {
		return fmt.Errorf("none of %d files can be read, the first: %w", len(files), first)
	}
	return first
}

// learner records what files hold.
type learner struct {
	app     *app
	ctx     context.Context //nolint:containedctx // lives as long as one run
	command learnCmd
	report  report
	items   chan []ops.Item
	batch   []ops.Item
	bytes   int
	failed  error
	folded  <-chan error // when the batch before is taken into the window
	tools   map[string]bool
}

// The bounds of one write: enough calls that a commit is shared, few enough that
// they fit into the memory.
const (
	learnBatch      = 1000
	learnBatchBytes = 4 << 20
	// learnMemory is the limit of limitMemory.
	learnMemory = 192 << 20
)

// learnedKind is the kind of the records that say which files were read.
const learnedKind = "learned_file"

// learnedFile is what is remembered of a file that was read to its end.
type learnedFile struct {
	Path     string       `json:"path"`
	Size     int64        `json:"size"`
	Modified time.Time    `json:"modified"`
	Found    ingest.Stats `json:"found"`
}

// read reads the files, and records what they hold beside it.
func (l *learner) read(files []transcript, std streams) error {
	size := int64(0)
	for _, f := range files {
		size += f.info.Size()
	}
	bar := newBar(std.err, size, "reading")
	defer bar.finish()
	l.items, l.tools = make(chan []ops.Item), map[string]bool{}
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	recorded := lifecycle.Go(l.ctx, l.app.log, "record", func() error {
		for items := range l.items {
			if l.failed == nil {
				if l.failed = l.record(items); l.failed != nil {
					cancel()
				}
			}
		}
		return l.failed
	})
	var done []learnedFile
	err := func() error {
		defer close(l.items)
		for _, f := range files {
			kept, whole, err := l.file(ctx, f, bar)
			if err != nil {
				return err
			}
			if whole {
				done = append(done, kept)
			}
		}
		l.flush()
		return nil
	}()
	if recordErr := <-recorded; recordErr != nil {
		return recordErr
	}
	if err != nil {
		return err
	}
	return l.remember(done)
}

// file reads one file; whole says that it was read to its end just now.
func (l *learner) file(ctx context.Context, f transcript, bar bar) (kept learnedFile, whole bool, err error) {
	kept = learnedFile{Path: f.path, Size: f.info.Size(), Modified: f.info.ModTime().UTC()}
	if before, known := l.before(f.path); known && before.Size == kept.Size && before.Modified.Equal(kept.Modified) {
		_ = bar.Add64(f.info.Size())
		l.report.unchanged(before.Found)
		return kept, false, nil
	}
	options := ingest.Options{
		Format: l.command.Format, Call: l.take, Read: func(n int) { _ = bar.Add(n) },
		Fault: func(fault ingest.Fault) { l.report.fault(fault.String()) },
	}
	kept.Found, err = ingest.ReadFile(ctx, f.path, options)
	shape, odd := errors.AsType[*ingest.UnknownShape](err)
	switch {
	case l.ctx.Err() != nil:
		return kept, false, l.ctx.Err()
	case odd && !f.named: // a folder holds all kinds of files
		l.report.Files.Other++
		return kept, true, nil
	case odd:
		l.report.fault(textsafe.Line(f.path, 300) + ": " + shape.Error())
		l.report.Files.Other++
		return kept, false, nil
	case err != nil && ctx.Err() != nil: // it could not be recorded
		return kept, false, err
	case err != nil:
		l.report.fault(textsafe.Line(f.path, 300) + ": " + err.Error())
	}
	l.report.found(kept.Found)
	return kept, err == nil, nil
}

// take gathers calls.
func (l *learner) take(c ingest.Call) {
	call := c.Record()
	l.batch = append(l.batch, ops.Item{Call: call, ToolCallID: memoryd.ToolCallID(call.Metadata)})
	if l.bytes += len(call.Input) + len(call.Output); len(l.batch) >= learnBatch || l.bytes > learnBatchBytes {
		l.flush()
	}
}

func (l *learner) flush() {
	if len(l.batch) > 0 {
		l.items <- l.batch
	}
	l.batch, l.bytes = nil, 0
}

// record writes a batch. What is known already is not written again.
func (l *learner) record(items []ops.Item) error {
	for i := range items {
		l.tools[items[i].Call.Tool] = true
	}
	done, err := l.app.face.Flows.AddToolCallResult.Run(l.ctx, ops.RecordRequest{
		Workspace: l.command.Workspace, Items: items, Async: true, RequestKey: requestKey(items),
	})
	if refused, ok := errors.AsType[*ops.Refusal](err); ok {
		l.rejected(refused.Rejected)
		return nil
	}
	if err != nil {
		return err
	}
	if l.folded != nil {
		if err := <-l.folded; err != nil {
			return err
		}
	}
	l.folded = lifecycle.Go(l.ctx, l.app.log, "observe", func() error { return l.app.window.CatchUp(l.ctx) })
	l.report.Calls.Added += done.Added
	l.report.Calls.Known += done.Valid - done.Added
	l.rejected(done.Rejected)
	return nil
}

// rejected counts what could not be recorded, and says the first reason.
func (l *learner) rejected(list []ops.Rejection) {
	if l.report.Calls.Rejected == 0 && len(list) > 0 {
		l.report.Why = list[0].Reason
	}
	l.report.Calls.Rejected += len(list)
}

// requestKey makes the identity of calls that have neither an id nor a time: what is
// beside them.
func requestKey(items []ops.Item) string {
	h := sha256.New()
	for i := range items {
		h.Write([]byte(items[i].Call.Tool))
		h.Write(items[i].Call.Input)
	}
	return "learn-" + hex.EncodeToString(h.Sum(nil))
}

func (l *learner) fileKey(path string) store.RecordKey {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	sum := sha256.Sum256([]byte(path + "\x00" + l.command.Format))
	return store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: l.command.Workspace}, Kind: learnedKind, ID: hex.EncodeToString(sum[:])}
}

// before is what is remembered of a file.
func (l *learner) before(path string) (f learnedFile, known bool) {
	r, err := l.app.store.Record(l.ctx, l.fileKey(path))
	return f, err == nil && json.Unmarshal(r.Data, &f) == nil
}

// remember notes files whose calls are recorded.
func (l *learner) remember(files []learnedFile) error {
	for part := range slices.Chunk(files, 200) {
		records := make([]store.Record, 0, len(part))
		for _, f := range part {
			data, err := json.Marshal(f)
			if err != nil {
				return err
			}
			records = append(records, store.Record{RecordKey: l.fileKey(f.Path), Data: data})
		}
		if err := l.app.store.PutRecords(l.ctx, records); err != nil {
			return fmt.Errorf("remember the files: %w", err)
		}
	}
	return nil
}
