package api

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/url"
	"time"

	"memoryd"
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
	// tagged endpoints answer with an entity tag.
	tagged
)

// endpoint is a route. What it returns is answered as JSON, an encoded answer as it
// stands, nothing with 204; a written one answers itself.
type endpoint struct {
	method, path string
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
		versions  = tool + "/guidelines"
		original  = workspace + "/originals/:original"
		service   = toolMemory | withBody
	)
	return []endpoint{
		{"POST", "/add_tool_call_result", service | computing, typed(s, s.addToolCallResult)},
		{"POST", "/summary_tool_memory", service, typed(s, s.summaryToolMemory)},
		{"POST", "/retrieve_tool_memory", service | computing | tagged, s.retrieveToolMemory},
		{"POST", "/preflight_tool_call", service, typed(s, s.preflightToolCall)},
		{"POST", "/vector_store", service, typed(s, s.vectorStore)},
		{"POST", "/compact_conversation", withBody, typed(s, s.compactConversation)},

		{"GET", "/health", free, s.health},
		{"GET", "/livez", free, s.livez},
		{"GET", "/readyz", free, s.readyz},
		{"GET", "/metrics", free, s.metrics},
		{"GET", "/openapi.json", free, d.spec},
		{"GET", "/docs", free, d.page},

		{"GET", "/v1/workspaces", computing, s.listWorkspaces},
		{"GET", "/v1/spend", computing, s.getSpend},
		{"GET", "/v1/judges", computing, s.listJudges},
		{"GET", workspace + "/tools", computing, s.listTools},
		{"GET", workspace + "/spend", computing, s.getSpend},
		{"GET", workspace + "/corrections", 0, s.listCorrections},
		{"GET", workspace + "/originals", computing, s.lookUp},
		{"GET", original, computing, s.getOriginal},
		{"POST", original + "/undo", withBody, s.undo},
		{"GET", versions, computing, s.listGuidelines},
		{"PUT", versions + "/pin", withBody, typed(s, s.pinGuideline)},
		{"DELETE", versions + "/pin", 0, s.unpinGuideline},
		{"GET", versions + "/:revision", computing, s.getGuideline},
		{"GET", versions + "/:revision/diff", computing, s.diffGuideline},
		{"POST", versions + "/:revision/rollback", withBody, s.rollBackGuideline},
		{"GET", tool + "/calls", computing, s.listCalls},
		{"GET", call, computing, s.getCall},
		{"PUT", call + "/evaluation", withBody, typed(s, s.putEvaluation)},
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

// handler serves an endpoint: it lets in what the server, and then the workspace,
// has room for, and counts the answer until it is sent, however slow the client
// reads.
func (s *server) handler(e endpoint) echo.HandlerFunc {
	if e.traits&free != 0 {
		return func(c echo.Context) error {
			v, err := e.serve(c, nil)
			return s.answer(c, e, v, err)
		}
	}
	return func(c echo.Context) error {
		if query := c.Request().URL.RawQuery; query != "" {
			if _, err := url.ParseQuery(query); err != nil {
				return memoryd.Wrap(memoryd.Invalid, err, "the query of the address is not valid")
			}
		}
		most := int64(0)
		if e.traits&withBody != 0 {
			most = announced(c.Request(), s.cfg.MaxBodyBytes)
		}
		lease, err := s.quota.Admit(most)
		if err != nil {
			return err
		}
		defer lease.Release()
		body, workspace, err := s.read(c, e, &lease)
		if err != nil {
			return err
		}
		v, err := s.compute(c, e, body, workspace)
		if encoded, ok := v.(encoded); ok {
			lease.Hold(int64(len(encoded.body)))
		}
		return s.answer(c, e, v, err)
	}
}

// read reads the body and says on whose behalf the request is.
func (s *server) read(c echo.Context, e endpoint, lease *ops.Lease) (body []byte, workspace string, err error) {
	if e.traits&withBody != 0 {
		body, err = readBody(c.Request(), s.cfg.MaxBodyBytes)
	}
	if memoryd.IsKind(err, memoryd.TooLarge) {
		c.Response().Header().Set("Connection", "close")
		c.Error(err)
		drain(c, s.cfg.MaxBodyBytes)
	}
	if err != nil {
		return nil, "", err
	}
	workspace = cmp.Or(c.Param("workspace"), peekWorkspace(body), memoryd.DefaultWorkspace)
	return body, workspace, lease.Bind(workspace, int64(len(body)))
}

// compute works on a request. Its answer is encoded within its turn.
func (s *server) compute(c echo.Context, e endpoint, body []byte, workspace string) (any, error) {
	if e.traits&computing != 0 {
		slot, err := s.Scheduler.Acquire(c.Request().Context(), workspace)
		if err != nil {
			return nil, err
		}
		defer slot.Release()
		c.SetRequest(c.Request().WithContext(slot))
	}
	v, err := e.serve(c, body)
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
	switch v := v.(type) {
	case nil:
		return c.NoContent(http.StatusNoContent)
	case written:
		return v(c)
	case encoded:
		if e.traits&tagged != 0 {
			return writeTagged(c, v)
		}
	}
	return writeJSON(c, http.StatusOK, jsonType, v)
}

// isToolMemory reports whether the route's clients read the answers of the
// tool-memory endpoints.
func (s *server) isToolMemory(c echo.Context) bool { return s.traits[c.Path()]&toolMemory != 0 }

// announced is the most that the body of a request may come to.
func announced(r *http.Request, most int64) int64 {
	n := r.ContentLength
	if n < 0 || n > most || r.Header.Get(echo.HeaderContentEncoding) != "" {
		return most
	}
	return n
}

// drainTime is how long what is left of a refused body is read, and thrown away.
const drainTime = 2 * time.Second

// drain reads on from a body that was refused, so that a client that looks at the
// answer only when it has sent everything gets to see it; no more than another
// limit's worth, and not for long.
func drain(c echo.Context, limit int64) {
	w := http.NewResponseController(c.Response())
	if w.Flush() == nil && w.SetReadDeadline(time.Now().Add(drainTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.Request().Body, limit)
	}
}

// isBlank reports whether a body was left out.
func isBlank(body []byte) bool { return len(bytes.TrimSpace(body)) == 0 }
