package main

import (
	"os"
	"path/filepath"
	"strings"

	"memoryd/evaluate/score"
)

// axes is how many axes of meaning a word has. The others say how much they count beside
// the words themselves, and how they are fitted.
const (
	axes      = 40
	axisScale = 0.1 / 32
	axisDecay = 0.0003
	axisRate  = 0.1
)

// vector is the meaning of a word, or of several.
type vector [axes]float32

func (v *vector) dot(w *vector) (sum float64) {
	for i := range v {
		sum += float64(v[i] * w[i])
	}
	return sum
}

// meanings are those of common English words, by the feature of the word. The files hold
// the 14,000 commonest words of GloVe (Pennington, Socher and Manning, 2014; in the
// public domain), each vector turned to its 40 principal axes and a byte a value.
type meanings struct {
	of map[uint32]*vector
}

func readMeanings(folder string) (*meanings, error) {
	list, err := os.ReadFile(filepath.Join(folder, "words.txt")) //nolint:gosec // a file of the sources
	if err != nil {
		return nil, err
	}
	values, err := os.ReadFile(filepath.Join(folder, "words.bin")) //nolint:gosec // a file of the sources
	if err != nil {
		return nil, err
	}
	m := &meanings{of: map[uint32]*vector{}}
	for word := range strings.FieldsSeq(string(list)) {
		v := &vector{}
		for i := range v {
			v[i] = float32(int8(values[i])) * axisScale //nolint:gosec // the byte is the number
		}
		values = values[axes:]
		m.of[score.Word(word)] = v
	}
	return m, nil
}

// sum adds the meanings of what is among the features.
func (m *meanings) sum(features []uint32) *vector {
	out := &vector{}
	for _, f := range features {
		if v := m.of[f]; v != nil {
			for i := range v {
				out[i] += v[i]
			}
		}
	}
	return out
}
