package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// Page sizes.
const (
	defaultPage = 100
	maxPage     = 1000
)

// maxBy bounds the name of who decided, in bytes.
const maxBy = 100

// query reads what a request asks for beside its body. It keeps the first fault that
// it finds; what is read after that may be empty.
type query struct {
	c   echo.Context
	err error
}

func queryOf(c echo.Context) *query { return &query{c: c} }

func (q *query) ctx() context.Context { return q.c.Request().Context() }

// fail keeps err unless there was one before it.
func (q *query) fail(err error) { q.err = cmp.Or(q.err, err) }

// refuse keeps the fault that a setting of the request has.
func (q *query) refuse(format string, args ...any) {
	q.fail(memoryd.Errorf(memoryd.Invalid, format, args...))
}

// answer runs a flow on what a request asked for, unless that was faulty, and shows
// what it gave.
func answer[In, Out any](q *query, flow ops.Flow[In, Out], in In, show func(Out) any) (any, error) {
	if q.err != nil {
		return nil, q.err
	}
	out, err := flow.Run(q.ctx(), in)
	if err != nil {
		return nil, err
	}
	return show(out), nil
}

// shown answers with what a flow gave as it is.
func shown[Out any](out Out) any { return out }

// path is a segment of the path as it was meant. Echo hands it out escaped where the
// path holds an escape that it cannot undo, a slash in a name, say.
func (q *query) path(name string) string {
	if q.c.Request().URL.RawPath == "" {
		return q.c.Param(name)
	}
	value, err := url.PathUnescape(q.c.Param(name))
	if err != nil {
		q.refuse("%s: not a valid path segment", name)
	}
	return value
}

// workspace is the workspace of the path, or one that nobody has where the caller
// may not know of it.
func (q *query) workspace() string { return workspaceOf(q.ctx(), q.path("workspace")) }

// ownWorkspace is the workspace of the path, or of ?workspace=, which may come to be.
func (q *query) ownWorkspace() string {
	asked, _ := q.once("workspace")
	name, err := ownWorkspace(q.ctx(), cmp.Or(q.path("workspace"), asked))
	q.fail(err)
	return name
}

// everywhere refuses a caller that is bound to workspaces.
func (q *query) everywhere() { q.fail(everywhere(q.ctx())) }

func (q *query) tool() memoryd.ToolRef {
	return memoryd.ToolRef{Workspace: q.workspace(), Tool: q.path("tool")}
}

func (q *query) call() (key memoryd.CallKey) {
	raw, err := hex.DecodeString(q.path("call"))
	if err != nil || copy(key[:], raw) != len(raw) || len(raw) != len(key) {
		q.refuse("call: an id is %d hexadecimal digits", 2*len(key))
	}
	return key
}

func (q *query) original() ops.GetOriginal {
	return ops.GetOriginal{Workspace: q.workspace(), ID: q.path("original")}
}

// revision is the number of a guideline's version in the path.
func (q *query) revision() int64 {
	return q.parse("revision", q.c.Param("revision"), 1)
}

// parse reads a whole number of least or more.
func (q *query) parse(name, text string, least int64) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least {
		q.refuse("%s: must be a whole number of %d or more", name, least)
	}
	return n
}

// once is an argument that may be given once.
func (q *query) once(name string) (value string, given bool) {
	values := q.c.QueryParams()[name]
	if len(values) == 0 {
		return "", false
	}
	if len(values) > 1 {
		q.refuse("%s: expected once", name)
	}
	return values[0], true
}

// number is a whole number of the query, from least to most.
func (q *query) number(name string, otherwise, least, most int) int {
	text, given := q.once(name)
	if !given {
		return otherwise
	}
	if most == math.MaxInt {
		return int(q.parse(name, text, int64(least)))
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		q.refuse("%s: must be %d to %d", name, least, most)
	}
	return n
}

// limit is how long a page may be.
func (q *query) limit() int { return q.number("limit", defaultPage, 1, maxPage) }

// cursor is where a page begins: the last name of the page before.
func (q *query) cursor() string {
	name, err := base64.RawURLEncoding.DecodeString(q.c.QueryParam("cursor"))
	if err != nil {
		q.foreignCursor()
	}
	return string(name)
}

// place is a cursor that is a number of least or more; 0 is the first page.
func (q *query) place(least int64) int64 {
	text := q.cursor()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least {
		q.foreignCursor()
	}
	return n
}

func (q *query) foreignCursor() {
	q.fail(memoryd.Errorf(memoryd.NotFound, "cursor: this server did not issue it"))
}

func cursorAfter(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

// oneOf is an argument that is one of a few words; "" where it is left out.
func (q *query) oneOf(name string, words ...string) string {
	value, given := q.once(name)
	if given && !slices.Contains(words, value) {
		q.refuse("%s: expected one of %s", name, strings.Join(words, ", "))
	}
	return value
}

// by is who asks, where a request has no body.
// name is the name of who decides.
func (q *query) name(by string) string {
	if len(by) > maxBy {
		q.fail(invalid("string_too_long", fmt.Sprintf("at most %d bytes", maxBy), nil, "by"))
	}
	return by
}
