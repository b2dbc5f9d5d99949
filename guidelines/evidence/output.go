package evidence

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/stats"

	"github.com/go-json-experiment/json/jsontext"
)

// OutputProfile describes what the tool answers when it does not fail.
type OutputProfile struct {
	// Calls are the newest calls that were looked at: those that scored 1 or, if
	// there is none, those flagged as successful.
	Calls int `json:"calls"`
	// Empty, Objects and Arrays count empty answers and those that are JSON
	// objects and arrays; the others are text.
	Empty   int `json:"empty"`
	Objects int `json:"objects"`
	Arrays  int `json:"arrays"`
	// Keys are the members that at least nine in ten of the objects have, in the
	// order of the newest object.
	Keys []string `json:"keys,omitempty"`
	// MedianLength is in characters.
	MedianLength int `json:"median_length"`
}

const (
	profiledOutputs = 50       // calls looked at
	profiledBytes   = 64 << 10 // longer outputs are not parsed
	profiledKeys    = 12       // members listed
)

func profileOutputs(calls []memoryd.Call) OutputProfile {
	var p OutputProfile
	use := good
	if !slices.ContainsFunc(calls, func(c memoryd.Call) bool { return good(&c) }) {
		use = func(c *memoryd.Call) bool { return c.Success && !failed(c) }
	}
	keys, by, sources := map[string]int{}, map[string]map[string]bool{}, map[string]bool{}
	var order []string
	var lengths []float64
	for i := range calls {
		sources[calls[i].Source()] = true
	}
	for i := len(calls) - 1; i >= 0 && p.Calls < profiledOutputs; i-- {
		if !use(&calls[i]) {
			continue
		}
		p.Calls++
		out := content(calls[i].Output)
		lengths = append(lengths, float64(utf8.RuneCountInString(out)))
		switch {
		case out == "":
			p.Empty++
		case len(out) > profiledBytes:
		case out[0] == '{':
			members, ok := membersOf(out)
			if !ok {
				continue
			}
			p.Objects++
			for _, k := range members {
				if keys[k]++; keys[k] == 1 {
					order = append(order, k)
					by[k] = map[string]bool{}
				}
				by[k][calls[i].Source()] = true
			}
		case out[0] == '[' && json.Valid([]byte(out)):
			p.Arrays++
		}
	}
	order = slices.DeleteFunc(order, func(k string) bool {
		return len(k) > maxValueBytes || 10*keys[k] < 9*p.Objects || len(sources) > 1 && len(by[k]) < 2
	})
	p.Keys = order[:min(len(order), profiledKeys)]
	if len(lengths) > 0 {
		p.MedianLength = int(stats.Median(lengths))
	}
	return p
}

// membersOf lists the names in a JSON object, in order.
func membersOf(object string) (names []string, ok bool) {
	dec := jsontext.NewDecoder(strings.NewReader(object), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		names = append(names, name.String()) // the token is void after the next read
		if dec.SkipValue() != nil {
			return nil, false
		}
	}
	_, err := dec.ReadToken()
	return names, err == nil
}
