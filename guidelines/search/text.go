package search

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"memoryd"
)

// textOf is what a vector stands for: the tool's name and its guideline, at most
// so many bytes of them.
func textOf(t memoryd.Tool, most int) string { return bounded(t.Tool+"\n"+t.Guideline.Content, most) }

// bounded is the beginning of a text, in whole characters and valid UTF-8.
func bounded(text string, most int) string {
	if len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// digest tells texts apart.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }
