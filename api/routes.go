package api

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/access"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// traits are what an endpoint declares of itself.
type traits uint8

const (
	// free endpoints are answered however busy the server is, and no tracer
	// follows them: probes, and pages of the service itself.
	free traits = 1 << iota
	// withBody endpoints read a body, which counts against the server's room and
	// then the workspace's share.
	withBody
	// computing endpoints hold one of the places of requests that compute while
	// they are worked on, not while they are read or answered.
	computing
	// toolMemory endpoints answer errors in the form that their clients read, not
	// as problems.
	toolMemory
	// updating endpoints count in each answer the tool memories that they replaced.
	updating
	// tagged endpoints answer with an entity tag.
	tagged
	// passing endpoints keep nothing of the body once they have answered, so that its room
	// is used again.
	passing
	// telemetry endpoints take OTLP: they answer in the encoding of the request.
	telemetry
)

// endpoint is a route. What it returns is answered as JSON, an encoded answer as it
// stands, nothing with 204; a written one answers itself.
//
// Its role is what a caller needs, all of it; access.Public leaves everybody in. What
// only some requests of a route need, its handler asks for with need; whether the
// caller knows the workspace, workspaceOf and ownWorkspace see to.
type endpoint struct {
	method, path string
	role         access.Role
	traits       traits
	serve        func(c echo.Context, body []byte) (any, error)
}

// written is an answer that writes itself.
type written func(c echo.Context) error

// endpoints lists every route: routing, admission, tracing and the form of errors
// come from here, and a test holds the description of the interface to it.
func (s *server) endpoints(d *docs) []endpoint {
	const (
		workspace = "/v1/workspaces/:workspace"
		tool      = workspace + "/tools/:tool"
		call      = tool + "/calls/:call"
		original  = workspace + "/originals/:original"
		service   = toolMemory | withBody

		public, known, record, read, curate, admin = access.Public, access.Known, access.Record, access.Read, access.Curate, access.Admin
	)
	return slices.Concat(s.views(workspace, tool), []endpoint{
		{"POST", "/add_tool_call_result", record, service | computing | updating | passing, typed(s, s.addToolCallResult)},
		{"POST", "/summary_tool_memory", record | read, service | updating, typed(s, s.summaryToolMemory)},
		{"POST", "/retrieve_tool_memory", read, service | tagged | passing, s.retrieveToolMemory},
		{"POST", "/preflight_tool_call", read, service, typed(s, s.preflightToolCall)},
		{"POST", "/vector_store", read, service, typed(s, s.vectorStore)},
		{"POST", "/compact_conversation", record, withBody, typed(s, s.compactConversation)},

		{"GET", "/health", public, free, s.health},
		{"GET", "/livez", public, free, s.livez},
		{"GET", "/readyz", public, free, s.readyz},
		{"GET", "/metrics", public, free, s.metrics},
		{"GET", "/openapi.json", public, free, d.spec},
		{"GET", "/docs", public, free, d.page},
		{"GET", "/", public, free, d.home},

		{"GET", "/ui/login", public, free, s.loginForm},
		{"POST", "/ui/login", public, withBody, s.login},
		{"POST", "/ui/logout", public, 0, s.logout},
		{"GET", "/v1/session", known, 0, s.getSession},
		{"GET", "/v1/keys", admin, 0, s.listKeys},
		{"POST", "/v1/keys", admin, withBody, typed(s, s.createKey)},
		{"POST", "/v1/keys/:key/rotate", admin, withBody, typedOrEmpty(s, s.rotateKey)},
		{"DELETE", "/v1/keys/:key", admin, 0, s.revokeKey},
		{"GET", "/v1/audit", admin, computing, s.listAudit},

		{"POST", "/v1/traces", record, telemetry | withBody, s.receiveTelemetry},
		{"POST", "/v1/logs", record, telemetry | withBody, s.receiveTelemetry},
		{"POST", "/v1/metrics", record, telemetry | withBody, s.receiveTelemetry},
		{"POST", workspace + "/otlp/v1/:signal", record, telemetry | withBody, s.receiveTelemetry},
		{"POST", "/v1/hooks/:host", record | read, withBody | computing, s.receiveHook},

		{"POST", "/v1/snapshot", admin, withBody, typedOrEmpty(s, s.takeSnapshot)},
		{"GET", "/v1/workspaces", read, computing, s.listWorkspaces},
		{"GET", "/v1/spend", read, computing, s.getSpend},
		{"GET", workspace + "/tools", read, computing, s.listTools},
		{"GET", tool, read, computing, s.getTool},
		{"DELETE", workspace + "/sources/:source", admin, 0, s.forgetSource},
		{"GET", workspace + "/corrections", read, 0, s.listCorrections},
		{"GET", workspace + "/originals", read, computing, s.lookUp},
		{"GET", original, read, computing, s.getOriginal},
		{"POST", original + "/undo", read, withBody, typedOrEmpty(s, s.undo)},
		{"GET", tool + "/calls", read, computing, s.listCalls},
		{"GET", tool + "/kinds", read, computing, s.listKinds},
		{"PUT", tool + "/kinds/:kind", curate, withBody | computing, typed(s, s.putKind)},
		{"GET", call, read, computing, s.getCall},
		{"PUT", call + "/evaluation", curate, withBody, typed(s, s.putEvaluation)},
		{"DELETE", call + "/evaluation", curate, 0, s.withdrawEvaluation},
	})
}

