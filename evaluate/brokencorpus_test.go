package evaluate

import (
	"encoding/json"
	"testing"
)

func TestTheCorpusIsSound(t *testing.T) {
	all := brokenReplies()
	if len(all) < 200 {
		t.Errorf("%d replies, want at least 200", len(all))
	}
	names, texts := map[string]bool{}, map[string]string{}
	outcomes := map[string]int{}
	for _, r := range all {
		if names[r.Name] {
			t.Errorf("two replies are named %q", r.Name)
		}
		if other, twice := texts[r.Text]; twice {
			t.Errorf("%q and %q have the same text", r.Name, other)
		}
		names[r.Name], texts[r.Text] = true, r.Name
		if r.Score != 0 && r.Score != 0.5 && r.Score != 1 {
			t.Errorf("%q expects the score %v", r.Name, r.Score)
		}
		if !r.Parsable && (r.Optional || r.Score != 0) {
			t.Errorf("%q is not parsable and yet expects something", r.Name)
		}
		switch {
		case !r.Parsable:
			outcomes["none"]++
		case r.Optional:
			outcomes["may"]++
		default:
			outcomes["must"]++
		}
	}
	for _, o := range []string{"none", "may", "must"} {
		if outcomes[o] < 40 {
			t.Errorf("only %d replies are %q", outcomes[o], o)
		}
	}
	t.Logf("%d replies: %v", len(all), outcomes)
}

// Whatever plain JSON gives, when it gives the three fields, the corpus agrees.
func TestTheCorpusAgreesWithStrictJSON(t *testing.T) {
	strict := 0
	for _, r := range brokenReplies() {
		var v map[string]any
		if json.Unmarshal([]byte(r.Text), &v) != nil {
			continue
		}
		score, ok := v["score"].(float64)
		if !ok || (score != 0 && score != 0.5 && score != 1) || v["summary"] == nil || v["evaluation"] == nil {
			continue
		}
		strict++
		// encoding/json takes the last of two equal keys, which is no answer.
		if !r.allows(score, true) && r.Parsable {
			t.Errorf("%q: strict JSON reads %v, the corpus wants %v", r.Name, score, r.Score)
		}
	}
	if strict < 20 {
		t.Errorf("only %d replies are strict JSON", strict)
	}
}

func TestAllows(t *testing.T) {
	must := brokenReply{Parsable: true, Score: 0.5}
	may := brokenReply{Parsable: true, Score: 0.5, Optional: true}
	no := brokenReply{}
	for _, tc := range []struct {
		r      brokenReply
		score  float64
		parsed bool
		want   bool
	}{
		{must, 0.5, true, true},
		{must, 0, true, false},
		{must, 0, false, false},
		{may, 0.5, true, true},
		{may, 1, true, false},
		{may, 0, false, true},
		{no, 0, true, false},
		{no, 0, false, true},
	} {
		if got := tc.r.allows(tc.score, tc.parsed); got != tc.want {
			t.Errorf("Allows(%v, %v) of %+v is %v", tc.score, tc.parsed, tc.r, got)
		}
	}
}

// The corpus says of each broken reply what a careful reader may make of it.
func TestCorpusOfBrokenReplies(t *testing.T) {
	read, must := 0, 0
	for _, r := range brokenReplies() {
		t.Run(r.Name, func(t *testing.T) {
			v, _, err := readReply(r.Text, "")
			if err == nil {
				checkAnswer(t, v)
				read++
			}
			if r.Parsable && !r.Optional {
				must++
			}
			if !r.allows(v.score, err == nil) {
				t.Errorf("%q: got score %v, error %v; parsable %v, score %v", r.Text, v.score, err, r.Parsable, r.Score)
			}
		})
	}
	if read < must {
		t.Errorf("%d replies were read, %d have one clear meaning", read, must)
	}
	t.Logf("%d of %d replies read", read, len(brokenReplies()))
}
