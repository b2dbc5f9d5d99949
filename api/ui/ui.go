// Package ui is the dashboard: pages rendered on the server from the answers of the flows in
// package ops, under a strict content security policy, without code or files from elsewhere.
// A page can do only what an API request can. Every view has an address, and every change is
// a form.
//
// All text from calls, tools and guidelines is untrusted. It reaches pages only through
// html/template, shortened and without invisible characters.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/access"
	"memoryd/ops"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// Deps are the dependencies of the dashboard.
type Deps struct {
	Flows  *ops.Flows
	Checks []ops.Check
	Logger *slog.Logger
	Now    func() time.Time
	// Store and Judge describe the server's store and judge in words.
	Store, Judge string
	// Retention lists what is kept, and for how long.
	Retention []Retention
	// Hosts are the coding agents on this machine, shown while the server has no data.
	Hosts []Host
}

// Host is a coding agent, and the commands that make memoryd learn from it.
type Host struct {
	Name     string
	Commands []string
}

// Retention is how long something is kept, and the setting that decides it.
type Retention struct{ What, Kept, Setting string }

// Route is an address of the dashboard and what it allows.
type Route struct {
	Method, Path string
	// Role is the role that a caller needs.
	Role  access.Role
	serve func(d *dashboard, r *request) error
}

// Routes lists all addresses except the static files in /ui/static/.
func Routes() []Route { return slices.Concat(viewRoutes(), changeRoutes()) }

// Bounds reports which requests count against the server's limits, and which of them compute.
// Requests for pages do both, but only count if a model may be asked. Files and long streams
// do neither.
func Bounds(r *http.Request) (counted, computing bool) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/ui/static/"), r.URL.Path == "/ui/export":
		return false, false
	case r.URL.Path == "/ui/rewrite", r.URL.Path == "/ui/compaction":
		return true, false
	}
	return true, true
}

// WorkspaceOf returns the workspace of a request, if its address or form names one.
func WorkspaceOf(r *http.Request, body []byte) string {
	if name := r.URL.Query().Get("w"); name != "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return name
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "" // the form is refused
	}
	return form.Get("w")
}

func viewRoutes() []Route {
	return []Route{
		{"GET", "/ui/", access.Read, (*dashboard).overview},
		{"GET", "/ui/tools", access.Read, (*dashboard).tools},
		{"GET", "/ui/tool", access.Read, onTool((*dashboard).tool)},
		{"GET", "/ui/kinds", access.Read, onTool((*dashboard).kinds)},
		{"GET", "/ui/versions", access.Read, onTool((*dashboard).versions)},
		{"GET", "/ui/calls", access.Read, (*dashboard).calls},
		{"GET", "/ui/call", access.Read, onCall((*dashboard).call)},
		{"GET", "/ui/run", access.Read, (*dashboard).run},
		{"GET", "/ui/runs", access.Read, (*dashboard).runs},
		{"GET", "/ui/review", access.Read, (*dashboard).review},
		{"GET", "/ui/forecast", access.Read, (*dashboard).forecast},
		{"GET", "/ui/compaction", access.Read, (*dashboard).compaction},
		{"GET", "/ui/judge", access.Read, (*dashboard).judge},
		{"GET", "/ui/spend", access.Read, (*dashboard).spend},
		{"GET", "/ui/sources", access.Read, (*dashboard).sources},
		{"GET", "/ui/live", access.Read, (*dashboard).live},
		{"GET", "/ui/workspaces", access.Read, (*dashboard).workspaces},
		{"GET", "/ui/export", access.Admin, (*dashboard).export},
	}
}

// dashboard carries what the handlers share.
type dashboard struct {
	Deps
	pages   *template.Template
	version string // of the static files
}

// New returns the handler of everything below /ui/.
func New(deps Deps) http.Handler {
	d := &dashboard{Deps: deps}
	d.pages = template.Must(template.New("").Funcs(d.functions()).ParseFS(templateFiles, "templates/*.html"))
	sum := sha256.New()
	names, _ := fs.Glob(staticFiles, "static/*") // they are embedded
	for _, name := range names {
		data, _ := staticFiles.ReadFile(name)
		sum.Write(data)
	}
	d.version = hex.EncodeToString(sum.Sum(nil)[:6])
	mux := http.NewServeMux()
	for _, r := range Routes() {
		pattern := r.Method + " " + r.Path
		if r.Path == "/ui/" {
			pattern += "{$}"
		}
		mux.Handle(pattern, d.handler(r))
	}
	mux.HandleFunc("GET /ui/static/{file}", d.file)
	mux.Handle("/ui", http.RedirectHandler("/ui/", http.StatusMovedPermanently))
	mux.HandleFunc("/ui/", func(w http.ResponseWriter, r *http.Request) {
		d.fail(&request{w: w, Request: r}, memoryd.Errorf(memoryd.NotFound, "There is no page at this address."))
	})
	return mux
}

// policy lets a page load what this server holds and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func secure(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

func (d *dashboard) file(w http.ResponseWriter, r *http.Request) {
	secure(w)
	w.Header().Set("Cache-Control", "public, max-age=86400, immutable")
	http.ServeFileFS(w, r, staticFiles, "static/"+path.Base(r.PathValue("file")))
}

// request is a request for a page, and what it is about.
type request struct {
	*http.Request

	w     http.ResponseWriter
	query url.Values
	who   *access.Principal
	// Workspace is the one that the address names, else the first there is.
	Workspace  string
	Workspaces []string
}

// maxForm bounds the body of a form: a conversation may be long.
const maxForm = 16 << 20

