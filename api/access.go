package api

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the page that asks for a key
	"html"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"

	"github.com/labstack/echo/v4"
)

// Mount is a part of the server with its own handler, such as the MCP server or the dashboard.
// Checks of host, origin and key apply to it as to every route. Its handler finds the caller in the
// request's context (access.Of).
type Mount struct {
	// Path is the path of the route, such as /mcp or /ui/*.
	Path string
	// Role is the role that callers need; access.Public admits everybody.
	Role access.Role
	// Login is where browsers without a key are redirected; "" answers 401.
	Login   string
	Handler http.Handler
	// Bounds reports which limits of the API apply to a request. Counted requests use the server's
	// capacity and the share of the Workspace, and are answered as a whole. Computing ones also
	// wait for a slot of the scheduler, and release it before the answer is sent. The others
	// (files) are answered while they are written. nil means no limits: the handler calls
	// the API.
	Bounds    func(r *http.Request) (counted, computing bool)
	Workspace func(r *http.Request, body []byte) string
}

// mount adds a mounted part to the routes.
func (s *server) mount(e *echo.Echo, m Mount) {
	methods := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	if m.Login == "" {
		methods = append(methods, http.MethodDelete, http.MethodOptions)
	}
	e.Match(methods, m.Path, func(c echo.Context) error {
		err := s.admit(c, m.Role)
		if memoryd.IsKind(err, memoryd.Unauthenticated) && m.Login != "" &&
			strings.Contains(c.Request().Header.Get(echo.HeaderAccept), "text/html") {
			return c.Redirect(http.StatusSeeOther, m.Login)
		}
		if err != nil {
			return err
		}
		if m.Bounds != nil {
			if counted, computing := m.Bounds(c.Request()); counted {
				return s.within(c, m, computing)
			}
		}
		m.Handler.ServeHTTP(c.Response(), c.Request())
		return nil
	})
}

// within serves a request of a mounted part within the bounds of the API's.
func (s *server) within(c echo.Context, m Mount, computing bool) error {
	lease, err := s.quota.Admit(0)
	if err != nil {
		return s.refuseBody(c, err)
	}
	defer lease.Release()
	body, err := s.takeBody(c, &lease, func([]byte) error { return nil })
	if err != nil {
		return err
	}
	workspace := workspaceOf(c.Request().Context(), m.Workspace(c.Request(), body))
	if err := lease.Bind(workspace, int64(len(body))); err != nil {
		return err
	}
	c.Request().Body = io.NopCloser(bytes.NewReader(body))
	w := httptest.NewRecorder()
	if err := s.turn(c, workspace, computing, func() { m.Handler.ServeHTTP(w, c.Request()) }); err != nil {
		return err
	}
	lease.Hold(int64(w.Body.Len()))
	maps.Copy(c.Response().Header(), w.Header())
	_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(answerTime)) // who does not read is dropped
	c.Response().WriteHeader(w.Code)
	_, _ = c.Response().Write(w.Body.Bytes()) // who does not read it has gone
	return nil
}

// turn does something in a place among those that compute, if it needs one.
func (s *server) turn(c echo.Context, workspace string, computing bool, do func()) error {
	if computing {
		slot, err := s.Scheduler.Acquire(c.Request().Context(), workspace)
		if err != nil {
			return err
		}
		defer slot.Release()
		c.SetRequest(c.Request().WithContext(slot))
	}
	do()
	return nil
}

// hosts refuses requests for another host than this one before anything else looks
// at them: a page of a site whose name was made to lead here (DNS rebinding) shows
// the origin and the host of that site.
func (s *server) hosts(c echo.Context) error {
	if !s.cfg.allows(c.Request()) {
		return memoryd.Errorf(memoryd.Misdirected, "the Host header names another server; add the name to http.allowed_hosts")
	}
	return nil
}

// allows reports whether a request is for this server: for a name of this machine's
// own, the address that it listens on or was reached at, or a name of AllowedHosts.
func (c *Config) allows(r *http.Request) bool {
	host := hostOf(r.Host)
	if host == "" {
		return false
	}
	if isLoopback(host) || slices.ContainsFunc(c.AllowedHosts, func(name string) bool { return strings.EqualFold(hostOf(name), host) }) {
		return true
	}
	if listen := hostOf(c.Listen); strings.EqualFold(host, listen) && listen != "0.0.0.0" && listen != "::" {
		return true
	}
	// A number cannot be rebound; the one that the connection came in by is ours.
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	addr, err := netip.ParseAddr(host)
	if !ok || err != nil {
		return false
	}
	own, err := netip.ParseAddrPort(local.String())
	return err == nil && own.Addr().Unmap() == addr.Unmap()
}

// hostOf is a host without its port, brackets and final stop.
func hostOf(host string) string {
	if strings.IndexByte(host, ':') >= 0 { // most names of tests and proxies have no port
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
}

// isLoopback reports whether only this machine is meant by a host.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// localUsers refuses, where no keys are asked for, other users of this machine: whoever
// could ask could read what agents of this user do, and delete it. Probes are answered,
// and who shows a key must show a good one.
func (s *server) localUsers(c echo.Context) error {
	r := c.Request()
	if !s.cfg.OwnUsers() || slices.Contains(probes, r.URL.Path) || !access.Foreign(r.Context()) {
		return nil
	}
	var err error = memoryd.Errorf(memoryd.Unauthenticated,
		"without keys, this server answers only the user who runs it and root; set http.local_users to any to admit all users of this machine")
	if token := tokenOf(r); token != "" && s.Keys != nil {
		p, wrong := s.Keys.Verify(token)
		if err = wrong; err == nil {
			c.SetRequest(r.WithContext(access.With(r.Context(), p)))
			return nil
		}
	}
	c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="memoryd"`)
	return err
}

// admit finds out on whose behalf a request is, and refuses it where that one may
// not ask the route. From here on access.Of(c.Request().Context()) tells.
func (s *server) admit(c echo.Context, need access.Role) error {
	if need&access.Public != 0 {
		return nil
	}
	p, err := s.caller(c.Request())
	if memoryd.IsKind(err, memoryd.Unauthenticated) {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="memoryd"`)
	}
	if err != nil {
		return err
	}
	if !p.May(need) {
		return tooSmall(need &^ p.Roles)
	}
	if p != access.Anybody() { // which is who a context without a caller is of
		c.SetRequest(c.Request().WithContext(access.With(c.Request().Context(), p)))
	}
	return nil
}

