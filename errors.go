package memoryd

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of failure an error is, as far as a caller needs to know
// in order to react. The HTTP face maps each kind to one status.
type Kind string

// The kinds. An error without a kind is Internal.
const (
	// Unauthenticated is a caller that does not say who it is, or not credibly, and
	// Misdirected a request for another host than this one.
	Unauthenticated Kind = "unauthenticated"
	Misdirected     Kind = "misdirected"

	Invalid     Kind = "invalid"     // the request is wrong; repeating it will not help
	Forbidden   Kind = "forbidden"   // the caller may not do this
	NotFound    Kind = "not_found"   // what was asked for does not exist
	Conflict    Kind = "conflict"    // somebody else changed it in between; read again and retry
	TooLarge    Kind = "too_large"   // a limit on size was passed
	Overloaded  Kind = "overloaded"  // a bounded queue is full; retry later
	OverQuota   Kind = "over_quota"  // the workspace holds as much as it may; less must be kept before more can be
	Unavailable Kind = "unavailable" // the store is unavailable; nothing was half done
	Closed      Kind = "closed"      // used after Close or Stop
	Internal    Kind = "internal"    // a defect or an unforeseen failure
)

// Kinds lists every kind, for tables that must cover them all.
func Kinds() []Kind {
	return []Kind{Unauthenticated, Misdirected, Invalid, Forbidden, NotFound, Conflict, TooLarge, Overloaded, OverQuota, Unavailable, Closed, Internal}
}

// Error is a failure with a kind and a sentence that a caller may see.
type Error struct {
	Kind Kind
	// Msg is one clear sentence without a final stop. It never holds inner
	// detail such as file names or addresses.
	Msg string
	// RetryAfter is how long the caller should wait; 0 means not stated. Only
	// Overloaded and Unavailable use it.
	RetryAfter time.Duration
	// Err is the cause, for the log only.
	Err error
}

// Error gives the sentence and the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error of a kind without a cause; Wrap keeps one.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// Wrap gives err a kind and a sentence for callers, keeping err for the log.
func Wrap(kind Kind, err error, msg string) *Error {
	return &Error{Kind: kind, Msg: msg, Err: err}
}

// KindOf tells the kind of err and the sentence that a caller may see. An error
// without a kind is Internal and its text stays inside.
func KindOf(err error) (Kind, string) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind, e.Msg
	}
	return Internal, "internal error"
}

// IsKind reports whether err has the kind.
func IsKind(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}
