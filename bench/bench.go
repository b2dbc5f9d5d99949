package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// bench is one run: what is measured, where, and what came out.
type bench struct {
	opts   options
	dir    string // scratch, removed at the end
	binary string // the memoryd under test
	self   string // this program, for baselines
	out    io.Writer
	report *report
}

// measure runs the parts and writes what they found.
func measure(ctx context.Context, chosen []part, opts options, out, errOut io.Writer) (err error) {
	b := &bench{opts: opts, out: out, report: newReport(opts.quick)}
	if b.dir, err = os.MkdirTemp(opts.dir, "memoryd-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.report.Machine = lookAtMachine(b.dir) // before the build, which is a load too
	fmt.Fprintf(out, "%s\n", b.report.Machine)
	if err := b.report.Machine.fit(opts); err != nil {
		return err
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for _, p := range chosen {
		start := time.Now()
		fmt.Fprintf(out, "\n== %s: %s\n", p.name, p.about)
		if err := p.run(ctx, b); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			b.report.fail(p.name, err)
			fmt.Fprintf(errOut, "bench: %s: %v\n", p.name, err)
			continue
		}
		b.report.Took = append(b.report.Took, took{p.name, time.Since(start).Seconds()})
		fmt.Fprintf(out, "   (%.0f s)\n", time.Since(start).Seconds())
	}
	b.report.print(out)
	return b.write()
}

// prepare finds this program and builds the one under test.
func (b *bench) prepare(ctx context.Context) (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.binary = b.opts.binary; b.binary != "" {
		return nil
	}
	b.binary = filepath.Join(b.dir, "memoryd")
	// In its own module, with the versions of libraries that it is shipped with.
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "memoryd").Output()
	if err != nil {
		return fmt.Errorf("find memoryd (run this in its folder bench, or name a binary with -binary): %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.binary, "./cmd/memoryd")
	build.Dir, build.Stderr = strings.TrimSpace(string(out)), os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build memoryd: %w", err)
	}
	return nil
}

// write leaves the results where the flags say.
func (b *bench) write() error {
	var errs []error
	if b.opts.json != "" {
		errs = append(errs, b.report.writeJSON(b.opts.json))
	}
	if b.opts.docs != "" {
		errs = append(errs, b.report.writeDocs(b.opts.docs))
	}
	return errors.Join(append(errs, b.report.failure())...)
}

// pick is the size of something in a full and in a quick run.
func pick[T any](b *bench, full, quick T) T {
	if b.opts.quick {
		return quick
	}
	return full
}
