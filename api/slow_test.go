package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/store/mem"
)

// pipes are connections within the process, with deadlines of the bubble's time. A write
// waits until all of it is read.
type pipes struct {
	made  chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8002} }

// pipeEnd is the server's end; it tells when it is closed.
type pipeEnd struct {
	net.Conn
	gone chan struct{}
	once sync.Once
}

func (e *pipeEnd) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9} }

func (e *pipeEnd) Close() error {
	e.once.Do(func() { close(e.gone) })
	return e.Conn.Close()
}

// dial connects; gone is closed when the server lets go.
func (p *pipes) dial(t *testing.T) (client net.Conn, gone <-chan struct{}) {
	t.Helper()
	client, server := net.Pipe()
	end := &pipeEnd{Conn: server, gone: make(chan struct{})}
	p.made <- end
	t.Cleanup(func() { _ = client.Close() })
	return client, end.gone
}

// onPipes serves the API on connections within the process, with the times of default.yaml.
func onPipes(t *testing.T) *pipes {
	t.Helper()
	p := &pipes{made: make(chan net.Conn), ended: make(chan struct{})}
	server := &http.Server{Handler: newHandler(t, mem.New()), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 10 * time.Minute, IdleTimeout: 2 * time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(p)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return p
}

// headOf is the beginning of a request with a body of so many bytes.
func headOf(method, path string, length int) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", method, path, length)
}

// A body arrives within 15 s, or the request ends with 408 then, also where something
// comes all the time.
func TestABodyThatDoesNotArriveEndsAfter15Seconds(t *testing.T) {
	body := `{"tool_name":"t","tool_call_results":[{"output":"` + strings.Repeat("o", 40) + `"}]}`
	for name, tc := range map[string]struct {
		pieces int           // as which the body comes
		pause  time.Duration // before each
		status int
		after  time.Duration
	}{
		"nothing":                {0, 0, 408, 15 * time.Second},
		"a byte a second":        {len(body), time.Second, 408, 15 * time.Second},
		"two halves within 14 s": {2, 7 * time.Second, 200, 14 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, gone := onPipes(t).dial(t)
				begun := time.Now()
				var writer sync.WaitGroup
				defer writer.Wait()
				defer client.Close()
				writer.Go(func() {
					_, _ = io.WriteString(client, headOf("POST", "/add_tool_call_result", len(body)))
					for n := range tc.pieces {
						time.Sleep(tc.pause)
						if _, err := io.WriteString(client, body[n*len(body)/tc.pieces:(n+1)*len(body)/tc.pieces]); err != nil {
							return
						}
					}
				})
				resp, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				if took := time.Since(begun); resp.StatusCode != tc.status || took != tc.after {
					t.Errorf("status %d after %v, want %d after %v", resp.StatusCode, took, tc.status, tc.after)
				}
				if tc.status == 408 {
					<-gone
					if took := time.Since(begun); took > tc.after+drainTime {
						t.Errorf("the connection ended after %v", took)
					}
				}
			})
		})
	}
}

// A refused body of a common size costs the client no new connection, unless it does not come.
func TestTheConnectionOfASmallRefusedBodyIsUsedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		announced, sent int
		kept            bool
	}{
		"it comes":         {100 << 10, 100 << 10, true},
		"it does not come": {100 << 10, 10, false},
		"a large one":      {1 << 20, 1 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := onPipes(t)
				for range testConfig().MaxInFlight { // they take all the room
					client, _ := p.dial(t)
					go func() { _, _ = io.WriteString(client, headOf("POST", "/add_tool_call_result", 10)) }()
				}
				synctest.Wait()
				client, gone := p.dial(t)
				var writer sync.WaitGroup
				writer.Go(func() {
					_, _ = io.WriteString(client, headOf("POST", "/add_tool_call_result", tc.announced)+strings.Repeat(" ", tc.sent))
					if tc.kept {
						_, _ = io.WriteString(client, headOf("GET", "/livez", 0))
					}
				})
				in := bufio.NewReader(client)
				resp, err := http.ReadResponse(in, nil)
				if err != nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
					t.Fatal(err, resp)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				if tc.kept {
					if resp, err = http.ReadResponse(in, nil); err != nil || resp.StatusCode != http.StatusOK {
						t.Error(err, resp)
					}
				} else {
					<-gone
				}
				_ = client.Close()
				writer.Wait()
			})
		})
	}
}

// Who takes nothing of an answer is let go after 30 s; who begins to read before has all
// of it, and who takes a piece now and then keeps what is written in pieces.
func TestAReaderWhoTakesNothingIsLetGoAfter30Seconds(t *testing.T) {
	const calls = "/v1/workspaces/default/tools/t/calls"
	add := `{"tool_name":"t","tool_call_results":[{"output":"` + strings.Repeat("o", 200_000) + `"}]}`
	for name, tc := range map[string]struct {
		path  string
		first time.Duration // before anything is read
		each  time.Duration // before each further 4 KB
		whole bool
	}{
		"an answer":                      {calls, time.Hour, 0, false},
		"an answer in pieces":            {"/metrics", time.Hour, 0, false},
		"an answer, read late":           {calls, 29 * time.Second, 0, true},
		"an answer in pieces, read late": {"/metrics", 29 * time.Second, 0, true},
		"pieces, each read late":         {"/metrics", 20 * time.Second, 20 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := onPipes(t)
				client, _ := p.dial(t)
				go func() { _, _ = io.WriteString(client, headOf("POST", "/add_tool_call_result", len(add))+add) }()
				if resp, err := http.ReadResponse(bufio.NewReader(client), nil); err != nil || resp.StatusCode != 200 {
					t.Fatal(err, resp)
				}
				client, gone := p.dial(t)
				if _, err := io.WriteString(client, headOf("GET", tc.path, 0)); err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				select {
				case <-gone:
				case <-time.After(tc.first):
				}
				if !tc.whole {
					if took := time.Since(begun); took != answerTime {
						t.Errorf("let go after %v, want %v", took, answerTime)
					}
					return
				}
				resp, err := http.ReadResponse(bufio.NewReader(client), nil)
				for n := int64(1); err == nil && n > 0; time.Sleep(tc.each) {
					n, err = io.CopyN(io.Discard, resp.Body, 4096)
				}
				if !errors.Is(err, io.EOF) {
					t.Errorf("the answer ended after %v with %v", time.Since(begun), err)
				}
			})
		})
	}
}
