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
	// ID names what the statement is about, not how it is worded or counted: it
	// stays the same while the history grows.
	ID      string `json:"id"`
	Section string `json:"section"`
	Text    string `json:"text"`
	// Evidence are the ids of the grounds that the statement rests on.
	Evidence []string `json:"evidence"`
	// Fingerprint changes when the evidence behind the item changes.
	Fingerprint string `json:"fingerprint"`
	// Rank decides which items of a document get its words first, lowest first;
	// Value, effect times frequency as a share of calls, which ones an answer
	// with a budget gets, highest first.
	Rank  int     `json:"rank"`
	Value float64 `json:"value"`
	// Author is AuthorRules or a model's name.
	Author string `json:"author"`
}

// Ground is a piece of evidence that items rest on.
type Ground struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Data is the evidence item as it was mined, without its calls.
	Data json.RawMessage `json:"data"`
	// Calls are the keys of the newest calls behind it, at most maxGroundCalls,
	// in hexadecimal; CallCount says how many there are.
	Calls     []string `json:"calls,omitempty"`
	CallCount int      `json:"call_count"`
	// Fingerprint changes when what can be said of it changes.
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
)

// itemID names a statement by its section, its slot and its evidence.
func itemID(section string, s *statement) string {
	return "item-" + fingerprint(append([]string{section, s.slot}, s.evidence...)...)
}

// fingerprint is ten hexadecimal digits of SHA-256 over the parts.
func fingerprint(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:5])
}

// groundsFor lists the evidence as grounds. The fingerprint of one is that of the
// statements that the rules make of it: what they do not show may change.
func groundsFor(f *findings, d draft) []Ground {
	said := map[string][]string{}
	for _, name := range sectionNames() {
		for _, s := range d[name] {
			for _, id := range s.evidence {
				said[id] = append(said[id], s.text)
			}
		}
	}
	var gs []Ground
	add := func(kind, id string, item any, calls []memoryd.CallKey) {
		data, err := json.Marshal(item)
		if err != nil || slices.ContainsFunc(gs, func(g Ground) bool { return g.ID == id }) {
			return // a number that JSON does not know, or a second item of the same name
		}
		g := Ground{ID: id, Kind: kind, Data: data, CallCount: len(calls), Fingerprint: fingerprint(said[id]...)}
		if len(said[id]) == 0 {
			g.Fingerprint = fingerprint(string(data))
		}
		for _, k := range calls[max(0, len(calls)-maxGroundCalls):] {
			g.Calls = append(g.Calls, k.String())
		}
		gs = append(gs, g)
	}
	e := &f.evidence
	add("parameters", parametersGround, e.Parameters, nil)
	add("output", outputGround, e.Output, nil)
	add("statistics", statisticsGround, map[string]int{
		"calls": e.Calls, "judged": e.Judged, "good": e.Good, "partial": e.Partial, "failed": e.Failed, "overstated": e.Overstated,
	}, nil)
	add("retries", retriesGround, map[string]evidence.Retry{"repeats": e.Repeats, "changes": e.Changes}, nil)
	for _, c := range e.Conditions {
		calls := c.Calls
		c.Calls = nil
		add("condition", c.ID, c, calls)
	}
	for _, c := range e.Errors {
		calls, when := c.Calls, c.When
		c.Calls, c.When, c.Example = nil, nil, ""
		add("error", c.ID, c, calls)
		if when != nil {
			w := *when
			w.Calls = nil
			add("condition", w.ID, w, when.Calls)
		}
	}
	for _, c := range e.Costs {
		calls := c.Calls
		c.Calls = nil
		add("cost", c.ID, c, calls)
	}
	for _, o := range e.Outliers {
		calls := o.Calls
		o.Calls = nil
		add("outliers", o.ID, o, calls)
	}
	for _, r := range e.Recoveries {
		calls := append(slices.Clone(r.Failures), r.Calls...)
		r.Calls, r.Failures = nil, nil
		add("recovery", r.ID, r, calls)
	}
	return gs
}
