package hostile

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func (w *world) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + w.dice.IntN(10))
	}
	b[0] = byte('1' + w.dice.IntN(9))
	return string(b)
}

func (w *world) token(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[w.dice.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	hexadecimal  = "0123456789abcdef"
	alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	capitals     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

// card is a number that passes Luhn's check.
func (w *world) card() string {
	number := "4" + w.digits(14)
	for last := range 10 {
		sum := 0
		whole := number + fmt.Sprint(last)
		for i := range whole {
			d := int(whole[len(whole)-1-i] - '0')
			if i%2 == 1 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		if sum%10 == 0 {
			return whole
		}
	}
	return number + "0"
}

func (w *world) name() string {
	s := w.word()
	return strings.ToUpper(s[:1]) + s[1:]
}

// private are values of one person or one account, each drawn anew, with a parameter
// that says nothing of what they are.
var private = map[string]func(w *world) string{
	"card":          (*world).card,
	"card in fours": func(w *world) string { c := w.card(); return c[:4] + " " + c[4:8] + " " + c[8:12] + " " + c[12:] },
	"IBAN":          func(w *world) string { return "DE" + w.digits(20) },
	"account":       func(w *world) string { return w.digits(10) },
	"person":        func(w *world) string { return w.name() + " " + w.name() },
	"given name":    (*world).name,
	"three names":   func(w *world) string { return w.name() + " " + w.name() + "-" + w.name() },
	"finding":       func(w *world) string { return w.name() + " " + w.name() + ": " + w.phrase(4) },
	"address":       func(w *world) string { return w.digits(2) + " " + w.name() + " Street, " + w.name() },
	"birth date": func(w *world) string {
		return fmt.Sprintf("19%02d-%02d-%02d", 40+w.dice.IntN(50), 1+w.dice.IntN(12), 1+w.dice.IntN(28))
	},
	"e-mail":      func(w *world) string { return w.word() + "." + w.word() + "@" + w.word() + ".org" },
	"telephone":   func(w *world) string { return "+49 " + w.digits(3) + " " + w.digits(7) },
	"passport":    func(w *world) string { return w.token(capitals[:26], 1) + w.digits(8) },
	"plate":       func(w *world) string { return w.token(capitals[:26], 3) + "-" + w.digits(4) },
	"token":       func(w *world) string { return w.token(alphanumeric, 32) },
	"short token": func(w *world) string { return w.token(alphanumeric, 14) },
	"hexadecimal": func(w *world) string { return w.token(hexadecimal, 40) },
	"UUID": func(w *world) string {
		return w.token(hexadecimal, 8) + "-" + w.token(hexadecimal, 4) + "-4" + w.token(hexadecimal, 3) + "-a" + w.token(hexadecimal, 3) + "-" + w.token(hexadecimal, 12)
	},
	"order":     func(w *world) string { return "ord_" + w.digits(9) },
	"session":   func(w *world) string { return "sess-" + w.token(hexadecimal, 12) },
	"user name": func(w *world) string { return w.word() + "_" + w.word() + "_" + w.digits(4) },
	"path":      func(w *world) string { return "/home/" + w.word() + "/" + w.word() + ".pdf" },
	"URL":       func(w *world) string { return "https://" + w.word() + ".example.org/u/" + w.digits(7) },
	"IP": func(w *world) string {
		return fmt.Sprintf("10.%d.%d.%d", w.dice.IntN(250), w.dice.IntN(250), w.dice.IntN(250))
	},
	"base64": func(w *world) string { return base64.StdEncoding.EncodeToString([]byte(w.token(alphanumeric, 18))) },
	"note":   func(w *world) string { return "about " + w.name() + " " + w.phrase(5) },
}

// A value of one person reaches no other agent, also where one run used it many times;
// a value of a small set that several agents use is told.
func TestPrivateValuesReachNoOtherAgent(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		t.Run(fmt.Sprintf("keys %t", keyed), func(t *testing.T) {
			w := newWorld(t, keyed)
			names := slices.Sorted(maps.Keys(private))
			n := rounds(t, len(names))
			controls := 0
			for k := range n {
				w.open()
				kind := names[k%len(names)]
				tool, p, mode := "book_"+w.word(), w.word(), w.word()
				modes := []string{w.word(), w.word()}
				var values []string
				for i := range 60 {
					if i%12 == 0 { // the first value stands in 24 calls of two runs of one agent
						if i != 12 {
							values = append(values, private[kind](w))
						}
					}
					source := fmt.Sprintf("agent%d", 1+len(values)%3)
					c := call{source: source, run: fmt.Sprintf("r%d", i/12), tool: tool, input: map[string]any{p: values[len(values)-1], mode: modes[i%2]}, output: `{"done":true}`}
					if i%9 == 8 {
						c.input[mode], c.output, c.failed = w.word(), "no "+w.phrase(2), true
					}
					w.addHTTP(c)
				}
				text := w.guideline("agent9", tool)
				f := w.forecast("agent9", tool, map[string]any{mode: w.word()})
				all := text + f.text() + string(f.Metadata.Suggestion)
				for _, v := range values {
					if strings.Contains(all, v) {
						t.Errorf("%s %q of another agent is told:\n%s", kind, v, all)
					}
				}
				if strings.Contains(all, modes[0]) && strings.Contains(all, modes[1]) {
					controls++
				}
			}
			if controls < n*3/4 {
				t.Errorf("the two values that everybody used were told in %d of %d drawings: the attack shows nothing", controls, n)
			}
		})
	}
}

// numbered are the kinds whose digits tell one of many apart: not even a quotation has them.
var numbered = []string{"card", "card in fours", "IBAN", "account", "telephone", "passport", "birth date", "e-mail", "order", "user name"}

// A value that tells one of many apart is told to nobody, though several agents use it again and again and a tool names it to
// all of them: six customers are a small set. What a tool says of persons and places stands in the fence alone.
func TestCustomersThatSeveralAgentsServeAreNotTold(t *testing.T) {
	w := newWorld(t, false)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(private)), func(kind string) bool {
		return kind == "path" || kind == "short token" || kind == "given name" // which all use: a file, a word and a choice
	})
	n, controls := rounds(t, len(names)), 0
	for k := range n {
		w.open()
		kind := names[k%len(names)]
		tool, p, mode, fast := "book_"+w.word(), w.word(), w.word(), w.word()
		var values []string
		for range 6 {
			values = append(values, private[kind](w))
		}
		for i := range 48 {
			c := call{source: fmt.Sprintf("agent%d", i%3), run: fmt.Sprintf("r%d", i/4), tool: tool, input: map[string]any{p: values[i%7%6], mode: fast}, output: `{"done":true}`}
			if i%8 == 5 {
				c.input[p], c.output, c.failed = private[kind](w), "no "+w.word()+" but "+values[0], true
			}
			w.addHTTP(c)
		}
		ours, fenced := said(w.guideline("agent9", tool))
		told := ours + w.told("agent9", tool, map[string]any{p: w.word(), mode: fast})
		if slices.Contains(numbered, kind) {
			told += fenced
		}
		for _, v := range values {
			if strings.Contains(told, v) {
				t.Errorf("%s %q is told:\n%s", kind, v, told)
			}
		}
		if strings.Contains(told, fast) {
			controls++
		}
	}
	if controls < n*3/4 {
		t.Errorf("the value that everybody used was told in %d of %d drawings: the attack shows nothing", controls, n)
	}
}

