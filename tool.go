package memoryd

import (
	"crypto/sha1" //nolint:gosec // version 5 UUIDs are made of it
	"encoding/hex"
	"time"

	"github.com/google/uuid"
)

// Counters count all calls of a tool, including those that the history no longer holds.
type Counters struct {
	// Lifetime counts all accepted calls. Duplicates counts those that repeat an earlier input and
	// output at another time.
	Lifetime   int64
	Duplicates int64
	// Pending counts the calls in the history that have not been judged.
	Pending int64
}

// Tool is what the store knows about a tool, apart from its calls.
type Tool struct {
	ToolRef
	Counters
	// Kept is the number of calls in the history.
	Kept int
	// Revision increases with each change to the history: an accepted call or a verdict. A
	// guideline stores the revision that it was written from.
	Revision int64
	Created  time.Time
	// Modified is the time of the last change to the history or the guideline.
	Modified time.Time
	// Guideline is the current guideline; its Revision is 0 if none was written.
	Guideline Guideline
}

// memoryNamespace makes memory ids of this project distinct from other UUIDs.
var memoryNamespace = uuid.MustParse("6d656d6f-7279-5d74-8f6f-6c6d656d6f72")

// MemoryID returns the id of the tool's memory: 32 hexadecimal digits of a version 5 UUID (RFC
// 9562, section 5.5) of workspace and tool. It is the same in every store and never changes.
func (r ToolRef) MemoryID() string {
	var buf [128]byte
	text := append(append(append(append(buf[:0], memoryNamespace[:]...), r.Workspace...), 0), r.Tool...)
	sum := sha1.Sum(text) //nolint:gosec // as the RFC says; it guards nothing
	id := sum[:len(uuid.UUID{})]
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80 // version and variant
	return hex.EncodeToString(id)
}
