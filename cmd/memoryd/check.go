package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"memoryd/config"
	"memoryd/internal/access"
	"memoryd/store/sqlite"
)

type checkCmd struct {
	opened
	Repair bool `help:"Make a damaged store anew of all that can be read; the old file is set aside."`
}

// Run looks at a whole store that no server uses. The exit code is 1 if something is
// damaged and was not repaired.
func (c checkCmd) Run(ctx context.Context, std streams) error {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	if c.Data != "" {
		cfg.SetDataDir(c.Data)
	}
	r, err := sqlite.Check(ctx, cfg.Store.SQLite, c.Repair, newLogger(cfg.Log, std.err))
	for _, fault := range r.Faults {
		fmt.Fprintln(std.out, fault)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%d tools, %d calls and %d records can be read; %d calls cannot.\n", r.Tools, r.Calls, r.Records, r.LostCalls)
	switch {
	case r.Repaired:
		fmt.Fprintf(std.out, "The store was made anew of them; what was there is %s.\n", r.Aside)
	case len(r.Faults) > 0:
		return fmt.Errorf("the store in %s is damaged", cfg.Store.SQLite.Dir)
	}
	if !r.Repaired {
		fmt.Fprintln(std.out, "Nothing is damaged.")
	}
	return checkAudit(ctx, cfg, std)
}

// checkAudit verifies the chain of the audit log.
func checkAudit(ctx context.Context, cfg *config.Config, std streams) error {
	s, err := sqlite.Open(ctx, cfg.Store.SQLite, newLogger(cfg.Log, std.err))
	if err != nil {
		return err
	}
	n, err := access.VerifyAudit(ctx, s)
	if err = errors.Join(err, s.Close()); err == nil && n > 0 {
		fmt.Fprintf(std.out, "The audit log has %d entries, each follows from the one before.\n", n)
	}
	return err
}
