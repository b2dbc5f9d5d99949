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
	in    *loosejson.Lines
	out   func(Memory) error
	hash  hash.Hash
	n     Counts
	m     *manifest
	blame int // the line that an error is about, where it is not the one that was read last
	// toolBytes bounds the lines of one tool.
	toolBytes int64

	head   *toolLine // of the tool whose calls are being read
	calls  []memoryd.Call
	keys   map[memoryd.CallKey]struct{}
	size   int64
	at     memoryd.ToolRef // the tool or workspace that was begun last
	record store.RecordKey // the last one of at
	next   *Memory         // what of at is not handed on yet
	held   int             // bytes of its records
}

func newParser(r io.Reader) *parser {
	return &parser{in: newLines(r, maxLineBytes), hash: sha256.New(), toolBytes: maxToolBytes}
}

// each reads the whole file: start is given its manifest, and take, in their order, the tools
// with their calls and records, each checked by itself. What has no calls is a record of a
// workspace or of the server, or further ones of the tool before. The last tool comes when the
// hash of the file is known to be right. Errors, and those of start and take, name the line.
func (p *parser) each(start func(*manifest) error, take func(Memory) error) error {
	p.out = take
	err := p.first(start)
	if err == nil {
		err = p.lines()
	}
	if err == nil {
		return nil
	}
	return within(err, "line %d", cmp.Or(p.blame, p.in.Number))
}

// flush hands on what was read of a tool.
func (p *parser) flush() error {
	m := p.next
	if m == nil {
		return nil
	}
	p.next, p.held = nil, 0
	err := p.out(*m)
	if err != nil {
		p.blame = m.Line
	}
	return err
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
	switch {
	case l.Call != nil && *l == line{Call: l.Call}:
		return p.call(l.Call, size)
	case p.head != nil:
		return invalid("tool %q has %d calls instead of %d", p.at.Tool, len(p.calls), p.head.Calls)
	case l.Tool != nil && *l == line{Tool: l.Tool}:
		return p.tool(l.Tool, size)
	case l.Record != nil && *l == line{Record: l.Record}:
		return p.document(l.Record)
	}
	return invalid("a line holds one tool, call or record")
}

func (p *parser) tool(l *toolLine, size int) error {
	ref := memoryd.ToolRef{Workspace: l.Workspace, Tool: l.Tool}
	if err := p.begin(ref); err != nil {
		return err
	}
	if l.Calls < 1 {
		return invalid("tool %q has no calls", l.Tool)
	}
	p.head, p.calls, p.keys, p.size = l, nil, map[memoryd.CallKey]struct{}{}, int64(size)
	return nil
}

// begin moves on to a tool or workspace, which must be greater than the last.
func (p *parser) begin(ref memoryd.ToolRef) error {
	if compareRefs(ref, p.at) <= 0 {
		return invalid("tool %q of workspace %q is out of order or occurs twice", ref.Tool, ref.Workspace)
	}
	if err := p.inScope(ref); err != nil {
		return err
	}
	p.at, p.record = ref, store.RecordKey{}
	return p.flush()
}

func compareRefs(a, b memoryd.ToolRef) int {
	return cmp.Or(cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Tool, b.Tool))
}

func (p *parser) call(l *callLine, size int) error {
	if p.head == nil {
		return invalid("a call that belongs to no tool")
	}
	if _, twice := p.keys[l.Key]; twice {
		return invalid("a call that occurs twice")
	}
	if p.size += int64(size) + callBytes; p.size > p.toolBytes {
		return memoryd.Errorf(memoryd.TooLarge, "tool %q has more than %d bytes", p.at.Tool, p.toolBytes)
	}
	p.keys[l.Key] = struct{}{}
	p.calls = append(p.calls, l.call(p.at))
	if len(p.calls) < p.head.Calls {
		return nil
	}
	t, calls := p.head.tool(), p.calls
	p.head, p.calls, p.keys = nil, nil, nil
	if err := checkTool(&t, calls); err != nil {
		return err
	}
	p.n.Tools++
	p.n.Calls += len(calls)
	p.next = &Memory{Line: p.in.Number, Tool: t, Calls: calls}
	return nil
}

func (p *parser) document(l *recordLine) error {
	r := l.record()
	if err := store.CheckRecord(&r); err != nil {
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
	if p.next == nil {
		p.next = &Memory{Line: p.in.Number, Tool: memoryd.Tool{ToolRef: r.ToolRef}}
	}
	p.next.Records = append(p.next.Records, r)
	if p.held += len(r.Data); r.Tool == "" || p.held > batchBytes {
		return p.flush()
	}
	return nil
}

func (p *parser) trailer(t *trailer) error {
	if p.head != nil {
		return invalid("tool %q has %d calls instead of %d", p.at.Tool, len(p.calls), p.head.Calls)
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
