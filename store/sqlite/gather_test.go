package sqlite

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// fakeLog is a log that notes what reaches the system.
type fakeLog struct {
	did  []string
	full bool // it takes no writes
	m    sqlite3.Tsqlite3_io_methods
}

func newFakeLog() *fakeLog {
	v := &summing{logs: map[uintptr]*gathered{}}
	l := &fakeLog{}
	note := func(what string) int32 {
		l.did = append(l.did, what)
		if l.full && strings.HasPrefix(what, "write") {
			return sqlite3.SQLITE_FULL
		}
		return sqlite3.SQLITE_OK
	}
	l.m = sqlite3.Tsqlite3_io_methods{
		FxWrite: v.pointer(func(_ *libc.TLS, _, buf uintptr, n int32, offset int64) int32 {
			return note("write " + string(unsafe.Slice(at[byte](buf), n)) + " at " + strconv.FormatInt(offset, 10))
		}),
		FxRead:     v.pointer(func(*libc.TLS, uintptr, uintptr, int32, int64) int32 { return note("read") }),
		FxTruncate: v.pointer(func(*libc.TLS, uintptr, int64) int32 { return note("truncate") }),
		FxSync:     v.pointer(func(*libc.TLS, uintptr, int32) int32 { return note("sync") }),
		FxFileSize: v.pointer(func(*libc.TLS, uintptr, uintptr) int32 { return note("size") }),
		FxClose:    v.pointer(func(*libc.TLS, uintptr) int32 { return note("close") }),
	}
	v.gather(&l.m)
	return l
}

func (l *fakeLog) write(text string, offset int64) int32 {
	b := []byte(text)
	return function[transfer](l.m.FxWrite)(nil, 1, uintptr(unsafe.Pointer(&b[0])), int32(len(b)), offset)
}

func (l *fakeLog) sync() int32 {
	return function[func(*libc.TLS, uintptr, int32) int32](l.m.FxSync)(nil, 1, 0)
}

func (l *fakeLog) want(t *testing.T, did ...string) {
	t.Helper()
	if !slices.Equal(l.did, did) {
		t.Errorf("got %q, want %q", l.did, did)
	}
}

func TestWhatFollowsInALogIsOneWrite(t *testing.T) {
	l := newFakeLog()
	l.write("ab", 0)
	l.write("cd", 2)
	l.want(t)
	l.sync()
	l.want(t, "write abcd at 0", "sync")
	l.write("ef", 4)
	l.write("x", 1) // a page that was written before
	l.sync()
	l.want(t, "write abcd at 0", "sync", "write ef at 4", "write x at 1", "sync")
}

func TestALogIsReadAsItWasWritten(t *testing.T) {
	l := newFakeLog()
	l.write("ab", 0)
	function[transfer](l.m.FxRead)(nil, 1, 0, 0, 0)
	l.write("cd", 2)
	function[func(*libc.TLS, uintptr, uintptr) int32](l.m.FxFileSize)(nil, 1, 0)
	l.write("ef", 4)
	function[func(*libc.TLS, uintptr, int64) int32](l.m.FxTruncate)(nil, 1, 0)
	l.write("gh", 6)
	function[func(*libc.TLS, uintptr) int32](l.m.FxClose)(nil, 1)
	l.want(t, "write ab at 0", "read", "write cd at 2", "size", "write ef at 4", "truncate", "write gh at 6", "close")
}

func TestALogThatTakesNoWritesFailsTheFlush(t *testing.T) {
	l := newFakeLog()
	l.full = true
	l.write("ab", 0)
	if rc := l.sync(); rc != sqlite3.SQLITE_FULL {
		t.Errorf("got %d", rc)
	}
	l.full = false
	l.write("cd", 0) // the next transaction
	if rc := l.sync(); rc != sqlite3.SQLITE_OK || l.did[len(l.did)-2] != "write cd at 0" {
		t.Errorf("got %d, %q", rc, l.did)
	}
}

func TestALogGathersNoMoreThanOneWriteTakes(t *testing.T) {
	l := newFakeLog()
	page := strings.Repeat("p", pageSize)
	for i := range int64(33) {
		l.write(page, i*pageSize)
	}
	l.sync()
	if len(l.did) != 3 || len(l.did[0]) != len("write  at 0")+31*pageSize {
		t.Errorf("%d operations", len(l.did))
	}
}
