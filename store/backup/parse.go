package backup

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"iter"

	"memoryd"
	"memoryd/internal/loosejson"
	"memoryd/store"

	json "github.com/go-json-experiment/json"
)

// callBytes is what a call takes in memory beside its texts, about.
const callBytes = 512

// parser reads a file. It is the one place that knows the order of lines.
type parser struct {
	in   *loosejson.Lines
	out  func(Memory) error
	hash hash.Hash
	n    Counts
	m    *manifest

	// toolBytes bounds the lines of one tool.
	toolBytes int64

	at     memoryd.ToolRef // the tool or workspace that was begun last
	record store.RecordKey // the last one of at
	next   *Memory         // what of at is not handed on yet
	keys   map[memoryd.CallKey]struct{}
	size   int64 // of its lines
}

func newParser(r io.Reader) *parser {
	return &parser{in: newLines(r, maxLineBytes), hash: sha256.New(), toolBytes: maxToolBytes}
}

// errStopped ends the reading for somebody who wants no more.
var errStopped = errors.New("stopped")

// all reads the whole file: start is given its manifest; then come, in their order, the tools
// with their calls and records, each checked by itself, and, without a tool, the records of
// workspaces and of the server one by one. The last tool comes when the hash of the file is known
// to be right. Errors name the line.
func (p *parser) all(start func(*manifest) error) iter.Seq2[Memory, error] {
	return func(yield func(Memory, error) bool) {
		p.out = func(m Memory) error {
			if !yield(m, nil) {
				return errStopped
			}
			return nil
		}
		err := p.first(start)
		if err == nil {
			err = p.lines()
		}
		if err != nil && err != errStopped { //nolint:errorlint // never wrapped
			yield(Memory{}, within(err, "line %d", p.in.Number))
		}
	}
}

// flush hands on what was read last.
func (p *parser) flush() error {
	m := p.next
	if m == nil {
		return nil
	}
	p.next = nil
	return p.out(*m)
}

// incomplete refuses to go on before all calls of a tool have come.
func (p *parser) incomplete() error {
	if m := p.next; m != nil && len(m.Calls) < m.Tool.Kept {
		return invalid("tool %q has %d calls instead of %d", m.Tool.Tool, len(m.Calls), m.Tool.Kept)
	}
	return nil
}

func (p *parser) lines() error {
	for {
		b, err := p.read()
		if errors.Is(err, io.EOF) || errors.Is(err, errCut) {
			return invalid("the file is incomplete: its trailer is missing")
		}
		if err != nil {
			return err
		}
		var l line
		if err := json.Unmarshal(b, &l, strict); err != nil {
			return notALine(err)
		}
		if l.Trailer != nil && l == (line{Trailer: l.Trailer}) {
			return p.trailer(l.Trailer)
		}
		p.hash.Write(b)
		p.hash.Write([]byte{'\n'})
		if err := p.line(&l, len(b)); err != nil {
			return err
		}
	}
}

// notALine tells where in the line the fault is, without showing the line.
func notALine(err error) error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok && e.JSONPointer != "" {
		return invalid("wrong or unknown member %.200q", e.JSONPointer)
	}
	return invalid("not a line of an export: %.200s", err.Error())
}

func (p *parser) first(start func(*manifest) error) error {
	b, err := p.read()
	if errors.Is(err, io.EOF) {
		return invalid("the file is empty")
	}
	if err != nil && !errors.Is(err, errCut) {
		return err
	}
	var probe struct {
		Manifest struct {
			Format  string `json:"format"`
			Version int    `json:"version"`
		} `json:"manifest"`
	}
	if json.Unmarshal(b, &probe) != nil || probe.Manifest.Format != format {
		return invalid("this is not an export of memoryd")
	}
	if probe.Manifest.Version > formatVersion {
		return invalid("the file has version %d, this program reads up to %d: use a newer memoryd", probe.Manifest.Version, formatVersion)
	}
	var l line
	if err := json.Unmarshal(b, &l, strict); err != nil {
		return notALine(err)
	}
	if l.Manifest == nil || l != (line{Manifest: l.Manifest}) || !l.Manifest.valid() {
		return invalid("the manifest is not valid")
	}
	p.hash.Write(b)
	p.hash.Write([]byte{'\n'})
	p.m = l.Manifest
	return start(p.m)
}

func (m *manifest) valid() bool {
	if m.Version < 1 {
		return false
	}
	switch m.Scope {
	case scopeStore:
		return m.Workspace == ""
	case scopeWorkspace:
		return store.CheckName("workspace", m.Workspace) == nil
	}
	return false
}

// line takes a line between manifest and trailer.
func (p *parser) line(l *line, size int) error {
	if l.Call != nil && *l == (line{Call: l.Call}) {
		return p.call(l.Call, size)
	}
	if err := p.incomplete(); err != nil {
		return err
	}
	switch {
	case l.Tool != nil && *l == line{Tool: l.Tool}:
		return p.tool(l.Tool, size)
	case l.Record != nil && *l == line{Record: l.Record}:
		return p.document(l.Record, size)
	}
	return invalid("a line holds one tool, call or record")
}

