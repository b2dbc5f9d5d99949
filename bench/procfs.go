package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"
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
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return taken{}, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return taken{}, err
	}
	io, err := proc.IO()
	if err != nil {
		return taken{}, err
	}
	descriptors, err := proc.FileDescriptorsLen()
	return taken{
		rss: int64(stat.ResidentMemory()), descriptors: descriptors, threads: stat.NumThreads,
		cpu: time.Duration(stat.CPUTime() * float64(time.Second)), written: int64(io.WriteBytes),
	}, err
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
