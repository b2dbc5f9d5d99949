package api

import (
	"net/http"
	"sync"

	"memoryd"

	"github.com/labstack/echo/v4"
)

// shares bounds the requests under way, by number and by the bytes of their
// bodies, and turns the others away at once. No workspace can take all: it gets
// no more than shareOfFree times what it leaves free, so that a small one beside
// one that floods finds room, and several that flood get equal shares. A workspace
// that has nothing under way is not held to that. The bounds of all together are
// strict. See Choudhury, Hahne, "Dynamic queue length thresholds for shared-memory
// packet switches", IEEE/ACM Transactions on Networking 6(2), 1998.
type shares struct {
	mu    sync.Mutex
	room  load
	used  load
	taken map[string]load // by workspaces that have something under way
}

// load is what requests take.
type load struct{ requests, bytes int64 }

// shareOfFree is how many times the free room a workspace may take: one alone gets
// eight ninths of all, two eight seventeenths each.
const shareOfFree = 8

func newShares(cfg Config) *shares {
	return &shares{room: load{int64(cfg.MaxInFlight), cfg.MaxInFlightBytes}, taken: map[string]load{}}
}

// ticket is a request under way. It belongs to no workspace until claim.
type ticket struct {
	shares    *shares
	workspace string
	claimed   bool
	bytes     int64
}

// admit lets a request in whose body is announced to have so many bytes.
func (s *shares) admit(bytes int64) (ticket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used.requests >= s.room.requests || s.used.bytes+bytes > s.room.bytes {
		return ticket{}, overloaded("too many requests under way")
	}
	s.used.requests++
	s.used.bytes += bytes
	return ticket{shares: s, bytes: bytes}, nil
}

// claim says whose the request is and how many bytes its body really has. It fails
// when the workspace has its share.
func (t *ticket) claim(workspace string, bytes int64) error {
	s := t.shares
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used.bytes += bytes - t.bytes
	t.bytes = bytes
	mine := s.taken[workspace]
	free := load{s.room.requests - s.used.requests + 1, s.room.bytes - s.used.bytes + bytes}
	if mine.requests > 0 && (mine.requests >= shareOfFree*free.requests || mine.bytes >= shareOfFree*free.bytes) {
		return overloaded("the workspace has too many requests under way")
	}
	t.workspace, t.claimed = workspace, true
	s.taken[workspace] = load{mine.requests + 1, mine.bytes + bytes}
	return nil
}

// end gives back what the request took.
func (t *ticket) end() {
	s := t.shares
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used.requests--
	s.used.bytes -= t.bytes
	if !t.claimed {
		return
	}
	mine := s.taken[t.workspace]
	if mine.requests == 1 {
		delete(s.taken, t.workspace)
		return
	}
	s.taken[t.workspace] = load{mine.requests - 1, mine.bytes - t.bytes}
}

func overloaded(msg string) *memoryd.Error {
	return &memoryd.Error{Kind: memoryd.Overloaded, Msg: msg, RetryAfter: defaultRetryAfter}
}

// readHandler serves a request whose body has been read, on behalf of a workspace.
type readHandler func(c echo.Context, body []byte, workspace string) error

// admitted reads the body of a request that the server, and then the workspace,
// has room for.
func (s *server) admitted(handle readHandler) echo.HandlerFunc {
	return func(c echo.Context) error {
		t, err := s.shares.admit(announced(c.Request(), s.cfg.MaxBodyBytes))
		if err != nil {
			return err
		}
		defer t.end()
		body, err := readBody(c.Request(), s.cfg.MaxBodyBytes)
		if err != nil {
			return err
		}
		workspace := c.Param("workspace")
		if workspace == "" {
			workspace = workspaceOr(workspaceIn(body))
		}
		if err := t.claim(workspace, int64(len(body))); err != nil {
			return err
		}
		return handle(c, body, workspace)
	}
}

// announced is the most that the body of a request may come to.
func announced(r *http.Request, most int64) int64 {
	n := r.ContentLength
	if n < 0 || n > most || r.Header.Get(echo.HeaderContentEncoding) != "" {
		return most
	}
	return n
}
