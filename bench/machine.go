package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// Machine is where it was measured, and what its disk and its other users take.
type Machine struct {
	CPUs    int     `json:"cpus"`
	CPU     string  `json:"cpu"`
	Go      string  `json:"go"`
	Load    string  `json:"load_before"`
	FlushUS float64 `json:"flush_4k_us"`
	Date    string  `json:"date"`
}

func (m Machine) String() string {
	return fmt.Sprintf("%d CPUs (%s), %s, load before %s, flush of 4 KB %.0f µs, %s", m.CPUs, m.CPU, m.Go, m.Load, m.FlushUS, m.Date)
}

// busy reports whether others use the machine too, as far as is known.
func (m Machine) busy() bool {
	load, err := strconv.ParseFloat(m.Load, 64)
	return err == nil && load >= float64(m.CPUs)/2
}

// fit refuses to renew a page with figures of a machine that others use too.
func (m Machine) fit(o options) error {
	if o.docs == "" || !m.busy() {
		return nil
	}
	return fmt.Errorf("-docs renews the page on a quiet machine only, and this one has a load of %s on %d CPUs: wait, or leave it out",
		m.Load, m.CPUs)
}

// caveat warns of figures that were taken while others used the machine too.
func (m Machine) caveat() string {
	if !m.busy() {
		return ""
	}
	return fmt.Sprintf("**The machine was busy with other work (load %s on %d CPUs).** Rates and latencies of this run, and ratios of them, say little: "+
		"repeat it on a quiet machine. Processor times, bytes and sizes suffer less.\n\n", m.Load, m.CPUs)
}

func lookAtMachine(dir string) Machine {
	m := Machine{CPUs: runtime.NumCPU(), Go: runtime.Version(), CPU: "unknown", Load: "unknown", Date: time.Now().UTC().Format(time.DateOnly)}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
			m.CPU = cpus[0].ModelName
		}
		if load, err := fs.LoadAvg(); err == nil {
			m.Load = fmt.Sprintf("%.2f", load.Load1)
		}
	}
	if us, err := flushTime(dir); err == nil {
		m.FlushUS = us
	}
	return m
}

// flushTime is the median time, in microseconds, of a flush of 4 KB into a file
// that has its size already.
func flushTime(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "flush"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	defer func() { _ = f.Close() }()
	page := make([]byte, 4096)
	const pages, rounds = 64, 200
	for range pages {
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	times := make([]float64, rounds)
	for i := range times {
		start := time.Now()
		if _, err := f.WriteAt(page, int64(i%pages)*4096); err != nil {
			return 0, err
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return 0, err
		}
		times[i] = float64(time.Since(start).Nanoseconds()) / 1000
	}
	slices.Sort(times)
	return median(times), nil
}
