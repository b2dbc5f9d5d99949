package backup

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path"
	"runtime"

	"memoryd"
	"memoryd/store"
)

// The rights of what is made: what tools were asked and answered is nobody else's
// business.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// Dump writes the tool memories of a workspace to its file in the dump folder and
// reports how many there were; see FileName for the file's name and Actions.Dir
// for the folder. path is a folder below it, or a file's name that ends in
// ".jsonl". The file is complete and durable when Dump returns nil; before, and
// when it fails, an older dump stays as it was. A workspace without tools is
// NotFound.
func (a *Actions) Dump(ctx context.Context, workspace, path string) (int, error) {
	if err := store.CheckName("workspace", workspace); err != nil {
		return 0, err
	}
	name, err := dumpPath(workspace, path)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(a.Dir, folderMode); err != nil {
		return 0, folderFault(err)
	}
	root, err := os.OpenRoot(a.Dir)
	if err != nil {
		return 0, folderFault(err)
	}
	n, err := a.dump(ctx, root, workspace, name)
	return n, cmp.Or(err, root.Close())
}

func (a *Actions) dump(ctx context.Context, root *os.Root, workspace, name string) (int, error) {
	folder := path.Dir(name)
	if err := root.MkdirAll(folder, folderMode); err != nil {
		return 0, folderFault(err)
	}
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return 0, badPath()
	}
	temp := path.Join(folder, ".dump-"+rand.Text())
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return 0, folderFault(err)
	}
	n, err := a.writeDump(ctx, f, workspace)
	if err == nil {
		err = unwritable(root.Rename(temp, name))
	}
	if err == nil {
		return n, syncFolder(root, folder)
	}
	return 0, cmp.Or(err, root.Remove(temp))
}

// writeDump fills the file, makes it durable and closes it.
func (a *Actions) writeDump(ctx context.Context, f *os.File, workspace string) (int, error) {
	n, err := a.writeMemories(ctx, f, workspace)
	if err == nil {
		err = unwritable(f.Sync())
	}
	return n, cmp.Or(err, unwritable(f.Close()))
}

func unwritable(err error) error {
	if err == nil {
		return nil
	}
	return memoryd.Wrap(memoryd.Unavailable, err, "the dump folder cannot be used now")
}

func (a *Actions) writeMemories(ctx context.Context, w io.Writer, workspace string) (int, error) {
	out, n := bufio.NewWriterSize(w, 1<<16), 0
	for m, err := range a.read(ctx, workspace, a.Kinds) {
		if err != nil {
			return n, err
		}
		b, err := encodeMemory(&m.Tool, m.Calls, m.Records, a.RecentCalls)
		if err != nil {
			return n, err
		}
		if len(b) > maxMemoryBytes {
			return n, memoryd.Errorf(memoryd.TooLarge, "tool %q takes %d bytes, too much for one line: use export", m.Tool.Tool, len(b))
		}
		if _, err := out.Write(b); err != nil {
			return n, unwritable(err)
		}
		n++
	}
	if n == 0 {
		return 0, empty(workspace)
	}
	return n, unwritable(out.Flush())
}

// syncFolder makes the new name durable. Windows has no such call; there the
// rename itself is.
func syncFolder(root *os.Root, name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(name)
	if err != nil {
		return folderFault(err)
	}
	err = d.Sync()
	return unwritable(cmp.Or(err, d.Close()))
}

// folderFault keeps names of files inside. What leads out of the folder, and what
// is a file where a folder should be, is the request's fault.
func folderFault(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return memoryd.Wrap(memoryd.NotFound, err, "there is no such dump")
	}
	if errors.Is(err, os.ErrPermission) {
		return unwritable(err)
	}
	return memoryd.Wrap(memoryd.Invalid, err, "the dump folder or the path in it cannot be used")
}