// views lists the routes of views over all tools, and of guidelines and what people
// decide on them.
func (s *server) views(workspace, tool string) []endpoint {
	const read, curate = access.Read, access.Curate
	versions := tool + "/guidelines"
	return []endpoint{
		{"GET", "/v1/sources", read, computing, s.listSources},
		{"GET", workspace + "/overview", read, computing, s.getOverview},
		{"GET", workspace + "/calls", read, computing, s.findCalls},
		{"GET", workspace + "/runs", read, computing, s.listRuns},
		{"GET", workspace + "/runs/:run", read, computing, s.getRun},

		{"GET", versions, read, computing, s.listGuidelines},
		{"PUT", versions, curate, withBody, typed(s, s.decideGuideline)},
		{"GET", versions + "/lines", read, computing, s.listLineOutcomes},
		{"POST", versions + "/lines", curate, withBody, typed(s, s.addLine)},
		{"PUT", versions + "/lines/:line", curate, withBody, typed(s, s.decideLine)},
		{"GET", versions + "/:revision", read, computing, s.getGuideline},
		{"GET", workspace + "/pending", read, computing, s.listPending},
	}
}

// typed reads the body of a request into the struct that its handler takes.
func typed[Request any](s *server, handle func(c echo.Context, req *Request) (any, error)) func(echo.Context, []byte) (any, error) {
	return func(c echo.Context, body []byte) (any, error) {
		var req Request
		if err := s.decode(body, &req); err != nil {
			return nil, err
		}
		return handle(c, &req)
	}
}

// typedOrEmpty is typed for requests that may come without a body.
func typedOrEmpty[Request any](s *server, handle func(c echo.Context, req *Request) (any, error)) func(echo.Context, []byte) (any, error) {
	return func(c echo.Context, body []byte) (any, error) {
		if isBlank(body) {
			return handle(c, new(Request))
		}
		return typed(s, handle)(c, body)
	}
}

// handler serves an endpoint: it lets in what the server, and then the workspace,
// has room for, and counts the answer until it is sent, however slow the client
// reads.
func (s *server) handler(e endpoint) echo.HandlerFunc {
	if e.traits&free != 0 {
		return func(c echo.Context) error {
			if err := s.admit(c, e.role); err != nil {
				return err
			}
			v, err := e.serve(c, nil)
			return s.answer(c, e, v, err)
		}
	}
	return func(c echo.Context) error {
		if err := s.admit(c, e.role); err != nil {
			return err
		}
		if query := c.Request().URL.RawQuery; query != "" {
			if _, err := url.ParseQuery(query); err != nil {
				return memoryd.Wrap(memoryd.Invalid, err, "the query string is not valid")
			}
		}
		lease, err := s.quota.Admit(0) // its body counts as it arrives
		if err != nil {
			return s.refuseBody(c, err)
		}
		defer lease.Release()
		body, workspace, err := s.read(c, e, &lease)
		if err != nil {
			return err
		}
		var v any
		waited := s.turn(c, workspace, e.traits&computing != 0, func() { v, err = s.compute(c, e, body, &lease) })
		if err = cmp.Or(waited, err); err == nil && e.traits&passing != 0 { // what is wrong with a body is told by repeating it
			defer giveBack(body)
		}
		if encoded, ok := v.(encoded); ok {
			lease.Hold(int64(cap(encoded.body))) // what it takes, not what it says
			defer encoded.drop()
		}
		return s.answer(c, e, v, err)
	}
}

// read reads the body and says on whose behalf the request is. That is often known from the
// beginning of the body, or before; what the workspace has no room for is read no further.
func (s *server) read(c echo.Context, e endpoint, lease *ops.Lease) (body []byte, workspace string, err error) {
	q := queryOf(c)
	named := cmp.Or(q.path("workspace"), c.QueryParam("workspace"))
	if e.traits&withBody != 0 {
		if body, err = s.takeBody(c, lease, func(head []byte) error {
			if named = cmp.Or(named, peekWorkspace(head)); named == "" || q.err != nil {
				return nil
			}
			workspace = workspaceOf(q.ctx(), named)
			if err := s.Scheduler.Room(workspace); err != nil {
				return err
			}
			return lease.Bind(workspace, int64(len(head)))
		}); err != nil {
			return nil, "", err
		}
	}
	if q.err != nil {
		return nil, "", q.err
	}
	if workspace == "" {
		workspace = workspaceOf(q.ctx(), cmp.Or(named, peekWorkspace(body)))
	}
	return body, workspace, lease.Bind(workspace, int64(len(body)))
}

