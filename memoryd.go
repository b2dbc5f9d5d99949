// Package memoryd defines the types that every other package uses (tool calls, evaluations,
// tool memories, guidelines), the kinds of error that cross package borders, and the built-in
// configuration.
//
// It imports no other package of the project. README.md and api/openapi.json explain the
// types to users; docs/design.md explains how the packages fit together.
package memoryd

import (
	"context"
	"crypto/sha1" //nolint:gosec // version 5 UUIDs are made of it
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// DefaultConfig is the documented configuration file with every setting at its default. A
// user's file needs only the settings that differ.
//
//go:embed default.yaml
var DefaultConfig []byte

//go:embed VERSION
var versionFile string

// Version returns the version of this release. The file VERSION holds it; the clients, the
// chart and the plugin copy it.
func Version() string { return strings.TrimSpace(versionFile) }

// DefaultWorkspace is the workspace of requests that name none.
const DefaultWorkspace = "default"

// MaxNameBytes limits the length of a workspace or tool name, in bytes of UTF-8.
const MaxNameBytes = 1024

// NameFault returns why a name is not allowed, or "" if it is. Line breaks and invisible characters
// are refused, because they could forge parts of an answer.
func NameFault(name string) string {
	if len(name) > MaxNameBytes {
		return fmt.Sprintf("is longer than %d bytes", MaxNameBytes)
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
	}) {
		return "holds a line break or another control character"
	}
	return ""
}

// Limits of a tool's name. Names appear inside our own text, so a name must not be a sentence.
const (
	MaxToolNameBytes = 256
	MaxToolNameWords = 5
)

// ToolNameFault returns why calls of a tool with that name are rejected, or "" if they are
// accepted.
func ToolNameFault(name string) string {
	fault := NameFault(name)
	switch {
	case fault != "":
	case len(name) > MaxToolNameBytes:
		fault = fmt.Sprintf("is longer than %d bytes", MaxToolNameBytes)
	case len(strings.Fields(name)) > MaxToolNameWords:
		fault = fmt.Sprintf("has more than %d words", MaxToolNameWords)
	}
	return fault
}

// MaxCost limits the seconds and tokens of a call, so that sums stay finite.
const MaxCost = 1e9

// TimeLayout is the format of times without a time zone: the server's own, and those of callers who
// give no zone.
const TimeLayout = "2006-01-02 15:04:05"

// ParseTime parses a create_time. A text without a zone is in the given zone.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{TimeLayout, "2006-01-02T15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New(`must be "YYYY-MM-DD HH:MM:SS" or RFC 3339`)
}

// TimeText formats a time of the server in its zone; "" for the zero time.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(TimeLayout)
}

// ToolRef addresses one tool memory: the name of a tool within a workspace. Both are compared byte
// for byte, without case folding.
type ToolRef struct {
	Workspace string `json:"workspace,omitzero"`
	Tool      string `json:"tool,omitzero"`
}

// Counters count all calls of a tool, including those that the history no longer holds.
type Counters struct {
	// Lifetime counts all accepted calls. Duplicates counts those that repeat an earlier input and
	// output at another time.
	Lifetime   int64 `json:"lifetime"`
	Duplicates int64 `json:"duplicates"`
	// Pending counts the calls in the history that have not been judged.
	Pending int64 `json:"-"`
}

