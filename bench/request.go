package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// callBytes is input and output of one call, together.
const callBytes = 2048

// The parts of a call that differ from one to the next. They have fixed widths,
// so that a request is made by writing numbers into a copy.
const (
	toolMark  = "TTTTTT"
	countMark = "NNNNNNNNNNNN"
)

// post is the text of a request.
func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, len(body), body)
}

// get is the text of a request without a body.
func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n" }

// template is a request with marks in it.
type template struct {
	text          []byte
	tools, counts []int // where the marks stand
}

func newTemplate(text string) *template {
	t := &template{text: []byte(text)}
	t.tools = places(t.text, toolMark)
	t.counts = places(t.text, countMark)
	return t
}

func places(text []byte, mark string) []int {
	var at []int
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(mark))
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(mark)
	}
}

// fill appends the request with its numbers to buf.
func (t *template) fill(buf []byte, tool, count uint64) []byte {
	at := len(buf)
	buf = append(buf, t.text...)
	t.number(buf[at:], tool, count)
	return buf
}

// number writes the numbers of a request into its text.
func (t *template) number(text []byte, tool, count uint64) {
	for _, p := range t.tools {
		digits(text[p:p+len(toolMark)], tool)
	}
	for _, p := range t.counts {
		digits(text[p:p+len(countMark)], count)
		count++
	}
}

// digits writes n with leading zeros.
func digits(into []byte, n uint64) {
	for i := len(into) - 1; i >= 0; i-- {
		into[i] = byte('0' + n%10)
		n /= 10
	}
}

// vocabulary is what outputs are made of, in an order that repeats nothing: they pack to about
// half of their size, as recorded ones do (.2 to .6).
const vocabulary = `the ring keeps newest slots and lets oldest go without a second page readers follow each commit in order of
	arrival buffer writer sees free room between two marks a slot holds one record its number says where it stands who asks for more
	waits until others have left or takes what was there before last turn nothing moves when nobody writes long queue costs little
	memory while short rings answer sooner`

// word is the n-th of an output.
func word(n uint64) string {
	words := strings.Fields(vocabulary)
	return words[n*0xbf58476d1ce4e5b9>>40%uint64(len(words))]
}

// input is that of all calls.
const input = `{"query":"how to keep a ring buffer of slots","language":"en","max_results":12}`

// prose is the output of a call of size bytes. It is like that of a search tool, which the rules
// can judge.
func prose(size int) string {
	output := "found 12 results for request " + countMark + ": "
	for n := uint64(1); len(output)+len(input) < size; n++ {
		output += word(n) + " "
	}
	return output[:max(0, min(len(output), size-len(input)))]
}

// records is the output of a call of about size bytes as tools write it that answer in JSON.
func records(size int) string {
	output := `{"request":"` + countMark + `","items":[`
	for n := uint64(1); len(output)+len(input) < size-100; n += 2 {
		output += fmt.Sprintf(`{"id":"item-%d","title":"the %s %s","stars":%d,"open":%t},`, n*7919%100_003, word(n), word(n+1), n, n%4 == 1)
	}
	return strings.TrimSuffix(output, ",") + "]}"
}

// item is the JSON of one call.
func item(output, extra string) string {
	text, _ := json.Marshal(output) // a string can always be encoded
	return `{"input":` + input + `,"output":` + string(text) + `,"success":true,"time_cost":1.25,"token_cost":512` + extra + `}`
}

// addTemplate is an add of n calls of size bytes to one tool of the workspace.
func addTemplate(workspace string, n, size int) *template {
	return addWith(workspace, n, prose(size), "")
}

func addWith(workspace string, n int, output, extra string) *template {
	one := item(output, extra)
	items := strings.Repeat(","+one, n)[1:]
	return newTemplate(post("/add_tool_call_result", `{"workspace_id":"`+workspace+`","tool_name":"tool-`+toolMark+
		`","async":true,"include_history":false,"tool_call_results":[`+items+`]}`))
}

// spread gives a tool for the n-th request, in an order without a pattern.
func spread(n uint64, tools int) uint64 {
	return n * 0x9e3779b97f4a7c15 >> 32 % uint64(tools)
}

