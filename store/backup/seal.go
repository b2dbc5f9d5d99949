package backup

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/hex"
	"slices"

	"memoryd"
	"memoryd/store"
)

// Trust tells the dumps of this installation from others and says what becomes of those.
type Trust struct {
	// Seal is a keyed hash (HMAC) of a line. A line of a dump carries it; one without it,
	// or with another, was written or changed elsewhere.
	Seal func(ctx context.Context, line []byte) ([]byte, error)
	// SetAside makes the record that keeps the guideline of such a line until a person
	// decides; Published are the kinds of records that it does not bring.
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