// Tool is what the store knows about a tool, apart from its calls. The JSON names are those of
// exports.
type Tool struct {
	ToolRef
	// Kept is the number of calls in the history.
	Kept int `json:"calls"`
	Counters
	// Revision increases with each change to the history: an accepted call or a verdict. A
	// guideline stores the revision that it was written from.
	Revision int64     `json:"revision"`
	Created  time.Time `json:"created,omitzero"`
	// Modified is the time of the last change to the history or the guideline.
	Modified time.Time `json:"modified,omitzero"`
	// Guideline is the current guideline; its Revision is 0 if none was written.
	Guideline Guideline `json:"guideline,omitzero"`
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

// Guideline is the text that tells an agent how to use a tool. The JSON names are those
// of exports.
type Guideline struct {
	// Revision numbers the guidelines of a tool from 1; 0 means none. The store compares it when it
	// replaces a guideline.
	Revision int64  `json:"revision"`
	Content  string `json:"content,omitzero"`
	// Author is the name of a model, or "rules".
	Author string `json:"author,omitzero"`
	// BasedOn is the Revision of the tool, and ThroughSeq the Seq of its newest call, when the text
	// was written.
	BasedOn    int64     `json:"based_on"`
	ThroughSeq int64     `json:"through_seq"`
	Written    time.Time `json:"written,omitzero"`
}

// Model is a language model.
type Model interface {
	// Complete returns a *ModelError if the server or its answer is at fault.
	Complete(ctx context.Context, p Prompt) (Completion, error)
	// Name returns the name of the model for answers and logs.
	Name() string
}

// Prompt is a request to a language model.
type Prompt struct {
	// System holds our own instructions, never data.
	System string
	// User holds the data, delimited so that it cannot leave its block.
	User string
	// SchemaName and Schema request an answer that matches a JSON schema; nil requests free text.
	SchemaName string
	Schema     json.RawMessage
	// MaxTokens limits the answer; 0 leaves the limit to the server.
	MaxTokens int
	// Workspace is the workspace that the request is made for; it decides the request's place
	// in the queue.
	Workspace string
	// Tool is the tool that the request is made for, for the ledger; it may be empty.
	Tool string
}

// Completion is a model's answer.
type Completion struct {
	Text string
	// Model is the name of the model according to the server.
	Model string
	Usage Usage
}

// Usage is the number of tokens of a request, as reported by the server.
type Usage struct {
	PromptTokens     int
	CompletionTokens int
}

// Attempt is one HTTP request to a model.
type Attempt struct {
	Op    string
	Model string // the requested name
	// Workspace and Tool are those of the prompt.
	Workspace string
	Tool      string
	// Outcome is "ok", "cancelled", "adapted" (retried in another form), or the Reason of a
	// ModelError.
	Outcome string
	Waited  time.Duration // time in the queue before this attempt
	Took    time.Duration // from sending the request to the last byte of the reply
	Usage   Usage
}

// Subject says what a request is about, for traces.
type Subject struct {
	Workspace string
	// Tool is the tool of the request; "" if there are none or several. Tools is their number; 0 if
	// unknown.
	Tool  string
	Tools int
	// Calls is the number of calls in a recording request.
	Calls int
}

// ModelError is a failed model request. Retry temporary failures after RetryAfter; other failures
// are final for the request or the whole endpoint.
type ModelError struct {
	// Reason is a stable word: "rate_limited", "timeout", "refused", "filtered", "too_long",
	// "credentials", "quota", "unknown_model", "bad_reply", "server", "network", "rejected",
	// "budget".
	Reason string
	// Temporary reports that the same request may succeed later.
	Temporary bool
	// RetryAfter is the wait that the server asked for; 0 means none.
	RetryAfter time.Duration
	Err        error
}

// Error returns the reason and the cause.
func (e *ModelError) Error() string {
	if e.Err == nil {
		return "model: " + e.Reason
	}
	return "model: " + e.Reason + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// Kind classifies an error by how a caller should react. The HTTP layer maps each kind to one
// status.
type Kind string

// The kinds. An error without a kind is Internal.
const (
	// Unauthenticated means missing or wrong credentials; Misdirected means that the request names
	// another host.
	Unauthenticated Kind = "unauthenticated"
	Misdirected     Kind = "misdirected"

	Invalid     Kind = "invalid"     // the request is wrong; do not retry it
	Forbidden   Kind = "forbidden"   // the caller lacks permission
	NotFound    Kind = "not_found"   // the requested object does not exist
	Conflict    Kind = "conflict"    // it changed concurrently; read it again and retry
	TooLarge    Kind = "too_large"   // a size limit was exceeded
	Overloaded  Kind = "overloaded"  // a bounded queue is full; retry later
	OverQuota   Kind = "over_quota"  // the workspace has reached a quota; delete something first
	Unavailable Kind = "unavailable" // the store is unavailable; nothing was written
	Closed      Kind = "closed"      // used after Close or Stop
	Internal    Kind = "internal"    // a bug or an unexpected failure
)

// Kinds returns all kinds, for tables that must cover them.
func Kinds() []Kind {
	return []Kind{
		Unauthenticated, Misdirected, Invalid, Forbidden, NotFound, Conflict, TooLarge, Overloaded, OverQuota,
		Unavailable, Closed, Internal,
	}
}

// Error is an error with a kind and a message for callers.
type Error struct {
	Kind Kind
	// Msg is one sentence without a final full stop. It never contains internal details such as
	// file names or addresses.
	Msg string
	// RetryAfter is how long the caller should wait; 0 means unspecified. Only Overloaded and
	// Unavailable use it.
	RetryAfter time.Duration
	// Err is the cause. It appears in the log only.
	Err error
}

// Error returns the message and the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error of the given kind without a cause; use Wrap to keep one.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// Wrap adds a kind and a message for callers to err, which is kept for the log.
func Wrap(kind Kind, err error, msg string) *Error {
	return &Error{Kind: kind, Msg: msg, Err: err}
}

// KindOf returns the kind of err and the message that a caller may see. An error without a kind is
// Internal, and its text is not shown.
func KindOf(err error) (Kind, string) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind, e.Msg
	}
	return Internal, "internal error"
}

