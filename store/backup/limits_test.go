package backup

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"memoryd"
)

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
	l := newLineReader(in, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := l.next()
	runtime.ReadMemStats(&after)
	if !memoryd.IsKind(err, memoryd.TooLarge) || in.read > 2<<20 {
		t.Errorf("got %v after %d bytes", err, in.read)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("took %d bytes", used)
	}
}

func TestLinesAreReadToTheLastByte(t *testing.T) {
	long := strings.Repeat("y", 1<<17)
	for _, tc := range []struct {
		in    string
		limit int
		want  []string
		err   error
	}{
		{"", 9, nil, io.EOF},
		{"a\n\nb\n", 9, []string{"a", "", "b"}, io.EOF},
		{"a\nb", 9, []string{"a", "b"}, errCut},
		{long + "\n" + long, 1 << 17, []string{long, long}, errCut},
	} {
		l := newLineReader(strings.NewReader(tc.in), tc.limit)
		var got []string
		b, err := l.next()
		for ; err == nil; b, err = l.next() {
			got = append(got, string(b))
		}
		if err == errCut { //nolint:errorlint // it is returned as it is
			got = append(got, string(b))
		}
		if strings.Join(got, "|") != strings.Join(tc.want, "|") || err != tc.err || l.n != len(tc.want) || l.bytes != int64(len(tc.in)) { //nolint:errorlint // as above
			t.Errorf("%.20q: got %.40q, %v", tc.in, got, err)
		}
	}
	for _, n := range []int{9, 1 << 17} {
		if _, err := newLineReader(strings.NewReader(strings.Repeat("z", n+1)+"\n"), n).next(); !memoryd.IsKind(err, memoryd.TooLarge) {
			t.Errorf("%d bytes too many: %v", n, err)
		}
	}
}

func TestAfterALineThatIsTooLongComesTheNext(t *testing.T) {
	for _, n := range []int{10, 1 << 17} {
		l := newLineReader(strings.NewReader(strings.Repeat("z", n)+"\nnext\n"), 9)
		if _, err := l.next(); !memoryd.IsKind(err, memoryd.TooLarge) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if b, err := l.next(); err != nil || string(b) != "next" || l.n != 2 {
			t.Errorf("after %d bytes: got %q, %v at line %d", n, b, err, l.n)
		}
	}
}

func TestTheCallsOfAToolAreBounded(t *testing.T) {
	var file strings.Builder
	file.WriteString(`{"manifest":{"format":"memoryd","version":1,"scope":"store"}}` + "\n")
	file.WriteString(`{"tool":{"workspace":"w","tool":"t","calls":1000000000,"lifetime":1000000000,"duplicates":0,"revision":1}}` + "\n")
	for i := range 80 {
		file.WriteString(`{"call":{"key":"` + strings.Repeat("0", 30) + string([]byte{'1' + byte(i/10)}) + string([]byte{'0' + byte(i%10)}) +
			`","seq":1,"success":true,"time_cost":0,"token_cost":-1,"evaluation":{"state":"pending"}}}` + "\n")
	}
	p := newParser(strings.NewReader(file.String()))
	p.toolBytes = 20 << 10
	if err := p.each(func(*manifest) error { return nil }, func(Memory) error { return nil }); !memoryd.IsKind(err, memoryd.TooLarge) || !strings.Contains(err.Error(), `tool "t" has more than`) {
		t.Errorf("got %v", err)
	}
}
