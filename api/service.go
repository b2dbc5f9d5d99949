package api

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"path"
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

// receiveTelemetry records the tool calls that an export request contains. It accepts metrics and
// drops them: agents send all three signals to one address, and repeat what is refused.
func (s *server) receiveTelemetry(c echo.Context, body []byte) (any, error) {
	signal := cmp.Or(c.Param("signal"), path.Base(c.Path()))
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
	r := ops.TelemetryRequest{
		Body: body, JSON: asJSON, Logs: signal == "logs", Workspace: q.ownWorkspace(), Record: s.Flows.AddToolCallResult.Run,
	}
	switch {
	case q.err != nil:
		return nil, q.err
	case signal == "metrics" && asJSON:
		return telemetryAnswer(true, []byte("{}")), nil
	case signal == "metrics":
		return telemetryAnswer(false, nil), nil
	}
	return answer(q, s.Flows.ReceiveTelemetry, r, func(taken *ops.TelemetryTaken) any { return telemetryAnswer(asJSON, taken.Answer) })
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
