// Package transcripts reads tool calls from what agents leave behind: transcripts of coding
// agents, trajectories and logs of benchmarks, exports of tracing systems; and from what their
// hosts send to hooks.
//
// All input is untrusted. Nothing in it is executed or resolved, and no path that a file
// names is written to. Broken input is skipped; the rest is still read.
package transcripts

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// Options control how files are read.
type Options struct {
	// Format is the name of a format; Auto or "" detects it.
	Format string
	// Call receives each merged call.
	Call func(accounts.Call)
	// Fault receives broken parts, at most maxFaults per file; nil ignores them.
	Fault func(Fault)
	// Read receives the number of bytes read from a file (compressed bytes for an archive);
	// nil ignores it.
	Read func(n int)

	detected func() // told when the format is known; then nothing else is wanted
	message  func(conversation, id string, m jsontext.Value)
}

// Fault is a part of a file that could not be read.
type Fault struct {
	File string
	// Line is the line number; 0 if the file does not consist of lines.
	Line int
	Why  string
}

func (f Fault) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Why)
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Why)
}

// Stats count what was found in a file.
type Stats struct {
	Format string
	// Broken counts the documents that could not be read.
	Broken int
	// Calls counts the calls that were found.
	Calls int
	// Unfinished counts calls without a result, Cancelled those that somebody stopped;
	// neither are passed on.
	Unfinished, Cancelled int
}

// UnknownShape is the error for a file whose format is unknown.
type UnknownShape struct {
	// Found describes what the file looks like; Members are the members of its first object.
	Found   string
	Members []string
	// Expected is the requested format; "" means any.
	Expected string
}

func (e *UnknownShape) Error() string {
	for _, f := range Formats() {
		if f.Name == e.Expected {
			return "expected " + f.Name + " (" + f.Expects + "), found " + e.Found
		}
	}
	return fmt.Sprintf("found %s; known formats: %s", e.Found, strings.Join(FormatNames()[1:], ", "))
}

// The bounds of what is looked at to tell a format, and of the faults that are told.
const (
	looked      = 8
	lookedBytes = 4 << 20
	maxFaults   = 5
)

// file is one file being read.
type file struct {
	name   string
	base   string // the file's name without folders and endings
	format string
	stats  Stats
	joiner *accounts.Joiner
	Options

	reader  reader
	line    int       // of the document that is read
	waiting []waiting // documents before the format is known
	held    int
	formats []Format
	asked   string
}

type waiting struct {
	line int
	doc  []byte
}

// Read reads an uncompressed file. It returns an *UnknownShape, or an error of r or ctx; the
// calls before the error were passed on.
func Read(ctx context.Context, name string, r io.Reader, o Options) (Stats, error) {
	return read(ctx, name, o, func(s scanner) error { return s.run(watched{Reader: r, ask: ctx.Err}) })
}

// read reads the documents that a scanner is given.
func read(ctx context.Context, name string, o Options, documents func(s scanner) error) (Stats, error) {
	f := &file{name: name, base: baseOf(name), Options: o}
	f.joiner = accounts.NewJoiner(func(c accounts.Call) {
		if o.Call != nil {
			f.stats.Calls++
			o.Call(c)
		}
	})
	for _, format := range Formats() {
		if o.Format == "" || o.Format == Auto || o.Format == format.Name {
			f.formats = append(f.formats, format)
		}
	}
	if o.Format != Auto {
		f.asked = o.Format
	}
	if len(f.formats) == 0 {
		return f.stats, fmt.Errorf("format: must be one of %[2]s, not %[1]q", o.Format, strings.Join(FormatNames(), ", "))
	}
	err := documents(scanner{document: f.document, broken: f.broken})
	if err == nil {
		err = ctx.Err()
	}
	if errors.Is(err, errNotJSON) || errors.Is(err, errUTF16) {
		return f.stats, &UnknownShape{Found: err.Error(), Expected: f.asked}
	}
	if shape := f.settle(); err == nil {
		err = shape
	}
	f.joiner.Flush()
	f.stats.Format, f.stats.Unfinished, f.stats.Cancelled = f.format, f.joiner.Unfinished, f.joiner.Cancelled
	return f.stats, err
}

// baseOf is a file's name without folders and endings.
func baseOf(name string) string {
	name = filepath.Base(filepath.ToSlash(name))
	for {
		ext := filepath.Ext(name)
		if ext == "" || ext == name || !slices.Contains(endings, ext) && ext != ".gz" {
			return name
		}
		name = strings.TrimSuffix(name, ext)
	}
}

