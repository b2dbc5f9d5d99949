package evidence

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/errortext"
	"memoryd/internal/stats"
	"memoryd/internal/textsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// OutputProfile describes the tool's answers to successful calls.
type OutputProfile struct {
	// Calls is the number of newest calls that were examined: those that scored 1, or,
	// without any, those reported as successful.
	Calls int `json:"calls"`
	// Empty, Objects and Arrays count answers that are empty, JSON objects and JSON arrays;
	// the others are text.
	Empty   int `json:"empty"`
	Objects int `json:"objects"`
	Arrays  int `json:"arrays"`
	// Keys are the members that at least nine in ten objects have, in the order of the newest
	// object.
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
	use := func(c *memoryd.Call) bool { return c.Evaluation.Good() }
	if !slices.ContainsFunc(calls, func(c memoryd.Call) bool { return use(&c) }) {
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

const (
	sentenceWords = 6   // a first line of so many words is the beginning of the message
	nearBytes     = 600 // where the telling line follows within so many bytes
	lineWords     = 8   // a line of fewer words is shown with those that follow
	messageRunes  = 300
)

// messageOf is what the output of a call that went wrong says, on one line, from
// its beginning on; the whole where no line reads like a message. Which line
// tells is for internal/errortext to say.
func messageOf(output string) string {
	text := errortext.Unwrap(output)
	line := errortext.Message(text)
	if line == "" {
		return textsafe.Line(text, messageRunes)
	}
	if strings.HasPrefix(text, "Traceback ") {
		return line
	}
	at := strings.Index(text, textsafe.Head(line, 24))
	switch first, _, _ := strings.Cut(text, "\n"); {
	case at < 0:
		return line
	case at <= nearBytes && (len(strings.Fields(first)) >= sentenceWords || placedLine.MatchString(first)):
		at = 0
	}
	var words []string
	for l := range strings.Lines(text[at:min(len(text), at+4*messageRunes)]) {
		more := strings.Fields(l)
		if len(words) > 2 && (len(more) == 1 || codeLine.MatchString(l)) {
			continue // a code beside the message
		}
		if words = append(words, more...); len(words) >= lineWords {
			break
		}
	}
	return textsafe.Line(strings.Join(words, " "), messageRunes)
}

// codeLine is how a reply's code stands below its message, placedLine how a message does that is told with its place.
var (
	codeLine   = regexp.MustCompile(`^status: -?\d`)
	placedLine = regexp.MustCompile(`^\S+: \S`)
)

// content is an output without white space and NUL characters around it.
func content(output string) string {
	return strings.TrimFunc(output, func(r rune) bool { return unicode.IsSpace(r) || r == 0 })
}

// maskAny stands for what varies.
const maskAny = "…"

// maxTokens bounds the tokens of a message that are compared.
const maxTokens = 40

// piece is one token of a message: as it stands and with its variable part masked.
type piece struct{ raw, mask string }

// varies reports whether nothing of the token is the same in each message, listed whether the next of a
// list may follow it.
func (p *piece) varies() bool { return strings.Trim(p.mask, ",.;") == maskAny }
func (p *piece) listed() bool { return p.varies() && strings.HasSuffix(p.raw, ",") }

// tokens cuts a message at white space, keeping a short quoted text in one piece.
var tokens = regexp.MustCompile("[\"'`‘“][^\"'`’”]{0,118}[\"'`’”]\\S*|\\S+")

// pieces cuts a message into tokens and masks what varies in them. That is the preprocessing
// of Drain (He, Zhu, Zheng and Lyu, "Drain: an online log parsing approach with fixed depth
// tree", ICWS 2017).
func pieces(message string) (ps []piece) {
	words := strings.Fields(message)
	if strings.ContainsAny(message, "\"'`‘“") {
		words = tokens.FindAllString(message, maxTokens)
	}
	for _, t := range words[:min(len(words), maxTokens)] {
		p := piece{t, errortext.Masked(t)}
		if n := len(ps) - 1; n >= 0 && ps[n].listed() && p.varies() {
			ps[n] = piece{ps[n].raw + " " + t, p.mask} // one list, of however many
			continue
		}
		ps = append(ps, p)
	}
	return ps
}
