package llmtest

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"
)

// meaningDimensions is the length of Meaning's vectors unless a request names
// another.
const meaningDimensions = 64

// Meaning answers embeddings requests with vectors that depend on the texts alone:
// the sum of a direction for each word. The words of a group share a direction, so
// that texts without a common word can be alike.
func Meaning(groups ...[]string) Handler {
	return func(r Request) Reply {
		n := r.Dimensions
		if n == 0 {
			n = meaningDimensions
		}
		return Vectors(r, MeaningOf(n, r.Input, groups...)...)
	}
}

// MeaningOf gives the vectors that Meaning answers with.
func MeaningOf(dimensions int, texts []string, groups ...[]string) [][]float32 {
	senses := map[string]string{}
	for _, group := range groups {
		for _, word := range group {
			senses[strings.ToLower(word)] = group[0]
		}
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = meaningOf(text, dimensions, senses)
	}
	return vectors
}

func meaningOf(text string, dimensions int, senses map[string]string) []float32 {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	v := make([]float32, dimensions)
	v[0] = 1e-3 // a text without a word has a direction too
	for _, word := range words {
		if sense, ok := senses[word]; ok {
			word = sense
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // never fails
		rnd := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(rnd.NormFloat64() / math.Sqrt(float64(dimensions)))
		}
	}
	return v
}

// Vectors answers r with the vectors, numbered as they stand. They need not be as
// many as the texts, nor of one length.
func Vectors(r Request, vectors ...[]float32) Reply {
	items := make([]VectorItem, len(vectors))
	for i, v := range vectors {
		items[i] = VectorItem{Index: i, Embedding: v}
	}
	return VectorItems(r, items...)
}

// VectorItem is one vector of a reply, as it is sent.
type VectorItem struct {
	Index int `json:"index"`
	// Embedding is usually a []float32.
	Embedding any `json:"embedding"`
}

// VectorItems answers r with the items as they stand.
func VectorItems(r Request, items ...VectorItem) Reply {
	data := make([]any, len(items))
	for i, item := range items {
		data[i] = map[string]any{"object": "embedding", "index": item.Index, "embedding": item.Embedding}
	}
	return Reply{Body: marshal(map[string]any{
		"object": "list", "data": data, "model": r.Model,
		"usage": map[string]any{"prompt_tokens": r.PromptTokens, "total_tokens": r.PromptTokens},
	})}
}