func (f *file) add(c accounts.Call) {
	c.Line = f.line
	f.joiner.Add(c, time.Time{})
}

func (f *file) broken(line int, why string) {
	if f.stats.Broken++; f.stats.Broken <= maxFaults && f.Fault != nil {
		f.Fault(Fault{f.name, line, textsafe.Line(why, 200)})
	}
}

// document takes a document: to its reader, or aside until one is found.
func (f *file) document(line int, doc []byte) {
	if f.reader != nil {
		f.read(line, doc)
		return
	}
	f.waiting = append(f.waiting, waiting{line, bytes.Clone(doc)})
	if f.held += len(doc); len(f.waiting) >= looked || f.held > lookedBytes {
		if f.settle() != nil { // nothing yet: the newest are looked at
			f.held -= len(f.waiting[0].doc)
			f.waiting = f.waiting[1:]
		}
	}
}

// settle finds the reader by the documents seen so far: the first format that any
// of them has.
func (f *file) settle() error {
	if f.reader != nil || len(f.waiting) == 0 && f.stats.Broken == 0 && f.asked == "" {
		return nil
	}
	var shapes []*shape
	for _, w := range f.waiting {
		shapes = append(shapes, shapeOf(w.doc))
	}
	for _, format := range f.formats {
		if slices.ContainsFunc(shapes, func(s *shape) bool { return s.shows(format.signs) }) {
			f.format = format.Name
			if f.detected != nil {
				f.detected()
			}
			f.reader = format.reader(f)
			for _, w := range f.waiting {
				f.read(w.line, w.doc)
			}
			f.waiting = nil
			return nil
		}
	}
	e := &UnknownShape{Found: found(shapes), Expected: f.asked}
	if len(shapes) > 0 {
		e.Members = slices.Sorted(maps.Keys(shapes[0].members))
	}
	return e
}

// found says what documents look like, for people.
func found(shapes []*shape) string {
	if len(shapes) == 0 {
		return "no object that can be read"
	}
	names := slices.Sorted(maps.Keys(shapes[0].members))
	if len(names) == 0 {
		return "broken JSON"
	}
	more := ""
	if len(names) > 8 {
		names, more = names[:8], " and more"
	}
	for i := range names {
		names[i] = textsafe.Line(names[i], 40)
	}
	return "an object with " + strings.Join(names, ", ") + more
}

func (f *file) read(line int, doc []byte) {
	f.line = line
	if texts := telling[f.format]; f.message == nil && len(texts) > 0 && !mentions(doc, texts...) {
		return
	}
	d, err := loosejson.ParseMembers(doc)
	if err != nil {
		f.broken(line, err.Error())
		return
	}
	f.reader(d, doc)
}

// The bounds of archives: how much more than its size one may unpack to, and how
// many files it may hold.
const (
	maxRatio   = 100
	maxEntries = 100_000
	ratioFloor = 64 << 20
)

// errBomb ends the reading of an archive that unpacks to more than it can honestly hold.
var errBomb = fmt.Errorf("unpacks to more than %d times its size", maxRatio)

// watched is a reader that asks before it reads, and tells how much it read.
type watched struct {
	io.Reader

	ask  func() error
	tell func(n int)
}

func (w watched) Read(p []byte) (n int, err error) {
	if w.ask != nil {
		err = w.ask()
	}
	if err == nil {
		n, err = w.Reader.Read(p)
	}
	if w.tell != nil {
		w.tell(n)
	}
	return n, err
}

