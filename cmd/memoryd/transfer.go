package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/evaluate/kinds"
	"memoryd/guidelines/revisions"
	"memoryd/guidelines/window"
	"memoryd/internal/access"
	"memoryd/internal/lifecycle"
	"memoryd/internal/local"
	"memoryd/ops"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/mem"
	"memoryd/store/qdrant"
	"memoryd/store/sqlite"
)

// movedKinds are the kinds of records that go with what is moved.
func movedKinds() []string {
	return append(append(revisions.Kinds(), window.Kinds()...), ops.CorrectionKind, ops.NameKind, kinds.RecordKind,
		ops.OriginalKind, ops.RedactionKind, "imported") // the last is what version 0.1.0 kept of memories of ReMe
}

// opened is what the commands that work on a store of their own have in common.
type opened struct {
	Config string `type:"path" env:"MEMORYD_CONFIG" placeholder:"FILE" help:"Configuration that names the store."`
	Data   string `env:"MEMORYD_DATA" placeholder:"DIR" help:"Folder of the embedded store (default ./memoryd-data)."`
}

// load reads the configuration of the store.
func (o opened) load() (*config.Config, error) {
	cfg, err := config.Load(o.Config, os.Environ())
	if err == nil && o.Data != "" {
		cfg.SetDataDir(o.Data)
	}
	return cfg, err
}

// noStore says that a folder is none of an embedded store, and where the user's own is.
func noStore(dir string) error {
	if _, err := os.Stat(dir); dir == "" || err == nil {
		return nil
	}
	hint := ""
	if own, err := local.DataDir(); err == nil {
		if _, err := os.Stat(own); err == nil {
			hint = "; that of your local server is in " + own
		}
	}
	return fmt.Errorf("there is no store in %s (--data names its folder%s)", dir, hint)
}

type exportCmd struct {
	opened
	URL       string `name:"url" env:"MEMORYD_URL" placeholder:"URL" help:"Get the copy from the server at this address instead of opening a store."`
	Key       string `env:"MEMORYD_KEY" placeholder:"KEY" help:"API key of the server."`
	File      string `arg:"" help:"File to write; .gz compresses it; - is standard output."`
	Workspace string `help:"Export only this workspace."`
}

// Run writes the store to a file. It replaces an existing file only when the new one is
// complete.
func (c exportCmd) Run(ctx context.Context, std streams) (err error) {
	write := func(w io.Writer) error { return c.local(ctx, std, w) }
	given := func(value, variable string) bool { return value != "" && value != os.Getenv(variable) }
	if c.URL != "" && (given(c.URL, "MEMORYD_URL") || !given(c.Data, "MEMORYD_DATA") && !given(c.Config, "MEMORYD_CONFIG")) {
		write = func(w io.Writer) error { return c.snapshot(ctx, std, c.URL, w) }
	}
	if c.File == "-" {
		return write(std.out)
	}
	return replaceFile(c.File, write)
}

// local exports a store that is opened here, or, where a server has it open, what
// that server says.
func (c exportCmd) local(ctx context.Context, std streams, w io.Writer) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	dir := cfg.StoreDir()
	if err := noStore(dir); err != nil && (c.Data != "" || c.Config != "") {
		return err
	} else if err != nil {
		return c.snapshot(ctx, std, "", w) // of the server that the user's programs use
	}
	s, _, err := openStore(ctx, cfg, os.Getenv, newLogger(cfg.Log, std.err)) // also one that holds a part of a restore
	if err == nil {
		if err = backup.CheckWhole(ctx, s); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if err != nil {
		if address, readErr := os.ReadFile(filepath.Join(dir, local.AddressFile)); readErr == nil && len(address) > 0 {
			if askErr := c.snapshot(ctx, std, string(address), w); askErr != nil {
				return fmt.Errorf("%w; the server in use: %w", err, askErr)
			}
			return nil
		}
		return err
	}
	counts, err := backup.Export(ctx, s, w, backup.ExportOptions{Workspace: c.Workspace, Created: time.Now(), Kinds: movedKinds()})
	if err = errors.Join(err, s.Close()); err == nil {
		fmt.Fprintf(std.err, "exported %s\n", counts)
	}
	return err
}

// snapshot exports what a running server has.
func (c exportCmd) snapshot(ctx context.Context, std streams, server string, w io.Writer) error {
	body := map[string]string{}
	if c.Workspace != "" {
		body["workspace_id"] = c.Workspace
	}
	err := reach{URL: server, Key: c.Key}.post(ctx, "/v1/snapshot", body, w)
	if err == nil {
		fmt.Fprintf(std.err, "exported the data of %s\n", cmp.Or(server, "your local server"))
	}
	return err
}

