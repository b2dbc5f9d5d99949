package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/guidelines/mistakes"
	"memoryd/integrations/transcripts"
	"memoryd/internal/accounts"
	"memoryd/internal/client"
	"memoryd/internal/lifecycle"
	"memoryd/internal/textsafe"

	"github.com/schollz/progressbar/v3"
)

type learnCmd struct {
	reach
	Data      string   `type:"path" placeholder:"DIR" help:"Record with the server of the store in this folder (default: your local server)."`
	Paths     []string `arg:"" optional:"" name:"path" help:"Files or folders to read; - is standard input (default: the transcripts of the coding agents on this machine)."`
	Format    string   `default:"auto" help:"Format of the files: ${formats}."`
	Workspace string   `env:"MEMORYD_WORKSPACE" default:"default" help:"The workspace to record in."`
	HTML      string   `name:"html" type:"path" placeholder:"FILE" help:"Also write the report as an HTML page."`
	JSON      bool     `name:"json" help:"Print the report as JSON."`
	Top       int      `default:"10" help:"Number of mistakes to show; 0 shows all."`
	Propose   bool     `help:"Print proposed lines for AGENTS.md as a patch, instead of the report."`
	Apply     bool     `help:"Print the patch and write it to the file."`
	Into      string   `type:"path" placeholder:"FILE" help:"The file to patch (default: AGENTS.md or CLAUDE.md in this folder)."`
}

// Validate rejects unknown formats, and a file to patch without a patch.
func (c learnCmd) Validate() error {
	if c.Into != "" && !c.Propose && !c.Apply {
		return errors.New("--into goes with --propose or --apply")
	}
	return checkFormat(c.Format, transcripts.FormatNames())
}

// Run reads transcripts, records their calls, and prints the report.
func (c learnCmd) Run(ctx context.Context, std streams) (err error) {
	files, drop, err := c.files(std.in)
	defer drop()
	if err != nil {
		return err
	}
	if err := c.recognise(ctx, files); err != nil {
		return err // and no store is made
	}
	defer limitMemory(learnMemory)()
	way := c.way(c.Data, std.err)
	defer way.HTTP.CloseIdleConnections()
	l := &learner{ask: c.ask(way), ctx: ctx, command: c, report: report{Server: way.Name, Workspace: c.Workspace, Written: time.Now()}}
	if err := l.recall(way.Name); err != nil {
		return err
	}
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

// files lists what is to be read, the oldest first, so that the newest calls are the
// ones that a history keeps. Standard input is kept in a file until drop.
func (c learnCmd) files(in io.Reader) (files []transcript, drop func(), err error) {
	drop = func() {}
	paths := c.Paths
	if len(paths) == 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, drop, err
		}
		if paths = transcripts.Places(home, os.Getenv); len(paths) == 0 {
			return nil, drop, errors.New("found no transcripts of coding agents on this machine: name a file or a folder")
		}
	}
	if files, err = findFiles(paths); err != nil {
		return nil, drop, err
	}
	for i := range files {
		if files[i].info != nil {
			continue
		}
		if files[i], err = spooled(in); err != nil {
			return nil, drop, err
		}
		drop = func() { _ = os.Remove(files[i].path) }
		break // there is one standard input
	}
	slices.SortStableFunc(files, func(a, b transcript) int {
		return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), strings.Compare(a.path, b.path))
	})
	return slices.CompactFunc(files, func(a, b transcript) bool { return a.path == b.path }), drop, nil
}

// stdinFile begins the name of the file in which standard input is kept.
const stdinFile = "memoryd-stdin-"

// shown is a file's path as people know it.
func shown(path string) string {
	if strings.HasPrefix(filepath.Base(path), stdinFile) {
		return "standard input"
	}
	return onTerminal(path, 300)
}

