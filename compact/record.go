package compact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	// Summary is the hash of the summary text, "" when there is none, and At its
	// place in Output.
	Summary string `json:"summary,omitempty"`
	At      int    `json:"at"`
	// Settings is the hash of everything that the run was asked for.
	Settings string `json:"settings"`
	// Tokens is the size of the output.
	Tokens int `json:"tokens"`
}

// frameOpen begins every summary and every preview's note.
const frameOpen = "[memoryd "

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

// idIn finds the id in the first line of a summary that carries our frame.
func idIn(text string) string {
	head := text
	if len(head) > 400 {
		head = head[:400]
	}
	i := strings.Index(head, frameOpen+"c_")
	if i < 0 {
		return ""
	}
	rest := head[i+len(frameOpen):]
	end := strings.IndexAny(rest, ":] ")
	if end < 0 || !ValidID(rest[:end]) {
		return ""
	}
	return rest[:end]
}

// recognise finds the summaries of earlier compactions. A message counts only
// when the record that it names is stored in this workspace and holds the hash of
// its very text: whoever imitates the frame is a user who wrote a text.
func (c *conversation) recognise(ctx context.Context, store Originals, workspace string) error {
	for i := range c.messages {
		m := &c.messages[i]
		if m.Kind != chat.User || len(m.Texts) != 1 {
			continue
		}
		id := idIn(m.Texts[0])
		if id == "" {
			continue
		}
		rec, err := loadRecord(ctx, store, workspace, id)
		switch {
		case memoryd.IsKind(err, memoryd.NotFound):
		case err != nil:
			return err
		case rec.Summary == shortHash([]byte(m.Texts[0])):
			c.known[i] = rec
		}
	}
	return nil
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

// since tells how many messages of the conversation are the output of rec, from
// the start: all of them or none.
func (c *conversation) since(rec *record) (n int, ok bool) {
	if len(rec.Output) == 0 || len(rec.Output) > len(c.messages) {
		return 0, false
	}
	for i, h := range rec.Output {
		if canonicalHash(c.messages[i].Raw) != h {
			return 0, false
		}
	}
	return len(rec.Output), true
}
