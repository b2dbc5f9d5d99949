// Package score estimates the probability that a call failed, or found nothing, from the
// words and the form of its output. It is a logistic model over hashed features, of some
// hundred kilobytes, learned from labelled outputs.
//
// It has no rules for tools or phrases. Its training data decides, so you correct a wrong
// score by adding labelled outputs and training again:
//
//	go -C bench run ./train
package score

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"sync"
)

// Heads are the questions that the model answers.
const (
	Failed  = iota // the call failed
	Nothing        // it worked, but found nothing, or only part
	heads
)

// Model is a table of weights for each question. It is immutable.
type Model struct {
	bias    [heads]float32
	scale   [heads]float32
	weights [1 << Bits][heads]int8
}

// What an encoded model is made of before it is compressed, since most weights are 0: for each
// question its bias and its scale, and then the weights of each.
const (
	headerBytes = heads * 8
	plainBytes  = headerBytes + heads<<Bits
)

//go:embed weights.bin
var embedded []byte

// Default is the built-in model.
var Default = sync.OnceValue(func() *Model {
	m, err := Decode(embedded)
	if err != nil {
		panic("score: " + err.Error()) // the program was built with a file of another form
	}
	return m
})

// Version identifies the model.
func Version() string {
	sum := sha256.Sum256(embedded)
	return hex.EncodeToString(sum[:6])
}

// Decode decodes a model.
func Decode(compressed []byte) (*Model, error) {
	b := make([]byte, plainBytes)
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(compressed)), b); err != nil {
		return nil, fmt.Errorf("the weights are not those that this program expects: %w", err)
	}
	m := &Model{}
	for k := range heads {
		m.bias[k] = math.Float32frombits(binary.LittleEndian.Uint32(b[8*k:]))
		m.scale[k] = math.Float32frombits(binary.LittleEndian.Uint32(b[8*k+4:]))
		for i, c := range b[headerBytes+k<<Bits:][:1<<Bits] {
			m.weights[i][k] = int8(c) //nolint:gosec // the byte is the number
		}
	}
	return m, nil
}

// leastWeight is the smallest that is kept, in steps of the scale: most are smaller, and tell next to nothing.
const leastWeight = 3

// Encode encodes a model; equal weights give equal bytes.
func Encode(bias [heads]float64, weights *[heads][1 << Bits]float64) []byte {
	b := make([]byte, plainBytes)
	for k := range heads {
		largest := 0.0
		for _, w := range weights[k] {
			largest = max(largest, math.Abs(w))
		}
		scale := float32(max(largest, 1e-9) / math.MaxInt8)
		binary.LittleEndian.PutUint32(b[8*k:], math.Float32bits(float32(bias[k])))
		binary.LittleEndian.PutUint32(b[8*k+4:], math.Float32bits(scale))
		for i, w := range weights[k] {
			if step := math.Round(w / float64(scale)); math.Abs(step) >= leastWeight {
				b[headerBytes+k<<Bits+i] = byte(int8(step))
			}
		}
	}
	var compressed bytes.Buffer
	w, err := flate.NewWriter(&compressed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // it was written to memory
	}
	return compressed.Bytes()
}

// Norm is what each of n features counts.
func Norm(n int) float64 { return 1 / math.Sqrt(float64(max(n, 1))) }

// Score returns the probability of each answer.
func (m *Model) Score(f *Features) (p [heads]float64) {
	norm := Norm(len(f.List))
	var sums [heads]int
	for _, x := range f.List {
		for k, w := range &m.weights[x] {
			sums[k] += int(w)
		}
	}
	for k, sum := range sums {
		z := float64(m.bias[k]) + float64(sum)*float64(m.scale[k])*norm
		p[k] = 1 / (1 + math.Exp(-z))
	}
	return p
}
