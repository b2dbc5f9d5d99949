package backup

import (
	"bytes"
	"iter"
	"time"
)

// MemoriesOfReMe reads lines of a ReMe server.
func MemoriesOfReMe(file []byte, now time.Time) iter.Seq2[Memory, error] {
	return memories(bytes.NewReader(file), reMe{time.UTC, func() time.Time { return now }}.memory)
}
