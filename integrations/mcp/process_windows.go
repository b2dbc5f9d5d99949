package mcp

import (
	"os"
	"os/exec"

	"golang.org/x/sys/windows"
)

// lock takes a file for this process, or fails at once when another has it.
func lock(f *os.File) error {
	const all = ^uint32(0)
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, all,
		all, &windows.Overlapped{})
}

// ownGroup does nothing: this system has no groups that a signal reaches.
func ownGroup(*exec.Cmd) {}

// askToEnd does nothing: a command learns of the end by its closed input.
func askToEnd(*exec.Cmd) {}

// kill ends a command at once.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
