// Package backup moves tool memories between stores, and between this program
// and others.
//
// Export writes a workspace or a whole store as versioned JSON-lines that end in
// a hash; Restore reads them into any backend. What was exported, restored and
// exported again is the same file, byte for byte, whatever the two backends are.
// Actions is the older interface, POST /vector_store: one file a workspace, one
// tool memory a line, in the shape of the HTTP answers. ReMe reads what the ReMe
// server keeps, as its dumps and as Qdrant points, and Import adds it.
//
// # The file
//
// Each line is a JSON object with one member, which says what the line is:
//
//	{"manifest":{"format":"memoryd","version":1,"scope":"store",...}}
//	{"record":{...}}   documents of the whole server
//	{"record":{...}}   documents of a workspace
//	{"tool":{...}}     a tool: counters, times, guideline, and how many calls follow
//	{"call":{...}}     its kept calls, oldest first
//	{"record":{...}}   its documents
//	{"trailer":{"tools":n,"calls":n,"records":n,"sha256":"..."}}
//
// Workspaces and the tools in them are in byte order of their names, so that no
// tool can occur twice. The hash covers every byte before the trailer's line.
// Texts that are no valid UTF-8 are {"base64":"..."}; the JSON that a caller gave
// (input, metadata) is a text, so that its white space survives; instants are RFC
// 3339 in UTC with microseconds.
//
// Leases, cached verdicts, the keys of calls that the history has let go, and the
// revision numbers of documents stay behind: they belong to a store, not to what
// is known.
package backup

import (
	"errors"
	"fmt"

	"memoryd"
)

// Version is the newest version of the file that this program reads and the one
// that it writes.
const Version = 1

// format names the file in its manifest.
const format = "memoryd"

// The bounds of what is read. A record of store.MaxRecordBytes and the longest
// call that a server of default limits accepts fit a line several times over.
const (
	maxLineBytes   = 128 << 20 // one line of an export
	maxMemoryBytes = 256 << 20 // one line of a dump: a whole tool memory
	maxToolBytes   = 1 << 30   // all lines of one tool
)

// Counts says how much was moved.
type Counts struct {
	Tools, Calls, Records int
	// Skipped counts tools that were there already and stayed as they were.
	Skipped int
	// Bytes is how much of the file was read or written.
	Bytes int64
}

// String tells the counts in words.
func (c Counts) String() string {
	s := fmt.Sprintf("%d tools, %d calls, %d records", c.Tools, c.Calls, c.Records)
	if c.Skipped > 0 {
		s += fmt.Sprintf(", %d tools skipped", c.Skipped)
	}
	return s
}

// invalid says what is wrong with something that was read.
func invalid(text string, args ...any) error { return memoryd.Errorf(memoryd.Invalid, text, args...) }

// within puts words before the sentence of err and keeps its kind and its cause.
func within(err error, text string, args ...any) error {
	where := fmt.Sprintf(text, args...)
	e, ok := errors.AsType[*memoryd.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", where, err) // not ours: a context's end, a disk's fault
	}
	cause := err
	if err == error(e) { //nolint:errorlint // the sentence moves into the new one
		cause = e.Err
	}
	return &memoryd.Error{Kind: e.Kind, Msg: where + ": " + e.Msg, RetryAfter: e.RetryAfter, Err: cause}
}
