package api

import (
	"slices"
	"sync"

	"memoryd/ops"
)

// The bounds of remembered answers.
const (
	maxAnswers       = 2048
	maxAnswerRequest = 2 << 10
	maxAnswerBytes   = 16 << 10
)

// answers remembers the encoded form of answers to requests for guidelines: most
// of what such a request costs is writing the same JSON again. An encoding is
// used only for the very same result.
type answers struct {
	mu      sync.RWMutex
	byBytes map[string]remembered
}

type remembered struct {
	answer   string
	memories []ops.Memory
	encoded  encoded
}

// find gives the encoding of the result, if it is known for the request.
func (a *answers) find(request []byte, r *ops.Result) (encoded, bool) {
	a.mu.RLock()
	known, ok := a.byBytes[string(request)]
	a.mu.RUnlock()
	same := func(x, y ops.Memory) bool { return x.Tool == y.Tool && x.Statistics == y.Statistics }
	if !ok || known.answer != r.Answer || !slices.EqualFunc(known.memories, r.Memories, same) {
		return encoded{}, false
	}
	return known.encoded, true
}

// keep remembers an encoding. The map is begun anew when it is full: what is
// asked often comes back at once.
func (a *answers) keep(request []byte, r *ops.Result, e encoded) {
	if len(request) > maxAnswerRequest || len(e.body) > maxAnswerBytes {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byBytes == nil || len(a.byBytes) >= maxAnswers {
		a.byBytes = make(map[string]remembered)
	}
	a.byBytes[string(request)] = remembered{r.Answer, slices.Clone(r.Memories), e}
}
