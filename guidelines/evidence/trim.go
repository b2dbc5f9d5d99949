package evidence

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"memoryd"
	"memoryd/guidelines/rules"
	"memoryd/internal/errortext"
	"memoryd/internal/textsafe"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a trimmed observation.
const (
	trimmedText   = 240 // bytes of a text of an input
	trimmedInput  = 1024
	trimmedOutput = 480
)

// Trim reduces the bodies to what mining compares: it shortens long texts of the input and
// removes the output, except for a failed call's message.
func (ob *Observation) Trim() {
	ob.Same = hashOf("input", string(ob.Input))
	if len(ob.Input) > trimmedText {
		whole := ob.values()
		ob.Input = trimInput(ob.Input)
		ob.Sizes = rules.LostSizes(whole, rules.LeavesOf(ob.Input))
	} else {
		ob.Input = slices.Clone(ob.Input)
	}
	ob.leaves, ob.said, ob.form = nil, nil, ""
	if wrong(&ob.Call) || ob.Evaluation.State == memoryd.Pending {
		ob.Output = textsafe.Head(errortext.Unwrap(ob.Output), trimmedOutput)
	} else {
		ob.Output = ""
	}
	ob.Metadata, ob.Hash, ob.CreateTime, ob.ToolRef = nil, "", "", memoryd.ToolRef{}
	ob.Judge(ob.Evaluation)
}

func trimInput(raw json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return json.RawMessage(`"` + "…" + `"`)
	}
	for keep := trimmedText; ; keep /= 2 {
		b, err := json.Marshal(trimValue(v, keep))
		if err == nil && len(b) <= trimmedInput || keep < 16 {
			return b
		}
	}
}

func trimValue(v any, keep int) any {
	switch v := v.(type) {
	case string:
		if len(v) > keep {
			return textsafe.Head(v, keep) + rules.Cut
		}
		return v
	case []any:
		out := make([]any, 0, min(len(v), keep/16+1))
		for _, e := range v[:cap(out)] {
			out = append(out, trimValue(e, keep))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if len(out) < 32 {
				out[name] = trimValue(v[name], keep)
			}
		}
		return out
	}
	return v
}

// Judge sets the verdict of the observation to that of its call.
func (ob *Observation) Judge(e memoryd.Evaluation) {
	ob.Evaluation = memoryd.Evaluation{State: e.State, Score: e.Score, Rule: e.Rule, JudgedBy: e.JudgedBy}
}

// storedObservation is an observation as it is stored.
type storedObservation struct {
	Key      string                  `json:"k"`
	Seq      int64                   `json:"q"`
	Time     time.Time               `json:"t,omitzero"`
	Run      uint64                  `json:"r,omitzero"`
	Named    bool                    `json:"n,omitzero"`
	Agent    uint64                  `json:"a,omitzero"`
	Writer   uint64                  `json:"w,omitzero"`
	State    memoryd.EvaluationState `json:"s"`
	Score    float64                 `json:"v,omitzero"`
	Rule     string                  `json:"u,omitempty"`
	JudgedBy string                  `json:"j,omitempty"`
	Failed   bool                    `json:"x,omitzero"` // by the caller's flag
	Seconds  float64                 `json:"c,omitzero"`
	Tokens   int64                   `json:"o"`
	Input    string                  `json:"i"`
	Output   string                  `json:"m,omitempty"`
	Answer   Answer                  `json:"y,omitzero"`
	rules.Seen
}

// MarshalJSONTo encodes a trimmed observation for storage.
func (ob *Observation) MarshalJSONTo(enc *jsontext.Encoder) error {
	return jsonv2.MarshalEncode(enc, &storedObservation{
		ob.Key.String(), ob.Seq, ob.Time, ob.Run, ob.Named, ob.Agent, ob.Writer, ob.Evaluation.State, ob.Evaluation.Score,
		ob.Evaluation.Rule, ob.Evaluation.JudgedBy, !ob.Success,
		ob.TimeCost, ob.TokenCost, string(ob.Input), ob.Output, ob.Answer, ob.Seen,
	})
}

// UnmarshalJSONFrom decodes the stored form.
func (ob *Observation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var k storedObservation
	if err := jsonv2.UnmarshalDecode(dec, &k); err != nil {
		return err
	}
	key, err := memoryd.ParseCallKey(k.Key)
	if err != nil {
		return err
	}
	*ob = Observation{
		Call: memoryd.Call{
			Key: key, Seq: k.Seq, Time: k.Time, Success: !k.Failed, TimeCost: k.Seconds, TokenCost: k.Tokens,
			Input: json.RawMessage(k.Input), Output: k.Output,
			Evaluation: memoryd.Evaluation{State: k.State, Score: k.Score, Rule: k.Rule, JudgedBy: k.JudgedBy},
		},
		Seen: k.Seen, Run: k.Run, Named: k.Named, Agent: k.Agent, Writer: k.Writer, Answer: k.Answer,
	}
	return nil
}

// Gather observes the calls of a tool's history, oldest first, and adds what the window, if there
// is one, has seen of older calls.
func Gather(ctx context.Context, w Window, ref memoryd.ToolRef, history []memoryd.Call) ([]Observation, error) {
	if w == nil {
		return Merge(nil, history), nil
	}
	shared, err := w.Shared(ctx, ref.Workspace)
	if err != nil {
		return nil, err
	}
	seen, err := w.Observations(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("observations of %q: %w", ref.Tool, err)
	}
	list := Merge(seen, history)
	for i := range list {
		list[i].Shared = shared
	}
	return list, nil
}

// Merge combines observations of a window with the calls of the history, oldest first. A
// verdict of the history wins, and calls missing in the window are observed now. Both belong
// to one tool. Merge may change the window's list.
func Merge(window []Observation, calls []memoryd.Call) []Observation {
	known := make(map[memoryd.CallKey]int, len(window))
	for i := range window {
		known[window[i].Key] = i
	}
	list := slices.Grow(window, max(0, len(calls)-len(window)))
	o := NewObserver()
	for i := range calls {
		c := &calls[i]
		at, ok := known[c.Key]
		if !ok {
			list = append(list, o.Observe(c))
			continue
		}
		old := &list[at]
		if old.Evaluation.State != c.Evaluation.State || old.Evaluation.Score != c.Evaluation.Score {
			o.Observe(c) // what its run shows of it
		}
		old.Call, old.leaves, old.said, old.form = *c, nil, nil, "" // with its bodies
	}
	Sort(list)
	return list
}

// Sort puts observations of a tool in order, in which they mostly are.
func Sort(list []Observation) {
	for i := 1; i < len(list); i++ {
		if list[i].Seq < list[i-1].Seq {
			slices.SortStableFunc(list, func(a, b Observation) int { return cmp.Compare(a.Seq, b.Seq) })
			return
		}
	}
}

// Good reports whether the call was judged good.
func (ob *Observation) Good() bool { return ob.Evaluation.Good() }

// Bad reports whether the call failed: by its verdict, or without one by the caller's flag.
func (ob *Observation) Bad() bool { return failed(&ob.Call) }
