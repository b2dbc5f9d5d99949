package search

import (
	"crypto/sha256"
	"strings"

	"memoryd"
	"memoryd/internal/textsafe"
)

// textOf is what a vector stands for: the tool's name and its guideline, at most
// so many bytes of them.
func textOf(t memoryd.Tool, most int) string { return bounded(t.Tool+"\n"+t.Guideline.Content, most) }

// bounded is the beginning of a text, in whole characters and valid UTF-8.
func bounded(text string, most int) string {
	return strings.ToValidUTF8(textsafe.Head(text, most), "\uFFFD")
}

// digest tells texts apart.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }
