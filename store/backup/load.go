package backup

import (
	"cmp"
	"context"
	"io"
	"os"

	"memoryd"
	"memoryd/store"
)

// Load brings the tools of a dump into the workspace and reports how many; see
// Dump for the file that path names. A dump of another workspace may be loaded,
// and so may one of ReMe's.
//
// The whole file is read and checked first: from a damaged one nothing is loaded.
// Then each tool comes whole or not at all, in the place of its namesake; other
// tools of the workspace stay. Loading again after an error goes on.
func (a *Actions) Load(ctx context.Context, workspace, path string) (int, error) {
	if err := store.CheckName("workspace", workspace); err != nil {
		return 0, err
	}
	name, err := dumpPath(workspace, path)
	if err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(a.Dir)
	if err != nil {
		return 0, folderFault(err)
	}
	f, err := openRegular(root, name)
	if err != nil {
		return 0, cmp.Or(err, root.Close())
	}
	n, err := a.load(ctx, f, workspace)
	return n, cmp.Or(err, f.Close(), root.Close())
}

// openRegular opens a file that is neither a link nor a device.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, folderFault(err)
	}
	if !info.Mode().IsRegular() {
		return nil, badPath()
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, folderFault(err)
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, cmp.Or(badPath(), f.Close())
	}
	return f, nil
}

func (a *Actions) load(ctx context.Context, f io.ReadSeeker, workspace string) (int, error) {
	seen := map[memoryd.ToolRef]bool{}
	err := eachMemory(f, workspace, a.Now, func(m Memory) error {
		if seen[m.Tool.ToolRef] {
			return invalid("tool %q is there twice", m.Tool.Tool)
		}
		seen[m.Tool.ToolRef] = true
		return ctx.Err()
	})
	if err != nil {
		return 0, within(err, "nothing was loaded")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	n := 0
	err = eachMemory(f, workspace, a.Now, func(m Memory) error {
		if err := a.put(ctx, &m); err != nil {
			return err
		}
		n++
		return nil
	})
	if err != nil {
		return n, within(err, "after %d tools were loaded", n)
	}
	return n, nil
}

// eachMemory reads a dump line by line. Blank lines are passed over.
func eachMemory(r io.Reader, workspace string, now clock, do func(Memory) error) error {
	n := 0
	for b, err := range jsonLines(r) {
		if n++; err == nil && blank(b) {
			continue
		}
		var m Memory
		if err == nil {
			m, err = decodeMemory(b, ReMe{Now: now})
		}
		if err == nil {
			m.relocate(workspace)
			err = do(m)
		}
		if err != nil {
			return within(err, "line %d", n)
		}
	}
	return nil
}
