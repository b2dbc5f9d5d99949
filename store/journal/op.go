package journal

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"memoryd"
	"memoryd/store"
)

// kind says what an operation does.
type kind byte

const (
	opAppend          kind = 'a'
	opSettle          kind = 's'
	opCache           kind = 'c'
	opDeleteTool      kind = 't'
	opDeleteWorkspace kind = 'w'
)

// op is one operation as the journal keeps it: all that is needed to repeat it.
type op struct {
	Kind kind
	// Ref is the tool, or the workspace, of a deletion; appends have their
	// workspace in it.
	Ref        memoryd.ToolRef
	Keep       int
	Calls      []memoryd.Call
	Verdicts   []store.Verdict
	Key        [16]byte
	Evaluation memoryd.Evaluation
	// Applied is a number such that all operations up to it had been carried out
	// on the local copy when this one was written.
	Applied int64
	// Accepted is when, in microseconds since 1970; 0 in older journals.
	Accepted int64
}

// format is the first byte of an encoded operation. Gob keeps strings and
// numbers as they are, also those that JSON cannot carry.
const format = 1

func (o *op) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte(format)
	if err := gob.NewEncoder(&b).Encode(o); err != nil {
		return nil, fmt.Errorf("spool: encoding an operation: %w", err)
	}
	return b.Bytes(), nil
}

func decode(data []byte) (*op, error) {
	if len(data) == 0 || data[0] != format {
		return nil, memoryd.Errorf(memoryd.Unavailable, "the journal holds an operation of another version")
	}
	o := new(op)
	if err := gob.NewDecoder(bytes.NewReader(data[1:])).Decode(o); err != nil {
		return nil, memoryd.Wrap(memoryd.Unavailable, err, "the journal holds a damaged operation")
	}
	return o, nil
}

// weight is what the operation counts against the bounds on operations.
func (o *op) weight() int { return max(1, len(o.Calls), len(o.Verdicts)) }

// size is about how many bytes the operation holds.
func (o *op) size() int64 {
	n := int64(512)
	for i := range o.Calls {
		n += callSize(&o.Calls[i])
	}
	for i := range o.Verdicts {
		n += evaluationSize(&o.Verdicts[i].Evaluation)
	}
	return n
}

func callSize(c *memoryd.Call) int64 {
	return int64(256+len(c.Input)+len(c.Output)+len(c.Metadata)+len(c.Tool)+len(c.Workspace)+len(c.CreateTime)+len(c.Hash)) +
		evaluationSize(&c.Evaluation)
}

func evaluationSize(e *memoryd.Evaluation) int64 {
	return int64(128 + len(e.Summary) + len(e.Evaluation) + len(e.LastError))
}

// maxOpBytes is how many bytes of calls one operation holds, unless it holds one
// call only. It keeps clear of what a record, and a request, may hold.
const maxOpBytes = 4 << 20

// split makes operations of a batch, in its order.
func split(b store.Batch) []*op {
	var out []*op
	var at *op
	size := int64(0)
	for i := range b.Calls {
		c := b.Calls[i]
		c.Workspace = b.Workspace
		if at == nil || size+callSize(&c) > maxOpBytes {
			at = &op{Kind: opAppend, Ref: memoryd.ToolRef{Workspace: b.Workspace}, Keep: b.Keep}
			out, size = append(out, at), 0
		}
		size += callSize(&c)
		at.Calls = append(at.Calls, c)
	}
	return out
}

// refs gives the tools that the operation touches; of a deleted workspace it is
// a reference without a tool.
func (o *op) refs() []memoryd.ToolRef {
	switch o.Kind {
	case opDeleteTool, opDeleteWorkspace:
		return []memoryd.ToolRef{o.Ref}
	case opCache:
		return nil
	}
	seen := map[memoryd.ToolRef]bool{}
	var out []memoryd.ToolRef
	add := func(ref memoryd.ToolRef) {
		if !seen[ref] {
			seen[ref] = true
			out = append(out, ref)
		}
	}
	for i := range o.Calls {
		add(o.Calls[i].ToolRef)
	}
	for i := range o.Verdicts {
		add(o.Verdicts[i].ToolRef)
	}
	return out
}
