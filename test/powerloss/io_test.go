package powerloss

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// open makes the function that opens a file with our methods.
func (v *vfs) open(methods uintptr) func(tls *libc.TLS, self, name, f uintptr, flags int32, out uintptr) int32 {
	inner := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](v.inner).FxOpen)
	return func(tls *libc.TLS, _, name, f uintptr, flags int32, out uintptr) int32 {
		h := at[file](f)
		*h = file{}
		path := ""
		if name != 0 {
			path = libc.GoString(name)
		}
		opening := v.disks.opening(path)
		rc := inner(tls, v.inner, name, f+fileSize, flags, out)
		if at[file](f+fileSize).methods != 0 { // also after some failures: it wants to be closed
			h.methods = methods
		}
		if rc == sqlite3.SQLITE_OK {
			h.number = opening.done(flags)
		}
		return rc
	}
}

func (v *vfs) remove(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
	inner := function[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](v.inner).FxDelete)
	rc := inner(tls, v.inner, name, 0) // the disk notes the flush; to do it would take time
	if rc == sqlite3.SQLITE_OK {
		v.disks.removed(libc.GoString(name), syncDir != 0)
	}
	return rc
}

func (v *vfs) close(tls *libc.TLS, f uintptr) int32 {
	v.disks.close(at[file](f).number)
	return function[func(*libc.TLS, uintptr) int32](methodsOf(f).FxClose)(tls, f+fileSize)
}

func (v *vfs) write(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32 {
	o := v.disks.file(at[file](f).number)
	if o != nil {
		if rc := o.disk.fault("write", o.name); rc != sqlite3.SQLITE_OK {
			return rc
		}
		o.disk.wrote(o, unsafe.Slice(at[byte](buf), n), offset)
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](methodsOf(f).FxWrite)(tls, f+fileSize, buf, n, offset)
}

func (v *vfs) truncate(tls *libc.TLS, f uintptr, size int64) int32 {
	if o := v.disks.file(at[file](f).number); o != nil {
		o.disk.truncated(o, size)
	}
	return function[func(*libc.TLS, uintptr, int64) int32](methodsOf(f).FxTruncate)(tls, f+fileSize, size)
}

// sync tells the disk. The real file is not flushed: no real power is lost.
func (v *vfs) sync(_ *libc.TLS, f uintptr, _ int32) int32 {
	o := v.disks.file(at[file](f).number)
	if o == nil {
		return sqlite3.SQLITE_OK
	}
	if rc := o.disk.fault("sync", o.name); rc != sqlite3.SQLITE_OK {
		return rc
	}
	o.disk.synced(o)
	return sqlite3.SQLITE_OK
}
