package score_test

import (
	"bytes"
	"testing"

	"memoryd/evaluate/score"
	"memoryd/internal/loosejson"
)

func TestAModelIsReadAsItWasWritten(t *testing.T) {
	var weights [2][1 << score.Bits]float64
	weights[score.Failed][7], weights[score.Nothing][9] = 1.27, -2.54
	raw := score.Encode([2]float64{0, -1}, &weights)
	if !bytes.Equal(raw, score.Encode([2]float64{0, -1}, &weights)) {
		t.Fatal("equal weights give other bytes")
	}
	m, err := score.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	p := m.Score(&score.Features{List: []uint32{7}})
	if p[score.Failed] < 0.78 || p[score.Failed] > 0.79 || p[score.Nothing] > 0.27 {
		t.Fatalf("got %v", p)
	}
	for _, other := range [][]byte{raw[1:], raw[:len(raw)-8], nil} {
		if _, err := score.Decode(other); err == nil {
			t.Fatal("other weights are taken")
		}
	}
}

func TestFeaturesCanBeFilledAgain(t *testing.T) {
	var f score.Features
	call := func(out string) []uint32 {
		f.Read(&score.Call{Output: out, Body: loosejson.Parse(out)})
		return append([]uint32{}, f.List...)
	}
	first := call("Error: the door is locked")
	call(`{"error":"x","list":[1,2,3]}`)
	again := call("Error: the door is locked")
	if len(first) == 0 || len(first) != len(again) {
		t.Fatalf("%d features, then %d", len(first), len(again))
	}
	for i := range first {
		if first[i] != again[i] {
			t.Fatal("the second reading differs")
		}
	}
}
