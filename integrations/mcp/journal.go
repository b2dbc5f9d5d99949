package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memoryd/internal/loosejson"

	"github.com/google/uuid"
)

// Destination is where the calls of a journal must be delivered.
type Destination struct {
	To        string `json:"to"` // an address, or the name of a memory on this machine
	Workspace string `json:"workspace"`
	Key       string `json:"key,omitempty"` // the id of the key; "" for none
}

// destination is where the calls of a memory go.
func (m Memory) destination() Destination {
	d := Destination{To: cmp.Or(m.Name, strings.TrimRight(m.URL, "/")), Workspace: m.workspace()}
	if id, secret, ok := strings.Cut(strings.TrimPrefix(m.Key, "mrd_"), "_"); ok && secret != "" {
		d.Key = id
	} else if m.Key != "" {
		d.Key = fingerprint([]byte(m.Key)) // of which nothing can be read
	}
	return d
}

// mark begins the names of its journals.
func (d Destination) mark() string {
	return fingerprint([]byte(strings.Join([]string{d.To, d.Workspace, d.Key}, "\x00"))) + "-"
}

// errHeld says that the process that writes a journal lives, and delivers it.
var errHeld = errors.New("another process is writing it, and will deliver it")

// head is the first line of a journal.
type head struct {
	For *Destination `json:"memoryd_journal"`
}

// create makes a journal and locks it.
func (d Destination) create(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, d.mark()+uuid.NewString()+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err == nil {
		if err = errors.Join(lock(f), d.empty(f)); err != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return f, err
}

// empty leaves nothing in a journal but whom it is for.
func (d Destination) empty(f *os.File) error {
	line, err := json.Marshal(head{&d})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return err
}

// Journal is a file of calls that wait for delivery.
type Journal struct {
	Path string `json:"path"`
	Destination
	Calls int       `json:"calls"`
	Since time.Time `json:"since"` // when the last call was added
	Held  bool      `json:"held"`  // by a running process, which delivers it
}

// Journals returns the journals in a folder. A journal without a destination is from an
// earlier version.
func Journals(dir string) (all []Journal) {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, path := range paths {
		if j, err := ReadJournal(path); err == nil {
			all = append(all, j)
		}
	}
	return all
}

// ReadJournal reads one journal.
func ReadJournal(path string) (j Journal, err error) {
	f, err := os.Open(path) //nolint:gosec // the user's own
	if err != nil {
		return j, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return j, err
	}
	j = Journal{Path: path, Since: info.ModTime(), Held: lock(f) != nil}
	err = replay(f, func(batch []json.RawMessage) error {
		j.Calls += len(batch)
		return nil
	})
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	var h head
	if line, _ := bufio.NewReader(f).ReadBytes('\n'); json.Unmarshal(line, &h) == nil && h.For != nil {
		j.Destination = *h.For
	}
	return j, err
}

// Deliver sends the calls of a journal and removes it, unless a running process holds it.
func (j Journal) Deliver(send func([]json.RawMessage) error) error {
	f, err := os.OpenFile(j.Path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process delivered it meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if lock(f) != nil {
		return errHeld
	}
	if err := replay(f, send); err != nil {
		return err
	}
	return os.Remove(j.Path)
}

// replay gives what a journal holds to send. A line that a crash cut is left out.
func replay(f io.Reader, send func([]json.RawMessage) error) error {
	var batch []json.RawMessage
	flush := func() error {
		defer func() { batch = nil }()
		if len(batch) == 0 {
			return nil
		}
		return send(batch)
	}
	size := 0
	for line, readErr := range loosejson.NewLines(f, math.MaxInt, nil).All() {
		if json.Valid(line) && !bytes.HasPrefix(line, []byte(`{"memoryd_journal":`)) {
			batch = append(batch, bytes.Clone(bytes.TrimSpace(line)))
			size += len(line)
		}
		if readErr != nil {
			return cmp.Or(flush(), readErr)
		}
		if len(batch) == batchCalls || size > batchBytes {
			size = 0
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
