package powerloss

import (
	"fmt"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// vfs stands between SQLite and the system's own VFS, as the default of this
// process: every file of every store is opened through it. Reading, locking and
// shared memory are the system's; what changes a file is told to a Disk as well.
// It is process-wide because SQLite's registry is.
type vfs struct {
	inner uintptr // the system's sqlite3_vfs
	outer uintptr // ours
	funcs []any   // keeps alive what the C structures point to
	disks *disks
}

// file is how SQLite sees an open file: the first word is what it calls through,
// the second our number, and the system's own structure follows.
type file struct {
	methods uintptr
	number  uintptr
}

const fileSize = unsafe.Sizeof(file{})

// at makes a pointer out of an address in C's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function makes a Go function out of a C function pointer.
func function[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&pointer)) }

// pointer makes a C function pointer out of a Go function.
func (v *vfs) pointer(f any) uintptr {
	v.funcs = append(v.funcs, f)
	type iface [2]uintptr
	return (*iface)(unsafe.Pointer(&f))[1]
}

// register puts a new vfs in front. It stays until the process ends.
func register(d *disks) (*vfs, error) {
	tls := libc.NewTLS()
	defer tls.Close()
	v := &vfs{disks: d, inner: sqlite3.Xsqlite3_vfs_find(tls, 0)}
	if v.inner == 0 {
		return nil, fmt.Errorf("SQLite has no VFS")
	}
	name, err := libc.CString("powerloss")
	if err != nil {
		return nil, err
	}
	v.outer = libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	methods := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if v.outer == 0 || methods == 0 {
		return nil, fmt.Errorf("out of memory")
	}
	v.fillMethods(at[sqlite3.Tsqlite3_io_methods](methods))
	o := at[sqlite3.Tsqlite3_vfs](v.outer)
	*o = *at[sqlite3.Tsqlite3_vfs](v.inner) // what is not replaced does not look at its VFS
	o.FszOsFile += int32(fileSize)
	o.FpNext, o.FzName = 0, name
	o.FxOpen = v.pointer(v.open(methods))
	o.FxDelete = v.pointer(v.remove)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, v.outer, 1); rc != sqlite3.SQLITE_OK {
		return nil, fmt.Errorf("registering a VFS: %d", rc)
	}
	return v, nil
}

// fillMethods replaces what changes a file and passes the rest on. Version 2 has
// no memory-mapped reads, which nobody could watch.
func (v *vfs) fillMethods(m *sqlite3.Tsqlite3_io_methods) {
	m.FiVersion = 2
	m.FxClose = v.pointer(v.close)
	m.FxWrite = v.pointer(v.write)
	m.FxTruncate = v.pointer(v.truncate)
	m.FxSync = v.pointer(v.sync)
	m.FxRead = v.pointer(func(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32 {
		return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](methodsOf(f).FxRead)(tls, f+fileSize, buf, n, offset)
	})
	m.FxFileSize = v.pass1(func(m *sqlite3.Tsqlite3_io_methods) uintptr { return m.FxFileSize })
	m.FxLock = v.passNumber(func(m *sqlite3.Tsqlite3_io_methods) uintptr { return m.FxLock })
	m.FxUnlock = v.passNumber(func(m *sqlite3.Tsqlite3_io_methods) uintptr { return m.FxUnlock })
	m.FxCheckReservedLock = v.pass1(func(m *sqlite3.Tsqlite3_io_methods) uintptr { return m.FxCheckReservedLock })
	m.FxFileControl = v.pointer(func(tls *libc.TLS, f uintptr, op int32, arg uintptr) int32 {
		return function[func(*libc.TLS, uintptr, int32, uintptr) int32](methodsOf(f).FxFileControl)(tls, f+fileSize, op, arg)
	})
	m.FxSectorSize = v.pass0(func(m *sqlite3.Tsqlite3_io_methods) uintptr { return m.FxSectorSize })
	m.FxDeviceCharacteristics = v.pass0(func(m *sqlite3.Tsqlite3_io_methods) uintptr { return m.FxDeviceCharacteristics })
	m.FxShmMap = v.pointer(func(tls *libc.TLS, f uintptr, region, size, extend int32, out uintptr) int32 {
		return function[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](methodsOf(f).FxShmMap)(tls, f+fileSize, region, size, extend, out)
	})
	m.FxShmLock = v.pointer(func(tls *libc.TLS, f uintptr, offset, n, flags int32) int32 {
		return function[func(*libc.TLS, uintptr, int32, int32, int32) int32](methodsOf(f).FxShmLock)(tls, f+fileSize, offset, n, flags)
	})
	m.FxShmBarrier = v.pointer(func(tls *libc.TLS, f uintptr) {
		function[func(*libc.TLS, uintptr)](methodsOf(f).FxShmBarrier)(tls, f+fileSize)
	})
	m.FxShmUnmap = v.passNumber(func(m *sqlite3.Tsqlite3_io_methods) uintptr { return m.FxShmUnmap })
}

// methodsOf gives the system's methods of an open file.
func methodsOf(f uintptr) *sqlite3.Tsqlite3_io_methods {
	return at[sqlite3.Tsqlite3_io_methods](at[file](f + fileSize).methods)
}

type choice = func(*sqlite3.Tsqlite3_io_methods) uintptr

func (v *vfs) pass0(of choice) uintptr {
	return v.pointer(func(tls *libc.TLS, f uintptr) int32 {
		return function[func(*libc.TLS, uintptr) int32](of(methodsOf(f)))(tls, f+fileSize)
	})
}

func (v *vfs) pass1(of choice) uintptr {
	return v.pointer(func(tls *libc.TLS, f, out uintptr) int32 {
		return function[func(*libc.TLS, uintptr, uintptr) int32](of(methodsOf(f)))(tls, f+fileSize, out)
	})
}

func (v *vfs) passNumber(of choice) uintptr {
	return v.pointer(func(tls *libc.TLS, f uintptr, n int32) int32 {
		return function[func(*libc.TLS, uintptr, int32) int32](of(methodsOf(f)))(tls, f+fileSize, n)
	})
}
