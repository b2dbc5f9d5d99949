package backup

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"memoryd"
	"memoryd/store"
)

// Permissions of created files: only the owner may read calls.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// Dump writes the tool memories of a workspace to its file in the dump folder and returns
// their number; see FileName for the file's name and Actions.Dir for the folder. path is a
// folder below it, or the name of a file that ends in ".jsonl". The file is complete and
// durable when Dump returns nil. Until then, and after a failure, an older dump stays as it
// was. A workspace without tools is NotFound.
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
	n, err := a.writeMemories(ctx, f, workspace)
	if err == nil {
		err = unwritable(f.Sync())
	}
	if err = cmp.Or(err, unwritable(f.Close())); err == nil {
		err = unwritable(root.Rename(temp, name))
	}
	if err == nil {
		return n, syncFolder(root, folder)
	}
	return 0, cmp.Or(err, root.Remove(temp))
}

func unwritable(err error) error {
	if err == nil {
		return nil
	}
	return memoryd.Wrap(memoryd.Unavailable, err, "the dump folder is unusable")
}

func (a *Actions) writeMemories(ctx context.Context, w io.Writer, workspace string) (int, error) {
	out, n := bufio.NewWriterSize(w, 1<<16), 0
	for m, err := range memoriesOf(ctx, a.Store, workspace, a.Kinds, a.Now()) {
		if err != nil {
			return n, err
		}
		b, err := encodeMemory(&m, a.RecentCalls)
		if err != nil {
			return n, err
		}
		if b, err = a.Trust.sealed(ctx, b); err != nil {
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
	return unwritable(cmp.Or(d.Sync(), d.Close()))
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

// Load loads the tools of a dump into the workspace and returns their number; see Dump for
// path. It accepts dumps of another workspace, and those of ReMe.
//
// The whole file is read and checked first: nothing is loaded from a damaged one. Then each
// tool is loaded as a whole or not at all, and replaces a tool of the same name; other tools
// of the workspace stay. Loading again after an error continues.
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
	n, err := a.load(ctx, f, Mark{"load", name, workspace})
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

func (a *Actions) load(ctx context.Context, f io.ReadSeeker, mark Mark) (int, error) {
	seen := map[memoryd.ToolRef]bool{}
	list := memories(f, func(line []byte) (Memory, error) { return a.decode(ctx, line, mark.Workspace) })
	if err := store.Each(list, func(m Memory) error {
		if seen[m.Tool.ToolRef] {
			return m.at(invalid("tool %q occurs twice", m.Tool.Tool))
		}
		seen[m.Tool.ToolRef] = true
		return m.at(ctx.Err())
	}); err != nil {
		return 0, within(err, "nothing was loaded")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	return a.bring(ctx, mark, "loaded", list)
}

// decode reads a line of a dump into a workspace. Of one that this installation did not write
// the guideline is set aside.
func (a *Actions) decode(ctx context.Context, line []byte, workspace string) (Memory, error) {
	line, ours, err := a.Trust.opened(ctx, line)
	if err != nil {
		return Memory{}, err
	}
	m, err := decodeMemory(line, reMe{time.Local, a.Now})
	if err != nil {
		return m, err
	}
	m.relocate(workspace)
	if !ours {
		err = a.Trust.distrust(&m)
	}
	return m, err
}

// suffix is how a dump's name ends.
const suffix = ".jsonl"

// maxFileName bounds an encoded name: file systems allow 255 bytes, some of them
// less.
const maxFileName = 180

// FileName returns the name of a workspace's dump: the workspace and ".jsonl". Characters
// that are not safe in file names of every system are written as %XX: a dot at the start, a
// dot or space at the end, everything except letters, digits, "-", "_", "." and space, and
// the first letter of a Windows device such as "con". A name that is too long ends in its
// hash. Different workspaces have different names.
func FileName(workspace string) string {
	escape := func(s string) string { return "%" + strings.ReplaceAll(fmt.Sprintf("% X", s), " ", "%") }
	name := risky.ReplaceAllStringFunc(workspace, escape)
	if device.MatchString(workspace) {
		name = escape(name[:1]) + name[1:]
	}
	if len(name) > maxFileName {
		sum := sha256.Sum256([]byte(workspace))
		name = strings.ToValidUTF8(name[:maxFileName-65], "") + "~" + hex.EncodeToString(sum[:])
	}
	return name + suffix
}

// risky is what is not safe in file names of every system, and what is no UTF-8.
var risky = regexp.MustCompile(`[^0-9A-Za-z\-_. \x{80}-\x{10FFFF}]|\x{FFFD}|^[. ]|[. ]$`)

// device is a name that Windows would take, up to its first dot, for a device.
var device = regexp.MustCompile(`^(?i:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)`)

// maxPath bounds the path of a request.
const maxPath = 1024

// dumpPath is where below the dump folder the dump of a workspace is. A path that
// ends in ".jsonl" names the file; any other, "" and "./" among them, is a folder
// for the workspace's own FileName. Paths are written with slashes on all systems.
// What could lead out of the folder is refused, not mended.
func dumpPath(workspace, p string) (string, error) {
	if len(p) > maxPath || !utf8.ValidString(p) || strings.ContainsAny(p, "\\:\x00") || strings.HasPrefix(p, "/") {
		return "", badPath()
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." {
			continue
		}
		if len(part) > 255 || !safePart.MatchString(part) || device.MatchString(part) {
			return "", badPath()
		}
	}
	p = path.Clean(p)
	if strings.HasSuffix(p, suffix) {
		return p, nil
	}
	return path.Join(p, FileName(workspace)), nil
}

// safePart is a component that means the same on all systems, if it is no device, and is no
// hidden file.
var safePart = regexp.MustCompile(`^(?:[^. <>"|?*\x00-\x1f\x7f]|[^.<>"|?*\x00-\x1f\x7f][^<>"|?*\x00-\x1f\x7f]*[^. <>"|?*\x00-\x1f\x7f])$`)

func badPath() error {
	return memoryd.Errorf(memoryd.Invalid, "path must be a name inside the dump folder")
}
