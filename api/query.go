package api

import (
	"cmp"
	"context"
	"encoding/base64"
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

// maxPage is how long a page may be.
const maxPage = 1000

// defaultPage is how long it is if the request does not say.
const defaultPage = 100

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

// refuse keeps the fault that a setting of the request has, unless there was one before it.
func (q *query) refuse(format string, args ...any) {
	q.err = cmp.Or(q.err, refused(format, args...))
}

// refused is what is wrong with a request.
func refused(format string, args ...any) error {
	return memoryd.Errorf(memoryd.Invalid, format, args...)
}

// answer runs a flow and shows what it gave.
func answer[In, Out, Shown any](ctx context.Context, flow ops.Flow[In, Out], in In, show func(Out) Shown) (shown Shown, err error) {
	out, err := flow.Run(ctx, in)
	if err != nil {
		return shown, err
	}
	return show(out), nil
}

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

// ownWorkspace is the workspace of the path, or of ?workspace=, which may come to be.
func (q *query) ownWorkspace() string {
	asked, _ := q.once("workspace")
	name, err := ownWorkspace(q.ctx(), cmp.Or(q.path("workspace"), asked))
	q.err = cmp.Or(q.err, err)
	return name
}

func (q *query) call() memoryd.CallKey {
	key, err := memoryd.ParseCallKey(q.path("call"))
	if err != nil {
		q.refuse("call: an id is %d hexadecimal digits", 2*len(key))
	}
	return key
}

// parse reads a whole number from least to most.
func (q *query) parse(name, text string, least, most int64) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && n >= least && n <= most:
	case most == math.MaxInt64:
		q.refuse("%s: must be a whole number of %d or more", name, least)
	default:
		q.refuse("%s: must be %d to %d", name, least, most)
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

// cursor is where a page begins: the last name of the page before.
func (q *query) cursor() string {
	name, err := base64.RawURLEncoding.DecodeString(q.c.QueryParam("cursor"))
	if err != nil {
		q.err = cmp.Or(q.err, errForeignCursor)
	}
	return string(name)
}

// number is a cursor that is a number of least or more; 0 is the first page.
func (c cursor) number(least int64) (int64, error) {
	if c == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(c), 10, 64)
	if err != nil || n < least {
		return 0, errForeignCursor
	}
	return n, nil
}

var errForeignCursor error = memoryd.Errorf(memoryd.NotFound, "cursor: this server did not issue it")

func cursorAfter(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

// oneOf is an argument that is one of a few words; "" where it is left out.
func (q *query) oneOf(name string, words ...string) string {
	value, given := q.once(name)
	if given && !slices.Contains(words, value) {
		q.refuse("%s: expected one of %s", name, strings.Join(words, ", "))
	}
	return value
}

// checkBy refuses a name of who decides that is too long.
func checkBy(by string) error {
	if len(by) > maxBy {
		return invalid("string_too_long", fmt.Sprintf("at most %d bytes", maxBy), nil, "by")
	}
	return nil
}
