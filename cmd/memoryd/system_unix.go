//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// openFiles is how many files this process may have open.
func openFiles() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || r.Cur > 1<<20 {
		return 1 << 20
	}
	return int(r.Cur) //nolint:gosec // at most a million
}

// detach lets a command live on when this process and its terminal end.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
