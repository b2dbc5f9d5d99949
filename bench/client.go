package main

import (
	"bufio"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

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
