package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"memoryd/integrations/mcp"
	"memoryd/integrations/transcripts"
	"memoryd/internal/accounts"
	"memoryd/internal/client"
	"memoryd/internal/lifecycle"
	"memoryd/internal/local"
)

// hookCmds are what memoryd does as a hook of an agent's host.
type hookCmds struct {
	Run       hookCmd          `cmd:"" default:"withargs" help:"Answer a hook: reads the event from standard input. Hosts call this."`
	Install   hookInstallCmd   `cmd:"" help:"Add memoryd to the hooks of a host."`
	Uninstall hookUninstallCmd `cmd:"" help:"Undo an install."`
}

// The bounds of a hook: an agent waits for it.
const (
	hookPatience = 2 * time.Second
	signOfLife   = 500 * time.Millisecond // a server that hangs gives none; one of a machine at work may take a while
	hookRest     = time.Minute            // for which a server that hung is not asked again
	maxHookBytes = 16 << 20
)

type hookCmd struct {
	remote
	Host string `arg:"" help:"The host: claude-code, codex, copilot, cursor or gemini."`
}

// Run sends the host's event to the server, and the server's answer to the host. If anything
// fails, it ends within hookPatience and prints nothing, because hosts take a failure for a
// refusal of the call.
func (c *hookCmd) Run(ctx context.Context, std streams) error {
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	var answer []byte
	done := lifecycle.Go(ctx, slog.New(slog.DiscardHandler), "hook", func() error {
		answer = c.ask(ctx, std)
		return nil
	})
	select {
	case <-done:
		if len(answer) > 0 {
			fmt.Fprintln(std.out, string(answer))
		}
	case <-ctx.Done(): // a standard input that never ends
	}
	return nil
}

func (c *hookCmd) ask(ctx context.Context, std streams) []byte {
	body, err := io.ReadAll(io.LimitReader(std.in, maxHookBytes+1))
	if err != nil || len(body) > maxHookBytes {
		fmt.Fprintln(std.err, "memoryd: cannot read the hook's input, or it is too large")
		return nil
	}
	h, err := transcripts.Readers{}.Hook(c.Host, body, time.Now())
	if err != nil {
		fmt.Fprintln(std.err, "memoryd:", err)
		return nil
	}
	if h.Moment == accounts.Ends {
		c.complete(std, h.Transcript)
		return nil
	}
	path := "/v1/hooks/" + c.Host
	if c.Workspace != "" {
		path += "?workspace=" + url.QueryEscape(c.Workspace)
	}
	breaker := c.breaker()
	if info, err := os.Stat(breaker); err == nil && time.Since(info.ModTime()) < hookRest {
		return nil
	}
	way := c.way("", std.err)
	server := client.Server{URL: way.URL, HTTP: way.HTTP, Key: c.Key}
	var answer bytes.Buffer
	if _, none := local.Usual(); c.URL != "" || none == nil { // else one is started first
		alive, cancel := context.WithTimeout(ctx, signOfLife)
		err = server.Do(alive, client.Request{Method: http.MethodGet, Path: "/livez"}, nil)
		err = cmp.Or(alive.Err(), err)
		cancel()
	}
	if err == nil || !errors.Is(err, context.DeadlineExceeded) {
		err = server.Do(ctx, client.Request{Method: http.MethodPost, Path: path, Body: body}, &answer)
		err = cmp.Or(ctx.Err(), err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		_ = os.WriteFile(breaker, nil, 0o600) // else the next hook waits as this one did
	}
	if err != nil {
		fmt.Fprintln(std.err, "memoryd:", err)
		return nil
	}
	return answer.Bytes()
}

// breaker is the file that says that a server hung lately, "" where there can be none.
func (c *hookCmd) breaker() string {
	folder, err := local.Folder()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(c.URL))
	return filepath.Join(folder, fmt.Sprintf("hung-%x", sum[:8]))
}

// complete imports a transcript in a process of its own, which the host does not wait
// for: it holds what hooks are not told. Calls that are known already add nothing.
func (c *hookCmd) complete(std streams, transcript string) {
	info, err := os.Stat(transcript)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	args := append([]string{"import"}, flags("--url", c.URL, "--workspace", c.Workspace)...)
	if c.NoDaemon {
		args = append(args, "--no-daemon")
	}
	cmd := exec.Command(program, append(args, "--", transcript)...) //nolint:noctx // it outlives this process
	cmd.Env = os.Environ()
	if c.Key != "" {
		cmd.Env = append(cmd.Env, "MEMORYD_KEY="+c.Key)
	}
	local.Detach(cmd)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(std.err, "memoryd: cannot import the transcript:", err)
	}
}

// atHost is what install and uninstall have in common.
type atHost struct {
	Host string `arg:"" enum:"claude-code,codex,copilot,cursor,gemini" help:"The host: claude-code, codex, copilot, cursor or gemini."`
	Yes  bool   `help:"Make the change; without it, the command only shows it."`
}

type hookInstallCmd struct {
	atHost
	URL       string `name:"url" env:"MEMORYD_URL" placeholder:"URL" help:"Address of memoryd (default: the local server)."`
	Workspace string `env:"MEMORYD_WORKSPACE" placeholder:"NAME" help:"The workspace."`
}

type hookUninstallCmd struct{ atHost }

// Run shows or makes the change.
func (c *hookInstallCmd) Run(std streams) error {
	err := showOrMake(std, c.Host, c.Yes, func(home, program string) (mcp.Change, error) {
		return mcp.InstallHooks(c.Host, home, program, flags("--url", c.URL, "--workspace", c.Workspace))
	})
	if err == nil && c.Host == "codex" {
		fmt.Fprintln(std.out, "Codex runs a new hook only after you approve it there: open /hooks.")
	}
	return err
}

// Run shows or makes the change.
func (c *hookUninstallCmd) Run(std streams) error {
	return showOrMake(std, c.Host, c.Yes, func(home, _ string) (mcp.Change, error) { return mcp.UninstallHooks(c.Host, home) })
}

// isHook tells a host's call from that of a person: to a host exit code 2 would mean
// that the tool must not run.
func isHook(args []string) bool {
	return len(args) > 1 && args[0] == "hook" && args[1] != "install" && args[1] != "uninstall"
}
