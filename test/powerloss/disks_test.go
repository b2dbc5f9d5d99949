package powerloss

import (
	"maps"
	"path/filepath"
	"sync"
)

// disks are the directories that are watched, and their open files. Files
// elsewhere are left alone.
type disks struct {
	mu    sync.Mutex
	byDir map[string]*disk
	open  map[uintptr]*openFile
	next  uintptr
}

func newDisks() *disks {
	return &disks{byDir: map[string]*disk{}, open: map[uintptr]*openFile{}}
}

// watch begins to record what happens in a directory that holds the files of s.
func (all *disks) watch(dir string, s *state) *disk {
	d := &disk{dir: dir, files: map[string]int{}, info: s.info, inodes: len(s.inodes)}
	maps.Copy(d.files, s.names)
	all.mu.Lock()
	defer all.mu.Unlock()
	all.byDir[dir] = d
	return d
}

// forget ends the recording.
func (all *disks) forget(d *disk) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.byDir, d.dir)
}

// file gives an open file, nil if it is not watched.
func (all *disks) file(number uintptr) *openFile {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.open[number]
}

func (all *disks) close(number uintptr) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.open, number)
}

func (all *disks) of(path string) *disk {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.byDir[filepath.Dir(path)]
}

// opening is a file about to be opened; d is nil if nobody watches.
type opening struct {
	all  *disks
	d    *disk
	name string
}

func (all *disks) opening(path string) opening {
	o := opening{all: all, d: all.of(path), name: filepath.Base(path)}
	if o.d != nil {
		if err := o.d.reconcile(); err != nil {
			panic(err) // below SQLite there is nobody to tell
		}
	}
	return o
}

// done notes that it is open and gives its number, 0 if nobody watches.
func (o opening) done(flags int32) uintptr {
	if o.d == nil {
		return 0
	}
	f, err := o.d.opened(o.name, flags)
	if err != nil {
		panic(err)
	}
	o.all.mu.Lock()
	defer o.all.mu.Unlock()
	o.all.next++
	o.all.open[o.all.next] = f
	return o.all.next
}

func (all *disks) removed(path string, flushed bool) {
	if d := all.of(path); d != nil {
		d.removed(filepath.Base(path), flushed)
	}
}
