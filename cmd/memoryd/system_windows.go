package main

import (
	"math"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// openFiles is how many files this process may have open: there is no bound to speak of.
func openFiles() int { return 1 << 20 }

// freeAddresses is how many bytes of address space this process may still take.
func freeAddresses() int64 { return math.MaxInt64 }

// detach lets a command live on when this process and its terminal end.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
