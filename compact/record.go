package compact

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
	"memoryd/compact/chat"
)

// record is what is stored of one compaction. It makes Undo exact and lets a
// summary message be recognised without trusting its text.
type record struct {
	Version int `json:"version"`
	// Input are the ids of the messages before, in order; they are stored as
	// originals.
	Input []string `json:"input"`
	// Output are hashes of the messages after, in order, in canonical form.
	Output []string `json:"output"`
	// Summary is the hash of the summary text, "" when there is none, and At the
	// place in Output of the message that holds it.
	Summary string `json:"summary,omitempty"`
	At      int    `json:"at"`
	// Settings is the hash of everything that the run was asked for.
	Settings string `json:"settings"`
	// Tokens is the size of the output.
	Tokens int `json:"tokens"`
}

// frameOpen begins every summary and every preview's note.
const frameOpen = "[memoryd "

// bridgeText is what the assistant says between two messages of the user that did
// not stand next to each other.
const bridgeText = "Noted."

// canonicalHash is the same for two messages that differ in white space, key order
// or escapes only, so that it survives a client that decodes and encodes again.
func canonicalHash(raw jsontext.Value) string {
	v := raw.Clone()
	if v.Canonicalize(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		v = raw
	}
	return shortHash(v)
}

func shortHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// frameAt is where the summary that a text ends with begins, or -1; the lead-in of
// a profile belongs to it. Inside a summary nothing looks like its beginning.
func frameAt(text string) int {
	i := strings.LastIndex(text, frameOpen+"c_")
	if i >= len(deerflowLead) && text[i-len(deerflowLead):i] == deerflowLead {
		i -= len(deerflowLead)
	}
	return i
}

// idIn finds the id in the frame of a summary that a text ends with.
func idIn(text string) string {
	i := strings.LastIndex(text, frameOpen+"c_")
	if i < 0 {
		return ""
	}
	rest := text[i+len(frameOpen)+2:]
	end := strings.IndexAny(rest[:min(len(rest), 40)], ":] ")
	if end < 0 || !ValidID("c_"+rest[:end]) {
		return ""
	}
	return "c_" + rest[:end]
}

// summaryIn is the summary that a text ends with.
func summaryIn(text string) string {
	if i := frameAt(text); i >= 0 {
		return text[i:]
	}
	return text
}

var errNoRecord = errors.New("the record cannot be read")

func loadRecord(ctx context.Context, store Originals, workspace, id string) (*record, error) {
	o, err := store.Get(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	var rec record
	if err := json.Unmarshal(o.Data, &rec); err != nil || rec.Version != 1 {
		return nil, memoryd.Wrap(memoryd.NotFound, errNoRecord, "there is no such compaction")
	}
	return &rec, nil
}

func inputIDs(ms []chat.Message) []string {
	ids := make([]string, len(ms))
	for i := range ms {
		ids[i] = originalID(ms[i].Raw)
	}
	return ids
}

// hasher hashes parts so that their borders count.
type hasher struct{ h hash.Hash }

func newHash(parts ...string) hasher {
	h := hasher{sha256.New()}
	h.part(parts...)
	return h
}

func (h hasher) part(parts ...string) {
	for _, p := range parts {
		h.bytes([]byte(p))
	}
}

// bytes hashes one part.
func (h hasher) bytes(p []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(p)))
	h.h.Write(n[:])
	h.h.Write(p)
}

func (h hasher) sum() string { return hex.EncodeToString(h.h.Sum(nil)[:12]) }

// compactionID derives the id of a compaction.
func (h hasher) compactionID() string { return "c_" + h.sum()[:14] }

// recognise finds the summaries of earlier compactions. A message counts only
// when the record that it names is stored in this workspace and holds the hash of
// its very text: whoever imitates the frame is a user who wrote a text.
func (c *conversation) recognise(ctx context.Context, store Originals, workspace string) error {
	for i := range c.messages {
		m := &c.messages[i]
		if m.Kind == chat.Assistant && m.Text() == bridgeText && len(m.Calls) == 0 {
			c.known[i] = &record{}
			continue
		}
		for _, text := range m.Texts {
			id := idIn(text)
			if id == "" || m.Kind == chat.System {
				continue
			}
			summary := summaryIn(text)
			rec, err := loadRecord(ctx, store, workspace, id)
			switch {
			case memoryd.IsKind(err, memoryd.NotFound):
				continue
			case err != nil:
				return err
			case rec.Summary != shortHash([]byte(summary)):
				continue
			}
			if rest, ok := m.Without(summary); ok {
				c.sent[i], c.older[i] = m.Raw, earlierSummary{summary, rec, c.cost[i] - c.messageTokens(&rest)}
				c.messages[i], c.cost[i] = rest, c.messageTokens(&rest)
			} else {
				c.known[i] = rec
			}
			break
		}
	}
	return nil
}

// recordAt is the record of the summary in message i, nil for none.
func (c *conversation) recordAt(i int) *record {
	if e, ok := c.older[i]; ok {
		return e.rec
	}
	if rec := c.known[i]; rec != nil && rec.Version > 0 {
		return rec
	}
	return nil
}

// inputIDs are the ids of the messages as they were sent.
func (c *conversation) inputIDs() []string {
	ids := make([]string, len(c.messages))
	for i := range ids {
		ids[i] = originalID(c.sentRaw(i))
	}
	return ids
}

// since tells how many messages of the conversation are the output of rec, from
// the start: all of them or none.
func (c *conversation) since(rec *record) (n int, ok bool) {
	if len(rec.Output) == 0 || len(rec.Output) > len(c.messages) {
		return 0, false
	}
	for i, h := range rec.Output {
		if canonicalHash(c.sentRaw(i)) != h {
			return 0, false
		}
	}
	return len(rec.Output), true
}

// sentRaw is message i as it was sent.
func (c *conversation) sentRaw(i int) jsontext.Value {
	if raw, ok := c.sent[i]; ok {
		return raw
	}
	return c.messages[i].Raw
}
