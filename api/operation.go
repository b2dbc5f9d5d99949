package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"net/url"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// operation is what a route does. openapi.json is made from its types, from the comments on
// them, and from the comment on its handler: describe_test.go writes it.
type operation struct {
	name    string // of the handler
	group   string // under which it is described; "" for what is not
	in, out reflect.Type
	serve   func(c echo.Context, body []byte) (any, error)
}

// of makes an operation of a handler whose types say what it reads and answers. See inputOf for
// the former. A nil pointer is answered with 204.
func of[In, Out any](s *server, handle func(ctx context.Context, in *In) (Out, error)) operation {
	fields := inputOf(reflect.TypeFor[In]())
	return operation{
		name: nameOf(handle), in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
		serve: func(c echo.Context, body []byte) (any, error) {
			in := new(In)
			if err := fields.read(s, c, body, in); err != nil {
				return nil, err
			}
			out, err := handle(c.Request().Context(), in)
			if err != nil {
				return nil, err
			}
			return answerOf(out), nil
		},
	}
}

// raw makes an operation of a handler that reads or answers in its own way. Its types only
// describe it.
func raw[In, Out any](serve func(c echo.Context, body []byte) (any, error)) operation {
	return operation{name: nameOf(serve), in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), serve: serve}
}

// gives says what an operation answers whose handler does not say it.
func gives[Out any](op operation) operation {
	op.out = reflect.TypeFor[Out]()
	return op
}

// page is an operation for people and their browsers, which is not described.
func page(serve func(c echo.Context, body []byte) (any, error)) operation {
	return operation{serve: serve}
}

func nameOf(method any) string {
	name := runtime.FuncForPC(reflect.ValueOf(method).Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
}

// lines is an answer of JSON-lines, each of a T.
type lines[T any] func(w io.Writer) error

func (l lines[T]) written() any { return streamed(l) }

// exactly is an answer that is JSON of a T already.
type exactly[T any] struct{ encoded }

func (e exactly[T]) written() any { return e.encoded }

// answerOf gives what the server writes for an answer.
func answerOf(out any) any {
	if w, ok := out.(interface{ written() any }); ok {
		return w.written()
	}
	if v := reflect.ValueOf(out); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return out
}

// input says how a request is read into a struct. Fields with the tag path, query or header are
// parameters of that name, and Body is the body; where there are none, the struct is the body.
type input struct {
	params   []param
	body     []int // the index of Body; nil: there is none
	optional bool  // Body may be left out: it has the tag body:"optional"
	whole    bool  // the struct is the body
}

type param struct {
	index []int
	read  func(q *query, into reflect.Value)
}

func inputOf(t reflect.Type) *input {
	in := &input{}
	for _, f := range reflect.VisibleFields(t) {
		switch read := readerOf(f); {
		case read != nil:
			in.params = append(in.params, param{f.Index, read})
		case f.Name == "Body" && len(f.Index) == 1:
			in.body, in.optional = f.Index, f.Tag.Get("body") == "optional"
		}
	}
	in.whole = in.body == nil && len(in.params) == 0
	return in
}

func (i *input) read(s *server, c echo.Context, body []byte, into any) error {
	v := reflect.ValueOf(into).Elem()
	if i.whole {
		if v.NumField() == 0 {
			return nil
		}
		return s.decode(body, into)
	}
	if i.body != nil {
		if i.optional && isBlank(body) {
			body = []byte("{}")
		}
		if err := s.decode(body, v.FieldByIndex(i.body).Addr().Interface()); err != nil {
			return err
		}
	}
	q := queryOf(c)
	for _, p := range i.params {
		p.read(q, v.FieldByIndex(p.index))
	}
	return q.err
}

// The types of parameters that mean more than their text.
type (
	// knownSpace is a workspace of the path, or one that nobody has where the caller may not
	// know of it.
	knownSpace string
	// newSpace is a workspace that the request may bring into being.
	newSpace string
	// cursor says where a page begins.
	cursor string
)

// readerOf gives how a field is read; nil if it is no parameter.
func readerOf(f reflect.StructField) func(q *query, into reflect.Value) {
	if name := f.Tag.Get("header"); name != "" {
		return func(q *query, into reflect.Value) { into.SetString(q.c.Request().Header.Get(name)) }
	}
	name, inPath := f.Tag.Lookup("path")
	if !inPath {
		name = f.Tag.Get("query")
	}
	if name == "" {
		return nil
	}
	text := func(q *query) string { return q.c.QueryParam(name) }
	if inPath {
		text = func(q *query) string { return q.path(name) }
	}
	switch reflect.New(f.Type).Elem().Interface().(type) {
	case knownSpace:
		return func(q *query, into reflect.Value) { into.SetString(workspaceOf(q.ctx(), text(q))) }
	case cursor:
		return func(q *query, into reflect.Value) { into.SetString(q.cursor()) }
	case memoryd.CallKey:
		return func(q *query, into reflect.Value) { into.Set(reflect.ValueOf(q.call())) }
	case *string:
		return func(q *query, into reflect.Value) {
			if value, given := q.once(name); given {
				into.Set(reflect.ValueOf(&value))
			}
		}
	case *int64:
		return func(q *query, into reflect.Value) {
			if value, given := q.once(name); given {
				n := q.parse(name, value, 0, math.MaxInt64)
				into.Set(reflect.ValueOf(&n))
			}
		}
	case int, int64:
		least, most := bound(f, "minimum", 0), bound(f, "maximum", math.MaxInt64)
		return func(q *query, into reflect.Value) {
			value, given := text(q), inPath
			if !inPath {
				value, given = q.once(name)
			}
			if !given {
				value = f.Tag.Get("default")
			}
			into.SetInt(q.parse(name, value, least, most))
		}
	}
	if words := f.Tag.Get("enum"); words != "" && !inPath {
		return func(q *query, into reflect.Value) { into.SetString(q.oneOf(name, strings.Split(words, ",")...)) }
	}
	return func(q *query, into reflect.Value) { into.SetString(text(q)) }
}

// bound is the number in a tag of a field.
func bound(f reflect.StructField, tag string, otherwise int64) int64 {
	n, err := strconv.ParseInt(f.Tag.Get(tag), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// The parameters that several operations share.
type (
	inWorkspace struct {
		Workspace knownSpace `path:"workspace"`
	}
	inTool struct {
		inWorkspace

		Tool string `path:"tool"` // The tool's name; a slash in it is written %2F.
	}
	inCall struct {
		inTool

		Call memoryd.CallKey `path:"call" pattern:"^[0-9a-f]{32}$"` // `metadata.call_id` of a call.
	}
	inPage struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"` // The size of the page.
		Cursor cursor `query:"cursor"`                                         // The next_cursor of the page before.
	}
)

func (in *inTool) ref() memoryd.ToolRef {
	return memoryd.ToolRef{Workspace: string(in.Workspace), Tool: in.Tool}
}

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
	value, _ := url.PathUnescape(q.c.Param(name)) // net/http has read it
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
