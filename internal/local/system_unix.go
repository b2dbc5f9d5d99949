//go:build unix

package local

import (
	"os"
	"os/exec"
	"syscall"
)

// askToEnd asks a process to end.
func askToEnd(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

// own reports whether a file belongs to this user.
func own(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}

// wait takes a lock that other processes hold for moments only.
func wait(lock *os.File) error { return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) }

// Detach lets a process outlive the session of the one that starts it.
func Detach(server *exec.Cmd) { server.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
