package compact

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
	"memoryd/compact/chat"
	"memoryd/internal/textsafe"
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
	if m := frameForm.FindStringSubmatch(text[max(0, strings.LastIndex(text, frameOpen+"c_")):]); m != nil {
		return m[1]
	}
	return ""
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

// OriginalRef names an original of a workspace by its id, or a compaction.
type OriginalRef struct{ Workspace, ID string }

// Original returns what a compaction removed.
func (c *Compactor) Original(ctx context.Context, r OriginalRef) (Original, error) {
	if !validID(r.ID) {
		return Original{}, memoryd.Errorf(memoryd.Invalid, "%q is not the id of an original", r.ID)
	}
	return c.store.Get(ctx, cmp.Or(r.Workspace, memoryd.DefaultWorkspace), r.ID)
}

// UndoRequest requests the input of a compaction. With Messages, it requests that conversation
// as it would be without the compaction.
type UndoRequest struct {
	OriginalRef

	Messages []jsontext.Value
}

// Undo returns the exact input of a compaction: the same messages, byte for byte. Of a
// conversation that continued it restores the compacted beginning and keeps what was added
// since; it fails with NotFound if that does not begin with the compaction.
func (c *Compactor) Undo(ctx context.Context, r UndoRequest) ([]jsontext.Value, error) {
	workspace := cmp.Or(r.Workspace, memoryd.DefaultWorkspace)
	if !validID(r.ID) || !strings.HasPrefix(r.ID, "c_") {
		return nil, memoryd.Errorf(memoryd.Invalid, "%q is not the id of a compaction", r.ID)
	}
	rec, err := loadRecord(ctx, c.store, workspace, r.ID)
	if err != nil {
		return nil, err
	}
	before := make([]jsontext.Value, len(rec.Input))
	for i, id := range rec.Input {
		o, err := c.store.Get(ctx, workspace, id)
		if err != nil {
			return nil, err
		}
		before[i] = o.Data
	}
	if len(r.Messages) == 0 {
		return before, nil
	}
	ms, err := chat.ParseAll(r.Messages)
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "messages: "+err.Error())
	}
	conv := &conversation{messages: ms}
	n, ok := conv.since(rec)
	if !ok {
		return nil, memoryd.Errorf(memoryd.NotFound, "the conversation does not begin with the result of %s", r.ID)
	}
	return append(before, r.Messages[n:]...), nil
}

// Page is a part of an original's text.
type Page struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Total int    `json:"total_characters"`
	// Next is the offset of the next page; -1 after the last.
	Next int `json:"next"`
}

// maxPage bounds a page, in characters.
const maxPage = 100_000

// PageRequest requests a page of an original's text, in characters.
type PageRequest struct {
	OriginalRef

	Offset, Limit int
}

// Read returns a page of the text of an original. For a message, that is the text that a person
// would read; for anything else, its bytes.
func (c *Compactor) Read(ctx context.Context, r PageRequest) (Page, error) {
	if r.Offset < 0 || r.Limit < 0 {
		return Page{}, memoryd.Errorf(memoryd.Invalid, "offset and limit must not be negative")
	}
	o, err := c.Original(ctx, r.OriginalRef)
	if err != nil {
		return Page{}, err
	}
	runes := []rune(textOf(o.Data, ""))
	limit := min(cmp.Or(r.Limit, maxPage), maxPage)
	from := min(r.Offset, len(runes))
	to := min(len(runes), from+limit)
	p := Page{ID: r.ID, Text: string(runes[from:to]), Total: len(runes), Next: to}
	if to == len(runes) {
		p.Next = -1
	}
	return p, nil
}

// Hit is a place where a text was found.
type Hit struct {
	ID string `json:"id"`
	// Message is the number of the message in the compaction's input.
	Message int    `json:"message"`
	Offset  int    `json:"offset"` // in characters
	Around  string `json:"around"`
}

// OriginalHits are the places found.
type OriginalHits struct {
	Hits []Hit `json:"hits"`
}

// Wanted is what to look up in the input of a compaction and of those before it: of the newest
// of a Conversation, if there is one.
type Wanted struct {
	OriginalRef

	Conversation string
	// Words are words, identifiers, or the id of an original.
	Words string
	// Kind is "user" or "assistant" (what they wrote), "call" or "result"; "" means all.
	Kind  string
	Limit int
}

// Search finds messages among those that compactions removed. Messages with most of the words
// come first, then newer ones; a word counts more if fewer messages have it. It fails with
// NotFound if nothing was removed from the conversation.
func (c *Compactor) Search(ctx context.Context, q Wanted) (out OriginalHits, err error) {
	switch {
	case q.Kind != "" && !slices.Contains([]string{"user", "assistant", "call", "result"}, q.Kind):
		err = memoryd.Errorf(memoryd.Invalid, "kind must be user, assistant, call or result")
	case q.Conversation != "":
		q.ID, err = c.latest(ctx, &q)
	case strings.HasPrefix(q.ID, "o_") && validID(q.ID):
		err = memoryd.Errorf(memoryd.NotFound, "%q is an original, not a compaction", q.ID)
	}
	if err == nil {
		out.Hits, err = c.search(ctx, q)
	}
	return out, err
}

