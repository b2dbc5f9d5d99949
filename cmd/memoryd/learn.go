package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
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
	"memoryd/guidelines/mistakes"
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
	Top       int      `default:"10" help:"Number of mistakes to show; 0 shows all."`
	Propose   bool     `help:"Print proposed lines for AGENTS.md as a patch, instead of the report."`
	Apply     bool     `help:"Print the patch and write it to the file."`
	Into      string   `type:"path" placeholder:"FILE" help:"The file to patch (default: AGENTS.md or CLAUDE.md in this folder)."`
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
		return fmt.Errorf("%w (while a server uses the store, use memoryd import)", err)
	}
	a.Start(ctx)
	l := &learner{app: a, ctx: ctx, command: c, report: report{Store: a.storeName, Workspace: c.Workspace, Written: time.Now()}}
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
	return c.print(std, &l.report)
}

// print says what was asked for.
func (c learnCmd) print(std streams, r *report) error {
	switch {
	case c.Propose || c.Apply:
		return c.propose(std.out, r.Proposals)
	case c.JSON:
		out := json.NewEncoder(std.out)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	return r.text(std.out, c.Top)
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
			return nil, errors.New("found no transcripts of coding agents on this machine: name a file or a folder")
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
	batches chan learnBatch
	batch   learnBatch
	bytes   int
	failed  error
	folded  <-chan error // when the batch before is taken into the window
	tools   map[string]bool
	keep    []store.Record // of files that were read, until they are some
}

// learnBatch is calls that are recorded in one write, with where each stands, and the
// files that are read when they are.
type learnBatch struct {
	items []ops.Item
	from  []origin
	ended []endedFile
}

// origin is where a call stands.
type origin struct {
	file  *learnedFile
	run   string
	line  int
	timed bool
}

// endedFile is a file that was read, now or before.
type endedFile struct {
	*learnedFile

	keep bool // it is to be remembered
}

// The bounds of one write: enough calls that a commit is shared, few enough that
// they fit into the memory.
const (
	learnCalls      = 1000
	learnBatchBytes = 4 << 20
	learnFiles      = 200
	// learnMemory is the limit of limitMemory.
	learnMemory = 192 << 20
)

// learnedKind is the kind of the records that say which files were read, and
// learnedForm the form of what they hold: files of another are read again.
const (
	learnedKind = "learned_file"
	learnedForm = 2
)

// learnedFile is what is remembered of a file that was read to its end.
type learnedFile struct {
	Form     int          `json:"form"`
	Path     string       `json:"path"`
	Size     int64        `json:"size"`
	Modified time.Time    `json:"modified"`
	Found    ingest.Stats `json:"found"`
	// Runs are the sessions in it, Judged its judged calls, Tools all and failed ones by
	// tool; First and Last are when calls were made.
	Runs     []uint64           `json:"runs,omitempty"`
	Judged   int                `json:"judged,omitempty"`
	Tools    map[string][2]int  `json:"tools,omitempty"`
	First    time.Time          `json:"first,omitzero"`
	Last     time.Time          `json:"last,omitzero"`
	Failures []mistakes.Failure `json:"failures,omitempty"`

	follow mistakes.Follower
}

// maxFailures and maxLearnedRuns bound what is remembered of one file.
const (
	maxFailures    = 5000
	maxLearnedRuns = 10_000
)

// read reads the files, and records what they hold beside it.
func (l *learner) read(files []transcript, std streams) error {
	size := int64(0)
	for _, f := range files {
		size += f.info.Size()
	}
	bar := newBar(std.err, size, "reading")
	defer bar.finish()
	l.batches, l.tools = make(chan learnBatch), map[string]bool{}
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	recorded := lifecycle.Go(l.ctx, l.app.log, "record", func() error {
		for b := range l.batches {
			if l.failed == nil {
				if l.failed = l.record(b); l.failed != nil {
					cancel()
				}
			}
		}
		return l.failed
	})
	err := func() error {
		defer close(l.batches)
		for _, f := range files {
			kept, keep, err := l.file(ctx, f, bar)
			if err != nil {
				return err
			}
			l.batch.ended = append(l.batch.ended, endedFile{kept, keep})
			if len(l.batch.ended) >= learnFiles {
				l.flush()
			}
		}
		l.flush()
		return nil
	}()
	if recordErr := <-recorded; recordErr != nil {
		return recordErr
	}
	return errors.Join(err, l.remember())
}

// file reads one file; keep says that it was read to its end just now.
func (l *learner) file(ctx context.Context, f transcript, bar bar) (kept *learnedFile, keep bool, err error) {
	kept = &learnedFile{Form: learnedForm, Path: f.path, Size: f.info.Size(), Modified: f.info.ModTime().UTC(), Tools: map[string][2]int{}}
	if before, known := l.before(f.path); known && before.Form == kept.Form && before.Size == kept.Size && before.Modified.Equal(kept.Modified) {
		_ = bar.Add64(f.info.Size())
		l.report.unchanged(before.Found)
		return before, false, nil
	}
	options := ingest.Options{
		Format: l.command.Format, Call: func(c ingest.Call) { l.take(kept, &c) }, Read: func(n int) { _ = bar.Add(n) },
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
	l.report.found(f.path, kept.Found)
	return kept, err == nil, nil
}

// take gathers calls.
func (l *learner) take(of *learnedFile, c *ingest.Call) {
	call := c.Record()
	l.batch.items = append(l.batch.items, ops.Item{Call: call, ToolCallID: memoryd.ToolCallID(call.Metadata)})
	l.batch.from = append(l.batch.from, origin{of, c.Conversation + "\x00" + c.Agent, c.Line, call.CreateTime != ""})
	if l.bytes += len(call.Input) + len(call.Output); len(l.batch.items) >= learnCalls || l.bytes > learnBatchBytes {
		l.flush()
	}
}

func (l *learner) flush() {
	l.batches <- l.batch
	l.batch, l.bytes = learnBatch{}, 0
}

// record writes a batch. What is known already is not written again.
func (l *learner) record(b learnBatch) error {
	if len(b.items) > 0 {
		if err := l.write(b); err != nil {
			return err
		}
	}
	for _, f := range b.ended {
		l.end(f)
	}
	if len(l.keep) >= learnFiles {
		return l.remember()
	}
	return nil
}

func (l *learner) write(b learnBatch) error {
	for i := range b.items {
		l.tools[b.items[i].Call.Tool] = true
	}
	done, err := l.app.face.Flows.AddToolCallResult.Run(l.ctx, ops.RecordRequest{
		Workspace: l.command.Workspace, Items: b.items, Async: true, RequestKey: requestKey(b.items),
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
	refused := map[int]bool{}
	for _, r := range done.Rejected {
		refused[r.Index] = true
	}
	calls := done.Calls
	for i := range b.from {
		if !refused[i] {
			l.judged(&b.from[i], &calls[0])
			calls = calls[1:]
		}
	}
	return nil
}

// judged takes a call that was recorded into what its file shows.
func (l *learner) judged(from *origin, c *memoryd.Call) {
	f := from.file
	run := mistakes.Call{
		Tool: c.Tool, Input: c.Input, Output: c.Output, Seconds: c.TimeCost, Line: from.line,
		Bad: !c.Success, // until it is judged
	}
	if from.timed {
		run.Begun = c.Time
	}
	if e := &c.Evaluation; e.State == memoryd.Judged {
		run.Bad, run.Good = e.Score <= memoryd.ScoreFailure, e.Score >= memoryd.ScoreSuccess
	} else {
		l.report.Calls.Pending++
	}
	n := f.Tools[c.Tool]
	n[0]++
	if run.Bad {
		n[1]++
	}
	f.Tools[c.Tool] = n
	f.Judged++
	if !run.Begun.IsZero() && (f.First.IsZero() || run.Begun.Before(f.First)) {
		f.First = run.Begun
	}
	if run.Begun.After(f.Last) {
		f.Last = run.Begun
	}
	f.follow.Failed = func(m mistakes.Failure) {
		if len(f.Failures) < maxFailures {
			f.Failures = append(f.Failures, m)
		}
	}
	if id, first := f.follow.Add(from.run, binary.BigEndian.Uint64(c.Key[:]), &run); first && len(f.Runs) < maxLearnedRuns {
		f.Runs = append(f.Runs, id)
	}
}

// end takes what a file shows into the report, and is to remember it.
func (l *learner) end(f endedFile) {
	f.follow.Flush()
	l.report.take(f.learnedFile)
	if !f.keep {
		return
	}
	if data, err := json.Marshal(f.learnedFile); err == nil { // numbers, texts and times: it cannot fail
		l.keep = append(l.keep, store.Record{RecordKey: l.fileKey(f.Path), Data: data})
	}
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
func (l *learner) before(path string) (f *learnedFile, known bool) {
	r, err := l.app.store.Record(l.ctx, l.fileKey(path))
	f = &learnedFile{}
	return f, err == nil && json.Unmarshal(r.Data, f) == nil
}

// remember notes files whose calls are recorded.
func (l *learner) remember() error {
	keep := l.keep
	l.keep = nil
	if len(keep) == 0 {
		return nil
	}
	if err := l.app.store.PutRecords(l.ctx, keep); err != nil {
		return fmt.Errorf("remember the files: %w", err)
	}
	return nil
}