// ReadFile reads a file: plain, gzipped, or an archive of logs (.eval, .zip). It opens no
// file that is named inside.
func ReadFile(ctx context.Context, path string, o Options) (Stats, error) {
	in, err := os.Open(path) //nolint:gosec // the user names the file
	if err != nil {
		return Stats{}, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	info, err := in.Stat()
	if err != nil {
		return Stats{}, err
	}
	if !info.Mode().IsRegular() {
		return Stats{}, fmt.Errorf("%s: not a regular file", path)
	}
	buffered := bufio.NewReaderSize(watched{Reader: in, tell: o.Read}, 1<<16)
	switch head, _ := buffered.Peek(4); {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		zr, err := gzip.NewReader(buffered)
		if err != nil {
			return Stats{}, err
		}
		return Read(ctx, path, &budget{zr, max(ratioFloor, info.Size()*maxRatio), errBomb}, o)
	case bytes.Equal(head, []byte("SQLi")):
		return readDatabase(ctx, path, o)
	case bytes.Equal(head, []byte("PK\x03\x04")):
		return readArchive(ctx, path, in, info.Size(), o)
	}
	return Read(ctx, path, buffered, o)
}

// errEnough ends a reading that has found the format.
var errEnough = errors.New("enough is known")

// Detect detects the format of a file from its beginning. It returns an *UnknownShape if the
// format is unknown.
func Detect(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := ReadFile(ctx, path, Options{detected: func() { cancel(errEnough) }})
	if s.Format != "" {
		return s.Format, nil
	}
	return "", err
}

// readArchive reads the samples of a log, or all files of an archive.
func readArchive(ctx context.Context, path string, in io.ReaderAt, size int64, o Options) (all Stats, err error) {
	zr, err := zip.NewReader(in, size)
	if err != nil {
		return all, err
	}
	if len(zr.File) > maxEntries {
		return all, fmt.Errorf("an archive of more than %d files", maxEntries)
	}
	left := max(ratioFloor, size*maxRatio)
	var unknown error
	for _, entry := range zr.File {
		name := entry.Name
		log := strings.HasSuffix(path, ".eval")
		if !slices.Contains(endings, filepath.Ext(name)) || log && !strings.HasPrefix(name, "samples/") {
			continue
		}
		r, err := entry.Open()
		if err != nil {
			return all, fmt.Errorf("%s: %w", textsafe.Line(name, 200), err)
		}
		u := &budget{r, left, errBomb}
		part, err := Read(ctx, path+"/"+textsafe.Line(name, 200), u, o)
		left = u.left
		_ = r.Close()
		all = Stats{
			cmp.Or(part.Format, all.Format), all.Broken + part.Broken, all.Calls + part.Calls,
			all.Unfinished + part.Unfinished, all.Cancelled + part.Cancelled,
		}
		if _, odd := errors.AsType[*UnknownShape](err); odd {
			unknown = err
		} else if err != nil {
			return all, err
		}
		if o.Read != nil {
			o.Read(int(min(entry.CompressedSize64, uint64(size)))) //nolint:gosec // at most the size of a file
		}
	}
	if all.Format == "" {
		return all, unknown
	}
	return all, nil
}

// endings are those of files that are looked at in folders.
var endings = []string{".json", ".jsonl", ".ndjson", ".traj", ".eval", ".db"}

// skippedFolders hold other people's files.
var skippedFolders = []string{".git", "node_modules", ".venv", "__pycache__"}

// Find returns the files at or below a path that may hold transcripts. It does not follow
// links below the path, and skips anything that is neither file nor folder.
func Find(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	root, err := filepath.EvalSymlinks(path) // the folder that was named may be a link
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch name := strings.TrimSuffix(d.Name(), ".gz"); {
		case err != nil:
			if d.IsDir() {
				return fs.SkipDir // a folder that may not be read hides only itself
			}
		case d.IsDir() && slices.Contains(skippedFolders, d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular() && slices.Contains(endings, filepath.Ext(name)):
			files = append(files, p)
		}
		return nil
	})
	return files, err
}

// Places returns the folders on this machine in which hosts keep their transcripts, if they
// exist.
func Places(home string, getenv func(string) string) (places []string) {
	or := func(name, otherwise string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return filepath.Join(home, otherwise)
	}
	for _, p := range []string{
		filepath.Join(or("CLAUDE_CONFIG_DIR", ".claude"), "projects"), filepath.Join(home, ".config", "claude", "projects"),
		filepath.Join(or("CODEX_HOME", ".codex"), "sessions"), filepath.Join(or("CODEX_HOME", ".codex"), "archived_sessions"),
		filepath.Join(or("GEMINI_CLI_HOME", ""), ".gemini", "tmp"), filepath.Join(home, ".openhands", "conversations"),
		filepath.Join(or("XDG_DATA_HOME", filepath.Join(".local", "share")), "opencode"),
		filepath.Join(or("XDG_DATA_HOME", filepath.Join(".local", "share")), "goose", "sessions"),
		filepath.Join(home, ".copilot", "session-state"), filepath.Join(home, ".pi", "agent", "sessions"),
		filepath.Join(home, ".cline", "data", "tasks"),
		filepath.Join(home, ".config", "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "tasks"),
		filepath.Join(home, ".openhands", "sessions"), filepath.Join(home, ".config", "mini-swe-agent"),
		filepath.Join(home, ".local", "share", "mini-swe-agent"),
	} {
		if info, err := os.Stat(p); err == nil && info.IsDir() && !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places
}
