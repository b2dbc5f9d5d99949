package llmtest

import (
	"context"
	"io"
	"syscall"
	"time"
)

// stream is a reply's body as it comes over the wire: with pauses, without an
// end, or cut.
type stream struct {
	ctx  context.Context
	x    *exchange
	data []byte
	at   int
	stop int // where the connection is cut; -1: nowhere
}

func (x *exchange) stream(ctx context.Context) *stream {
	s := &stream{ctx: ctx, x: x, data: x.payload(), stop: -1}
	if x.reply.end == cutBody {
		s.stop = len(s.data) / 2
	}
	return s
}

// Read gives the next bytes; it ends with syscall.ECONNRESET where the
// connection is cut.
func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	end := len(s.data)
	if s.stop >= 0 {
		end = s.stop
	}
	if s.at >= end && s.x.reply.end == endless {
		s.at = 0
	}
	if s.at >= end {
		if s.stop >= 0 {
			return 0, syscall.ECONNRESET
		}
		s.x.end(true)
		return 0, io.EOF
	}
	if s.x.reply.drip > 0 {
		if err := sleep(s.ctx, s.x.reply.drip); err != nil {
			return 0, err
		}
		end = s.at + 1
	}
	n := copy(p, s.data[s.at:end])
	s.at += n
	return n, nil
}

// Close gives up the rest.
func (s *stream) Close() error {
	s.x.end(false)
	return nil
}

// begin passes the time before the first byte. It fails when nothing comes.
func (x *exchange) begin(ctx context.Context) error {
	if x.reply.end == hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := sleep(ctx, x.reply.Delay); err != nil {
		return err
	}
	if x.reply.end == reset {
		return syscall.ECONNRESET
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
