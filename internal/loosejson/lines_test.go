package loosejson_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"memoryd/internal/loosejson"
)

var errLong = errors.New("too long")

// endless is one line without an end.
type endless struct{ read int64 }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	e.read += int64(len(b))
	return len(b), nil
}

func TestAnEndlessLineIsGivenUp(t *testing.T) {
	in := &endless{}
	l := loosejson.NewLines(in, 1<<20, errLong)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := l.Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errLong) || in.read > 2<<20 {
		t.Errorf("got %v after %d bytes", err, in.read)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("took %d bytes", used)
	}
}

func TestLinesAreReadToTheLastByte(t *testing.T) {
	long, broken := strings.Repeat("y", 1<<17), errors.New("broken")
	for _, tc := range []struct {
		in    string
		limit int
		want  string
		end   error
	}{
		{"", 9, "", io.EOF},
		{"a\n\nb\n", 9, "a\n|\n|b\n", io.EOF},
		{"a\nb", 9, "a\n|b", io.EOF},
		{"a\nb", 9, "a\n|b!broken", broken},
		{"a\n", 9, "a\n|!broken", broken},
		{long + "\n" + long, 1 << 17, long + "\n|" + long, io.EOF},
		{"0123456789\nnext\n", 9, "!too long|next\n", io.EOF},
		{long + "\nnext\n", 9, "!too long|next\n", io.EOF},
		{"a\n" + long, 9, "a\n|!too long", io.EOF},
		{"a\n" + long, 1<<17 - 1, "a\n|!too long", io.EOF},
	} {
		in := io.Reader(strings.NewReader(tc.in))
		if !errors.Is(tc.end, io.EOF) {
			in = io.MultiReader(in, iotest.ErrReader(tc.end))
		}
		l := loosejson.NewLines(in, tc.limit, errLong)
		var got []string
		for line, err := range l.All() {
			text := string(line)
			if err != nil {
				text += "!" + err.Error()
			}
			got = append(got, text)
		}
		if strings.Join(got, "|") != tc.want || l.Number != len(got) {
			t.Errorf("%.20q: got %.40q, %d lines", tc.in, got, l.Number)
		}
	}
}
