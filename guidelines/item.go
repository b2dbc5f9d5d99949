package guidelines

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// Item is one statement of a guideline.
type Item struct {
	// ID identifies what the statement is about, not its wording or counts: it stays the same
	// while the history grows.
	ID      string `json:"id"`
	Section string `json:"section"`
	Text    string `json:"text"`
	// Evidence lists the ids of the grounds of the statement.
	Evidence []string `json:"evidence"`
	// Fingerprint changes when the evidence behind the item changes.
	Fingerprint string `json:"fingerprint"`
	// Rank decides which items of a document get space first, lowest first.
	Rank int `json:"rank"`
	// Value, the effect times the frequency as a share of calls, decides which ones an answer with
	// a budget gets, highest first.
	Value float64 `json:"value"`
	// Author is `rules`, a model's name, or `person:` and the name of the person who set the line.
	Author string `json:"author"`
	// Pending is what the program would now write instead of a person's line.
	Pending string `json:"pending,omitempty"`
	// Unedited is the line that a person's line replaces.
	Unedited       string `json:"unedited,omitempty"`
	UneditedAuthor string `json:"unedited_author,omitempty"`
	// Removed reports that a person took the line out: it is in no text.
	Removed bool `json:"removed,omitzero"`
}

// Ground is a piece of evidence for items.
type Ground struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Data is the evidence as it was mined, without its calls.
	Data json.RawMessage `json:"data"`
	// Calls are the ids of the newest calls behind it, at most fifty.
	Calls []string `json:"calls,omitempty"`
	// CallCount is how many there are.
	CallCount int `json:"call_count"`
	// Fingerprint changes when what can be said about it changes.
	Fingerprint string `json:"fingerprint"`
}

// maxGroundCalls bounds the keys kept of one ground.
const maxGroundCalls = 50

// The grounds that every tool has.
const (
	parametersGround = "parameters"
	outputGround     = "output"
	statisticsGround = "statistics"
	retriesGround    = "retries"
	exemplarGround   = "exemplar"
)

// fingerprint is ten hexadecimal digits of SHA-256 over the parts.
func fingerprint(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:5])
}

// groundsFor lists the evidence as grounds. The fingerprint of one is that of the
// statements that the rules make of it: what they do not show may change.
func groundsFor(f *findings, d draft) (list []Ground) {
	said := map[string][]string{} // by ground
	for _, it := range d {
		for _, id := range it.Evidence {
			said[id] = append(said[id], it.Text)
		}
	}
	add := func(kind, id string, item any, calls ...memoryd.CallKey) {
		data, err := json.Marshal(item)
		if err != nil || slices.ContainsFunc(list, func(g Ground) bool { return g.ID == id }) {
			return // a number that JSON does not know, or a second item of the same name
		}
		g := Ground{ID: id, Kind: kind, Data: data, CallCount: len(calls), Fingerprint: fingerprint(said[id]...)}
		if len(said[id]) == 0 {
			g.Fingerprint = fingerprint(string(data))
		}
		for _, k := range calls[max(0, len(calls)-maxGroundCalls):] {
			g.Calls = append(g.Calls, k.String())
		}
		list = append(list, g)
	}
	e := &f.evidence
	add("parameters", parametersGround, e.Parameters)
	add("output", outputGround, e.Output)
	add("statistics", statisticsGround, map[string]int{
		"calls": e.Calls, "judged": e.Judged, "good": e.Good, "partial": e.Partial, "failed": e.Failed, "overstated": e.Overstated,
	})
	add("retries", retriesGround, map[string]evidence.Retry{"unchanged": e.Unchanged})
	for i := range e.Rules {
		add("rule", e.Rules[i].GroundID(), e.Rules[i], e.Rules[i].Keys...)
	}
	if e.Exemplar != nil {
		add("exemplar", exemplarGround, e.Exemplar, e.Exemplar.Key)
	}
	for i := range e.Messages {
		if m := &e.Messages[i]; m.Unexplained > 0 {
			add("message", m.ID, m, m.Keys...)
		}
	}
	return list
}
