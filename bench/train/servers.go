package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// hosts give the names that agents' hosts have for a tool of a server.
var hosts = []func(server, tool string) string{
	func(_, tool string) string { return tool },
	func(server, tool string) string { return "mcp__" + server + "__" + tool },
	func(server, tool string) string { return server + "." + tool },
}

// server is what a list calls: it answers a call, and says itself whether it failed.
type server interface {
	call(ctx context.Context, tool, argument string) (output string, failed bool, err error)
	close()
}

// servers runs a list of MCP servers, of services and of their clients, in a folder of its
// own, and writes what came of it to a set.
type servers struct {
	folder string
	scrub  *strings.Replacer
	set    strings.Builder
	began  []*exec.Cmd
	seen   map[string]bool
}

// runServers runs what a list names, and writes the set of its name. Each output is labelled by what its server said:
// the flag of MCP, the status of HTTP, the exit status of a client.
func runServers(ctx context.Context, list, root string) error {
	text, err := os.ReadFile(list) //nolint:gosec // a file of the sources
	if err != nil {
		return err
	}
	r := &servers{seen: map[string]bool{}}
	if r.folder, err = os.MkdirTemp("", ""); err != nil {
		return err
	}
	defer os.RemoveAll(r.folder) //nolint:errcheck // the system clears the rest away
	defer r.stop()
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	r.scrub = strings.NewReplacer(r.folder, "/srv/app", home, "/home/ann", host, "web-1", "$FOLDER", "/srv/app")
	if err := r.run(ctx, string(text)); err != nil {
		return err
	}
	return writeOutputs(root, filepath.Base(list), r.set.String())
}

func (r *servers) run(ctx context.Context, list string) error {
	var at server
	name, place := "", 0
	defer func() {
		if at != nil {
			at.close()
		}
	}()
	for line := range strings.SplitSeq(list, "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		switch mark {
		case "", "#":
			continue
		case "+":
			if out, err := r.shell(ctx, rest).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", rest, err, out)
			}
			continue
		case "&":
			c := r.shell(ctx, rest)
			if err := c.Start(); err != nil {
				return err
			}
			r.began = append(r.began, c)
			continue
		case "=":
			if at != nil {
				at.close()
			}
			var command string
			name, command, _ = strings.Cut(rest, " | ")
			var err error
			if at, err = r.open(ctx, command); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			place++
			continue
		case "!", "~":
		default:
			mark, rest = "", line
		}
		if err := r.record(ctx, at, name, place, mark, rest); err != nil {
			return fmt.Errorf("%s: %s: %w", name, rest, err)
		}
	}
	return nil
}

// record makes a call and writes what came of it.
func (r *servers) record(ctx context.Context, at server, name string, place int, mark, line string) error {
	tool, argument, _ := strings.Cut(line, " | ")
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	out, failed, err := at.call(ctx, tool, strings.ReplaceAll(argument, "$FOLDER", r.folder))
	if err != nil {
		return err
	}
	out = strings.TrimSpace(r.scrub.Replace(escapes.ReplaceAllString(out, "")))
	key := name + tool + out
	if out == "" || len(out) > 6000 || strings.Contains(out, "\n@@ ") || r.seen[key] {
		return nil
	}
	r.seen[key] = true
	label := "ok"
	switch {
	case failed || mark == "!":
		label = "error"
	case mark == "~":
		label = "partial"
	}
	input := map[string]any{}
	switch at.(type) {
	case *protocol:
		tool = hosts[place%len(hosts)](name, tool)
		if err := json.Unmarshal([]byte(r.scrub.Replace(argument)), &input); err != nil {
			return err
		}
	case *web:
		input["request"] = r.scrub.Replace(argument)
	default:
		command := r.scrub.Replace(argument)
		if n := len(r.seen); n%2 == 0 {
			tool, input["command"] = shells[n/2%len(shells)], command
		} else { // as that of a tool that does this alone
			_, input["query"], _ = strings.Cut(command, " ")
		}
	}
	c := labelledCall(tool, label, input, out).call
	_, err = fmt.Fprintf(&r.set, "@@ %s | %s | %s\n%s\n", c.Tool, label, c.Input, out)
	return err
}

