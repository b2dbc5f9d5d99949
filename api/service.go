package api

import (
	"cmp"
	"context"
	"mime"
	"net/http"
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

func (s *server) health(echo.Context, []byte) (any, error) {
	return wire.Health{Status: "healthy"}, nil
}

// livez answers while the process runs, whatever else is broken.
func (s *server) livez(echo.Context, []byte) (any, error) { return wire.Health{Status: "alive"}, nil }

func (s *server) metrics(echo.Context, []byte) (any, error) {
	return written(echo.WrapHandler(s.Meter.Handler())), nil
}

// readyz names each check. A failed vital check makes the server unready (503),
// another one only degraded: recording and retrieving go on without a model.
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

// The period of a cost report: a day by default, at most a leap year.
const (
	defaultHours = 24
	maxHours     = 366 * 24
)

// getSpend reports on the newest hours of the workspace ?workspace=, or of the whole
// server.
func (s *server) getSpend(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.ReportUsage{}
	if workspace, given := q.once("workspace"); given {
		in.Workspace = workspaceOf(q.ctx(), workspace)
	} else {
		q.everywhere()
	}
	in.Hours = q.number("hours", defaultHours, 1, maxHours)
	return answer(q, s.Flows.ReportUsage, in, shown[ops.UsageReport])
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

func (s *server) receiveTraces(c echo.Context, body []byte) (any, error) {
	return s.receive(c, ops.TelemetryRequest{Body: body})
}

func (s *server) receiveLogs(c echo.Context, body []byte) (any, error) {
	return s.receive(c, ops.TelemetryRequest{Body: body, Logs: true})
}

// receiveSignal receives what an exporter sends for a workspace.
func (s *server) receiveSignal(c echo.Context, body []byte) (any, error) {
	switch c.Param("signal") {
	case "traces":
		return s.receiveTraces(c, body)
	case "logs":
		return s.receiveLogs(c, body)
	case "metrics":
		return s.dropMetrics(c, body)
	}
	return nil, echo.ErrNotFound
}

// receive records the tool calls that an export request tells of.
func (s *server) receive(c echo.Context, r ops.TelemetryRequest) (any, error) {
	q := queryOf(c)
	var err error
	r.JSON, err = telemetryEncoding(c.Request())
	q.fail(err)
	if r.JSON && jsontext.Value(r.Body).Kind() != '{' {
		q.refuse(notAnObject)
	}
	r.Workspace, r.Record = q.ownWorkspace(), s.Flows.AddToolCallResult.Run
	return answer(q, s.Flows.ReceiveTelemetry, r, func(taken *ops.TelemetryTaken) any { return telemetryAnswer(r.JSON, taken.Answer) })
}

// dropMetrics takes metrics and drops them: agents send all three signals to one
// address, and what is refused would be sent again.
func (s *server) dropMetrics(c echo.Context, body []byte) (any, error) {
	asJSON, err := telemetryEncoding(c.Request())
	if err != nil {
		return nil, err
	}
	if asJSON && jsontext.Value(body).Kind() != '{' {
		return nil, memoryd.Errorf(memoryd.Invalid, notAnObject)
	}
	if asJSON {
		return telemetryAnswer(true, []byte("{}")), nil
	}
	return telemetryAnswer(false, nil), nil
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

// receiveHook answers a hook of an agent's host: it records the call that was made,
// or says what is known of the one that is planned.
func (s *server) receiveHook(c echo.Context, body []byte) (any, error) {
	q := queryOf(c)
	if jsontext.Value(body).Kind() != '{' {
		q.refuse(notAnObject)
	}
	r := ops.HookRequest{
		Body: body, Host: q.path("host"), Workspace: q.ownWorkspace(),
		Record: s.Flows.AddToolCallResult.Run, Preflight: s.Flows.PreflightToolCall.Run,
	}
	return answer(q, s.Flows.ReceiveHook, r, func(x *ops.HookAnswer) any {
		if x.Body == nil {
			return nil
		}
		return encoded{body: x.Body}
	})
}