// IsKind reports whether err is of one of the kinds.
func IsKind(err error, kinds ...Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(kinds, e.Kind)
}

// Except returns err, or nil if it is of one of the kinds.
func Except(err error, kinds ...Kind) error {
	if IsKind(err, kinds...) {
		return nil
	}
	return err
}

// Fault describes what is wrong with a JSON text and where. Its codes are those of pydantic, which
// clients of the original server know.
type Fault struct {
	Code string // such as "string_type" or "missing"
	Loc  []any  // the path: member names and array indexes
	Msg  string
	// Input repeats the wrong value if it is short.
	Input jsontext.Value
	// Broken reports that the text is not valid JSON and cannot be read beyond Offset.
	Broken bool
	Offset int64 // in bytes
}

// Error returns the path and the message.
func (f *Fault) Error() string {
	var b strings.Builder
	for _, part := range f.Loc {
		fmt.Fprintf(&b, "%v: ", part)
	}
	return b.String() + f.Msg
}

// maxEcho bounds the value that a fault repeats: an echo helps only while it is
// short.
const maxEcho = 1024

// NewFault returns a fault for a value, which may be nil.
func NewFault(code, msg string, input jsontext.Value, loc ...any) *Fault {
	switch {
	case input == nil:
		input = jsontext.Value("null")
	case len(input) > maxEcho || !input.IsValid():
		input = jsontext.Value(`"…"`)
	}
	return &Fault{Code: code, Loc: loc, Msg: msg, Input: input.Clone()}
}

// FaultOf converts an error of the JSON packages to a fault. It drops the first skip elements of
// the path.
func FaultOf(err error, skip int) *Fault {
	f, ours := errors.AsType[*Fault](err)
	semantic, _ := errors.AsType[*jsonv2.SemanticError](err)
	syntactic, _ := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case ours && (f.Broken || semantic == nil):
		return f
	case ours:
		own := f.Loc
		f = &Fault{Code: f.Code, Msg: f.Msg, Input: f.Input, Loc: append(pathOf(semantic.JSONPointer, skip), own...)}
		return f
	case syntactic != nil && errors.Is(err, jsontext.ErrDuplicateName):
		path := pathOf(syntactic.JSONPointer, skip)
		if len(path) == 1 {
			return NewFault("duplicate_key", "Field given twice", nil, path...)
		}
		return NewFault("duplicate_key", fmt.Sprintf("the name at %q occurs twice", syntactic.JSONPointer), nil, path...)
	case syntactic != nil:
		f = NewFault("json_invalid", fmt.Sprintf("JSON decode error at byte %d (in %q): %v",
			syntactic.ByteOffset, syntactic.JSONPointer, syntactic.Err), nil)
		f.Offset = syntactic.ByteOffset
	case semantic != nil:
		return NewFault("type_error", fmt.Sprintf("a %s is not expected here", semantic.JSONKind), semantic.JSONValue,
			pathOf(semantic.JSONPointer, skip)...)
	default:
		f = NewFault("json_invalid", "JSON decode error: "+err.Error(), nil)
	}
	f.Broken = true
	return f
}

func pathOf(p jsontext.Pointer, skip int) (path []any) {
	for part := range p.Tokens() {
		if skip--; skip >= 0 {
			continue
		}
		if n, err := strconv.Atoi(part); err == nil {
			path = append(path, n)
		} else {
			path = append(path, part)
		}
	}
	return path
}
