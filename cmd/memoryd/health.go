package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"memoryd/api/wire"
)

// healthCmd is what a container's health check runs: the image holds no other
// program that could ask.
type healthCmd struct {
	URL     string        `name:"url" default:"http://127.0.0.1:8002" env:"MEMORYD_URL" help:"Address of the server."`
	Timeout time.Duration `default:"3s" help:"How long to wait for its answer."`
}

// maxReadiness bounds what is read of an answer.
const maxReadiness = 1 << 20

// Run prints one line. A server that is ready, if only in part, makes exit code 0.
func (c healthCmd) Run(ctx context.Context, std streams) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	status, text, err := c.ask(ctx)
	if err != nil {
		return err
	}
	var r wire.Readiness
	if json.Unmarshal(text, &r) != nil || r.Status == "" {
		return fmt.Errorf("%s answered %d, but is not memoryd", c.URL, status)
	}
	if _, err := fmt.Fprintln(std.out, readiness(r)); err != nil {
		return err
	}
	if status != http.StatusOK {
		return silentError{}
	}
	return nil
}

func (c healthCmd) ask(ctx context.Context) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.URL, "/")+"/readyz", nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err
		}
		return 0, nil, fmt.Errorf("no answer from %s: %w", c.URL, err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxReadiness))
	return resp.StatusCode, body, err
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
