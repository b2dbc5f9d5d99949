package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"memoryd/config"
)

type serveCmd struct {
	Config string `type:"path" env:"MEMORYD_CONFIG" placeholder:"FILE" help:"Configuration; it need only hold what differs from the built-in default.yaml."`
	Listen string `env:"MEMORYD_LISTEN" placeholder:"ADDR" help:"Address of the server (default 127.0.0.1:8002)."`
	Data   string `env:"MEMORYD_DATA" placeholder:"DIR" help:"Folder of the embedded store (default ./memoryd-data)."`
}

// Run serves until ctx ends, then stops cleanly.
func (c serveCmd) Run(ctx context.Context, std streams) error {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	if c.Listen != "" {
		cfg.HTTP.Listen = c.Listen
	}
	if c.Data != "" {
		cfg.SetDataDir(c.Data)
	}
	log := newLogger(cfg.Log, std.err)
	for _, name := range cfg.Unused {
		log.WarnContext(ctx, "no setting has this variable of the environment", "variable", name)
	}
	a, err := newApp(ctx, cfg, os.Getenv, log)
	if err != nil {
		return err
	}
	a.Start(ctx)
	if _, err := fmt.Fprintf(std.out, "memoryd is ready on http://%s (store: %s; judge: %s)\n", a.Addr(), a.storeName, a.judge.Describe()); err != nil {
		a.log.WarnContext(ctx, "ready line not written", "err", err)
	}
	select {
	case <-ctx.Done():
	case err = <-a.failed:
	}
	if stopErr := a.Stop(context.WithoutCancel(ctx)); err == nil {
		err = stopErr
	}
	return err
}

func newLogger(cfg config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Level)) // validated with the configuration
	options := &slog.HandlerOptions{Level: level}
	if cfg.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
