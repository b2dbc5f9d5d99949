package powerloss

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	sqlite3 "modernc.org/sqlite/lib"
)

// kind is what an event does.
type kind int

const (
	write kind = iota // data at offset of an inode
	truncate
	flush     // all earlier events of an inode are durable
	link      // a name in the directory stands for an inode
	unlink    // or for none
	flushName // all earlier links and unlinks are durable
)

// event is one thing that happened to a disk.
type event struct {
	kind   kind
	inode  int
	offset int64 // of a write; the size after a truncate
	data   []byte
	name   string
}

// disk records what SQLite does to the files of one directory. The real files
// follow at once; what a power cut would leave of them is worked out later.
type disk struct {
	dir string
	// lies makes flushes do nothing, as a disk does that only says it flushed.
	lies bool

	mu     sync.Mutex
	events []event
	files  map[string]int // the names as they are now
	info   map[int]os.FileInfo
	inodes int
	// fail says what becomes of a "write" or a "sync" of a file; nil means that
	// all work.
	fail func(what, name string) int32
}

// openFile is one opening of a file.
type openFile struct {
	disk  *disk
	inode int
	name  string
	// flushesName: SQLite flushes the directory with the first flush of a journal
	// that it made.
	flushesName bool
}

// volatile are the files that recovery does without.
func volatile(name string) bool { return name == "lock" || strings.HasSuffix(name, "-shm") }

// fault gives the result code that the test wants.
func (d *disk) fault(what, name string) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail == nil {
		return sqlite3.SQLITE_OK
	}
	return d.fail(what, name)
}

// setFail changes what fails from now on.
func (d *disk) setFail(f func(what, name string) int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = f
}

// now counts the events so far.
func (d *disk) now() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.events)
}

func (d *disk) add(e event) {
	if d.lies && (e.kind == flush || e.kind == flushName) {
		return
	}
	d.events = append(d.events, e)
}

func (d *disk) wrote(o *openFile, data []byte, offset int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.add(event{kind: write, inode: o.inode, offset: offset, data: slices.Clone(data)})
}

func (d *disk) truncated(o *openFile, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.add(event{kind: truncate, inode: o.inode, offset: size})
}

func (d *disk) synced(o *openFile) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.add(event{kind: flush, inode: o.inode})
	if o.flushesName {
		d.add(event{kind: flushName})
		o.flushesName = false
	}
}

func (d *disk) removed(name string, flushed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, there := d.files[name]; there {
		delete(d.files, name)
		d.add(event{kind: unlink, name: name})
	}
	if flushed {
		d.add(event{kind: flushName})
	}
}

// reconcile notes what was done to the directory beside SQLite: the store
// removes leftovers, moves its new file into place and flushes the directory
// before it goes on.
func (d *disk) reconcile() error {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	there := map[string]os.FileInfo{}
	for _, e := range entries {
		if volatile(e.Name()) {
			continue
		}
		if there[e.Name()], err = e.Info(); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	moved := false
	for name, info := range there {
		if _, known := d.files[name]; known {
			continue
		}
		for old, inode := range d.files {
			if there[old] == nil && os.SameFile(info, d.info[inode]) {
				d.files[name] = inode
				d.add(event{kind: link, inode: inode, name: name})
				moved = true
			}
		}
	}
	for name := range d.files {
		if there[name] == nil {
			delete(d.files, name)
			d.add(event{kind: unlink, name: name})
		}
	}
	if moved {
		d.add(event{kind: flushName})
	}
	return nil
}

// opened gives the file behind a name, new if there was none.
func (d *disk) opened(name string, flags int32) (*openFile, error) {
	info, err := os.Stat(filepath.Join(d.dir, name))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	o := &openFile{disk: d, name: name}
	inode, known := d.files[name]
	if !known {
		d.inodes++
		inode = d.inodes
		d.files[name] = inode
		d.add(event{kind: link, inode: inode, name: name})
		const journals = sqlite3.SQLITE_OPEN_WAL | sqlite3.SQLITE_OPEN_MAIN_JOURNAL | sqlite3.SQLITE_OPEN_SUPER_JOURNAL
		o.flushesName = flags&journals != 0
	}
	d.info[inode] = info
	o.inode = inode
	return o, nil
}
