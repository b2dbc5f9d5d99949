package main

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// connections are those that are open to the HTTP face. Of more than most, the one that
// has been silent for longest goes, so that whoever opens many and sends nothing keeps
// nobody out.
type connections struct {
	most    int
	leaving atomic.Bool // the server ends

	mu     sync.Mutex
	open   map[net.Conn]*list.Element // nil: a request is under way
	silent *list.List                 // of quiet, silent for longest first
}

// quiet is a connection that sends nothing, and since when.
type quiet struct {
	conn  net.Conn
	since time.Time
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]*list.Element{}, silent: list.New()}
}

// changed is a hook for http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.open[conn]; el != nil {
		c.silent.Remove(el)
	}
	switch state {
	case http.StateNew, http.StateIdle:
		c.open[conn] = c.silent.PushBack(quiet{conn, time.Now()})
	case http.StateActive:
		c.open[conn] = nil
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
	if front := c.silent.Front(); len(c.open) > c.most && front != nil {
		gone := c.silent.Remove(front).(quiet) //nolint:forcetypeassert // it holds nothing else
		delete(c.open, gone.conn)
		_ = gone.conn.Close()
	}
}

// busy reports whether a request is under way or a connection was used lately.
func (c *connections) busy(lately time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	newest := c.silent.Back()
	return len(c.open) > c.silent.Len() || newest != nil && time.Since(newest.Value.(quiet).since) < lately //nolint:forcetypeassert // as above
}

// handler tells clients of a server that ends to send nothing more on their connections:
// one that is closed unasked may have a request on its way.
func (c *connections) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
