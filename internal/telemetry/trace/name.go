package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"memoryd/internal/textsafe"
)

// maxName bounds, in bytes, a workspace's or a tool's name in a span.
const maxName = 100

// name is a name from outside as spans may carry it: cut, and valid UTF-8, since
// one string that is not would cost the whole batch.
func (t *Tracer) name(s string) string {
	if t.cfg.HashNames {
		sum := sha256.Sum256([]byte(s))
		return "sha256:" + hex.EncodeToString(sum[:8])
	}
	return cut(s, maxName)
}

// cut shortens s to at most n bytes of valid UTF-8.
func cut(s string, n int) string {
	return strings.ToValidUTF8(textsafe.Head(s, n), "?")
}

// methodWord keeps the methods that HTTP defines; a client may send any word.
func methodWord(method string) string {
	known := []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
	}
	if slices.Contains(known, method) {
		return method
	}
	return "_OTHER"
}
