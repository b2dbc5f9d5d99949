package memoryd

import (
	"errors"
	"fmt"
	"time"
)

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

// IsKind reports whether err is of the given kind.
func IsKind(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}
