package api

import (
	"cmp"
	"mime"
	"net/http"

	"memoryd"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/encoding/protowire"
)

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
		Record: s.Flows.AddToolCallResult.Run, Retrieve: s.Flows.RetrieveToolMemory.Run, Preflight: s.Flows.PreflightToolCall.Run,
	}
	return answer(q, s.Flows.ReceiveHook, r, func(x *ops.HookAnswer) any {
		if x.Body == nil {
			return nil
		}
		return encoded{body: x.Body}
	})
}
