package evidence_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"

	jsonv2 "github.com/go-json-experiment/json"
)

// trimmed are observations of calls as a window keeps them.
func trimmed(calls []memoryd.Call) []evidence.Observation {
	o := evidence.NewObserver()
	obs := make([]evidence.Observation, len(calls))
	for i := range calls {
		obs[i] = o.Observe(&calls[i])
		obs[i].Trim()
	}
	return obs
}

// What was read of the bodies before is what is read of them while they are mined, also
// where the history knows more of a call than the window.
func TestDigestedObservationsGiveTheSameEvidence(t *testing.T) {
	for _, p := range plantedTools() {
		calls := generate(t, p, 3, 400)
		for i, input := range []string{
			`"plain text"`, `"{\"query\":\"in a text\"}"`, `{"deep":[[[[[[[[[[1]]]]]]]]]]}`, `{"cut":[1,2`, `{"cut":`, ` [true,null,{"a":-1.5e3}] `, `""`, ``,
			fmt.Sprintf(`{"%0100d":{"inner":1},"after":[%s2]}`, 1, longList(90)),
		} {
			calls[7*i].Input = json.RawMessage(input)
		}
		mine := func(digest bool) []byte {
			obs := trimmed(calls)
			if digest {
				evidence.Digest(obs)
			}
			recent := slices.Clone(calls[300:])
			recent[5].Output, recent[5].Evaluation.Score = "Error: told later, code 12", memoryd.ScoreFailure
			for i := range recent {
				if recent[i].Evaluation.Score == memoryd.ScoreFailure {
					recent[i].Output = "Error: another message than the window's" // which was cut
				}
			}
			b, err := json.Marshal(evidence.MineObserved(evidence.Merge(obs, recent), recent))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		if plain, digested := mine(false), mine(true); string(plain) != string(digested) {
			t.Errorf("%s: evidence differs\n%s\n%s", p.name, plain, digested)
		}
	}
}

// Of a long list only the first elements are compared; what follows it is read all the same.
func TestWhatFollowsALongListIsMined(t *testing.T) {
	var calls []memoryd.Call
	for i := range 4 {
		c := call(t, i, object{}, "fine", 1, 0, -1)
		c.Input = json.RawMessage(`{"list":[` + longList(90) + `{"member":1}],"last":"word"}`)
		calls = append(calls, c)
	}
	var paths []string
	for _, p := range evidence.Mine(calls).Parameters {
		paths = append(paths, p.Path)
	}
	if want := []string{"list", "list[]", "last"}; !slices.Equal(paths, want) {
		t.Errorf("parameters %q, want %q", paths, want)
	}
}

func longList(n int) string {
	s := ""
	for i := range n {
		s += fmt.Sprintf("%d,", i)
	}
	return s
}

// What digested observations are said to take is what they take: caches go by it.
func TestTheSizeOfDigestedObservations(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	calls := make([]memoryd.Call, 2000)
	for i := range calls {
		score, out := 1.0, "fine"
		if i%3 == 0 {
			score, out = 0, "Error: thing "+words(r, 30)+" failed\n"
		}
		calls[i] = call(t, i, object{"query": words(r, 20), "limit": r.IntN(1000), "tags": []string{words(r, 1), words(r, 2)}}, out, score, 0, 1)
	}
	live := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	obs := trimmed(calls)
	before := live()
	kept := make([]evidence.Observation, len(obs))
	for i := range obs { // as what is read from the disk: nothing is shared with the calls
		b, err := obs[i].MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := jsonv2.Unmarshal(b, &kept[i]); err != nil {
			t.Fatal(err)
		}
	}
	said := evidence.Digest(kept)
	took := live() - before
	if took > said*5/4 || took < said*3/5 {
		t.Errorf("%d bytes are said, %d are taken", said, took)
	}
	t.Logf("%d bytes an observation, %d said", took/len(kept), said/len(kept))
	runtime.KeepAlive(calls)
	runtime.KeepAlive(obs)
	runtime.KeepAlive(kept)
}
