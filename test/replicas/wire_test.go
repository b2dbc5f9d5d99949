package replicas

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// wire is the way to a server: a port of the loopback whose connections go on to
// the server. It counts what goes through, and it can be cut or stuck.
type wire struct {
	dial   func(context.Context) (net.Conn, error)
	listen net.Listener
	all    sync.WaitGroup

	mu    sync.Mutex
	state state
	free  chan struct{} // closed when bytes may go on
	ends  map[net.Conn]bool
	up    *tally // nil: nobody counts
	down  *tally
}

// state is what becomes of a connection.
type state int

const (
	whole state = iota
	cut         // connections end at once
	stuck       // connections stay, but no byte comes through
)

// newWire opens a way to what dial reaches, until the test ends.
func newWire(t *testing.T, dial func(context.Context) (net.Conn, error)) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{dial: dial, listen: l, ends: map[net.Conn]bool{}, free: make(chan struct{})}
	close(w.free)
	w.all.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.become(cut)
		w.all.Wait()
	})
	return w
}

// port is where the wire begins.
func (w *wire) port() int { return w.listen.Addr().(*net.TCPAddr).Port }

func (w *wire) accept() {
	for {
		near, err := w.listen.Accept()
		if err != nil {
			return // closed with the test
		}
		w.all.Go(func() { w.join(near) })
	}
}

// join carries the bytes of one connection both ways until an end is closed.
func (w *wire) join(near net.Conn) {
	if !w.hold(near) {
		return
	}
	defer w.drop(near)
	far, err := w.dial(context.Background())
	if err != nil {
		return // no server: the client sees its connection end
	}
	if !w.hold(far) {
		return
	}
	defer w.drop(far)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.carry(near, far, func() *tally { return w.down })
		_ = near.Close()
	}()
	w.carry(far, near, func() *tally { return w.up })
	_ = far.Close()
	<-done
}

// hold takes an end in, unless the wire is cut.
func (w *wire) hold(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == cut {
		_ = c.Close()
		return false
	}
	w.ends[c] = true
	return true
}

func (w *wire) drop(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ends, c)
	_ = c.Close()
}

// carry copies one direction. A side that closes or fails ends it.
func (w *wire) carry(to io.Writer, from io.Reader, of func() *tally) {
	f := frames{}
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		count, free := of(), w.free
		w.mu.Unlock()
		f.see(buf[:n], count)
		<-free
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// become changes what the wire does.
func (w *wire) become(s state) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == stuck {
		close(w.free)
	}
	w.state = s
	switch s {
	case stuck:
		w.free = make(chan struct{})
	case cut:
		for c := range w.ends {
			_ = c.Close()
		}
	}
}

// count begins to count anew; what it gives ends that.
func (w *wire) count() (stop func() (up, down *tally)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.up, w.down = newTally(), newTally()
	return func() (*tally, *tally) {
		w.mu.Lock()
		defer w.mu.Unlock()
		up, down := w.up, w.down
		w.up, w.down = nil, nil
		return up, down
	}
}
