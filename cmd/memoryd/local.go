package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"memoryd/integrations/mcp"
	"memoryd/internal/access"
	"memoryd/internal/client"
	"memoryd/internal/lifecycle"
	"memoryd/internal/local"
)

// publish makes a server one that programs of its user find. Its answer tells when one
// in the background is not wanted any more: nobody has asked it for long, or the user
// runs another.
func (a *app) publish(ctx context.Context, background bool, std streams) (unwanted <-chan error) {
	if a.post == nil {
		return nil
	}
	store := a.cfg.StoreDir()
	info := local.Info{URL: a.URL(), Background: background, Store: a.storeName}
	if background {
		info.Log = local.LogOf(store)
	}
	err := a.post.Publish(info)
	own, dirErr := local.DataDir()
	var had local.Info
	taken := false
	if err == nil && (!background || dirErr == nil && filepath.Clean(store) == filepath.Clean(own)) {
		had, taken, err = a.post.Take(background, a.cfg.HTTP.ShutdownTimeout)
	}
	switch {
	case err != nil:
		a.log.WarnContext(ctx, "cannot register the server; programs of this user need --url", "err", err)
	case taken && had.Background && !background:
		fmt.Fprintf(std.err, "Stopped the background server (%s). Agents on this machine use this server now.\n", onTerminal(had.Store, 300))
	case !taken && had.PID > 0:
		a.log.InfoContext(ctx, "another server of this user is already running; programs continue to use it", "pid", had.PID, "store", had.Store)
	}
	if !background {
		return nil
	}
	return lifecycle.Go(ctx, a.log, "idle", func() error {
		idle := a.cfg.HTTP.BackgroundIdle
		a.conns.asked.Store(time.Now().UnixNano())
		for idle == 0 || time.Since(time.Unix(0, a.conns.asked.Load())) < idle || a.conns.busy(0) {
			if !lifecycle.Sleep(ctx, min(time.Second, max(idle/10, time.Millisecond))) {
				return nil
			}
		}
		a.log.InfoContext(ctx, "no requests for http.background_idle: the server stops", "http.background_idle", idle)
		return nil
	})
}

// tellOwners has connections say whose they are, where other users are kept out.
func (a *app) tellOwners(ctx context.Context) {
	if !a.cfg.HTTP.OwnUsers() {
		return
	}
	owners, err := access.NewOwners(ctx, a.listener.Addr())
	if err != nil {
		a.log.WarnContext(ctx, "this system does not report the user of a connection: every user of this machine is served", "err", err)
		return
	}
	a.server.ConnContext = owners.PeerOf
}

type statusCmd struct {
	jsonOutput
	Start bool `help:"Start a server in the background where none runs."`
}

// Run lists this user's servers. The one that programs use by default comes first.
func (c statusCmd) Run(ctx context.Context, std streams) error {
	if c.Start {
		way := (&local.Memory{}).To("", false)
		if err := (client.Server{URL: way.URL, HTTP: way.HTTP}).Do(ctx, client.Request{Method: http.MethodGet, Path: "/health"},
			nil); err != nil {
			return err
		}
	}
	usual, none := local.Usual()
	servers := local.Servers()
	journals := mcp.Journals(journalDir())
	if c.JSON {
		return printJSON(std.out, map[string]any{"servers": servers, "used": usual.PID, "journals": journals})
	}
	if none != nil {
		fmt.Fprintln(std.out, "No server of yours is running on this machine. Programs that need one start it in the background.")
	}
	for _, s := range servers {
		how := "run by hand"
		if s.Background {
			how = "in the background"
		}
		if s.PID == usual.PID {
			how += ", used by agents and commands"
		}
		fmt.Fprintf(std.out, "pid %d, %s, since %s\n  %s  unix:%s\n  store: %s\n", s.PID, how,
			s.Since.Local().Format(time.DateTime), s.URL, s.Socket, onTerminal(s.Store, 300))
		if s.Log != "" {
			fmt.Fprintf(std.out, "  log: %s\n", onTerminal(s.Log, 300))
		}
	}
	for _, j := range journals {
		how := "use memoryd journals send or drop"
		if j.Held {
			how = "being delivered"
		}
		fmt.Fprintf(std.out, "%s: %s for %s (%s)\n", onTerminal(j.Path, 300), counted(j.Calls, "call"), forWhom(j.Destination), how)
	}
	return nil
}

// forWhom names a destination.
func forWhom(d mcp.Destination) string {
	if d.To == "" {
		return "an unknown destination"
	}
	text := d.To + ", workspace " + d.Workspace
	if d.Key != "" {
		text += ", key " + d.Key
	}
	return onTerminal(text, 300)
}

// journalsCmds are what is done with journals whose destination is gone.
type journalsCmds struct {
	Send journalsSendCmd `cmd:"" help:"Deliver journals, to their own server or another."`
	Drop journalsDropCmd `cmd:"" help:"Delete journals."`
}

type journalsSendCmd struct {
	remote
	Files []string `arg:"" name:"file" help:"Journals, as memoryd status lists them."`
}

// Run delivers journals. Without --url, --key and --workspace, each goes to its own
// destination.
func (c journalsSendCmd) Run(ctx context.Context, std streams) error {
	for _, path := range c.Files {
		j, err := mcp.ReadJournal(path)
		if err != nil {
			return err
		}
		store, server := "", c.reach
		if name, ok := strings.CutPrefix(j.To, "store:"); ok {
			store = name
		} else if j.To != "local" && server.URL == "" {
			server.URL = j.To
		}
		if server.URL == "" && j.To == "" {
			return fmt.Errorf("%s does not name its server; name one with --url", path)
		}
		way := server.way(store, std.err)
		to := mcp.Memory{URL: way.URL, HTTP: way.HTTP, Key: c.Key, Workspace: cmp.Or(c.Workspace, j.Workspace)}
		refused := 0
		err = j.Deliver(func(batch []json.RawMessage) error {
			rejected, err := to.Record(ctx, batch)
			for _, r := range rejected {
				fmt.Fprintf(std.err, "%s: refused: %s\n", path, onTerminal(r.Reason, 300))
			}
			refused += len(rejected)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(std.out, "%s: %s delivered, %d refused\n", path, counted(j.Calls-refused, "call"), refused)
	}
	return nil
}

type journalsDropCmd struct {
	Files []string `arg:"" name:"file" help:"Journals, as memoryd status lists them."`
	Yes   bool     `help:"Delete; without it the command only says what it would delete, and exits with 1."`
}

// Run deletes journals.
func (c journalsDropCmd) Run(std streams) error {
	for _, path := range c.Files {
		j, err := mcp.ReadJournal(path)
		if err != nil {
			return err
		}
		if !c.Yes {
			fmt.Fprintf(std.out, "%s: %s for %s\n", path, counted(j.Calls, "call"), forWhom(j.Destination))
			continue
		}
		if err := j.Deliver(func([]json.RawMessage) error { return nil }); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if !c.Yes {
		return errors.New("nothing is deleted without --yes")
	}
	return nil
}

type stopCmd struct {
	Data string `type:"path" placeholder:"DIR" help:"Use the server of the store in this folder (default: your local server)."`
}

// stopPatience is how long a server may take to end.
const stopPatience = 30 * time.Second

// Run stops a server.
func (c stopCmd) Run(std streams) error {
	s, err := local.Usual()
	if c.Data != "" {
		s, err = local.Of(c.Data)
	}
	if err != nil {
		return errors.New("no server of yours is running on this machine")
	}
	if err := s.End(stopPatience); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "stopped: pid %d, store: %s\n", s.PID, onTerminal(s.Store, 300))
	return err
}
