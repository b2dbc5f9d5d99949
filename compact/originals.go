package compact

import (
	"context"
	"net/url"
	"regexp"

	"github.com/go-json-experiment/json"
)

// Original is content that a compaction removed.
type Original struct {
	// ID is "o_" (a message) or "c_" (the record of a compaction) and hexadecimal digits. It
	// is derived from the content, so equal content has one id; only the note of a conversation's
	// newest compaction has its id from the conversation.
	ID string
	// Data are the exact bytes.
	Data []byte
}

// Originals stores removed content by workspace. A workspace cannot read another's originals.
type Originals interface {
	// Put stores all items or none. What is stored under an id is replaced, and its expiry may be
	// extended.
	Put(ctx context.Context, workspace string, items []Original) error
	// Get fails with a memoryd.NotFound error if the id is unknown or has expired.
	Get(ctx context.Context, workspace, id string) (Original, error)
}

// idForm is the form of an id, frameForm how a summary begins, with its id.
var (
	idForm    = regexp.MustCompile(`^[co]_[0-9a-f]{14,24}$`)
	frameForm = regexp.MustCompile(`^\[memoryd (c_[0-9a-f]{14,24})[:\] ]`)
)

// validID reports whether id has the form of an original's id.
func validID(id string) bool { return idForm.MatchString(id) }

// originalID derives the id of a message's bytes.
func originalID(data []byte) string { return "o_" + shortHash(data) }

// newest is the note of a conversation's newest compaction.
type newest struct {
	Latest string `json:"latest"`
}

// newestID is where the note of a conversation is kept.
func newestID(conversation string) string { return compactionID("newest", conversation) }

// newestOf notes that id is the newest compaction of a conversation.
func newestOf(conversation, id string) Original {
	data, _ := json.Marshal(newest{id}) // a text always marshals
	return Original{ID: newestID(conversation), Data: data}
}

// hintOpen begins the line of a summary that says how to look up what it left out.
const hintOpen = "Left out here, still to be had: "

func lookupHint(workspace, conversation string, room int) string {
	if room < hintRoom {
		return hintOpen + "memoryd_lookup, conversation " + conversation
	}
	return hintOpen + "memoryd_lookup over MCP, or GET /v1/workspaces/" + url.PathEscape(workspace) +
		"/originals?conversation_id=" + url.QueryEscape(conversation) + "&query=words"
}
