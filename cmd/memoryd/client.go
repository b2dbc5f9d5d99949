package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"memoryd/api/wire"
)

// remote is what the commands that talk to a server have in common.
type remote struct {
	URL       string `name:"url" default:"http://127.0.0.1:8002" env:"MEMORYD_URL" help:"Address of the server."`
	Workspace string `help:"The workspace."`
}

// hint is a command line that does something with the same server and workspace.
func (r remote) hint(args ...string) string {
	words := append([]string{"memoryd"}, args...)
	if r.Workspace != "" {
		words = append(words, "--workspace", r.Workspace)
	}
	if r.URL != "" && r.URL != defaultURL {
		words = append(words, "--url", r.URL)
	}
	for i, word := range words {
		if word == "" || strings.ContainsFunc(word, func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_./:@%+=,", c)
		}) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// patience bounds how often a request is sent again to a server that is busy
// or not there yet, and maxPause how long one pause may be.
const (
	patience = 5
	maxPause = 30 * time.Second
)

// problem is an answer that is not a success.
type problem struct {
	status int
	text   string
}

func (p *problem) Error() string { return fmt.Sprintf("the server answered %d: %s", p.status, p.text) }

// faultOfBody reports whether the server would refuse the same body again.
func (p *problem) faultOfBody() bool {
	return p.status == http.StatusUnprocessableEntity || p.status == http.StatusRequestEntityTooLarge
}

// answer is a response of the tool-memory endpoints whose metadata is an M.
type answer[M any] struct {
	Answer   string `json:"answer"`
	Success  bool   `json:"success"`
	Metadata M      `json:"metadata"`
}

// post sends body to a tool-memory endpoint and reads the answer into out. It
// waits and tries again while the server says that it cannot serve now; every
// request is safe to send twice under the same key.
func (r remote) post(ctx context.Context, path, key string, body []byte, out any) error {
	return r.call(ctx, http.MethodPost, path, key, body, out)
}

func (r remote) get(ctx context.Context, path string, out any) error {
	return r.call(ctx, http.MethodGet, path, "", nil, out)
}

func (r remote) call(ctx context.Context, method, path, key string, body []byte, out any) error {
	for attempt := 1; ; attempt++ {
		pause, err := r.once(ctx, method, path, key, body, out)
		if err == nil || pause == 0 || attempt == patience {
			return err
		}
		select {
		case <-time.After(min(pause*time.Duration(attempt), maxPause)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// once sends one request. A pause of more than 0 says that trying again after
// it may help.
func (r remote) once(ctx context.Context, method, path, key string, body []byte, out any) (time.Duration, error) {
	got, err := exchange(ctx, method, r.URL, path, key, body)
	if err != nil {
		return 0, err
	}
	if got.status != http.StatusOK {
		return pauseOf(got), &problem{got.status, reasonIn(got.body)}
	}
	return 0, json.Unmarshal(got.body, out)
}

// reply is what a server answered.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// The bounds of an exchange with a server: of one request, which may wait for many
// answers of a model, and of an answer.
const (
	exchangeTimeout = 15 * time.Minute
	maxReply        = 1 << 30
)

// exchange sends one request to a server; an address without a scheme is one of
// HTTP.
func exchange(ctx context.Context, method, server, path, key string, body []byte) (got reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(server, "/")+path, bytes.NewReader(body))
	if err != nil {
		return got, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return got, fmt.Errorf("no answer from %s: %w", server, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	got.status, got.header = resp.StatusCode, resp.Header
	if got.body, err = io.ReadAll(io.LimitReader(resp.Body, maxReply)); err != nil {
		return got, fmt.Errorf("answer of %s: %w", path, err)
	}
	return got, nil
}

func pauseOf(got reply) time.Duration {
	if got.status != http.StatusTooManyRequests && got.status != http.StatusServiceUnavailable {
		return 0
	}
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return time.Duration(seconds) * time.Second
}

// reasonIn finds the sentence for people in any of the server's error bodies.
func reasonIn(body []byte) string {
	var e struct {
		Answer string          `json:"answer"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &e) != nil {
		return strings.TrimSpace(string(body[:min(len(body), 200)]))
	}
	if e.Answer != "" {
		return e.Answer
	}
	var details []wire.Detail
	if json.Unmarshal(e.Detail, &details) == nil && len(details) > 0 {
		return fmt.Sprintf("%v: %s", details[0].Loc, details[0].Msg)
	}
	return string(e.Detail)
}

// workspaces are the ones that a command is about: the one named, or all.
func (r remote) workspaces(ctx context.Context) ([]string, error) {
	if r.Workspace != "" {
		return []string{r.Workspace}, nil
	}
	var all []string
	for cursor := ""; ; {
		var list wire.WorkspaceList
		if err := r.get(ctx, "/v1/workspaces?cursor="+cursor, &list); err != nil {
			return nil, err
		}
		all = append(all, list.Workspaces...)
		if cursor = list.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

// tools lists the tools of a workspace; name picks the one of that name.
func (r remote) tools(ctx context.Context, workspace, name string) ([]wire.ToolInfo, error) {
	var all []wire.ToolInfo
	for cursor := ""; ; {
		var list wire.ToolList
		query := url.Values{"name": {name}, "cursor": {cursor}}.Encode()
		if err := r.get(ctx, "/v1/workspaces/"+url.PathEscape(workspace)+"/tools?"+query, &list); err != nil {
			return nil, err
		}
		all = append(all, list.Tools...)
		if cursor = list.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

// healthCmd is what a container's health check runs: the image holds no other
// program that could ask.
type healthCmd struct {
	URL     string        `name:"url" default:"http://127.0.0.1:8002" env:"MEMORYD_URL" help:"Address of the server."`
	Timeout time.Duration `default:"3s" help:"How long to wait for its answer."`
}

// Run prints one line. A server that is ready, if only in part, makes exit code 0.
func (c healthCmd) Run(ctx context.Context, std streams) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	got, err := exchange(ctx, http.MethodGet, c.URL, "/readyz", "", nil)
	if err != nil {
		return err
	}
	var r wire.Readiness
	if json.Unmarshal(got.body, &r) != nil || r.Status == "" {
		return fmt.Errorf("%s answered %d, but is not memoryd", c.URL, got.status)
	}
	if _, err := fmt.Fprintln(std.out, readiness(r)); err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return silentError{}
	}
	return nil
}

// readiness says in one line how the server is, and which checks fail and why.
func readiness(r wire.Readiness) string {
	var failing []string
	for _, check := range r.Checks {
		if check.Status != "ok" {
			failing = append(failing, strings.TrimSpace(check.Name+" "+check.Status+" "+parenthesised(check.Detail)))
		}
	}
	line := r.Status
	if len(failing) > 0 {
		line += ": " + strings.Join(failing, ", ")
	}
	return strings.Join(strings.Fields(line), " ")
}

func parenthesised(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}
