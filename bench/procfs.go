package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// taken is what a process has taken, as Linux counts it.
type taken struct {
	rss         int64 // bytes resident now
	descriptors int
	threads     int
	cpu         time.Duration
	written     int64 // bytes sent towards the disk
}

// look reads the process's counters.
func (p *process) look() (taken, error) {
	var t taken
	dir := fmt.Sprintf("/proc/%d", p.cmd.Process.Pid)
	status, err := fields(filepath.Join(dir, "status"))
	if err != nil {
		return t, err
	}
	io, err := fields(filepath.Join(dir, "io"))
	if err != nil {
		return t, err
	}
	t.rss, t.threads, t.written = status["VmRSS"]<<10, int(status["Threads"]), io["write_bytes"]
	if fds, err := os.ReadDir(filepath.Join(dir, "fd")); err == nil {
		t.descriptors = len(fds)
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return t, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before may hold blanks
	parts := strings.Fields(rest)
	if len(parts) > 12 {
		user, _ := strconv.ParseInt(parts[11], 10, 64)
		system, _ := strconv.ParseInt(parts[12], 10, 64)
		t.cpu = time.Duration(user+system) * time.Second / ticksPerSecond
	}
	return t, nil
}

// ticksPerSecond is the unit of processor times in /proc (USER_HZ).
const ticksPerSecond = 100

// fields reads a file of lines "name: number …".
func fields(path string) (map[string]int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	values := map[string]int64{}
	for line := range strings.Lines(string(data)) {
		name, rest, ok := strings.Cut(line, ":")
		if parts := strings.Fields(rest); ok && len(parts) > 0 {
			if n, err := strconv.ParseInt(parts[0], 10, 64); err == nil {
				values[name] = n
			}
		}
	}
	return values, nil
}

// sizeOf adds up the files of a folder.
func sizeOf(dir string) int64 {
	var sum int64
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			sum += info.Size()
		}
		return nil // a file may vanish meanwhile
	})
	return sum
}
