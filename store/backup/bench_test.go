package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/backup"
	"memoryd/store/mem"
)

// big is 20 tools of 100 calls with outputs of 2 KiB.
func big(b *testing.B) store.Store {
	s, output := mem.New(), strings.Repeat("output ", 300)
	for tool := range 20 {
		batch := store.Batch{Workspace: "w", Keep: 100}
		for n := range 100 {
			c := makeCall("w", fmt.Sprint("tool", tool), n)
			c.Output = output
			batch.Calls = append(batch.Calls, identify(c))
		}
		_, err := s.Append(b.Context(), batch)
		must(b, err)
	}
	return s
}

func BenchmarkExport(b *testing.B) {
	s := big(b)
	b.SetBytes(int64(len(export(b, s, ""))))
	b.ReportAllocs()
	for b.Loop() {
		_, err := backup.Export(b.Context(), s, io.Discard, backup.ExportOptions{})
		must(b, err)
	}
}

func BenchmarkRestore(b *testing.B) {
	file := export(b, big(b), "")
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := backup.Restore(b.Context(), mem.New(), bytes.NewReader(file), backup.RestoreOptions{})
		must(b, err)
	}
}

// TestAnExportHoldsOneToolAtATime watches that what is read is passed on before
// the next tool is read, but for the last 64 KiB.
func TestAnExportHoldsOneToolAtATime(t *testing.T) {
	s := mem.New()
	for tool := range 9 {
		c := makeCall("w", fmt.Sprint("tool", tool), 1)
		c.Output = strings.Repeat("x", 1<<20)
		_, err := s.Append(t.Context(), store.Batch{Workspace: "w", Keep: 9, Calls: []memoryd.Call{identify(c)}})
		must(t, err)
	}
	var file bytes.Buffer
	read := 0
	watched := store.Intercept(s, store.Bracket{
		Begin: func(_ context.Context, method string) error {
			if method == "History" {
				if lag := read<<20 - file.Len(); lag > 1<<16 {
					t.Errorf("after %d tools %d bytes are held back", read, lag)
				}
				read++
			}
			return nil
		},
		End: func(_ string, _ time.Duration, err error) error { return err },
	})
	_, err := backup.Export(t.Context(), watched, &file, backup.ExportOptions{})
	must(t, err)
	if read != 9 {
		t.Errorf("%d tools were read", read)
	}
}
