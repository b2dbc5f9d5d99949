package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the release build (-ldflags "-X main.version=...").
var version = "dev"

type versionCmd struct{}

// Run prints one line.
func (versionCmd) Run(std streams) error {
	_, err := fmt.Fprintf(std.out, "memoryd %s (commit %s, %s)\n", version, commit(), runtime.Version())
	return err
}

// commit is the revision that the binary was built from, where Go recorded it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "unknown"
}