// escapes are colours of a terminal.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// shell makes a command of a line, in the folder, in a group of processes of its own.
func (r *servers) shell(ctx context.Context, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, "bash", "-c", line)
	c.Dir = r.folder
	c.Env = append(os.Environ(), "FOLDER="+r.folder, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "NO_COLOR=1", "TZ=UTC",
		"TF_CLI_CONFIG_FILE=", "PIP_FIND_LINKS=")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

func (r *servers) stop() {
	for _, c := range r.began {
		end(c)
	}
}

// end ends a program and what it began.
func end(c *exec.Cmd) {
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it may have ended
	_ = c.Wait()                                      // by that signal
}

// open begins what a list names: a server of MCP by its command, a service by its address,
// clients by a dash.
func (r *servers) open(ctx context.Context, command string) (server, error) {
	switch {
	case command == "-":
		return &clients{r}, nil
	case strings.HasPrefix(command, "http://"):
		return &web{command}, nil
	}
	c := r.shell(ctx, command)
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	p := &protocol{program: c, in: in, lines: make(chan string)}
	go p.read(out)
	if _, err := p.ask(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "train", "version": "1"},
	}); err != nil {
		p.close()
		return nil, err
	}
	return p, p.send(map[string]any{"method": "notifications/initialized"})
}

// clients are programs that call a service.
type clients struct{ r *servers }

func (c *clients) close() {}

func (c *clients) call(ctx context.Context, _, line string) (output string, failed bool, err error) {
	out, err := c.r.shell(ctx, line).CombinedOutput()
	if _, is := errors.AsType[*exec.ExitError](err); is {
		return string(out), true, nil
	}
	return string(out), false, err
}

// web is a service that speaks HTTP.
type web struct{ base string }

func (w *web) close() {}

// call makes a request of "METHOD /path", with a host before the path and a body behind it where needed.
func (w *web) call(ctx context.Context, _, line string) (output string, failed bool, err error) {
	fields := append(strings.SplitN(line, " ", 3), "")
	host, path, _ := strings.Cut(fields[1], "/")
	q, err := http.NewRequestWithContext(ctx, fields[0], w.base+"/"+path, strings.NewReader(fields[2]))
	if err != nil {
		return "", false, err
	}
	if host != "" {
		q.Host = host
	}
	if strings.HasPrefix(fields[2], "{") || strings.HasPrefix(fields[2], "[") {
		q.Header.Set("Content-Type", "application/json")
	} else if fields[2] != "" {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return "", false, err
	}
	defer a.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(a.Body)
	return string(body), a.StatusCode >= http.StatusBadRequest, err
}

// protocol is a server of MCP that reads and writes lines.
type protocol struct {
	program *exec.Cmd
	in      io.Writer
	lines   chan string
	asked   int
}

func (p *protocol) close() { end(p.program) }

func (p *protocol) read(out io.Reader) {
	defer close(p.lines)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		p.lines <- lines.Text()
	}
}

func (p *protocol) send(m map[string]any) error {
	m["jsonrpc"] = "2.0"
	raw, err := json.Marshal(m)
	if err == nil {
		_, err = p.in.Write(append(raw, '\n'))
	}
	return err
}

// answer is what a server says to a request.
type answer struct {
	ID     int `json:"id"`
	Result struct {
		Content []struct {
			Text     string          `json:"text"`
			Resource json.RawMessage `json:"resource"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (p *protocol) ask(ctx context.Context, method string, params any) (*answer, error) {
	p.asked++
	if err := p.send(map[string]any{"id": p.asked, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case line, open := <-p.lines:
			if !open {
				return nil, io.ErrUnexpectedEOF
			}
			a := &answer{}
			if json.Unmarshal([]byte(line), a) == nil && a.ID == p.asked && !strings.Contains(line, `"method":"`) {
				return a, nil
			}
		}
	}
}

func (p *protocol) call(ctx context.Context, tool, argument string) (output string, failed bool, err error) {
	a, err := p.ask(ctx, "tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(argument)})
	switch {
	case err != nil:
		return "", false, err
	case a.Error != nil:
		return fmt.Sprintf("MCP error %d: %s", a.Error.Code, a.Error.Message), true, nil
	}
	var texts []string
	for _, c := range a.Result.Content {
		texts = append(texts, c.Text+string(c.Resource))
	}
	return strings.Join(texts, "\n"), a.Result.IsError, nil
}
