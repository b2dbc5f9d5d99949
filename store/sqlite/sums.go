package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Each page of the file ends in a checksum over its content and its number, in bytes
// that SQLite leaves alone ("reserved space"). A VFS of our own, before the system's,
// writes it when a page goes into the file and compares it when one is read: what the
// disk or a hand changed is an error, never an answer. The pages in the write-ahead log
// have checksums of SQLite's.

// sumBytes is what of a page its checksum takes, and reservedAt where the header says
// so.
const (
	sumBytes   = 8
	reservedAt = 20
	sumMark    = 0x6d647331 // "mds1"
	sumsVFS    = "memoryd-sums"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf is the checksum of a page, numbered from 1.
func sumOf(page []byte, number int64) (sum [sumBytes]byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(number))
	crc := crc32.Update(crc32.Checksum(n[:], castagnoli), castagnoli, page[:pageSize-sumBytes])
	binary.BigEndian.PutUint32(sum[:], crc)
	binary.BigEndian.PutUint32(sum[4:], sumMark)
	return sum
}

func soundPage(page []byte, number int64) bool {
	return [sumBytes]byte(page[pageSize-sumBytes:]) == sumOf(page, number)
}

// emptyFile is a database without tables whose pages have room for checksums.
func emptyFile() []byte {
	page := make([]byte, pageSize)
	copy(page, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(page[16:], pageSize)
	page[18], page[19] = 1, 1                // versions that write and read it
	page[reservedAt] = sumBytes              // of each page
	copy(page[21:], []byte{64, 32, 32})      // as the format demands
	binary.BigEndian.PutUint32(page[24:], 1) // changes
	binary.BigEndian.PutUint32(page[28:], 1) // pages
	binary.BigEndian.PutUint32(page[44:], 4) // schema format
	binary.BigEndian.PutUint32(page[56:], 1) // UTF-8
	binary.BigEndian.PutUint32(page[92:], 1) // as the changes
	page[100] = 13                           // an empty leaf of the table of tables
	binary.BigEndian.PutUint16(page[105:], pageSize-sumBytes)
	sum := sumOf(page, 1)
	copy(page[pageSize-sumBytes:], sum[:])
	return page
}

// magic begins a database of SQLite.
const magic = "SQLite format 3\x00"

// summed reports whether the pages of a file have checksums: those of files from before
// version 4 have none. Where a crash has torn the first page, which the log mends, the others
// tell: a connection that took the wrong side would leave pages that the next one refuses.
func summed(path string) (bool, error) {
	f, err := os.Open(path) //nolint:gosec // the store's own file
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	page := make([]byte, pageSize)
	if _, err := io.ReadFull(f, page); err != nil {
		return false, nil // checkHeader tells what is wrong
	}
	if string(page[:len(magic)]) == magic {
		return page[reservedAt] == sumBytes, nil
	}
	for range tornPages {
		if _, err := io.ReadFull(f, page); err != nil {
			break
		}
		if binary.BigEndian.Uint32(page[pageSize-sumBytes/2:]) == sumMark {
			return true, nil
		}
	}
	return false, nil
}

// tornPages is how many pages are looked at in place of a torn one.
const tornPages = 256

// at makes a pointer out of an address in SQLite's memory, function a Go function out of
// one of its function pointers.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

func function[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&pointer)) }

// summing is the VFS. SQLite has one list of them for the whole process.
type summing struct {
	inner uintptr // the system's sqlite3_vfs
	mu    sync.Mutex
	ours  map[uintptr]uintptr // methods by those of the system that they replace
	funcs []any               // keeps alive what SQLite's structures point to
}

// registerSums puts the VFS into SQLite's list, once in the life of the process. The
// variable keeps it from the garbage collector, which does not see SQLite's pointers.
var registerSums = sync.OnceValues(func() (*summing, error) {
	tls := libc.NewTLS()
	defer tls.Close()
	v := &summing{inner: sqlite3.Xsqlite3_vfs_find(tls, 0), ours: map[uintptr]uintptr{}}
	name, err := libc.CString(sumsVFS)
	outer := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if err != nil || outer == 0 || v.inner == 0 {
		return nil, fmt.Errorf("SQLite has no VFS or no memory: %w", err)
	}
	o := at[sqlite3.Tsqlite3_vfs](outer)
	*o = *at[sqlite3.Tsqlite3_vfs](v.inner) // what is not replaced does not look at its VFS
	o.FpNext, o.FzName = 0, name
	o.FxOpen = v.pointer(v.open)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, outer, 0); rc != sqlite3.SQLITE_OK {
		return nil, fmt.Errorf("registering a VFS: %d", rc)
	}
	return v, nil
})

// pointer makes a function pointer for SQLite out of a Go function.
func (v *summing) pointer(f any) uintptr {
	v.funcs = append(v.funcs, f)
	type iface [2]uintptr
	return (*iface)(unsafe.Pointer(&f))[1]
}

// open opens a file as the system does; a database gets our methods.
func (v *summing) open(tls *libc.TLS, _, name, f uintptr, flags int32, out uintptr) int32 {
	rc := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](v.inner).FxOpen)(tls, v.inner,
		name, f, flags, out)
	if file := at[sqlite3.Tsqlite3_file](f); rc == sqlite3.SQLITE_OK && flags&sqlite3.SQLITE_OPEN_MAIN_DB != 0 && file.FpMethods != 0 {
		methods := v.methods(tls, file.FpMethods)
		if methods == 0 {
			return sqlite3.SQLITE_NOMEM
		}
		file.FpMethods = methods
	}
	return rc
}

// methods are those of the system but for reading and writing. Version 2 has no
// memory-mapped reads, which nobody could check.
func (v *summing) methods(tls *libc.TLS, of uintptr) uintptr {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := v.ours[of]; known != 0 {
		return known
	}
	address := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if address == 0 {
		return 0
	}
	m := at[sqlite3.Tsqlite3_io_methods](address)
	*m = *at[sqlite3.Tsqlite3_io_methods](of)
	m.FiVersion = min(m.FiVersion, 2)
	type transfer = func(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32
	read, write := function[transfer](m.FxRead), function[transfer](m.FxWrite)
	m.FxRead = v.pointer(func(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32 {
		rc := read(tls, f, buf, n, offset)
		if n == pageSize && offset%pageSize == 0 && (rc == sqlite3.SQLITE_OK || rc == sqlite3.SQLITE_IOERR_SHORT_READ) &&
			!soundPage(unsafe.Slice(at[byte](buf), n), offset/pageSize+1) {
			return sqlite3.SQLITE_IOERR_DATA
		}
		return rc
	})
	m.FxWrite = v.pointer(func(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32 {
		if n == pageSize && offset%pageSize == 0 {
			page := unsafe.Slice(at[byte](buf), n)
			sum := sumOf(page, offset/pageSize+1)
			copy(page[pageSize-sumBytes:], sum[:])
		}
		return write(tls, f, buf, n, offset)
	})
	// Pages of long values are otherwise read in part, past their checksums.
	traits := function[func(*libc.TLS, uintptr) int32](m.FxDeviceCharacteristics)
	m.FxDeviceCharacteristics = v.pointer(func(tls *libc.TLS, f uintptr) int32 {
		return traits(tls, f) &^ sqlite3.SQLITE_IOCAP_SUBPAGE_READ
	})
	v.ours[of] = address
	return address
}
