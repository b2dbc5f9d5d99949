package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAnswersAreReadAsHTTPSendsThem(t *testing.T) {
	tests := map[string]struct {
		text, body, retry string
		status            int
		closing           bool
		fails             bool
	}{
		"with a length":    {text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, body: "hello"},
		"without a body":   {text: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
		"in chunks":        {text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", status: 200, body: "hello"},
		"told to wait":     {text: "HTTP/1.1 429 Too Many\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n", status: 429, retry: "7"},
		"closing":          {text: "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", status: 413, closing: true},
		"cut off":          {text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", fails: true},
		"not HTTP":         {text: "SSH-2.0-OpenSSH\r\n\r\n", fails: true},
		"a status of text": {text: "HTTP/1.1 abc OK\r\n\r\n", fails: true},
		"a length of text": {text: "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", fails: true},
		"a chunk of text":  {text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", fails: true},
		"nothing":          {text: "", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := answer{body: []byte("of the one before"), retryAfter: "9"}
			near, far := net.Pipe()
			defer near.Close()
			go func() {
				_, _ = http.ReadRequest(bufio.NewReader(far))
				_, _ = io.WriteString(far, tc.text)
				_ = far.Close()
			}()
			err := (&client{conn: near, in: bufio.NewReader(near)}).do([]byte(get("/")), &a)
			if tc.closing { // a pipe cannot be dialled again
				err = nil
			}
			if tc.fails {
				if err == nil {
					t.Fatalf("got %d %q, want an error", a.status, a.body)
				}
				return
			}
			if err != nil || a.status != tc.status || string(a.body) != tc.body || a.retryAfter != tc.retry {
				t.Errorf("got %d %q retry %q, %v", a.status, a.body, a.retryAfter, err)
			}
		})
	}
}

func TestARequestArrivesAsItIsMeant(t *testing.T) {
	tpl := newTemplate(post("/add", `{"tool":"`+toolMark+`","a":"`+countMark+`","b":"`+countMark+`"}`))
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.Path + " " + string(body)
		_, _ = io.WriteString(w, "taken")
	}))
	defer s.Close()
	a, took, err := once(s.Listener.Addr().String(), string(tpl.fill(nil, 42, 999_999_999_999)))
	if err != nil || string(a.body) != "taken" || took <= 0 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if want := `POST /add {"tool":"000042","a":"999999999999","b":"000000000000"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAConnectionThatTheServerEndsIsOpenedAnew(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }))
	defer s.Close()
	c, err := dial(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	for range 3 {
		if err := c.do([]byte(get("/")), &a); err != nil || a.status != 200 {
			t.Fatalf("got %d, %v", a.status, err)
		}
	}
	c.close()
	if err := c.do([]byte(get("/")), &a); !errors.Is(err, net.ErrClosed) && err == nil {
		t.Error("a closed client still answers")
	}
	if err := c.reopen(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v: a closed client came back", err)
	}
}