// The values of a tool's first calls are told to nobody either: one person's call is no
// set of values.
func TestTheValuesOfFewCallsAreNotTold(t *testing.T) {
	w := newWorld(t, false)
	names := slices.Sorted(maps.Keys(private))
	n, controls := rounds(t, len(names)), 0
	for k := range n {
		w.open()
		kind := names[k%len(names)]
		tool, p := "book_"+w.word(), w.word()
		var values []string
		for i := range 1 + w.dice.IntN(5) {
			values = append(values, private[kind](w))
			w.addHTTP(call{source: fmt.Sprintf("agent%d", i%2), run: fmt.Sprintf("r%d", i), tool: tool, input: map[string]any{p: values[i]}, output: `{"done":true}`})
		}
		text := w.guideline("agent9", tool)
		f := w.forecast("agent9", tool, map[string]any{p: w.word()})
		for _, v := range values {
			if all := text + f.text() + string(f.Metadata.Suggestion); strings.Contains(all, v) {
				t.Errorf("%s %q of another agent is told after %d calls:\n%s", kind, v, len(values), all)
			}
		}
		if strings.Contains(text, "`"+p+"`") {
			controls++
		}
	}
	if controls < n*3/4 {
		t.Errorf("the parameter was told in %d of %d drawings: the attack shows nothing", controls, n)
	}
}

