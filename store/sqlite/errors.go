package sqlite

import (
	"context"
	"errors"
	"time"

	"memoryd"

	sqlite3 "modernc.org/sqlite/lib"
)

// codeOf is SQLite's extended result code, which the driver's errors offer.
func codeOf(err error) int {
	if c, ok := errors.AsType[interface {
		error
		Code() int
	}](err); ok {
		return c.Code()
	}
	return 0
}

// lost reports whether nothing more may be acknowledged after err. When a
// flush failed, the system may have dropped the unwritten pages, and a later
// flush that succeeds proves nothing; so the first failure is the last word.
func lost(err error) bool {
	code := codeOf(err)
	switch code {
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC:
		return true
	}
	switch code & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	return false
}

// retryAfter is what callers are told to wait when the store cannot take more.
const retryAfter = time.Second

// unavailable gives a failure of the file or the disk its kind.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	msg := "the store is unavailable"
	switch {
	case codeOf(err)&0xff == sqlite3.SQLITE_FULL:
		msg = "the store's disk is full"
	case errors.Is(err, errGone):
		msg = "the store's file was removed or replaced: restart the server"
	case damaged(err):
		msg = "the store's file is damaged where this stands; memoryd check tells what is lost"
	}
	e := memoryd.Wrap(memoryd.Unavailable, err, msg)
	e.RetryAfter = retryAfter
	return e
}

// damaged reports whether SQLite found a page that is not what was written.
func damaged(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_IOERR_DATA || code&0xff == sqlite3.SQLITE_CORRUPT
}

func overloaded() error {
	e := memoryd.Errorf(memoryd.Overloaded, "too many writes are waiting")
	e.RetryAfter = retryAfter
	return e
}
