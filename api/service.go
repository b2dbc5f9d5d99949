package api

import (
	"cmp"
	"context"
	_ "embed"
	"mime"
	"net/http"
	"slices"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/encoding/protowire"
)

// checkTimeout bounds one readiness check.
const checkTimeout = 2 * time.Second

// health says that the server answers.
//
// As long as the process does; it asks nothing.
func (s *server) health(echo.Context, []byte) (any, error) {
	return wire.Health{Status: "healthy"}, nil
}

// livez says that the process runs.
//
// Whatever else is broken.
func (s *server) livez(echo.Context, []byte) (any, error) { return wire.Health{Status: "alive"}, nil }

// metrics shows counts and times for Prometheus.
//
// In the text format; docs/metrics.md lists the metrics.
func (s *server) metrics(echo.Context, []byte) (any, error) {
	return written(echo.WrapHandler(s.Meter.Handler())), nil
}

// readyz says whether the server can do its work, check by check.
//
// A model that cannot be reached makes the server degraded (200); a store that cannot accept writes makes it unready (503).
func (s *server) readyz(c echo.Context, _ []byte) (any, error) {
	out := wire.Readiness{Status: "ready"}
	status := http.StatusOK
	for _, check := range s.Checks {
		ctx, cancel := context.WithTimeout(c.Request().Context(), checkTimeout)
		err := check.Run(ctx)
		cancel()
		result := wire.Check{Name: check.Name, Status: "ok"}
		switch {
		case err == nil:
		case check.Vital:
			result.Status, out.Status, status = "failed", "unready", http.StatusServiceUnavailable
		default:
			result.Status = "degraded"
			if out.Status == "ready" {
				out.Status = "degraded"
			}
		}
		if err != nil {
			result.Detail = describe(err).msg
		}
		out.Checks = append(out.Checks, result)
	}
	return written(func(c echo.Context) error { return writeJSON(c, status, jsonType, out) }), nil
}

// spendQuery asks for a report of costs.
type spendQuery struct {
	Workspace *string `query:"workspace"`                                     // Only of this workspace, by tool; of all unless given.
	Hours     int     `query:"hours" minimum:"1" maximum:"8784" default:"24"` // How many hours to add up, the current one included.
}

// getSpend shows what models and judges cost, and the budgets.
//
// Requests, tokens and cost of the newest hours, by op and by who answered, of a workspace by tool as well, and what budgets have left.
func (s *server) getSpend(ctx context.Context, in *spendQuery) (out ops.UsageReport, err error) {
	wanted := ops.ReportUsage{Hours: in.Hours}
	if in.Workspace != nil {
		wanted.Workspace = workspaceOf(ctx, *in.Workspace)
	} else if err := everywhere(ctx); err != nil {
		return out, err
	}
	return s.Flows.ReportUsage.Run(ctx, wanted)
}

const (
	protobufType = "application/x-protobuf"
	notAnObject  = "the body must be a JSON object"
)

// isJSON reports whether a request of OTLP is written as JSON.
func isJSON(r *http.Request) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	return err == nil && t == jsonType
}

// statusMessage is a google.rpc.Status with a message, the form in which OTLP wants
// its errors.
func statusMessage(msg string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), msg)
}

// export is a request of an exporter.
type export struct{ Body wire.OTLP }

// inSignal names what an exporter sends.
type inSignal struct {
	inWorkspace

	Signal string `path:"signal" enum:"traces,logs,metrics"` // What the exporter sends.
	Body   wire.OTLP
}

// receiveTraces records the tool calls in spans.
//
// OTLP over HTTP, as protobuf or JSON, plain or gzipped. Each tool call is recorded once, even if several spans report it.
func (s *server) receiveTraces(c echo.Context, body []byte) (any, error) {
	return s.receiveTelemetry(c, "traces", body)
}

// receiveLogs records the tool calls in log records.
//
// OTLP over HTTP, as protobuf or JSON, plain or gzipped. Each tool call is recorded once, even if several records report it.
func (s *server) receiveLogs(c echo.Context, body []byte) (any, error) {
	return s.receiveTelemetry(c, "logs", body)
}

// receiveMetrics takes metrics, which are dropped.
//
// Agents send all three signals to one address, and repeat what is refused.
func (s *server) receiveMetrics(c echo.Context, body []byte) (any, error) {
	return s.receiveTelemetry(c, "metrics", body)
}

