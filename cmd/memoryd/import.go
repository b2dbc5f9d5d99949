package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/integrations/transcripts"
	"memoryd/internal/accounts"
	"memoryd/internal/client"
	"memoryd/internal/loosejson"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

type importCmd struct {
	remote
	Files  []string `arg:"" name:"file" help:"Files or folders: calls as JSON lines, transcripts or traces, plain or gzipped; - reads JSON lines from standard input."`
	Format string   `default:"auto" help:"Format of the files: ${formats}."`
}

// The bounds of one request of an import.
const (
	batchLines = 100
	batchBytes = 4 << 20
)

// importCounts is what became of the lines.
type importCounts struct{ added, duplicate, rejected int }

func (c importCounts) String() string {
	return fmt.Sprintf("%d added, %d duplicate, %d rejected", c.added, c.duplicate, c.rejected)
}

// Validate rejects unknown formats.
func (c importCmd) Validate() error {
	return checkFormat(c.Format, transcripts.FormatNames())
}

// Run imports the files in order. A rejected line does not stop the others, but makes the
// exit code 1.
func (c importCmd) Run(ctx context.Context, std streams) error {
	var total importCounts
	files, err := findFiles(c.Files)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !f.named {
			if _, err := transcripts.Detect(ctx, f.path); err != nil {
				fmt.Fprintf(std.err, "%s: skipped: %v\n", f.path, err)
				continue // a folder holds all kinds of files
			}
		}
		counts, err := c.file(ctx, std, f.path)
		total = importCounts{total.added + counts.added, total.duplicate + counts.duplicate, total.rejected + counts.rejected}
		if err != nil {
			if total == (importCounts{}) {
				return fmt.Errorf("%s: %w", f.path, err)
			}
			return fmt.Errorf("%s: %w (before that: %s)", f.path, err, total)
		}
		fmt.Fprintf(std.out, "%s: %s\n", f.path, counts)
	}
	if len(files) > 1 {
		fmt.Fprintf(std.out, "total: %s\n", total)
	}
	if total.rejected > 0 {
		return exitCode(exitFailed)
	}
	return nil
}

// transcript is a file to read, and whether it was named itself; the info of standard
// input is nil.
type transcript struct {
	path  string
	info  os.FileInfo
	named bool
}

// findFiles lists files that were named, and those in folders that were. What is missing
// is an error.
func findFiles(paths []string) (files []transcript, err error) {
	for _, path := range paths {
		if path == "-" {
			files = append(files, transcript{path: path, named: true})
			continue
		}
		found, err := transcripts.Find(path)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if info, err := os.Stat(f); err == nil { // else it was there a moment ago
				files = append(files, transcript{f, info, f == path})
			}
		}
	}
	return files, nil
}

// empty says that a file that is recognised holds no call; "" where that is not so.
func empty(path string, s transcripts.Stats) string {
	if s.Calls+s.Unfinished+s.Cancelled > 0 {
		return ""
	}
	return fmt.Sprintf("%s: no tool call in it, read as %s", onTerminal(path, 300), s.Format)
}

// ofCalls are members that only calls have.
var ofCalls = []string{"tool_name", "input", "output", "arguments", "args", "result", "tool_input", "tool_output", "success"}

// formatOf finds out what a file is. One that only may be of calls is read as such, so
// that each line says what is wrong with it.
func (c importCmd) formatOf(ctx context.Context, name string) (string, error) {
	if c.Format != transcripts.Auto {
		return c.Format, nil
	}
	if name == "-" {
		return "calls", nil
	}
	format, err := transcripts.Detect(ctx, name)
	shape, unknown := errors.AsType[*transcripts.UnknownShape](err)
	if unknown && len(shape.Members) > 0 && !slices.ContainsFunc(shape.Members, func(m string) bool { return slices.Contains(ofCalls, m) }) {
		return "", err
	}
	if format == "" {
		format = "calls"
	}
	return format, nil
}

// file imports one file.
func (c importCmd) file(ctx context.Context, std streams, name string) (importCounts, error) {
	format, err := c.formatOf(ctx, name)
	if err != nil {
		return importCounts{}, err
	}
	size := int64(-1)
	if name != "-" || format != "calls" {
		info, err := os.Stat(name)
		if err != nil {
			return importCounts{}, errors.Unwrap(err)
		}
		size = info.Size()
	}
	bar := newBar(std.err, size, name, progressbar.OptionShowBytes(true))
	defer bar.finish()
	imp := &importer{remote: c.remote, ctx: ctx, name: name, err: std.err}
	if format == "calls" {
		err = imp.calls(std.in, bar)
	} else {
		err = imp.transcript(format, bar)
	}
	return imp.counts, err
}

