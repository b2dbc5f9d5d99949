package local

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// askToEnd ends a process: there are no signals.
func askToEnd(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// own reports whether a file belongs to this user: folders below the profile do.
func own(os.FileInfo) bool { return true }

// wait takes a lock that other processes hold for moments only.
func wait(lock *os.File) error {
	const all = ^uint32(0)
	return windows.LockFileEx(windows.Handle(lock.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, all, all, &windows.Overlapped{})
}

// Detach lets a process outlive the console of the one that starts it.
func Detach(server *exec.Cmd) {
	server.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
