package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"memoryd/config"
	"memoryd/store/mem"
)

type checkConfigCmd struct {
	File string `arg:"" help:"The configuration file."`
}

// Run prints every fault with its line. It makes what serve makes, but for the
// store and the listeners, so that the two never disagree.
func (c checkConfigCmd) Run(ctx context.Context, std streams) error {
	cfg, err := config.Load(c.File, os.Environ())
	if err != nil {
		return err
	}
	for _, name := range cfg.Unused {
		fmt.Fprintf(std.err, "%s: no setting has this variable\n", name)
	}
	if err := wireOnly(ctx, cfg); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	_, err = fmt.Fprintf(std.out, "%s: valid\n", c.File)
	return err
}

// wireOnly makes all parts of a server over a store in memory, and lets them go.
func wireOnly(ctx context.Context, cfg *config.Config) error {
	a := &app{cfg: cfg, log: slog.New(slog.DiscardHandler), store: mem.New()}
	err := a.newTracer()
	if err == nil {
		_, err = a.wire(os.Getenv)
	}
	return errors.Join(err, a.Stop(ctx))
}
