package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"
)

// baselineCommand is the hidden sub-command that serves a baseline.
const baselineCommand = "serve-baseline"

// baselineKind names a baseline. All are bare Echo servers that answer with the
// bytes of one file; they differ in what they do before.
type baselineKind string

// The baselines.
const (
	bareEcho   baselineKind = "echo"    // reads the body and drops it
	decodeEcho baselineKind = "decode"  // decodes the calls with encoding/json
	rawLog     baselineKind = "rawlog"  // decodes, and appends to a flushed log, many requests to a flush
	rewriteAll baselineKind = "rewrite" // decodes, reads the tool's whole record, appends, writes it back
)

// wireCall is a call as a plain handler would decode it.
type wireCall struct {
	ToolName  string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	Output    string          `json:"output"`
	Success   bool            `json:"success"`
	TimeCost  float64         `json:"time_cost"`
	TokenCost int64           `json:"token_cost"`
}

type wireRequest struct {
	Workspace string     `json:"workspace_id"`
	ToolName  string     `json:"tool_name"`
	Calls     []wireCall `json:"tool_call_results"`
}

// sink does what a baseline does with a request before it is answered.
type sink func(body []byte, r *wireRequest) error

// serveBaseline serves one baseline until ctx ends. args are its kind, its folder
// and the file with the answer.
func serveBaseline(ctx context.Context, args []string, out io.Writer) (err error) {
	if len(args) != 3 {
		return errors.New(baselineCommand + " KIND FOLDER ANSWER")
	}
	answer, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	var take sink
	var end func() error
	switch baselineKind(args[0]) {
	case bareEcho:
	case decodeEcho:
		take = func([]byte, *wireRequest) error { return nil }
	case rawLog:
		take, end, err = openLog(args[1])
	case rewriteAll:
		take, end, err = openRewrite(args[1])
	default:
		err = fmt.Errorf("no baseline %q", args[0])
	}
	if err != nil {
		return err
	}
	if end != nil {
		defer func() { err = errors.Join(err, end()) }()
	}
	return serveEcho(ctx, handlerOf(answer, take), out)
}

// handlerOf is the handler of all baselines.
func handlerOf(answer []byte, take sink) echo.HandlerFunc {
	return func(c echo.Context) error {
		body, err := readWhole(c.Request())
		if err != nil {
			return err
		}
		if take != nil {
			var r wireRequest
			if err := json.Unmarshal(body, &r); err != nil {
				return echo.NewHTTPError(http.StatusUnprocessableEntity, err.Error())
			}
			if err := take(body, &r); err != nil {
				return err
			}
		}
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, answer)
	}
}

// readWhole reads a body into one allocation of its announced size.
func readWhole(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 {
		return io.ReadAll(r.Body)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func serveEcho(ctx context.Context, h echo.HandlerFunc, out io.Writer) error {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.POST("/*", h)
	e.GET("/livez", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: e, ReadHeaderTimeout: time.Minute}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	if _, err := fmt.Fprintf(out, "ready on http://%s\n", listener.Addr()); err != nil {
		return err
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		err = server.Close()
		<-done
	}
	return err
}
