package backup

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"

	"memoryd"
)

// lineReader reads lines of bounded length.
type lineReader struct {
	r     *bufio.Reader
	limit int // bytes, without the end of the line
	n     int // the number of the line that was read last, from 1
	bytes int64
	rest  bool // of a line that was too long, still to be passed over
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 1<<16), limit: limit}
}

// errCut is the end of the input in the middle of a line.
var errCut = errors.New("the file ends in the middle of a line")

// next returns the next line without its end; io.EOF after the last. The bytes
// are valid until the next call. At the end of the input an unfinished line is
// returned with errCut. After a line that is TooLarge comes the one after it.
func (l *lineReader) next() ([]byte, error) {
	if err := l.pass(); err != nil {
		return nil, err
	}
	part, err := l.r.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(part) == 0 {
		return nil, io.EOF
	}
	l.n++
	l.bytes += int64(len(part))
	whole := part
	if errors.Is(err, bufio.ErrBufferFull) {
		whole = bytes.Clone(part)
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(whole) > l.limit {
			l.rest = true
			return nil, memoryd.Errorf(memoryd.TooLarge, "longer than %d bytes", l.limit)
		}
		part, err = l.r.ReadSlice('\n')
		l.bytes += int64(len(part))
		whole = append(whole, part...)
	}
	if errors.Is(err, io.EOF) {
		return whole, errCut
	}
	if err != nil {
		return nil, err
	}
	if len(whole)-1 > l.limit {
		return nil, memoryd.Errorf(memoryd.TooLarge, "longer than %d bytes", l.limit)
	}
	return whole[:len(whole)-1], nil
}

// pass leaves the rest of a line that was too long behind.
func (l *lineReader) pass() error {
	for l.rest {
		part, err := l.r.ReadSlice('\n')
		l.bytes += int64(len(part))
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		l.rest = err != nil
	}
	return nil
}

// jsonLines gives the lines of a file that may come from another program: their
// last one may lack its end. A line that is too long is an error, and the next one
// follows; another error is the last item.
func jsonLines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := newLineReader(r, maxMemoryBytes)
		for {
			b, err := in.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if errors.Is(err, errCut) {
				err = nil
			}
			if !yield(b, err) || err != nil && !rejects(err) {
				return
			}
		}
	}
}