// latest is the id of the newest compaction of a conversation.
func (c *Compactor) latest(ctx context.Context, q *Wanted) (id string, err error) {
	o, err := c.store.Get(ctx, cmp.Or(q.Workspace, memoryd.DefaultWorkspace), newestID(q.Conversation))
	if err != nil {
		return "", err
	}
	var note newest
	if err := json.Unmarshal(o.Data, &note); err != nil {
		return "", memoryd.Wrap(memoryd.NotFound, err, "nothing was removed from this conversation")
	}
	return note.Latest, nil
}

// search looks through the input of a compaction, and of those whose summaries stand in it.
func (c *Compactor) search(ctx context.Context, q Wanted) ([]Hit, error) {
	words := strings.Fields(strings.ToLower(q.Words))
	if len(words) == 0 {
		return nil, memoryd.Errorf(memoryd.Invalid, "the query must not be empty")
	}
	var all []found
	holds := make([]int, len(words)) // how many messages hold a word
	seen := map[string]bool{}
	for todo := []string{q.ID}; len(todo) > 0; todo = todo[1:] {
		messages, err := c.Undo(ctx, UndoRequest{OriginalRef: OriginalRef{q.Workspace, todo[0]}})
		switch {
		case memoryd.IsKind(err, memoryd.NotFound) && todo[0] != q.ID: // it expired before the later ones
			continue
		case err != nil:
			return nil, err
		}
		for n, raw := range slices.Backward(messages) {
			id := originalID(raw)
			if seen[id] {
				continue
			}
			seen[id] = true
			body := textOf(raw, "")
			if earlier := idIn(body); earlier != "" && !seen[earlier] {
				seen[earlier] = true
				todo = append(todo, earlier)
			}
			if q.Kind != "" {
				body = textOf(raw, q.Kind)
			}
			if at := frameAt(body); at >= 0 { // what a summary says stands in another message
				body = body[:at]
			}
			if f := find(id, n, body, words); f.at >= 0 {
				for i, is := range f.words {
					holds[i] += is
				}
				all = append(all, f)
			}
		}
	}
	worth := func(f found) (sum float64) {
		for i, is := range f.words {
			sum += float64(is) * math.Log(1+float64(len(seen))/float64(max(1, holds[i])))
		}
		if f.phrase {
			sum *= 2
		}
		return sum
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(worth(b), worth(a)) })
	hits := make([]Hit, min(q.Limit, len(all)))
	for i := range hits {
		f := &all[i]
		before, from := f.body[:f.at], f.body[f.at:]
		hits[i] = Hit{f.id, f.message, len([]rune(before)), textsafe.TailRunes(before, 100) + textsafe.HeadRunes(from, 200)}
	}
	return hits, nil
}

// found is a message, where in its text the first of the words stands, and which do.
type found struct {
	id, body    string
	message, at int
	words       []int // 1 where it holds the word
	phrase      bool  // it holds them in a row
}

// find looks for the words in a text; at is -1 where it holds none.
func find(id string, message int, body string, words []string) found {
	f := found{id: id, body: body, message: message, words: make([]int, len(words))}
	low := strings.ToLower(body)
	if f.at = strings.Index(low, strings.Join(words, " ")); f.at >= len(body) { // lower case may have another length
		f.at = -1
	}
	f.phrase = f.at >= 0
	for k, w := range words {
		i := strings.Index(low, w)
		if w == id && body != "" {
			i = 0
		}
		if i >= 0 {
			if f.words[k] = 1; f.at < 0 || !f.phrase && i < f.at {
				f.at = min(i, len(body))
			}
		}
	}
	return f
}

// textOf is the text of an original.
func textOf(data []byte, kind string) string {
	m, err := chat.Parse(data)
	if err != nil || m.Kind == chat.Opaque {
		return string(data)
	}
	return readable(&m, kind)
}

// readable is the text of a message: what was written, called and returned; of a kind
// only that.
func readable(m *chat.Message, kind string) string {
	var parts []string
	if kind == "" || kind == m.Role && (kind == "user" || kind == "assistant") {
		parts = append(append(parts, m.Texts...), m.Reasoning...)
	}
	wanted := func(part string) bool { return kind == "" || kind == part }
	if wanted("call") {
		for _, c := range m.Calls {
			parts = append(parts, c.Name+" "+c.Args)
		}
	}
	if wanted("result") {
		for _, r := range m.Results {
			parts = append(parts, r.Text)
		}
	}
	if kind == "" {
		parts = append(parts, m.Other...)
	}
	return strings.Join(parts, "\n")
}
