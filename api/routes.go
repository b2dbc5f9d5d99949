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
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"
	"memoryd/internal/admission"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// traits are what an endpoint declares of itself.
type traits uint16

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
	// telemetry endpoints take OTLP: they answer in the encoding of the request.
	telemetry
	// uncached endpoints answer with what no cache may keep.
	uncached
	// whole endpoints are about the whole server: a caller that is bound to workspaces is refused.
	whole
)

// endpoint is a route. What it returns is answered as JSON, an encoded answer as it
// stands, nothing with 204; a written one answers itself.
//
// Its role is what a caller needs, all of it; access.Public leaves everybody in. What
// only some requests of a route need, its handler asks for; whether the
// caller knows the workspace, workspaceOf and ownWorkspace see to.
type endpoint struct {
	method, path string
	role         access.Role
	traits       traits
	operation
}

// written is an answer that writes itself.
type written func(c echo.Context) error

const workspacePath = "/v1/workspaces/:workspace"

// endpoints lists every route: routing, admission, tracing, the form of errors and the
// description of the interface come from here.
func (s *server) endpoints() []endpoint {
	const (
		workspace = workspacePath
		tool      = workspace + "/tools/:tool"
		call      = tool + "/calls/:call"
		original  = workspace + "/originals/:original"
		versions  = tool + "/guidelines"
		service   = toolMemory | withBody

		record, read, curate, admin = access.Record, access.Read, access.Curate, access.Admin
	)
	return slices.Concat(group("tool memory",
		endpoint{"POST", "/add_tool_call_result", record, service | computing | updating, of(s, s.addToolCallResult)},
		endpoint{"POST", "/summary_tool_memory", record | read, service | updating, of(s, s.summaryToolMemory)},
		endpoint{
			"POST", "/retrieve_tool_memory", read, service | tagged,
			raw[wire.RetrieveRequest, wire.NamesResponse](s.retrieveToolMemory),
		},
		endpoint{"POST", "/preflight_tool_call", read, service, of(s, s.preflightToolCall)},
		endpoint{"POST", "/vector_store", read, service, of(s, s.vectorStore)},
	), group("conversations",
		endpoint{"POST", "/compact_conversation", record, withBody, gives[ops.Compacted](of(s, s.compactConversation))},
		endpoint{"GET", workspace + "/originals", read, computing, of(s, s.lookUpOriginals)},
		endpoint{"GET", original, read, computing, of(s, s.getOriginal)},
		endpoint{"POST", original + "/undo", read, withBody, of(s, s.undoCompaction)},
	), group("workspaces",
		endpoint{"GET", "/v1/workspaces", read, computing, of(s, s.listWorkspaces)},
		endpoint{"GET", workspace + "/tools", read, computing, of(s, s.listTools)},
		endpoint{"GET", tool, read, computing, of(s, s.getTool)},
		endpoint{"GET", workspace + "/overview", read, computing, of(s, s.getOverview)},
		endpoint{"POST", "/v1/snapshot", admin, withBody, of(s, s.takeSnapshot)},
	), group("calls",
		endpoint{"GET", workspace + "/calls", read, computing, of(s, s.findCalls)},
		endpoint{"GET", workspace + "/runs", read, computing, of(s, s.listRuns)},
		endpoint{"GET", workspace + "/runs/:run", read, computing, of(s, s.getRun)},
		endpoint{"GET", "/v1/sources", read, computing | whole, of(s, s.listSources)},
		endpoint{"GET", workspace + "/corrections", read, 0, of(s, s.listCorrections)},
		endpoint{"GET", tool + "/calls", read, computing, of(s, s.listCalls)},
		endpoint{"GET", call, read, computing, of(s, s.getCall)},
		endpoint{"PUT", call + "/evaluation", curate, withBody, of(s, s.putEvaluation)},
		endpoint{"DELETE", call + "/evaluation", curate, 0, of(s, s.withdrawEvaluation)},
		endpoint{"GET", tool + "/kinds", read, computing, of(s, s.listKinds)},
		endpoint{"PUT", tool + "/kinds/:kind", curate, withBody | computing, of(s, s.putKind)},
	), group("guidelines",
		endpoint{"GET", versions, read, computing, of(s, s.listGuidelines)},
		endpoint{"PUT", versions, curate, withBody, of(s, s.decideGuideline)},
		endpoint{"GET", versions + "/lines", read, computing, of(s, s.listLineOutcomes)},
		endpoint{"POST", versions + "/lines", curate, withBody, of(s, s.addLine)},
		endpoint{"PUT", versions + "/lines/:line", curate, withBody, of(s, s.decideLine)},
		endpoint{"GET", versions + "/:revision", read, computing, of(s, s.getGuideline)},
		endpoint{"GET", workspace + "/pending", read, computing, of(s, s.listPending)},
	), s.services(), s.pages())
}

