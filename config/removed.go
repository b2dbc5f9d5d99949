package config

import (
	_ "embed"
	"strings"
	"sync"
)

// becameOf says of each key that is no more what became of it: "key key ...: sentence"
// a line. "*" stands for the name of a model.
//
//go:embed removed.txt
var becameOf string

// goneKeys are the lines of becameOf by key.
var goneKeys = sync.OnceValue(func() map[string]string {
	gone := map[string]string{}
	for line := range strings.Lines(becameOf) {
		keys, sentence, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for key := range strings.FieldsSeq(keys) {
			gone[key] = sentence
		}
	}
	return gone
})

// removed says what became of a key; "" where it never was one.
func removed(key string) string {
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "llm" {
		key = "llm.*." + parts[2]
	}
	return goneKeys()[key]
}