func (d *dashboard) handler(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		secure(w)
		r := &request{Request: hr, w: w, query: hr.URL.Query(), who: access.Of(hr.Context())}
		var err error = memoryd.Errorf(memoryd.Forbidden, "This requires a key with the role %s.", route.Role)
		if r.who.May(route.Role) {
			err = d.prepare(r)
		}
		if err == nil {
			err = route.serve(d, r)
		}
		if err != nil {
			d.fail(r, err)
		}
	})
}

// prepare reads the form and finds the workspace.
func (d *dashboard) prepare(r *request) error {
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(r.w, r.Body, maxForm)
		if err := r.ParseMultipartForm(maxForm); err != nil && !errors.Is(err, http.ErrNotMultipart) {
			return memoryd.Wrap(memoryd.Invalid, err, "The form could not be read, or is larger than 16 MiB.")
		}
		r.query = r.PostForm
	}
	list, err := d.Flows.ListWorkspaces.Run(r.Context(), ops.ListWorkspaces{Limit: mostWorkspaces, Only: r.who.Workspaces})
	if err != nil {
		return err
	}
	r.Workspaces = list.Names
	r.Workspace = r.arg("w")
	if r.Workspace == "" {
		r.Workspace = memoryd.DefaultWorkspace
		if len(list.Names) > 0 && !slices.Contains(list.Names, r.Workspace) {
			r.Workspace = list.Names[0]
		}
	}
	if !r.who.In(r.Workspace) {
		r.Workspace = access.Absent(r.Workspace)
		return nil
	}
	if !slices.Contains(r.Workspaces, r.Workspace) {
		r.Workspaces = append([]string{r.Workspace}, r.Workspaces...)
	}
	return nil
}

// mostWorkspaces bounds the list to choose from.
const mostWorkspaces = 500

// arg is an argument of the address, or of the form.
func (r *request) arg(name string) string { return r.query.Get(name) }

// page is what the layout shows around a view.
type page struct {
	Title string
	// Nav is the entry of the menu that the view belongs to.
	Nav        string
	Workspace  string
	Workspaces []string
	Said       *notice
	// Who is the caller's key; "" without keys.
	Who     string
	Version string
	Data    any
}

// show writes a page whose middle is a template.
func (d *dashboard) show(r *request, name, nav, title string, data any) error {
	return d.write(r, http.StatusOK, name, page{
		Title: title, Nav: nav, Workspace: r.Workspace, Workspaces: r.Workspaces, Said: said(r), Version: d.version, Data: data, Who: r.name(),
	})
}

// name is the caller's key, "" where none was shown.
func (r *request) name() string {
	if r.who == nil || r.who.Source == access.Local {
		return ""
	}
	return r.who.Source
}

func (d *dashboard) write(r *request, status int, name string, p page) error {
	var body bytes.Buffer
	view, err := d.pages.Clone()
	if err == nil {
		_, err = view.AddParseTree("view", d.pages.Lookup(name).Tree)
	}
	if err == nil {
		err = view.ExecuteTemplate(&body, "layout.html", p)
	}
	if err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "Accept-Encoding")
	var out io.Writer = r.w
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		zw, _ := gzip.NewWriterLevel(r.w, gzip.BestSpeed)
		defer zw.Close() //nolint:errcheck // as below
		out = zw
	}
	r.w.WriteHeader(status)
	_, _ = out.Write(body.Bytes()) // who does not read it has gone
	return nil
}

// statuses are those of the kinds of error that a page can meet.
var statuses = map[memoryd.Kind]int{
	memoryd.Invalid: http.StatusBadRequest, memoryd.NotFound: http.StatusNotFound, memoryd.Conflict: http.StatusConflict,
	memoryd.Forbidden: http.StatusForbidden, memoryd.Unauthenticated: http.StatusUnauthorized,
	memoryd.TooLarge:    http.StatusRequestEntityTooLarge,
	memoryd.Unavailable: http.StatusServiceUnavailable, memoryd.Overloaded: http.StatusTooManyRequests,
	memoryd.OverQuota: http.StatusInsufficientStorage,
}

// fail shows what went wrong, in words that a caller may see.
func (d *dashboard) fail(r *request, err error) {
	if r.Context().Err() != nil {
		return
	}
	secure(r.w)
	kind, msg := memoryd.KindOf(err)
	status, known := statuses[kind]
	if !known {
		status = http.StatusInternalServerError
	}
	if status >= http.StatusInternalServerError {
		d.Logger.WarnContext(r.Context(), "a page failed", "path", r.URL.Path, "err", err)
	}
	p := page{
		Title: http.StatusText(status), Workspace: r.Workspace, Workspaces: r.Workspaces, Version: d.version,
		Data: map[string]any{"Status": status, "Message": msg},
	}
	if err := d.write(r, status, "error.html", p); err != nil {
		d.Logger.ErrorContext(r.Context(), "cannot show an error page", "err", err)
		http.Error(r.w, "internal error", http.StatusInternalServerError)
	}
}

// link is the address of a view; arguments that are "" are left out.
func link(to string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return strings.TrimSuffix("/ui/"+to+"?"+values.Encode(), "?")
}

// with is the address of this view with other arguments; "" takes one away.
func (r *request) with(pairs ...string) string {
	values := url.Values{}
	for name, list := range r.URL.Query() {
		if name != "said" && len(list) > 0 && list[0] != "" {
			values.Set(name, list[0])
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if values.Del(pairs[i]); pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return strings.TrimSuffix(r.URL.Path+"?"+values.Encode(), "?")
}
