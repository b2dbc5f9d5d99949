package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
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
	closing    bool
}

const dialTimeout = 5 * time.Second

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

// do sends a whole request and reads the whole answer. A connection that the
// server closes afterwards is opened anew.
func (c *client) do(request []byte, a *answer) error {
	if _, err := c.conn.Write(request); err != nil && !answered(c.in) {
		return err
	}
	if err := a.read(c.in); err != nil {
		return err
	}
	if a.closing {
		return c.reopen()
	}
	return nil
}

// answered reports whether the server spoke although it did not read on.
func answered(in *bufio.Reader) bool {
	_, err := in.Peek(1)
	return err == nil
}

// maxBody bounds an answer, and one chunk of it.
const maxBody = 64 << 20

var errReply = errors.New("not an HTTP answer")

// read reads one answer.
func (a *answer) read(in *bufio.Reader) error {
	line, err := readLine(in)
	if err != nil {
		return err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return errReply
	}
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return errReply
	}
	a.body, a.retryAfter, a.closing = a.body[:0], "", false
	length, chunked := 0, false
	for {
		if line, err = readLine(in); err != nil {
			return err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 || length > maxBody {
				return errReply
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("retry-after")):
			a.retryAfter = string(value)
		case bytes.EqualFold(name, []byte("connection")):
			a.closing = bytes.EqualFold(value, []byte("close"))
		}
	}
	if !chunked {
		return a.take(in, length)
	}
	return a.takeChunks(in)
}

func (a *answer) takeChunks(in *bufio.Reader) error {
	for {
		line, err := readLine(in)
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(line), 16, 31)
		if err != nil || n > maxBody {
			return errReply
		}
		if err := a.take(in, int(n)); err != nil {
			return err
		}
		if _, err := readLine(in); err != nil { // the end of the chunk, or of the body
			return err
		}
		if n == 0 {
			return nil
		}
	}
}

// take appends n bytes to the body.
func (a *answer) take(in *bufio.Reader, n int) error {
	at := len(a.body)
	if cap(a.body) < at+n {
		grown := make([]byte, at, max(2*cap(a.body), at+n))
		copy(grown, a.body)
		a.body = grown
	}
	a.body = a.body[:at+n]
	_, err := io.ReadFull(in, a.body[at:])
	return err
}

// readLine gives a line without its end; it is valid until the next read.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}
