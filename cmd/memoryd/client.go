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

	"memoryd/api/wire"
)

// remote is what the commands that talk to a server have in common.
type remote struct {
	URL       string `name:"url" default:"http://127.0.0.1:8002" env:"MEMORYD_URL" help:"Address of the server."`
	Workspace string `help:"The workspace."`
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
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(r.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = fmt.Errorf("no answer from %s: %w", r.URL, ue.Err)
		}
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, fmt.Errorf("answer of %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return pauseOf(resp), &problem{resp.StatusCode, reasonIn(text)}
	}
	return 0, json.Unmarshal(text, out)
}

func pauseOf(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
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