func tooSmall(need access.Role) error {
	return memoryd.Errorf(memoryd.Forbidden, "this requires a key with the role %s", need)
}

// sessionCookie is the name of the cookie that replaces a key in a browser.
const sessionCookie = "memoryd_session"

// caller reads the key of a request from its headers, or the session from its
// cookie. Where no keys are asked for, a request without one is anybody's; one that
// shows a key must show a good one all the same.
func (s *server) caller(r *http.Request) (*access.Principal, error) {
	if p := access.Of(r.Context()); s.Keys == nil || p != access.Anybody() { // localUsers knows
		return p, nil
	}
	token := tokenOf(r)
	if token != "" && (s.KeysNeeded || strings.HasPrefix(token, "mrd_")) {
		return s.Keys.Verify(token)
	}
	if cookie, err := r.Cookie(sessionCookie); err == nil && cookie.Value != "" {
		p, err := s.Keys.Session(cookie.Value)
		if err == nil || s.KeysNeeded {
			return p, err
		}
	}
	if !s.KeysNeeded {
		return access.Anybody(), nil
	}
	return nil, memoryd.Errorf(memoryd.Unauthenticated, "an API key is required: Authorization: Bearer mrd_...")
}

// tokenOf is the key that a request shows; "" is none.
func tokenOf(r *http.Request) string {
	if scheme, value, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " "); strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(value)
	}
	return r.Header.Get("X-Api-Key") // written so, it is looked up as it stands
}

// workspaceOf is the workspace that a request is about, "" being the usual one. One
// that the caller does not know of is as one that does not exist. What a request
// brings into being goes by ownWorkspace.
func workspaceOf(ctx context.Context, name string) string {
	name = cmp.Or(name, memoryd.DefaultWorkspace)
	if access.Of(ctx).In(name) {
		return name
	}
	return access.Absent(name)
}

// ownWorkspace is the same for what makes a workspace that is not there yet: one
// that the caller does not know of is refused, whether it exists or not.
func ownWorkspace(ctx context.Context, name string) (string, error) {
	name = workspaceOf(ctx, name)
	if access.IsAbsent(name) {
		return "", memoryd.Errorf(memoryd.NotFound, "this key has no such workspace")
	}
	return name, nil
}

// everywhere refuses a caller that is bound to workspaces: what it asks is of the
// whole server.
func everywhere(ctx context.Context) error {
	if !access.Of(ctx).Everywhere() {
		return memoryd.Errorf(memoryd.Forbidden, "this requires a key for all workspaces")
	}
	return nil
}

// getSession says who the caller is.
//
// The source of the key (or local), its roles, and the workspaces that it knows of.
func (s *server) getSession(ctx context.Context, _ *struct{}) (wire.Session, error) {
	p := access.Of(ctx)
	return wire.Session{Source: p.Source, Roles: p.Roles.Names(), Workspaces: p.Workspaces, KeysNeeded: s.KeysNeeded}, nil
}

//go:embed login.html
var loginPage string

func (s *server) loginForm(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error { return showLogin(c, http.StatusOK, "") }), nil
}

// showLogin writes the page with the form that asks for a key.
func showLogin(c echo.Context, status int, fault string) error {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	h.Set(echo.HeaderCacheControl, "no-store")
	return c.HTML(status, strings.Replace(loginPage, "<!--fault-->", html.EscapeString(fault), 1))
}

// login gives a browser a session for the key of the form.
func (s *server) login(_ echo.Context, body []byte) (any, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the body is not a form")
	}
	if !form.Has("key") {
		return nil, missing("key")
	}
	return written(func(c echo.Context) error {
		if s.Keys == nil || !s.KeysNeeded && form.Get("key") == "" {
			return c.Redirect(http.StatusSeeOther, "/ui/")
		}
		session, p, err := s.Keys.Login(strings.TrimSpace(form.Get("key")))
		if err == nil {
			err = s.Audit.Do(c.Request().Context(), access.Entry{Action: "login", Source: p.Source}, func(context.Context) error { return nil })
		}
		if err != nil {
			f := describe(err)
			return showLogin(c, f.status, f.msg)
		}
		c.SetCookie(s.cookie(c, session, int(access.SessionTime.Seconds())))
		return c.Redirect(http.StatusSeeOther, "/ui/")
	}), nil
}

// logout takes the cookie back.
func (s *server) logout(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error {
		c.SetCookie(s.cookie(c, "", -1))
		return c.Redirect(http.StatusSeeOther, "/ui/login")
	}), nil
}

func (s *server) cookie(c echo.Context, value string, seconds int) *http.Cookie {
	r := c.Request()
	return &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || s.cfg.BehindProxy && !isLoopback(hostOf(r.Host)),
	}
}
