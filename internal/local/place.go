// Package local finds this user's memoryd on this machine, through a Unix socket in a folder
// that only this user can enter, and starts one in the background if there is none.
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

// Info is what a server tells its user's programs about itself.
type Info struct {
	Socket     string    `json:"socket"`
	URL        string    `json:"url"` // for browsers and curl
	PID        int       `json:"pid"`
	Background bool      `json:"background"` // a program started it in the background
	Store      string    `json:"store"`
	Log        string    `json:"log,omitempty"`
	Since      time.Time `json:"since"`
}

// answers reports whether the server is running.
func (i Info) answers() bool {
	conn, err := net.DialTimeout("unix", i.Socket, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// End asks the server to stop, and waits for it.
func (i Info) End(patience time.Duration) error {
	if err := askToEnd(i.PID); err != nil {
		return fmt.Errorf("end the server (pid %d): %w", i.PID, err)
	}
	for end := time.Now().Add(patience); i.answers(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("the server (pid %d) has not ended within %v", i.PID, patience)
		}
	}
	return nil
}

// DataDir returns the folder of the user's own memory.
func DataDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("cannot find a folder for the store: %w", err)
	}
	return filepath.Join(dir, "memoryd", "data"), nil
}

// longestSocket is how long the address of a socket may be on every system.
const longestSocket = 100

// Folder returns the folder for the sockets of this user's servers: below the runtime folder
// of the session, otherwise below the cache. It is created if it is missing, and refused if
// other users can enter it.
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

// Usual returns the server that the user's programs use. An error means that there is none.
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

// Of returns the server of a store.
func Of(store string) (Info, error) {
	dir, err := Folder()
	if err != nil {
		return Info{}, err
	}
	return live(socketOf(dir, store))
}

func live(socket string) (Info, error) {
	i, err := infoOf(socket)
	if err == nil && !i.answers() {
		err = fmt.Errorf("no server answers at %s", socket)
	}
	return i, err
}

// Servers returns all running servers of this user.
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

// Listen opens the socket for the server of a store. Only one server may do so for a store.
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

// URL returns the address of the socket for clients.
func (p *Post) URL() string { return "unix:" + p.socket }

// Publish announces the server to the user's programs.
func (p *Post) Publish(i Info) error {
	i.Socket, i.PID, i.Since = p.socket, os.Getpid(), time.Now()
	text, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(p.socket, ".sock")+".json", text, 0o600)
}

// Take makes a published server the default for the user's programs, unless the user runs
// another one; Take then returns that one. A background server gives way to one that the user
// runs: it is asked to stop, and Take waits for it up to patience.
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

// Close closes the socket.
func (p *Post) Close() error {
	_ = os.Remove(strings.TrimSuffix(p.socket, ".sock") + ".json")
	return p.Listener.Close()
}