// spooled is standard input as a file.
func spooled(in io.Reader) (t transcript, err error) {
	f, err := os.CreateTemp("", stdinFile+"*.jsonl")
	if err != nil {
		return t, err
	}
	_, err = io.Copy(f, in)
	if err = errors.Join(err, f.Close()); err == nil {
		t = transcript{path: f.Name(), named: true}
		t.info, err = os.Stat(f.Name())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return t, err
}

// recognise fails where no file is of a format that is known.
func (c learnCmd) recognise(ctx context.Context, files []transcript) error {
	var first error
	for _, f := range files {
		if c.Format != transcripts.Auto {
			return nil
		}
		_, err := transcripts.Detect(ctx, f.path)
		if _, odd := errors.AsType[*transcripts.UnknownShape](err); !odd {
			return nil // it is known, or its fault is told when it is read
		}
		if first == nil {
			first = fmt.Errorf("%s: %w", shown(f.path), err)
		}
	}
	if first == nil {
		return fmt.Errorf("there are no files in %s", onTerminal(strings.Join(c.Paths, ", "), 300))
	}
	if len(files) > 1 {
		return fmt.Errorf("none of %d files can be read, the first: %w", len(files), first)
	}
	return first
}

// learner records what files hold.
type learner struct {
	ask     asker
	ctx     context.Context //nolint:containedctx // lives as long as one run
	command learnCmd
	report  report
	batches chan learnBatch
	batch   learnBatch
	bytes   int
	tools   map[string]bool
	// dir is where it is remembered which files the server has, and what they showed; ""
	// where there is no such place.
	dir    string
	masked textsafe.Redactor
}

// learnBatch is calls that are recorded in one write, with where each stands, and the
// files that are read when they are.
type learnBatch struct {
	items []json.RawMessage
	from  []heard
	ended []endedFile
}

// heard is a call and where it stands.
type heard struct {
	memoryd.Call

	file *learnedFile
	run  string
	line int
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

// learnedForm is the form of what is remembered: files of another are read again.
const learnedForm = 4

// learnedFile is what is remembered of a file that was read to its end.
type learnedFile struct {
	Form     int               `json:"form"`
	Path     string            `json:"path"`
	Size     int64             `json:"size"`
	Modified time.Time         `json:"modified"`
	Found    transcripts.Stats `json:"found"`
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
	bar := newBar(std.err, size, "reading", progressbar.OptionShowBytes(true))
	defer bar.finish()
	l.batches, l.tools = make(chan learnBatch), map[string]bool{}
	g, ctx := lifecycle.NewGroup(l.ctx, slog.New(slog.DiscardHandler), "record", 2)
	g.Go(func() error {
		for b := range l.batches {
			if err := l.record(b); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		defer close(l.batches)
		for _, f := range files {
			kept, keep, err := l.file(ctx, f, bar)
			if err != nil {
				return err
			}
			l.batch.ended = append(l.batch.ended, endedFile{kept, keep})
			if len(l.batch.ended) >= learnFiles {
				l.flush(ctx)
			}
		}
		l.flush(ctx)
		return ctx.Err()
	})
	return g.Wait()
}

// file reads one file; keep says that it was read to its end just now.
func (l *learner) file(ctx context.Context, f transcript, bar bar) (kept *learnedFile, keep bool, err error) {
	kept = &learnedFile{Form: learnedForm, Path: f.path, Size: f.info.Size(), Modified: f.info.ModTime().UTC(), Tools: map[string][2]int{}}
	before := &learnedFile{}
	if l.before(f.path, before) && before.Form == kept.Form && before.Size == kept.Size && before.Modified.Equal(kept.Modified) {
		_ = bar.Add64(f.info.Size())
		l.report.unchanged(before.Found)
		return before, false, nil
	}
	options := transcripts.Options{
		Format: l.command.Format, Call: func(c accounts.Call) { l.take(ctx, kept, &c) }, Read: func(n int) { _ = bar.Add(n) },
		Fault: func(fault transcripts.Fault) { l.report.fault(fault.String()) },
	}
	kept.Found, err = transcripts.ReadFile(ctx, f.path, options)
	shape, odd := errors.AsType[*transcripts.UnknownShape](err)
	switch {
	case ctx.Err() != nil: // nobody waits for it, or it could not be recorded
		return kept, false, ctx.Err()
	case odd && !f.named: // a folder holds all kinds of files
		l.report.Files.Other++
		return kept, true, nil
	case odd:
		l.report.fault(shown(f.path) + ": " + shape.Error())
		l.report.Files.Other++
		return kept, false, nil
	case err != nil:
		l.report.fault(shown(f.path) + ": " + err.Error())
	}
	l.report.found(f.path, kept.Found)
	return kept, err == nil, nil
}

// take gathers calls.
func (l *learner) take(ctx context.Context, of *learnedFile, c *accounts.Call) {
	call := c.Record()
	call.Workspace = l.command.Workspace
	line, err := memoryd.MarshalCallLine(&call)
	if err != nil {
		l.report.fault(fmt.Sprintf("%s:%d: %v", shown(of.Path), c.Line, err))
		return
	}
	l.batch.items = append(l.batch.items, line)
	l.batch.from = append(l.batch.from, heard{call, of, c.Conversation + "\x00" + c.Agent, c.Line})
	if l.bytes += len(line); len(l.batch.items) >= learnCalls || l.bytes > learnBatchBytes {
		l.flush(ctx)
	}
}

func (l *learner) flush(ctx context.Context) {
	select {
	case l.batches <- l.batch:
	case <-ctx.Done(): // nobody records any more
	}
	l.batch, l.bytes = learnBatch{}, 0
}

// record has the server keep a batch. What it knows already it does not keep again.
func (l *learner) record(b learnBatch) error {
	if len(b.items) > 0 {
		if err := l.write(b); err != nil {
			return err
		}
	}
	for _, f := range b.ended {
		f.follow.Flush()
		l.report.take(f.learnedFile)
		if f.keep {
			l.remember(f.Path, f.learnedFile)
		}
	}
	return nil
}

func (l *learner) write(b learnBatch) error {
	h := sha256.New() // the identity of calls that have neither an id nor a time: what is beside them
	for i := range b.from {
		h.Write([]byte(b.from[i].Tool))
		h.Write(b.from[i].Input)
	}
	done, err := record(l.ctx, l.ask, l.command.Workspace, fmt.Sprintf("learn-%x", h.Sum(nil)), b.items, true)
	if err != nil {
		return err
	}
	l.report.Calls.Added += done.DeduplicationStats.Added
	l.report.Calls.Known += done.DeduplicationStats.Deduplicated
	if l.report.Calls.Rejected == 0 && len(done.Rejected) > 0 {
		l.report.Why = done.Rejected[0].Reason
	}
	l.report.Calls.Rejected += len(done.Rejected)
	refused := map[int]bool{}
	for _, r := range done.Rejected {
		refused[r.Index] = true
	}
	verdicts := done.Verdicts
	if len(verdicts)+len(refused) != len(b.items) {
		return errors.New("the server returns no verdicts: it is older than this program")
	}
	for i := range b.from {
		if !refused[i] {
			l.tools[b.from[i].Tool] = true
			l.judged(&b.from[i], &verdicts[0])
			verdicts = verdicts[1:]
		}
	}
	return nil
}

// judged takes a call that was recorded into what its file shows.
func (l *learner) judged(c *heard, v *wire.Verdict) {
	f := c.file
	run := mistakes.Call{
		Tool: c.Tool, Output: c.Output, Seconds: c.TimeCost, Line: c.line,
		Bad: !c.Success, // until it is judged
	}
	run.Begun, _ = time.Parse(time.RFC3339Nano, c.CreateTime) // zero where the call does not tell
	if v.State == string(memoryd.Judged) {
		run.Summary = v.Summary
		run.Bad, run.Good = float64(v.Score) <= memoryd.ScoreFailure, float64(v.Score) >= memoryd.ScoreSuccess
	} else {
		l.report.Calls.Pending++
	}
	n := f.Tools[c.Tool]
	n[0]++
	if run.Bad || f.follow.Waits(c.run, c.Tool) { // else nobody looks at it
		run.Input = l.masked.JSON(c.Input)
	}
	if run.Bad {
		run.Output = l.masked.Text(run.Output)
		n[1]++
	}
	f.Tools[c.Tool] = n
	f.Judged++
	f.First, f.Last = spanning(f.First, f.Last, run.Begun, run.Begun)
	f.follow.Failed = func(m mistakes.Failure) {
		if len(f.Failures) < maxFailures {
			f.Failures = append(f.Failures, m)
		}
	}
	id, err := strconv.ParseUint(v.CallID[:min(16, len(v.CallID))], 16, 64)
	if err != nil {
		return
	}
	if number, first := f.follow.Add(c.run, id, &run); first && len(f.Runs) < maxLearnedRuns {
		f.Runs = append(f.Runs, number)
	}
}

// recall finds what was remembered of the server's workspace. One that has nothing is new,
// or was deleted: what it had counts no more.
func (l *learner) recall(server string) error {
	var tools wire.ToolList
	err := l.ask(l.ctx, client.Request{Method: http.MethodGet, Path: "/v1/workspaces/" + url.PathEscape(l.command.Workspace) +
		"/tools?limit=1"}, &tools)
	if err != nil && !isUnknown(err) {
		return err
	}
	cache, noCache := os.UserCacheDir()
	if noCache != nil {
		return nil
	}
	l.dir = filepath.Join(cache, "memoryd", "learned", fmt.Sprintf("%x", sha256.Sum256([]byte(server+"\x00"+l.command.Workspace)))[:16])
	if len(tools.Tools) == 0 {
		_ = os.RemoveAll(l.dir)
	}
	return nil
}

// remembered is where something is remembered, by its name.
func (l *learner) remembered(name string) string {
	if whole, err := filepath.Abs(name); err == nil {
		name = whole
	}
	return filepath.Join(l.dir, fmt.Sprintf("%x.json", sha256.Sum256([]byte(name+"\x00"+l.command.Format))))
}

// remember keeps something for the next time; what cannot be kept is found out anew.
func (l *learner) remember(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil || l.dir == "" || os.MkdirAll(l.dir, 0o700) != nil {
		return
	}
	_ = os.WriteFile(l.remembered(name), data, 0o600) // one that a crash cuts is no JSON, and not known
}

// before reads what is remembered.
func (l *learner) before(name string, v any) (known bool) {
	if l.dir == "" {
		return false
	}
	data, err := os.ReadFile(l.remembered(name))
	return err == nil && json.Unmarshal(data, v) == nil
}
