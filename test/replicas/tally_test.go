package replicas

import (
	"slices"
	"sync"
)

// tally is what went one way: all bytes, and those of the bodies of each request
// or reply.
type tally struct {
	mu     sync.Mutex
	bytes  int
	bodies map[streamOf]int
}

// streamOf is a request of a connection.
type streamOf struct {
	conn   *frames
	stream uint32
}

func newTally() *tally { return &tally{bodies: map[streamOf]int{}} }

// sizes gives the sizes of the bodies, the largest first.
func (t *tally) sizes() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []int
	for _, n := range t.bodies {
		out = append(out, n)
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// total is all bytes, those of the protocol included.
func (t *tally) total() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

// preface is what a client of HTTP/2 sends first (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frameHead is the length of a frame's header: three bytes of length, type, flags
// and four of the stream (RFC 9113, section 4.1). Type 0 is DATA.
const frameHead = 9

// frames follows one direction of an HTTP/2 connection.
type frames struct {
	head []byte // of the frame that begins
	left int    // of the present frame's body
}

// see takes bytes as they come and counts them, unless count is nil.
func (f *frames) see(b []byte, count *tally) {
	if count != nil {
		count.mu.Lock()
		defer count.mu.Unlock()
		count.bytes += len(b)
	}
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			f.left -= n
			b = b[n:]
			continue
		}
		want := frameHead - len(f.head)
		if len(f.head) > 0 && f.head[0] == preface[0] {
			want = len(preface) - len(f.head)
		}
		n := min(want, len(b))
		f.head = append(f.head, b[:n]...)
		b = b[n:]
		if f.head[0] == preface[0] {
			if len(f.head) == len(preface) {
				f.head = f.head[:0]
			}
			continue
		}
		if len(f.head) == frameHead {
			f.begin(count)
		}
	}
}

// begin reads a whole header.
func (f *frames) begin(count *tally) {
	f.left = int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
	if f.head[3] == 0 && count != nil {
		s := f.head[5:]
		count.bodies[streamOf{f, uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])}] += f.left
	}
	f.head = f.head[:0]
}