// takeBody reads the body, or refuses it.
func (s *server) takeBody(c echo.Context, lease *ops.Lease, begun func(head []byte) error) ([]byte, error) {
	w := http.NewResponseController(c.Response())
	_ = w.SetReadDeadline(time.Now().Add(bodyTime)) // where it cannot be set, the server's own holds
	body, err := readBody(c.Request(), s.cfg.MaxBodyBytes, lease, begun)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = echo.NewHTTPError(http.StatusRequestTimeout, fmt.Sprintf("the body was not delivered within %v", bodyTime))
		c.Response().Header().Set("Connection", "close")
	case memoryd.IsKind(err, memoryd.TooLarge) || memoryd.IsKind(err, memoryd.Overloaded):
		return nil, s.refuseBody(c, err)
	default:
		_ = w.SetReadDeadline(time.Time{}) // who works long is not to be taken for one who left
	}
	return body, err
}

// compute works on a request. Its answer is encoded within its turn.
func (s *server) compute(c echo.Context, e endpoint, body []byte, lease *ops.Lease) (any, error) {
	if err := lease.Begin(); err != nil {
		return nil, err
	}
	v, err := e.serve(c, body)
	if fault, ok := errors.AsType[*memoryd.Fault](err); ok && fault.Code == missingField && len(fault.Loc) > 1 {
		fault.Input = memoryd.NewFault("", "", body).Input // what the field is missing in
	}
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case nil, written, encoded:
		return v, nil
	}
	return encodeOnce(v)
}

func (s *server) answer(c echo.Context, e endpoint, v any, err error) error {
	if err != nil {
		return err
	}
	within := http.NewResponseController(c.Response())
	switch v := v.(type) {
	case nil:
		return c.NoContent(http.StatusNoContent)
	case written:
		c.Response().Writer = &patient{c.Response().Writer, within}
		return v(c)
	case encoded:
		_ = within.SetWriteDeadline(time.Now().Add(answerTime)) // who does not read is dropped
		if e.traits&tagged != 0 {
			return writeTagged(c, v)
		}
	}
	return writeJSON(c, http.StatusOK, jsonType, v)
}

// patient is an answer that is written piece by piece: who takes none for answerTime is
// dropped.
type patient struct {
	http.ResponseWriter
	within *http.ResponseController
}

// Write implements io.Writer.
func (p *patient) Write(b []byte) (int, error) {
	_ = p.within.SetWriteDeadline(time.Now().Add(answerTime))
	return p.ResponseWriter.Write(b)
}

// Unwrap implements the interface of http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// isToolMemory reports whether the route's clients read the answers of the
// tool-memory endpoints.
func (s *server) isToolMemory(c echo.Context) bool { return s.traits[c.Path()]&toolMemory != 0 }

// bodyTime is how long a client may take to send a body, and answerTime how long to read an answer.
const (
	bodyTime   = 15 * time.Second
	answerTime = 30 * time.Second
)

// refuseBody answers a request whose body is not read, or not to its end, at once, and
// then throws a bounded rest of it away: a client that looks at the answer only when
// it has sent everything gets to see it. After a small rest the connection is used again:
// a new one costs both sides more.
func (s *server) refuseBody(c echo.Context, err error) error {
	r, w := c.Request(), http.NewResponseController(c.Response())
	if r.ContentLength == 0 {
		return err
	}
	kept := r.ContentLength > 0 && r.ContentLength <= keptRest && w.EnableFullDuplex() == nil
	if !kept {
		c.Response().Header().Set("Connection", "close")
	}
	c.Error(err)
	if w.Flush() != nil || w.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return err
	}
	if drained := drain(r.Body, s.cfg.MaxBodyBytes); kept && !drained {
		if conn, _, err := w.Hijack(); err == nil { // what comes is no request
			_ = conn.Close()
		}
	}
	return err // it is answered already
}

// What is read, and thrown away, of a refused body, for how long, and from which announced
// size on the connection ends with it.
const (
	drainTime = 2 * time.Second
	drainRoom = 64 << 10
	keptRest  = 256 << 10
)

var drains = sync.Pool{New: func() any { return new([drainRoom]byte) }}

// drain reads to the end of a body; false: it met an error, or the limit.
func drain(body io.Reader, limit int64) bool {
	room := drains.Get().(*[drainRoom]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer drains.Put(room)
	for limit > 0 {
		n, err := body.Read(room[:])
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		limit -= int64(n)
	}
	return false
}

// isBlank reports whether a body was left out.
func isBlank(body []byte) bool { return len(bytes.TrimSpace(body)) == 0 }