// services lists the routes around the work: costs, telemetry, keys and the service itself.
func (s *server) services() []endpoint {
	const public, known, record, read, admin = access.Public, access.Known, access.Record, access.Read, access.Admin
	return slices.Concat(group("judging",
		endpoint{"GET", "/v1/spend", read, computing, of(s, s.getSpend)},
	), group("telemetry",
		endpoint{"POST", "/v1/traces", record, telemetry | withBody, raw[export, wire.OTLP](s.receiveTraces)},
		endpoint{"POST", "/v1/logs", record, telemetry | withBody, raw[export, wire.OTLP](s.receiveLogs)},
		endpoint{"POST", "/v1/metrics", record, telemetry | withBody, raw[export, wire.OTLP](s.receiveMetrics)},
		endpoint{"POST", workspacePath + "/otlp/v1/:signal", record, telemetry | withBody, raw[inSignal, wire.OTLP](s.receiveSignalOf)},
		endpoint{"POST", "/v1/hooks/:host", record | read, withBody | computing, raw[inHost, wire.HookAnswer](s.receiveHook)},
	), group("access",
		endpoint{"GET", "/v1/session", known, 0, of(s, s.getSession)},
		endpoint{"GET", "/v1/keys", admin, whole, of(s, s.listKeys)},
		endpoint{"POST", "/v1/keys", admin, withBody | uncached | whole, of(s, s.createKey)},
		endpoint{"POST", "/v1/keys/:key/rotate", admin, withBody | uncached | whole, of(s, s.rotateKey)},
		endpoint{"DELETE", "/v1/keys/:key", admin, whole, of(s, s.revokeKey)},
		endpoint{"GET", "/v1/audit", admin, computing | whole, of(s, s.listAudit)},
		endpoint{"DELETE", workspacePath + "/sources/:source", admin, 0, of(s, s.forgetSource)},
	), group("service",
		endpoint{"GET", "/health", public, free, raw[struct{}, wire.Health](s.health)},
		endpoint{"GET", "/livez", public, free, raw[struct{}, wire.Health](s.livez)},
		endpoint{"GET", "/readyz", public, free, raw[struct{}, wire.Readiness](s.readyz)},
		endpoint{"GET", "/metrics", public, free, raw[struct{}, string](s.metrics)},
		endpoint{"GET", "/openapi.json", public, free, raw[struct{}, map[string]any](s.openapi)},
	))
}

// pages are for people and their browsers: they are not described.
func (s *server) pages() []endpoint {
	return []endpoint{
		{"GET", "/docs", access.Public, free, page(s.docs)},
		{"GET", "/", access.Public, free, page(s.home)},
		{"GET", "/ui/login", access.Public, free, page(s.loginForm)},
		{"POST", "/ui/login", access.Public, withBody, page(s.login)},
		{"POST", "/ui/logout", access.Public, 0, page(s.logout)},
	}
}

// group names the group of endpoints.
func group(name string, list ...endpoint) []endpoint {
	for i := range list {
		list[i].group = name
	}
	return list
}

// handler serves an endpoint: it lets in what the server, and then the workspace,
// has room for, and counts the answer until it is sent, however slow the client
// reads.
func (s *server) handler(e endpoint) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.admit(c, e.role); err != nil {
			return err
		}
		if e.traits&whole != 0 {
			if err := everywhere(c.Request().Context()); err != nil {
				return err
			}
		}
		if e.traits&free != 0 {
			v, err := e.serve(c, nil)
			return s.answer(c, e, v, err)
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
		if encoded, ok := v.(encoded); ok {
			lease.Hold(int64(len(encoded.body)))
		}
		return s.answer(c, e, v, cmp.Or(waited, err))
	}
}

// read reads the body and says on whose behalf the request is. That is often known from the
// beginning of the body, or before; what the workspace has no room for is read no further.
func (s *server) read(c echo.Context, e endpoint, lease *admission.Lease) (body []byte, workspace string, err error) {
	q := queryOf(c)
	named := q.path("workspace")
	if named == "" && c.Request().URL.RawQuery != "" {
		named = c.QueryParam("workspace")
	}
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
func (s *server) takeBody(c echo.Context, lease *admission.Lease, begun func(head []byte) error) ([]byte, error) {
	w := http.NewResponseController(c.Response())
	_ = w.SetReadDeadline(time.Now().Add(bodyTime)) // where it cannot be set, the server's own holds
	body, err := readBody(c.Request(), s.cfg.MaxBodyBytes, lease, begun)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = echo.NewHTTPError(http.StatusRequestTimeout, fmt.Sprintf("the body was not delivered within %v", bodyTime))
		c.Response().Header().Set("Connection", "close")
	case memoryd.IsKind(err, memoryd.TooLarge, memoryd.Overloaded):
		return nil, s.refuseBody(c, err)
	default:
		_ = w.SetReadDeadline(time.Time{}) // who works long is not to be taken for one who left
	}
	return body, err
}

// compute works on a request. Its answer is encoded within its turn.
func (s *server) compute(c echo.Context, e endpoint, body []byte, lease *admission.Lease) (any, error) {
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
	return encode(v)
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
		if e.traits&uncached != 0 {
			c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		}
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
	keptRest  = 256 << 10
)

// drain reads to the end of a body; false: it met an error, or the limit.
func drain(body io.Reader, limit int64) bool {
	_, err := io.CopyN(io.Discard, body, limit)
	return errors.Is(err, io.EOF)
}

// isBlank reports whether a body was left out.
func isBlank(body []byte) bool { return len(bytes.TrimSpace(body)) == 0 }
