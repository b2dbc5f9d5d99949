package loosejson

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// Lines reads the lines of a file of JSON lines.
type Lines struct {
	// Number is the number of the line that was read last, from 1.
	Number int

	in    *bufio.Reader
	most  int
	long  error
	line  []byte
	inner bool // the next bytes are of a line that was too long
}

// NewLines returns a reader of lines. One of more than most bytes, without its end, is passed
// over and returns the error long.
func NewLines(r io.Reader, most int, long error) *Lines {
	return &Lines{in: bufio.NewReaderSize(r, 1<<16), most: most, long: long}
}

// Next returns the next line with its end, which the last one may lack, and io.EOF after that.
// With another error come the bytes before it. The bytes are valid until the next call.
func (l *Lines) Next() ([]byte, error) {
	for l.inner {
		_, err := l.in.ReadSlice('\n')
		if l.inner = errors.Is(err, bufio.ErrBufferFull); err != nil && !l.inner {
			return nil, err
		}
	}
	l.line = l.line[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		l.line = append(l.line, part...)
		if errors.Is(err, io.EOF) {
			if len(l.line) == 0 {
				return nil, io.EOF
			}
			err = nil
		}
		more := errors.Is(err, bufio.ErrBufferFull)
		long := len(bytes.TrimSuffix(l.line, []byte("\n"))) > l.most
		if more && !long {
			continue
		}
		l.Number++
		if long {
			l.line, l.inner = nil, more
			return nil, l.long
		}
		return l.line, err
	}
}

// All returns the lines one after another. After one that is too long comes the next; any other
// error is the last item.
func (l *Lines) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			line, err := l.Next()
			if errors.Is(err, io.EOF) || !yield(line, err) {
				return
			}
			if err != nil && !errors.Is(err, l.long) {
				return
			}
		}
	}
}
