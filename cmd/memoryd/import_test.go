package main

import (
	"bufio"
	"io"
	"runtime"
	"strings"
	"testing"
)

// S17: a line of a gigabyte is named and passed over in little memory; the lines after it
// are read.
func TestALineOfAGigabyteIsSaidToBeOne(t *testing.T) {
	oneByOne(t)
	size := int64(1 << 30)
	if testing.Short() {
		size = 1 << 27
	}
	var said strings.Builder
	i := &importer{ctx: t.Context(), name: "calls.jsonl", err: &said}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := io.MultiReader(strings.NewReader(`{"tool_name":"t","output":"`), io.LimitReader(endlessText{}, size), strings.NewReader("\"}\nno call\n"))
	if err := i.run(bufio.NewReaderSize(in, 1<<16)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	const want = "calls.jsonl:1: rejected: longer than 32 MiB\ncalls.jsonl:2: rejected: not valid JSON\n"
	if said.String() != want || i.counts != (importCounts{rejected: 2}) {
		t.Errorf("%+v, said %q", i.counts, said.String())
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
		t.Errorf("%d MiB were allocated", used>>20)
	}
}

// endlessText never ends.
type endlessText struct{}

func (endlessText) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
