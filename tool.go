package memoryd

import (
	"encoding/hex"
	"time"

	"github.com/google/uuid"
)

// Counters count the calls of a tool over its whole life, beyond what the
// history keeps.
type Counters struct {
	// Lifetime counts every call ever accepted, Duplicates the exact repeats
	// among them (equal input and output, made at another time).
	Lifetime   int64
	Duplicates int64
	// Pending counts calls of the kept history that wait for a verdict.
	Pending int64
}

// Tool is what the store knows of one tool apart from its calls.
type Tool struct {
	ToolRef
	Counters
	// Kept is how many calls the history holds now.
	Kept int
	// Revision grows with each change to the history: an accepted call or a
	// verdict. A guideline remembers the revision that it was written from.
	Revision int64
	Created  time.Time
	// Modified is when the history or the guideline changed last.
	Modified time.Time
	// Guideline is the newest one; its Revision is 0 when none was written.
	Guideline Guideline
}

// memoryNamespace makes memory ids of this project distinct from other UUIDs.
var memoryNamespace = uuid.MustParse("6d656d6f-7279-5d74-8f6f-6c6d656d6f72")

// MemoryID is the id of the tool's memory: 32 hexadecimal digits, a version 5
// UUID (RFC 9562, section 5.5) of workspace and tool, so that it is the same in
// every store and stays the same for ever.
func (r ToolRef) MemoryID() string {
	id := uuid.NewSHA1(memoryNamespace, []byte(r.Workspace+"\x00"+r.Tool))
	return hex.EncodeToString(id[:])
}
