package backup

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"iter"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"

	json "github.com/go-json-experiment/json"
)

// ExportOptions select what to export.
type ExportOptions struct {
	// Workspace is the workspace to export; empty means the whole store.
	Workspace string
	// Created is written into the manifest. Records that have expired by then are left out.
	Created time.Time
	// Kinds are the kinds of records to export with their tools and workspaces; a store cannot list
	// them. Leave out caches.
	Kinds []string
}

// Export writes what opts select to w, and holds at most one tool in memory. The store may stay in
// use: each tool is copied at one moment. A workspace without tools is NotFound. Records of
// workspaces without tools are exported only if the workspace is named.
func Export(ctx context.Context, s store.Store, w io.Writer, opts ExportOptions) (Counts, error) {
	e := &exporter{s: s, opts: opts, buf: bufio.NewWriterSize(w, 1<<16), hash: sha256.New()}
	e.opts.Kinds = slices.Compact(slices.Sorted(slices.Values(opts.Kinds)))
	err := e.run(ctx)
	return e.n, err
}

type exporter struct {
	s    store.Store
	opts ExportOptions
	buf  *bufio.Writer
	hash hash.Hash
	n    Counts
}

func (e *exporter) run(ctx context.Context) error {
	m := &manifest{
		Format: format, Version: formatVersion, Scope: scopeStore, Created: e.opts.Created, Kinds: e.opts.Kinds,
	}
	if e.opts.Workspace != "" {
		m.Scope, m.Workspace = scopeWorkspace, e.opts.Workspace
	}
	if err := e.write(line{Manifest: m}); err != nil {
		return err
	}
	if err := e.body(ctx); err != nil {
		return err
	}
	t := &trailer{Tools: e.n.Tools, Calls: e.n.Calls, Records: e.n.Records, SHA256: hex.EncodeToString(e.hash.Sum(nil))}
	if err := e.write(line{Trailer: t}); err != nil {
		return err
	}
	return e.buf.Flush()
}

func (e *exporter) body(ctx context.Context) error {
	if name := e.opts.Workspace; name != "" {
		err := e.workspace(ctx, name)
		if err == nil && e.n == (Counts{}) {
			err = empty(name)
		}
		return err
	}
	if err := e.records(ctx, memoryd.ToolRef{}); err != nil {
		return err
	}
	return store.Each(store.AllWorkspaces(ctx, e.s), func(name string) error { return e.workspace(ctx, name) })
}

func (e *exporter) workspace(ctx context.Context, name string) error {
	if err := e.records(ctx, memoryd.ToolRef{Workspace: name}); err != nil {
		return err
	}
	return store.Each(memoriesOf(ctx, e.s, name, e.opts.Kinds, e.opts.Created), e.tool)
}

func (e *exporter) tool(m Memory) error {
	if err := e.write(line{Tool: &m.Tool}); err != nil {
		return err
	}
	for i := range m.Calls {
		if err := e.write(line{Call: &m.Calls[i]}); err != nil {
			return within(err, "tool %q of workspace %q", m.Tool.Tool, m.Tool.Workspace)
		}
	}
	for i := range m.Records {
		if err := e.record(m.Records[i]); err != nil {
			return err
		}
	}
	e.n.Tools++
	e.n.Calls += len(m.Calls)
	return nil
}

func (e *exporter) records(ctx context.Context, ref memoryd.ToolRef) error {
	return store.Each(records(ctx, e.s, ref, e.opts.Kinds, e.opts.Created), e.record)
}

func (e *exporter) record(r store.Record) error {
	e.n.Records++
	return e.write(line{Record: &r})
}

func (e *exporter) write(l line) error {
	b, err := json.Marshal(l, exactly)
	if err != nil {
		return err
	}
	if len(b) >= maxLineBytes {
		return memoryd.Errorf(memoryd.TooLarge, "a line of %d bytes is too long to be read back", len(b))
	}
	b = append(b, '\n')
	e.hash.Write(b)
	_, err = e.buf.Write(b)
	return err
}