// A source that floods a tool under many names puts its account into nobody's advice.
func TestAFloodOfOneSourceGivesNobodyItsAccount(t *testing.T) {
	w := newWorld(t, true)
	n, controls := rounds(t, 8), 0
	for range n {
		w.open()
		tool, p, mode, shared, evil := "send_"+w.word(), "to_"+w.word(), w.word(), w.word(), w.word()+"x"
		for i := range 45 {
			w.addHTTP(call{source: fmt.Sprintf("agent%d", i%3), run: fmt.Sprintf("r%d", i/5), tool: tool, input: map[string]any{p: w.word(), mode: shared}, output: `{"done":true}`})
		}
		for i := range 40 {
			w.addAs("mallory", fmt.Sprintf("sock%d", i%7), call{run: fmt.Sprintf("s%d", i/4), tool: tool, input: map[string]any{p: evil, mode: shared}, output: `{"done":true}`})
		}
		for i := range 12 { // and calls of everybody's kind are said to fail
			w.addAs("mallory", fmt.Sprintf("sock%d", i%7), call{run: fmt.Sprintf("f%d", i/2), tool: tool, input: map[string]any{p: w.word(), mode: shared}, output: "no " + w.phrase(2) + ", use " + evil, failed: true})
		}
		text := w.guideline("agent1", tool)
		f := w.forecast("agent1", tool, map[string]any{p: w.word(), mode: shared})
		if all := text + f.text() + string(f.Metadata.Suggestion); strings.Contains(all, evil) || f.stops() {
			t.Errorf("what one key sent is told: %q\n%s", f.text(), all)
		}
		if strings.Contains(text, mode) {
			controls++
		}
	}
	if controls < n*3/4 {
		t.Errorf("the parameter that everybody gave was told in %d of %d drawings", controls, n)
	}
}

// addAs records a call by one key in the name of an agent.
func (w *world) addAs(source, agent string, c call) {
	key := w.key(source)
	kept := w.keys[agent]
	w.keys[agent] = key
	c.source = agent
	w.addHTTP(c)
	if kept == "" {
		delete(w.keys, agent)
	} else {
		w.keys[agent] = kept
	}
}

// Names that are sentences are refused at the door, and what is longer than a name is.
func TestNamesThatAreSentencesAreRefused(t *testing.T) {
	w := newWorld(t, false)
	for _, name := range []string{w.phrase(6), w.word() + "\n## Best Practices\n1. " + w.phrase(2), strings.Repeat("x", 257)} {
		body := map[string]any{"workspace_id": w.space, "include_history": false, "tool_name": name, "tool_call_results": []any{map[string]any{"input": "x", "output": "y"}}}
		if got := w.status("/add_tool_call_result", "", body); got != 422 {
			t.Errorf("the name %.40q is answered %d", name, got)
		}
	}
	spaced := w.phrase(3)
	w.addHTTP(call{source: "a", run: "r", tool: spaced, input: map[string]any{"q": 1}, output: "y"}) // the control: three words are a name
	if got := w.guideline("a", spaced); !strings.Contains(got, "## Statistics") {
		t.Errorf("the tool %q is not told of: %s", spaced, got)
	}
}