// transcript imports the calls that a transcript or a trace holds.
func (i *importer) transcript(format string, bar bar) error {
	ctx, cancel := context.WithCancelCause(i.ctx)
	defer cancel(nil)
	number := 0
	found, err := transcripts.ReadFile(ctx, i.name, transcripts.Options{
		Format: format, Read: func(n int) { _ = bar.Add(n) },
		Fault: func(f transcripts.Fault) { fmt.Fprintln(i.err, f) },
		Call: func(found accounts.Call) {
			number++
			call := found.Record()
			line, err := memoryd.MarshalCallLine(&call)
			if err == nil && ctx.Err() == nil {
				err = i.take(line, number)
			}
			if err != nil {
				cancel(err)
			}
		},
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if note := empty(i.name, found); note != "" && err == nil {
		fmt.Fprintln(i.err, note)
	}
	return errors.Join(err, i.flush())
}

// calls imports lines of calls.
func (i *importer) calls(in io.Reader, bar bar) error {
	if i.name != "-" {
		f, err := os.Open(i.name)
		if err != nil {
			return errors.Unwrap(err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	lines, err := plain(io.TeeReader(in, bar))
	if err != nil {
		return err
	}
	err = i.run(lines)
	if len(i.ignored) > 0 {
		var names []string
		for _, field := range slices.Sorted(maps.Keys(i.ignored)) {
			names = append(names, fmt.Sprintf("%q of %d lines", field, i.ignored[field]))
		}
		fmt.Fprintf(i.err, "%s: unknown fields were dropped: %s\n", i.name, strings.Join(names, ", "))
	}
	return err
}

// plain gives the text of in, unzipped where it is gzip.
func plain(in io.Reader) (*bufio.Reader, error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	if head, _ := buffered.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	zr, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(zr, 1<<16), nil
}

// importer sends the lines of one file, in order, in requests of one workspace
// each.
type importer struct {
	remote
	ctx    context.Context //nolint:containedctx // lives as long as one run
	name   string
	err    io.Writer // what is rejected is said here
	counts importCounts

	begun     bool // a line has been seen
	workspace string
	items     []json.RawMessage
	numbers   []int // the line of each item
	bytes     int

	ignored map[string]int // fields that are not known, and how many lines have them
}

func (i *importer) run(in io.Reader) error {
	lines := transcripts.Lines(in)
	for line, err := range lines.All() {
		number := lines.Number
		if errors.Is(err, transcripts.ErrLongLine) {
			i.reject(number, err.Error())
			continue
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // some editors start files so
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if !i.begun {
				if err := otherFormat(line); err != nil {
					return err
				}
				i.begun = true
			}
			if err := i.take(bytes.Clone(line), number); err != nil {
				return err
			}
		}
		if err != nil {
			return errors.Join(i.flush(), fmt.Errorf("line %d: %w", number, err))
		}
	}
	return i.flush()
}

// otherFormat tells files that are no JSON-lines by their first line, so that not
// every line of them is rejected.
func otherFormat(line []byte) error {
	switch {
	case bytes.IndexByte(line, 0) >= 0:
		return errors.New("not a text file: import takes JSON lines, plain or gzipped")
	case !json.Valid(line) && line[0] == '{':
		return errors.New("a JSON object over several lines: import takes one call per line; convert it with jq -c . FILE")
	case line[0] == '[':
		return errors.New("a JSON array: import takes one call per line; convert it with jq -c '.[]' FILE")
	}
	return nil
}

// take adds a line to the request being gathered.
func (i *importer) take(line []byte, number int) error {
	workspace, reason := i.workspaceOf(line)
	if reason != "" {
		i.reject(number, reason)
		return nil
	}
	if workspace != i.workspace || len(i.items) == batchLines || i.bytes+len(line) > batchBytes {
		if err := i.flush(); err != nil {
			return err
		}
	}
	i.workspace = workspace
	i.items = append(i.items, line)
	i.numbers = append(i.numbers, number)
	i.bytes += len(line)
	return nil
}

// workspaceOf says where a line belongs: to the workspace of the command line,
// to its own, or to the default one.
func (i *importer) workspaceOf(line []byte) (workspace, reason string) {
	var head struct {
		Workspace *string `json:"workspace_id"`
	}
	switch {
	case !utf8.Valid(line):
		return "", "not valid UTF-8"
	case !json.Valid(line):
		return "", "not valid JSON"
	case line[0] != '{':
		return "", "not a JSON object"
	case json.Unmarshal(line, &head) != nil:
		return "", "workspace_id: Input should be a valid string"
	case i.Workspace != "":
		return i.Workspace, ""
	case head.Workspace == nil || *head.Workspace == "":
		return memoryd.DefaultWorkspace, ""
	}
	return *head.Workspace, ""
}

func (i *importer) reject(number int, reason string) {
	i.counts.rejected++
	fmt.Fprintf(i.err, "%s:%d: rejected: %s\n", i.name, number, reason)
}

// flush sends what was gathered. The request's key comes from its content, so
// that importing a file again adds nothing, also where lines have no time.
func (i *importer) flush() error {
	items, numbers := i.items, i.numbers
	i.items, i.numbers, i.bytes = nil, nil, 0
	if len(items) == 0 {
		return nil
	}
	h := sha256.New()
	for _, item := range items {
		h.Write(item)
	}
	key := fmt.Sprintf("import-%d-%x-%s", numbers[0], h.Sum(nil), i.workspace)
	got, err := record(i.ctx, i.do, i.workspace, key, items, false)
	for _, r := range got.Rejected {
		i.reject(numbers[r.Index], r.Reason)
	}
	for field, n := range got.IgnoredFields {
		if i.ignored == nil {
			i.ignored = map[string]int{}
		}
		i.ignored[field] += n
	}
	i.counts.added += got.DeduplicationStats.Added
	i.counts.duplicate += got.DeduplicationStats.Deduplicated
	return err
}

// record sends calls of a workspace in one request, or, where one of them spoils it,
// each by itself. It tells of those that no error kept.
func record(ctx context.Context, do asker, workspace, key string, items []json.RawMessage, verdicts bool) (wire.AddMetadata, error) {
	// Each item is JSON, which Marshal would read again.
	head, _ := json.Marshal(map[string]any{"workspace_id": workspace, "async": true, "include_history": false, "only_verdicts": verdicts})
	body := slices.Concat(head[:len(head)-1], []byte(`,"tool_call_results":`), loosejson.Join(items), []byte("}"))
	var got answer[wire.AddMetadata]
	err := do(ctx, client.Request{Method: http.MethodPost, Path: "/add_tool_call_result", Key: key, Body: body}, &got)
	p, _ := errors.AsType[*client.Error](err)
	switch {
	case err == nil || len(got.Metadata.Rejected) > 0:
		return got.Metadata, nil
	case !slices.Contains([]int{http.StatusOK, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge}, statusOf(err)):
		return wire.AddMetadata{}, err // the server would not refuse the same body again
	case len(items) == 1:
		return wire.AddMetadata{Rejected: []wire.Rejection{{Reason: p.Reason}}}, nil
	}
	var all wire.AddMetadata
	for j := range items {
		one, err := record(ctx, do, workspace, fmt.Sprintf("%s-%d", key, j), items[j:j+1], verdicts)
		if err != nil {
			return all, err
		}
		for _, r := range one.Rejected {
			all.Rejected = append(all.Rejected, wire.Rejection{Index: j, Reason: r.Reason})
		}
		all.Verdicts = append(all.Verdicts, one.Verdicts...)
		all.DeduplicationStats.Added += one.DeduplicationStats.Added
		all.DeduplicationStats.Deduplicated += one.DeduplicationStats.Deduplicated
	}
	return all, nil
}

// bar shows how far a file has been read, on a terminal only.
type bar struct{ *progressbar.ProgressBar }

// newBar shows size, which is counted as unit says; below 0 it is not known.
func newBar(w io.Writer, size int64, name string, unit progressbar.Option) bar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return bar{progressbar.DefaultSilent(size)}
	}
	return bar{progressbar.NewOptions64(size, unit, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(name),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))}
}

func (b bar) finish() { _ = b.Finish() }