// adds is a load of requests made from t.
func adds(addr string, conns int, t *template, tools int, first uint64) *load {
	return &load{addr: addr, conns: conns, first: first, request: func(n uint64, buf []byte) []byte {
		if cap(buf) < len(t.text) {
			return t.fill(nil, spread(n, tools), n*64)
		}
		buf = buf[:len(t.text)] // the one before: to copy a batch anew takes processors from the server
		t.number(buf, spread(n, tools), n*64)
		return buf
	}}
}

// once sends one request and gives a copy of the answer.
func once(addr, request string) (*answer, time.Duration, error) {
	c, err := dial(addr)
	if err != nil {
		return nil, 0, err
	}
	defer c.close()
	var a answer
	start := time.Now()
	err = c.do([]byte(request), &a)
	return &a, time.Since(start), err
}

func toolName(n uint64) string { return fmt.Sprintf("tool-%06d", n) }

func itoa(n int) string { return strconv.Itoa(n) }

// client is one HTTP/1.1 connection, as lean as a load generator should be: it
// writes requests as they are and reads just what it must of the answers.
type client struct {
	conn net.Conn
	in   *bufio.Reader

	mu     sync.Mutex // guards what close and reopen share
	closed bool
}

// answer is one reply; it is reused by the next.
type answer struct {
	status     int
	body       []byte
	retryAfter string
	response   fasthttp.Response
}

const (
	dialTimeout = 5 * time.Second
	maxBody     = 64 << 20 // of an answer
)

func dial(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, dialTimeout)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 16<<10)}, nil
}

// close ends the connection; an exchange under way fails.
func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	_ = c.conn.Close()
}

// reopen replaces a connection that the server gave up.
func (c *client) reopen() error {
	conn, err := net.DialTimeout("tcp", c.conn.RemoteAddr().String(), dialTimeout)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.Close()
	if c.closed {
		return errors.Join(net.ErrClosed, conn.Close())
	}
	c.conn = conn
	c.in.Reset(conn)
	return nil
}

// do sends a whole request and reads the whole answer, also where the server
// spoke although it did not read on. A connection that the server closes
// afterwards is opened anew.
func (c *client) do(request []byte, a *answer) error {
	if _, err := c.conn.Write(request); err != nil {
		if _, perr := c.in.Peek(1); perr != nil {
			return err
		}
	}
	r := &a.response
	if err := r.ReadLimitBody(c.in, maxBody); err != nil {
		return err
	}
	a.status, a.body, a.retryAfter = r.StatusCode(), r.Body(), string(r.Header.Peek("Retry-After"))
	if r.ConnectionClose() {
		return c.reopen()
	}
	return nil
}

// fill appends calls to tools 0..tools-1 of the workspace until each has had
// perTool, in requests of many calls, so that histories are full and reuse of
// rows is what is measured afterwards.
func fill(ctx context.Context, addr, workspace string, tools, perTool int) error {
	const perRequest = 100
	n := min(perRequest, perTool)
	t := addTemplate(workspace, n, callBytes)
	rounds := (perTool + n - 1) / n
	var next atomic.Uint64
	total := uint64(tools * rounds)
	l := &load{addr: addr, conns: 8}
	l.request = func(i uint64, buf []byte) []byte { return t.fill(buf, i%uint64(tools), i*perRequest) }
	_, err := l.run(ctx, counted(&next, total))
	if err != nil {
		return fmt.Errorf("fill %d tools with %d calls: %w", tools, perTool, err)
	}
	return nil
}

// summarise writes the guidelines of tools 0..tools-1.
func summarise(ctx context.Context, addr, workspace string, tools int) error {
	t := newTemplate(post("/summary_tool_memory", `{"workspace_id":"`+workspace+`","tool_names":"tool-`+toolMark+`"}`))
	var next atomic.Uint64
	l := &load{addr: addr, conns: 4}
	l.request = func(i uint64, buf []byte) []byte { return t.fill(buf, i, 0) }
	if _, err := l.run(ctx, counted(&next, uint64(tools))); err != nil {
		return fmt.Errorf("summarise %d tools: %w", tools, err)
	}
	return nil
}
