package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
