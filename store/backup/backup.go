// Package backup moves tool memories between stores, and between this program
// and others.
//
// Export writes a workspace or a whole store as versioned JSON lines that end in a hash.
// Restore reads them into any backend. An export that is restored and exported again is the
// same file, byte for byte, whatever the two backends are. Actions is the older interface,
// POST /vector_store: one file per workspace, one tool memory per line, in the shape of the
// HTTP answers. It also loads the dumps of the ReMe server.
//
// # The file
//
// Each line is a JSON object with one member, which names the type of the line:
//
//	{"manifest":{"format":"memoryd","version":1,"scope":"store",...}}
//	{"record":{...}}   documents of the whole server
//	{"record":{...}}   documents of a workspace
//	{"tool":{...}}     a tool: counters, times, guideline, and how many calls follow
//	{"call":{...}}     its kept calls, oldest first
//	{"record":{...}}   its documents
//	{"trailer":{"tools":n,"calls":n,"records":n,"sha256":"..."}}
//
// Workspaces and their tools are sorted by the bytes of their names, so no tool can occur
// twice. The hash covers every byte before the last line. Texts that are not valid UTF-8 are
// {"base64":"..."}. JSON from a caller (input, metadata) is stored as text, to keep its white
// space. Instants are RFC 3339 in UTC with microseconds.
//
// Leases, cached verdicts, the keys of calls that the history dropped, and the revision
// numbers of documents are not exported: they belong to a store, not to its content.
package backup

import (
	"errors"
	"fmt"

	"memoryd"
)

// formatVersion is the version of the files that this program writes, and the newest that it reads.
const formatVersion = 1

// format names the file in its manifest.
const format = "memoryd"

// The bounds of what is read. A record of store.MaxRecordBytes and the longest
// call that a server of default limits accepts fit a line several times over.
const (
	maxLineBytes   = 128 << 20 // one line of an export
	maxMemoryBytes = 256 << 20 // one line of a dump: a whole tool memory
	maxToolBytes   = 1 << 30   // all lines of one tool
)

// Counts are the numbers of moved items.
type Counts struct {
	Tools, Calls, Records int
	// Skipped counts existing tools that were not changed.
	Skipped int
}

// String returns the counts in words.
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