// receiveSignalOf records the tool calls in spans or log records, for a workspace.
//
// OTLP over HTTP, as protobuf or JSON, plain or gzipped. Each tool call is recorded once, even if several spans report it. Metrics are
// taken and dropped.
func (s *server) receiveSignalOf(c echo.Context, body []byte) (any, error) {
	return s.receiveTelemetry(c, c.Param("signal"), body)
}

func (s *server) receiveTelemetry(c echo.Context, signal string, body []byte) (any, error) {
	if !slices.Contains([]string{"traces", "logs", "metrics"}, signal) {
		return nil, echo.ErrNotFound
	}
	asJSON, err := telemetryEncoding(c.Request())
	if err != nil {
		return nil, err
	}
	q := queryOf(c)
	if asJSON && jsontext.Value(body).Kind() != '{' {
		q.refuse(notAnObject)
	}
	r := ops.TelemetryRequest{Body: body, JSON: asJSON, Logs: signal == "logs", Workspace: q.ownWorkspace()}
	switch {
	case q.err != nil:
		return nil, q.err
	case signal == "metrics":
		return telemetryAnswer(asJSON, map[bool][]byte{true: []byte("{}")}[asJSON]), nil
	}
	return answer(q.ctx(), s.Flows.ReceiveTelemetry, r, func(taken *ops.TelemetryTaken) any { return telemetryAnswer(asJSON, taken.Answer) })
}

// telemetryEncoding tells JSON from protobuf and refuses all else. Protobuf may be empty.
func telemetryEncoding(r *http.Request) (asJSON bool, err error) {
	if r.Header.Get(echo.HeaderContentType) == "" && r.ContentLength == 0 {
		return false, memoryd.Errorf(memoryd.Invalid, "the request has no body")
	}
	t, _, err := mime.ParseMediaType(cmp.Or(r.Header.Get(echo.HeaderContentType), protobufType))
	switch {
	case err == nil && t == jsonType:
		return true, nil
	case err == nil && t == protobufType:
		return false, nil
	}
	return false, echo.NewHTTPError(http.StatusUnsupportedMediaType)
}

func telemetryAnswer(asJSON bool, body []byte) written {
	contentType := protobufType
	if asJSON {
		contentType = jsonType
	}
	return func(c echo.Context) error { return c.Blob(http.StatusOK, contentType, body) }
}

// inHost names the host of a hook.
type inHost struct {
	Host      string   `path:"host" enum:"claude-code,codex,copilot,cursor,gemini"` // The host that calls.
	Workspace newSpace `query:"workspace"`                                          // `default` unless given.
	Body      wire.Hook
}

// receiveHook answers a hook of an agent's host.
//
// Takes what Claude Code, Codex, Copilot, Cursor or Gemini CLI give their hooks, records the call that was made, and says in the host's
// own words what is known of the one that is planned. 204 is nothing to say.
func (s *server) receiveHook(c echo.Context, body []byte) (any, error) {
	q := queryOf(c)
	if jsontext.Value(body).Kind() != '{' {
		q.refuse(notAnObject)
	}
	r := ops.HookRequest{Body: body, Host: q.path("host"), Workspace: q.ownWorkspace()}
	if q.err != nil {
		return nil, q.err
	}
	return answer(q.ctx(), s.Flows.ReceiveHook, r, func(x *ops.HookAnswer) any {
		if x.Body == nil {
			return nil
		}
		return encoded{body: x.Body}
	})
}

// openapiJSON is the description of the interface, for programs, and docsHTML shows it to people. A test makes both
// from the types.
var (
	//go:embed openapi.json
	openapiJSON []byte
	//go:embed docs.html
	docsHTML []byte
)

// openapi gives this description.
func (s *server) openapi(echo.Context, []byte) (any, error) { return encoded{body: openapiJSON}, nil }

// home leads who opens the server's address to the page.
func (s *server) home(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error { return c.Redirect(http.StatusFound, "/docs") }), nil
}

// docs gives the description as a page, which loads nothing from anywhere.
func (s *server) docs(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		return c.HTMLBlob(http.StatusOK, docsHTML)
	}), nil
}
