package powerloss

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// none is the inode of a name that stands for no file.
const none = -1

// state is a disk at one moment: what is durable, and what a power cut may keep,
// drop, tear or reorder.
type state struct {
	inodes map[int]*inode
	names  map[string]int   // durable
	later  map[string][]int // what each name stood for since, in order
	info   map[int]os.FileInfo
}

type inode struct {
	durable []byte
	later   []event // writes and truncates that no flush covers
}

func newState() *state {
	return &state{
		inodes: map[int]*inode{}, names: map[string]int{}, later: map[string][]int{}, info: map[int]os.FileInfo{},
	}
}

// lay writes files into an empty directory and gives the disk's state: all of it
// is durable.
func lay(dir string, files map[string][]byte) (*state, error) {
	s := newState()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, files[name], 0o600); err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		n := len(s.inodes) + 1
		s.inodes[n] = &inode{durable: files[name]}
		s.names[name], s.info[n] = n, info
	}
	return s, nil
}

// apply takes the next event.
func (s *state) apply(e event) {
	switch e.kind {
	case link:
		if s.inodes[e.inode] == nil {
			s.inodes[e.inode] = &inode{}
		}
		s.later[e.name] = append(s.later[e.name], e.inode)
	case unlink:
		s.later[e.name] = append(s.later[e.name], none)
	case flushName:
		for name, values := range s.later {
			s.names[name] = values[len(values)-1]
		}
		clear(s.later)
	case flush:
		n := s.inodes[e.inode]
		n.durable = slices.Clone(n.durable)
		for _, l := range n.later {
			n.durable = l.on(n.durable)
		}
		n.later = nil
	case write, truncate:
		n := s.inodes[e.inode]
		n.later = append(n.later, e)
	}
}

// on gives the content after the event.
func (e *event) on(content []byte) []byte {
	if e.kind == truncate {
		return resize(content, int(e.offset))
	}
	end := int(e.offset) + len(e.data)
	if end > len(content) {
		content = resize(content, end)
	}
	copy(content[e.offset:], e.data)
	return content
}

func resize(content []byte, size int) []byte {
	if size <= len(content) {
		return content[:size]
	}
	return append(content, make([]byte, size-len(content))...)
}

// crash gives the files that a power cut leaves, as fate decides.
func (s *state) crash(fate *fate) map[string][]byte {
	left := map[string]int{}
	maps.Copy(left, s.names)
	for _, name := range slices.Sorted(maps.Keys(s.later)) {
		if n := fate.pick(len(s.later[name]) + 1); n > 0 {
			left[name] = s.later[name][n-1]
		}
	}
	files := map[string][]byte{}
	contents := map[int][]byte{}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		n := left[name]
		if n == none {
			continue
		}
		if _, known := contents[n]; !known {
			contents[n] = fate.content(s.inodes[n])
		}
		files[name] = contents[n]
	}
	return files
}
