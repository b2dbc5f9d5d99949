package sqlite

import (
	"cmp"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// gathered is what SQLite has written to a write-ahead log and the system has not been
// given yet. SQLite writes the log page by page, each in two pieces, and flushes it before
// anybody else may read what it commits (synchronous = FULL). What it writes gathers until
// then, so that a commit of many calls is one write.
type gathered struct {
	offset int64 // in the file, of the first byte
	bytes  []byte
}

// mostGathered is how many bytes gather: the system's VFS takes no more in one write.
const mostGathered = 1<<17 - 1

// gather has the writes to a log gather. Whatever else is done to the file finds them
// written; where they cannot be, it fails as well.
func (v *summing) gather(m *sqlite3.Tsqlite3_io_methods) {
	read, write := function[transfer](m.FxRead), function[transfer](m.FxWrite)
	truncate := function[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)
	sync := function[func(*libc.TLS, uintptr, int32) int32](m.FxSync)
	size := function[func(tls *libc.TLS, f, out uintptr) int32](m.FxFileSize)
	closing := function[func(*libc.TLS, uintptr) int32](m.FxClose)
	flush := func(tls *libc.TLS, f uintptr) int32 {
		g := v.log(f)
		if len(g.bytes) == 0 {
			return sqlite3.SQLITE_OK
		}
		rc := write(tls, f, uintptr(unsafe.Pointer(&g.bytes[0])), int32(len(g.bytes)), g.offset)
		g.bytes = g.bytes[:0]
		return rc
	}
	m.FxWrite = v.pointer(func(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32 {
		g := v.log(f)
		if offset != g.offset+int64(len(g.bytes)) || len(g.bytes)+int(n) > mostGathered {
			if rc := flush(tls, f); rc != sqlite3.SQLITE_OK {
				return rc
			}
			g.offset = offset
		}
		g.bytes = append(g.bytes, unsafe.Slice(at[byte](buf), n)...)
		return sqlite3.SQLITE_OK
	})
	m.FxRead = v.pointer(func(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32 {
		return cmp.Or(flush(tls, f), read(tls, f, buf, n, offset))
	})
	m.FxTruncate = v.pointer(func(tls *libc.TLS, f uintptr, bytes int64) int32 {
		return cmp.Or(flush(tls, f), truncate(tls, f, bytes))
	})
	m.FxSync = v.pointer(func(tls *libc.TLS, f uintptr, flags int32) int32 {
		return cmp.Or(flush(tls, f), sync(tls, f, flags))
	})
	m.FxFileSize = v.pointer(func(tls *libc.TLS, f, out uintptr) int32 {
		return cmp.Or(flush(tls, f), size(tls, f, out))
	})
	m.FxClose = v.pointer(func(tls *libc.TLS, f uintptr) int32 {
		rc := cmp.Or(flush(tls, f), closing(tls, f))
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.logs, f)
		return rc
	})
}

// log is what has gathered for an open log, which one connection writes.
func (v *summing) log(f uintptr) *gathered {
	v.mu.Lock()
	defer v.mu.Unlock()
	g := v.logs[f]
	if g == nil {
		g = &gathered{}
		v.logs[f] = g
	}
	return g
}