func (p *parser) tool(t *memoryd.Tool, size int) error {
	if err := p.begin(t.ToolRef); err != nil {
		return err
	}
	if t.Kept < 1 {
		return invalid("tool %q has no calls", t.Tool)
	}
	p.next, p.keys, p.size = &Memory{Tool: *t}, map[memoryd.CallKey]struct{}{}, int64(size)
	return nil
}

// begin moves on to a tool or workspace, which must be greater than the last.
func (p *parser) begin(ref memoryd.ToolRef) error {
	if cmp.Or(cmp.Compare(ref.Workspace, p.at.Workspace), cmp.Compare(ref.Tool, p.at.Tool)) <= 0 {
		return invalid("tool %q of workspace %q is out of order or occurs twice", ref.Tool, ref.Workspace)
	}
	if err := p.inScope(ref); err != nil {
		return err
	}
	p.at, p.record = ref, store.RecordKey{}
	return p.flush()
}

// grow counts what is held of a tool.
func (p *parser) grow(bytes int) error {
	if p.size += int64(bytes); p.size > p.toolBytes {
		return memoryd.Errorf(memoryd.TooLarge, "tool %q has more than %d bytes", p.at.Tool, p.toolBytes)
	}
	return nil
}

func (p *parser) call(c *memoryd.Call, size int) error {
	if p.incomplete() == nil {
		return invalid("a call that belongs to no tool")
	}
	if _, twice := p.keys[c.Key]; twice {
		return invalid("a call that occurs twice")
	}
	if err := p.grow(size + callBytes); err != nil {
		return err
	}
	p.keys[c.Key] = struct{}{}
	c.ToolRef = p.at
	tidy(c)
	m := p.next
	if m.Calls = append(m.Calls, *c); len(m.Calls) < m.Tool.Kept {
		return nil
	}
	m.Line = p.in.Number
	p.n.Tools++
	p.n.Calls += len(m.Calls)
	return checkTool(&m.Tool, m.Calls)
}

func (p *parser) document(r *store.Record, size int) error {
	if err := store.CheckRecord(r); err != nil {
		return err
	}
	if err := p.inScope(r.ToolRef); err != nil {
		return err
	}
	if r.ToolRef != p.at {
		if r.Tool != "" {
			return invalid("a record of tool %q, which does not stand before it", r.Tool)
		}
		if err := p.begin(r.ToolRef); err != nil {
			return err
		}
	}
	if cmp.Or(cmp.Compare(r.Kind, p.record.Kind), cmp.Compare(r.ID, p.record.ID)) <= 0 {
		return invalid("record %q of kind %s is out of order or occurs twice", r.ID, r.Kind)
	}
	p.record = r.RecordKey
	p.n.Records++
	if r.Tool != "" {
		p.next.Records = append(p.next.Records, *r)
		return p.grow(size)
	}
	p.next = &Memory{Line: p.in.Number, Tool: memoryd.Tool{ToolRef: r.ToolRef}, Records: []store.Record{*r}}
	return p.flush()
}

func (p *parser) trailer(t *trailer) error {
	if err := p.incomplete(); err != nil {
		return err
	}
	if t.SHA256 != hex.EncodeToString(p.hash.Sum(nil)) {
		return invalid("the hash does not match: the file was changed or damaged")
	}
	if t.Tools != p.n.Tools || t.Calls != p.n.Calls || t.Records != p.n.Records {
		return invalid("the trailer counts other tools, calls or records than the file holds")
	}
	if b, err := p.read(); !errors.Is(err, io.EOF) || len(b) > 0 {
		return invalid("there is data after the trailer")
	}
	return p.flush()
}

// inScope refuses what a file of one workspace cannot hold.
func (p *parser) inScope(ref memoryd.ToolRef) error {
	if p.m.Scope == scopeWorkspace && ref.Workspace != p.m.Workspace {
		return invalid("workspace %q in a file of workspace %q", ref.Workspace, p.m.Workspace)
	}
	return nil
}

// newLines reads lines of bounded length.
func newLines(r io.Reader, most int) *loosejson.Lines {
	return loosejson.NewLines(r, most, memoryd.Errorf(memoryd.TooLarge, "longer than %d bytes", most))
}

// errCut is the end of the input in the middle of a line.
var errCut = errors.New("the file ends in the middle of a line")

// read returns the next line without its end; one that is cut comes with errCut.
func (p *parser) read() ([]byte, error) {
	b, err := p.in.Next()
	if err != nil {
		return nil, err
	}
	b, whole := bytes.CutSuffix(b, []byte("\n"))
	if !whole {
		err = errCut
	}
	return b, err
}

// memories decodes the lines of such a file; blank ones are passed over. An error names its line.
func memories(r io.Reader, decode func(line []byte) (Memory, error)) iter.Seq2[Memory, error] {
	return func(yield func(Memory, error) bool) {
		n := 0
		for b, err := range newLines(r, maxMemoryBytes).All() {
			if n++; err == nil && len(bytes.TrimSpace(b)) == 0 {
				continue
			}
			var m Memory
			if err == nil {
				m, err = decode(bytes.TrimSuffix(b, []byte("\n")))
			}
			if err != nil {
				m, err = Memory{}, within(err, "line %d", n)
			}
			m.Line = n
			if !yield(m, err) {
				return
			}
		}
	}
}