// replaceFile writes a file beside its place and moves it there when it is whole
// and durable.
func replaceFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".export-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: folder %s: %w", name, filepath.Dir(name), errors.Unwrap(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	var out io.Writer = f
	var zw *gzip.Writer
	if strings.HasSuffix(name, ".gz") {
		zw = gzip.NewWriter(f)
		out = zw
	}
	err = write(out)
	if zw != nil {
		err = errors.Join(err, zw.Close())
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

type restoreCmd struct {
	opened
	File         string `arg:"" help:"File to read, plain or gzipped; - is standard input."`
	Workspace    string `help:"Workspace to restore into; the file must hold only one."`
	Replace      bool   `help:"Replace tools that already exist."`
	SkipExisting bool   `help:"Skip tools that already exist."`
}

// Validate rejects flags that contradict each other. That is wrong usage.
func (c restoreCmd) Validate() error {
	if c.Replace && c.SkipExisting {
		return errors.New("--replace and --skip-existing exclude each other")
	}
	return nil
}

// Run loads the content of a file into the store.
func (c restoreCmd) Run(ctx context.Context, std streams) (err error) {
	in, err := source(std.in, c.File) // first: no store is made for a file that is not there
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	cfg, err := c.load()
	if err != nil {
		return err
	}
	log := newLogger(cfg.Log, std.err)
	s, _, err := openStore(ctx, cfg, os.Getenv, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	counts, err := backup.Restore(ctx, ops.NewRedaction(s, cfg.Privacy, log, time.Now).Over(s), in.reader, backup.RestoreOptions{
		Name: c.File, Marks: s, Workspace: c.Workspace, Replace: c.Replace, SkipExisting: c.SkipExisting,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(std.err, "restored %s\n", counts)
	return nil
}

// input is a file as it is read: a plain one can be read twice.
type input struct {
	reader io.Reader
	file   *os.File
}

// Close closes the file.
func (i input) Close() error {
	if i.file == nil {
		return nil
	}
	return i.file.Close()
}

func source(stdin io.Reader, name string) (in input, err error) {
	if name == "-" {
		in.reader, err = plain(stdin)
		return in, err
	}
	if in.file, err = os.Open(name); err != nil { //nolint:gosec // the user names the file
		return in, errors.Unwrap(err) // its callers name the file
	}
	head := make([]byte, 2)
	n, _ := in.file.ReadAt(head, 0) // of a pipe there is nothing to read twice
	in.reader = in.file
	if string(head[:n]) == "\x1f\x8b" {
		in.reader, err = gzip.NewReader(bufio.NewReader(in.file))
	}
	if err != nil {
		err = errors.Join(err, in.Close())
	}
	return in, err
}

// openStore opens the store that the configuration names and says which, for
// people. The store is nil when it fails.
func openStore(ctx context.Context, cfg *config.Config, getenv func(string) string, log *slog.Logger) (store.Store, string, error) {
	switch c := cfg.Store; c.Backend {
	case config.BackendMem:
		return mem.New(), "memory, lost at exit", nil
	case config.BackendQdrant:
		key := getenv(c.Qdrant.APIKeyEnv)
		if key == "" && c.Qdrant.APIKeyEnv != "" {
			return nil, "", memoryd.Errorf(memoryd.Invalid, "store.qdrant.api_key_env: the environment variable %s is not set", c.Qdrant.APIKeyEnv)
		}
		s, err := qdrant.Open(ctx, c.Qdrant, key, log)
		if err != nil {
			return nil, "", err
		}
		return s, fmt.Sprintf("qdrant at %s:%d", c.Qdrant.Host, c.Qdrant.Port), nil
	}
	s, err := sqlite.Open(ctx, cfg.Store.SQLite, log)
	if err != nil {
		return nil, "", err
	}
	s.Start(ctx)
	return s, "sqlite in " + cfg.Store.SQLite.Dir, nil
}

// settingsKind is the kind of the record that holds what the settings of the last start
// came to: a digest for each section, no value.
const settingsKind = "settings"

// noteSettings writes to the audit log that the server starts with other settings than
// last time, and which sections of the file they are in. The first start has nothing to
// compare with.
func (a *app) noteSettings(ctx context.Context) error {
	now, err := a.cfg.Digests()
	if err != nil {
		return err
	}
	key := store.RecordKey{Kind: settingsKind, ID: "last"}
	r, err := a.store.Record(ctx, key)
	if err := memoryd.Except(err, memoryd.NotFound); err != nil {
		return err
	}
	var before map[string]string
	if json.Unmarshal(r.Data, &before) == nil { // else there is none, or it is of a later program
		changed := differing(before, now)
		if len(changed) == 0 {
			return nil
		}
		if err := a.audit.Note(ctx, access.Entry{Action: "settings", Detail: "started with other settings in " +
			strings.Join(changed, ", ")}); err != nil {
			return err
		}
	}
	return store.WriteJSON(ctx, a.store, store.Record{RecordKey: key, Revision: store.AnyRevision}, now)
}

// differing are the sections whose digests differ.
func differing(before, after map[string]string) []string {
	changed := maps.Clone(after)
	maps.DeleteFunc(changed, func(section, digest string) bool { return before[section] == digest })
	return slices.Sorted(maps.Keys(changed))
}

// How often a store is swept, and how many records are removed at a time, so as
// to hold nobody up.
const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 500
)

// sweeps has records removed whose time has passed, and the store tidy up.
func (a *app) sweeps(s store.Store) {
	worker := lifecycle.NewWorker(a.log, "sweeping")
	a.runs(func(ctx context.Context) {
		worker.Start(ctx, func(ctx context.Context) {
			for ok := true; ok; ok = lifecycle.Sleep(ctx, sweepEvery) {
				if err := sweep(ctx, s); err != nil && ctx.Err() == nil {
					a.log.WarnContext(ctx, "cannot clean up the store", "err", err)
				}
			}
		})
	}, worker.Stop)
}

func sweep(ctx context.Context, s store.Store) error {
	for n := sweepBatch; n == sweepBatch; {
		var err error
		if n, err = s.ExpireRecords(ctx, time.Now(), sweepBatch); err != nil {
			return err
		}
	}
	if own, ok := s.(interface {
		Sweep(ctx context.Context) error
	}); ok { // the store's own cleaning
		return own.Sweep(ctx)
	}
	return nil
}
