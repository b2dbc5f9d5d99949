//go:build unix

package main

import (
	"fmt"
	"math"
	"os"
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

// servingAddresses is what a server takes of its address space from its start on until it
// serves: maps of the store's files, stacks, what the runtime sets aside, and 64 MB for each
// thread where it was built with the C library.
const servingAddresses = 900 << 20

// freeAddresses is how many bytes of address space this process may still take; MaxInt64
// where there is no limit.
func freeAddresses() int64 {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &r) != nil || r.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	used := 0
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		_, _ = fmt.Sscan(string(text), &used) // pages; the first number
	}
	return max(0, int64(r.Cur)-int64(used*os.Getpagesize())-servingAddresses) //nolint:gosec // checked above
}
