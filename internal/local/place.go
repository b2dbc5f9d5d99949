// Package local finds the memoryd of this user on this machine, by a Unix socket in
// a folder that only this user can enter, and starts one in the background where
// there is none.
package local

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Info is what a server tells programs of its user.
type Info struct {
	Socket     string    `json:"socket"`
	URL        string    `json:"url"` // for browsers and curl
	PID        int       `json:"pid"`
	Background bool      `json:"background"` // nobody started it by hand
	Store      string    `json:"store"`
	Log        string    `json:"log,omitempty"`
	Since      time.Time `json:"since"`
}

// Answers reports whether the server lives.
func (i Info) Answers() bool {
	conn, err := net.DialTimeout("unix", i.Socket, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// End asks the server to end, and waits for it.
func (i Info) End(patience time.Duration) error {
	if err := askToEnd(i.PID); err != nil {
		return fmt.Errorf("end the server (pid %d): %w", i.PID, err)
	}
	for end := time.Now().Add(patience); i.Answers(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("the server (pid %d) has not ended within %v", i.PID, patience)
		}
	}
	return nil
}

// DataDir is the folder of the user's own memory.
func DataDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("cannot find a folder for the store: %w", err)
	}
	return filepath.Join(dir, "memoryd", "data"), nil
}

// longestSocket is how long the address of a socket may be on every system.
const longestSocket = 100

// Folder is where the sockets of this user's servers are: below the runtime folder of
// the session, else below the cache. It is made where it is missing, and refused
// where somebody else may enter it.
func Folder() (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(dir) {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("cannot find a folder for the socket: %w", err)
		}
		dir = filepath.Join(cache, "memoryd", "run")
	} else {
		dir = filepath.Join(dir, "memoryd")
	}
	if len(dir)+len("/0123456789abcdef.sock") > longestSocket {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("memoryd-%d-%s", os.Getuid(), fingerprint(dir)))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || !own(info) {
		return "", fmt.Errorf("%s belongs to another user", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return dir, os.Chmod(dir, 0o700) //nolint:gosec // a folder needs x
	}
	return dir, nil
}

func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// names of files in the folder: the link to the socket of the server that the user's
// programs use, and what is locked while that changes.
const (
	usual = "memoryd.sock"
	turn  = "memoryd.lock"
)

// socketOf is where the server of a store listens.
func socketOf(dir, store string) string {
	if whole, err := filepath.Abs(store); err == nil {
		store = whole
	}
	if real, err := filepath.EvalSymlinks(store); err == nil {
		store = real
	}
	return filepath.Join(dir, fingerprint(store)+".sock")
}

func infoOf(socket string) (i Info, err error) {
	text, err := os.ReadFile(strings.TrimSuffix(socket, ".sock") + ".json")
	if err == nil {
		err = json.Unmarshal(text, &i)
	}
	return i, err
}

// Usual is the server that the user's programs use; an error says that there is none.
func Usual() (Info, error) {
	dir, err := Folder()
	if err != nil {
		return Info{}, err
	}
	socket, err := os.Readlink(filepath.Join(dir, usual))
	if err != nil {
		return Info{}, err
	}
	return live(socket)
}

// Of is the server of a store.
func Of(store string) (Info, error) {
	dir, err := Folder()
	if err != nil {
		return Info{}, err
	}
	return live(socketOf(dir, store))
}

func live(socket string) (Info, error) {
	i, err := infoOf(socket)
	if err == nil && !i.Answers() {
		err = fmt.Errorf("no server answers at %s", socket)
	}
	return i, err
}

// Servers are all of this user's servers that live.
func Servers() (all []Info) {
	dir, err := Folder()
	if err != nil {
		return nil
	}
	sockets, _ := filepath.Glob(filepath.Join(dir, "*.sock"))
	for _, socket := range sockets {
		if filepath.Base(socket) == usual {
			continue
		}
		if i, err := live(socket); err == nil {
			all = append(all, i)
		}
	}
	return all
}

// Post is the socket of a server.
type Post struct {
	net.Listener
	socket string
}

// Listen opens the socket of the server of a store, of which its caller must be the
// only one.
func Listen(store string) (*Post, error) {
	dir, err := Folder()
	if err != nil {
		return nil, err
	}
	socket := socketOf(dir, store)
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", socket) //nolint:noctx // it does not wait
	if err != nil {
		return nil, err
	}
	return &Post{listener, socket}, os.Chmod(socket, 0o600)
}

// URL is the address of the socket, as clients are given it.
func (p *Post) URL() string { return "unix:" + p.socket }

// Publish tells programs of the user of the server.
func (p *Post) Publish(i Info) error {
	i.Socket, i.PID, i.Since = p.socket, os.Getpid(), time.Now()
	text, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(p.socket, ".sock")+".json", text, 0o600)
}

// Take makes a published server the one that the user's programs use by themselves,
// unless the user runs another: who has the place then. One that runs in the background
// gives way to one that the user runs: it is asked to end and, for patience, waited for.
func (p *Post) Take(background bool, patience time.Duration) (had Info, taken bool, err error) {
	dir := filepath.Dir(p.socket)
	lock, err := os.OpenFile(filepath.Join(dir, turn), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return had, false, err
	}
	defer lock.Close() //nolint:errcheck // it holds nothing
	if err := wait(lock); err != nil {
		return had, false, err
	}
	had, err = Usual()
	if err == nil && had.Socket != p.socket {
		if background || !had.Background {
			return had, false, nil
		}
		if err := had.End(patience); err != nil {
			return had, false, err
		}
	}
	link := filepath.Join(dir, usual)
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(p.socket, fresh); err != nil {
		return had, false, err
	}
	return had, true, os.Rename(fresh, link)
}

// Close ends the socket.
func (p *Post) Close() error {
	_ = os.Remove(strings.TrimSuffix(p.socket, ".sock") + ".json")
	return p.Listener.Close()
}