// memoriesOf iterates over the tool memories of a workspace, sorted by the bytes of the tools' names, with
// their records of some kinds that have not expired by now.
func memoriesOf(ctx context.Context, s store.Store, workspace string, kinds []string, now time.Time) iter.Seq2[Memory, error] {
	return func(yield func(Memory, error) bool) {
		for t, err := range store.AllTools(ctx, s, workspace) {
			m, there := Memory{}, false
			if err == nil {
				m, there, err = readMemory(ctx, s, t.ToolRef, kinds, now)
			}
			if (err != nil || there) && !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// readTries is how often a tool that is being written is read again.
const readTries = 8

// readMemory reads a tool with its kept calls so that both are of one moment, also
// while others write, and numbers the calls alike for all backends; then its records. It reports
// false for a tool that is not there.
func readMemory(ctx context.Context, s store.Store, ref memoryd.ToolRef, kinds []string, now time.Time) (m Memory, there bool, err error) {
	for try := 0; len(m.Calls) == 0; try++ {
		if try == readTries {
			return m, false, memoryd.Errorf(memoryd.Unavailable,
				"tool %q of workspace %q changes faster than it can be read; try again", ref.Tool, ref.Workspace)
		}
		if m.Tool, err = s.Tool(ctx, ref); err != nil {
			return m, false, memoryd.Except(err, memoryd.NotFound)
		}
		if m.Calls, err = s.History(ctx, ref, 0); err == nil {
			m.Calls, err = ofOneMoment(ctx, s, m.Tool, m.Calls)
		}
		if err != nil {
			return m, false, err
		}
	}
	store.Renumber(&m.Tool, m.Calls)
	m.Tool.Kept = len(m.Calls)
	for i := range m.Calls {
		tidy(&m.Calls[i])
	}
	for r, err := range records(ctx, s, ref, kinds, now) {
		if err != nil {
			return m, false, err
		}
		m.Records = append(m.Records, r)
	}
	return m, true, nil
}

// ofOneMoment returns those of the calls, read after t, that t counts; none when
// that cannot be told.
func ofOneMoment(ctx context.Context, s store.Store, t memoryd.Tool, calls []memoryd.Call) ([]memoryd.Call, error) {
	if len(calls) == 0 || calls[len(calls)-1].Seq == t.Lifetime {
		return calls, nil
	}
	now, err := s.Tool(ctx, t.ToolRef)
	if err != nil {
		return nil, memoryd.Except(err, memoryd.NotFound)
	}
	if now.Lifetime == t.Lifetime {
		return calls, nil // a backend that numbers with gaps, at rest
	}
	if newest := calls[len(calls)-1].Seq; newest < t.Lifetime || newest > now.Lifetime {
		return nil, nil // numbers with gaps, and calls came in between
	}
	return slices.DeleteFunc(calls, func(c memoryd.Call) bool { return c.Seq > t.Lifetime }), nil
}

// records iterates over the records of a tool, of a workspace (no tool) or of the
// server (neither), by kind and id, without those that have expired by now.
func records(ctx context.Context, s store.Store, ref memoryd.ToolRef, kinds []string, now time.Time) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, kind := range kinds {
			for r, err := range store.AllRecords(ctx, s, store.RecordKey{ToolRef: ref, Kind: kind}) {
				if err == nil && !r.Expires.IsZero() && !r.Expires.After(now) {
					continue
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// Trust tells the dumps of this installation from others, and says what to do with those.
type Trust struct {
	// Seal returns a keyed hash (HMAC) of a line. Lines of a dump carry it; a line without it, or
	// with another one, was written or changed elsewhere.
	Seal func(ctx context.Context, line []byte) ([]byte, error)
	// SetAside returns the record that keeps the guideline of such a line until a person decides.
	// Published are the kinds of records that such lines cannot restore.
	SetAside  func(ref memoryd.ToolRef, g memoryd.Guideline) (store.Record, error)
	Published []string
}

// foreignSource is who wrote the calls of a dump from elsewhere, whatever they say: one
// source, however many they name.
const foreignSource = "dump"

// A sealed line begins with its seal, so that what follows is the line as it was sealed.
var (
	sealStart = []byte(`{"seal":"`)
	sealEnd   = []byte(`",`)
)

// sealed is a line with its seal.
func (t *Trust) sealed(ctx context.Context, line []byte) ([]byte, error) {
	if t == nil {
		return line, nil
	}
	sum, err := t.Seal(ctx, line)
	if err != nil {
		return nil, err
	}
	out := hex.AppendEncode(bytes.Clone(sealStart), sum)
	return append(append(out, sealEnd...), line[1:]...), nil
}

// opened is a line without its seal; ours says that the seal is right.
func (t *Trust) opened(ctx context.Context, line []byte) (opened []byte, ours bool, err error) {
	rest, has := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), sealStart)
	if !has {
		return line, t == nil, nil
	}
	text, rest, has := bytes.Cut(rest, sealEnd)
	if !has {
		return line, t == nil, nil
	}
	opened = append(append([]byte("{"), rest...), '\n')
	if t == nil {
		return opened, true, nil
	}
	want, err := t.Seal(ctx, opened)
	if err != nil {
		return nil, false, err
	}
	got, err := hex.DecodeString(string(text))
	return opened, err == nil && hmac.Equal(got, want), nil
}

// distrust makes of a memory from elsewhere what may come in: its calls, as of one
// source, and its guideline set aside.
func (t *Trust) distrust(m *Memory) error {
	m.Records = slices.DeleteFunc(m.Records, func(r store.Record) bool { return slices.Contains(t.Published, r.Kind) })
	for i := range m.Calls {
		m.Calls[i].Metadata = memoryd.WithSource(m.Calls[i].Metadata, foreignSource)
	}
	if g := m.Tool.Guideline; g.Content != "" {
		r, err := t.SetAside(m.Tool.ToolRef, g)
		if err != nil {
			return err
		}
		m.Records = append(m.Records, r)
	}
	m.Tool.Guideline = memoryd.Guideline{}
	return nil
}
