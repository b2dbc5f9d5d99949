package transcripts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDocument bounds one line, one element of an array and one file that is a single
// object: more than any message of an agent holds, and little enough that three of
// them fit into a small machine.
const maxDocument = 32 << 20

// peeked is how much of a file is looked at to tell how it is laid out.
const peeked = 256 << 10

// scanner gives the documents of a file one by one: its lines, the elements of the
// array that it is, or the object that it is. Of an object the elements of long
// lists (see streamed) are documents too, each as an object with a list of one.
type scanner struct {
	// document takes a document and the number of its line, 0 in a file that is not one
	// of lines. It may not keep it: the bytes are used again.
	document func(line int, doc []byte)
	// broken takes what could not be read: a line's number, or 0, and why.
	broken func(line int, why string)
}

// lax is how foreign JSON is read.
var lax = []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}

// errNotJSON says that a file does not begin as JSON does.
var errNotJSON = errors.New("no JSON")

// errUTF16 says that a file is one of UTF-16, as some shells of Windows write what is
// redirected into a file.
var errUTF16 = errors.New("text in UTF-16: save it as UTF-8")

func (s scanner) run(r io.Reader) error {
	in := bufio.NewReaderSize(r, peeked)
	head, err := in.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) { // what came before it still counts
		whole := bytes.Clone(head)
		return errors.Join(s.run(bytes.NewReader(whole)), err)
	}
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return errUTF16
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, _ = in.Discard(len("\ufeff"))
		head = head[len("\ufeff"):]
	}
	switch head = bytes.TrimLeft(head, " \t\r\n"); {
	case len(head) == 0:
		return nil
	case head[0] == '{' && inLines(head):
		return s.lines(in)
	case head[0] == '[' || head[0] == '{':
		return s.values(in)
	}
	return errNotJSON
}

// inLines tells JSON lines from an object over many lines.
func inLines(head []byte) bool {
	first, rest, more := bytes.Cut(head, []byte("\n"))
	return !more || jsontext.Value(first).IsValid(lax...) || bytes.HasPrefix(bytes.TrimLeft(rest, "\r\n"), []byte(`{"`))
}

// lines reads JSON lines. One that is broken or too long costs itself.
func (s scanner) lines(in io.Reader) error {
	lines := Lines(in)
	for line, err := range lines.All() {
		doc := bytes.TrimSpace(line)
		switch {
		case errors.Is(err, ErrLongLine):
			s.broken(lines.Number, err.Error())
			continue
		case len(doc) == 0:
		case doc[0] != '{' || doc[len(doc)-1] != '}':
			s.broken(lines.Number, "not a JSON object")
		default:
			s.document(lines.Number, doc)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", lines.Number, err)
		}
	}
	return nil
}

// ErrLongLine means that a line is too long to read.
var ErrLongLine = fmt.Errorf("longer than %d MiB", maxDocument>>20)

// Lines reads JSON lines; one that is too long returns ErrLongLine.
func Lines(r io.Reader) *loosejson.Lines { return loosejson.NewLines(r, maxDocument, ErrLongLine) }

// streamed are the members of a file's object whose lists may be longer than memory.
var streamed = []string{"samples", "loglines", "observations", "spans", "data", "runs", "resourceSpans", "resourceLogs"}

// errTooLong says that one value is beyond what is read.
var errTooLong = fmt.Errorf("a value longer than %d MiB", maxDocument>>20)

// budget ends a reading before it fills the memory.
type budget struct {
	in   io.Reader
	left int64
	end  error // what it ends with
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.end
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// values reads one array, or objects one after another.
func (s scanner) values(in io.Reader) error {
	b := &budget{in, maxDocument, errTooLong}
	dec := jsontext.NewDecoder(b, lax...)
	for {
		var err error
		switch dec.PeekKind() {
		case '[':
			err = s.elements(dec, b, func(v []byte) { s.document(0, v) })
		case '{':
			err = s.object(dec, b)
		default:
			_, err = dec.ReadToken()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = errors.New("neither an object nor an array of objects")
			}
		}
		if err != nil {
			return fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
		}
	}
}

func (s scanner) elements(dec *jsontext.Decoder, b *budget, give func(v []byte)) error {
	return loosejson.Walk(dec, func(string) error {
		b.left = maxDocument
		v, err := dec.ReadValue()
		switch {
		case err != nil:
		case v.Kind() == '{':
			give(v)
		default:
			s.broken(0, "an element that is not an object")
		}
		return err
	})
}

// object gives an object as one document, but for its long lists.
func (s scanner) object(dec *jsontext.Decoder, b *budget) error {
	rest := []byte{'{'}
	err := loosejson.Walk(dec, func(name string) error {
		b.left = maxDocument
		if slices.Contains(streamed, name) && dec.PeekKind() == '[' {
			one := []byte(`{"` + name + `":[`)
			n := len(one)
			return s.elements(dec, b, func(v []byte) {
				one = append(append(one[:n], v...), "]}"...)
				s.document(0, one)
			})
		}
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		if rest = append(append(append(rest, loosejson.Quote(name)...), ':'), v...); len(rest) > maxDocument {
			return errTooLong
		}
		b.left = maxDocument
		return nil
	})
	if err == nil && len(rest) > 1 {
		s.document(0, append(rest, '}'))
	}
	return err
}
