package api

import (
	"cmp"
	"mime"
	"net/http"

	"memoryd/ops"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/encoding/protowire"
)

const protobufType = "application/x-protobuf"

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

// receive records the tool calls that an export request tells of.
func (s *server) receive(c echo.Context, r ops.TelemetryRequest) (any, error) {
	var err error
	if r.JSON, err = telemetryEncoding(c.Request()); err != nil {
		return nil, err
	}
	workspace, err := pathParam(c, "workspace")
	if err != nil {
		return nil, err
	}
	if r.Workspace, err = ownWorkspace(c.Request().Context(), workspace); err != nil {
		return nil, err
	}
	r.Record = s.Flows.AddToolCallResult.Run
	taken, err := s.Flows.ReceiveTelemetry.Run(c.Request().Context(), r)
	if err != nil {
		return nil, err
	}
	return telemetryAnswer(r.JSON, taken.Answer), nil
}

// dropMetrics takes metrics and drops them: agents send all three signals to one
// address, and what is refused would be sent again.
func (s *server) dropMetrics(c echo.Context, _ []byte) (any, error) {
	asJSON, err := telemetryEncoding(c.Request())
	if err != nil {
		return nil, err
	}
	if asJSON {
		return telemetryAnswer(true, []byte("{}")), nil
	}
	return telemetryAnswer(false, nil), nil
}

// telemetryEncoding tells JSON from protobuf and refuses all else.
func telemetryEncoding(r *http.Request) (asJSON bool, err error) {
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
	r := ops.HookRequest{
		Body: body, Record: s.Flows.AddToolCallResult.Run, Retrieve: s.Flows.RetrieveToolMemory.Run, Preflight: s.Flows.PreflightToolCall.Run,
	}
	var err error
	if r.Host, err = pathParam(c, "host"); err != nil {
		return nil, err
	}
	workspace, err := pathParam(c, "workspace")
	if err != nil {
		return nil, err
	}
	if r.Workspace, err = ownWorkspace(c.Request().Context(), workspace); err != nil {
		return nil, err
	}
	answer, err := s.Flows.ReceiveHook.Run(c.Request().Context(), r)
	if err != nil || answer.Body == nil {
		return nil, err
	}
	return encoded{body: answer.Body}, nil
}
