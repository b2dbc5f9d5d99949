package hostile

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"memoryd/internal/origin"
	"memoryd/test/llmtest"
)

// quotations are what a verdict quotes.
var quotations = regexp.MustCompile(`“[^“”]*”`)

// planted is a word or a number of each origin, drawn anew, as it stands in the calls of a tool.
type planted map[origin.Origin]string

// plant records a tool's calls by two agents with something of each origin in them.
func (w *world) plant(tool string, p planted, other string) {
	name, size := p[origin.Name], w.word()
	most, _ := strconv.Atoi(p[origin.Slot])
	for i := range 48 {
		c := call{source: []string{"ann", "bob"}[i%2], run: fmt.Sprintf("run%d", i/3), tool: tool, input: map[string]any{
			name: []string{p[origin.Shared], other}[i/2%2], size: most - 1 - i%9, "note": "n " + w.word(),
		}, output: "found " + w.word()}
		switch {
		case i%8 == 5 || i%8 == 2:
			c.input[name], c.output, c.failed = p[origin.Refused], "Error: "+p[origin.Message]+" is no good "+w.word(), true
		case i%8 == 3 || i%8 == 6:
			c.input[size], c.output, c.failed = 9_000_000+i, "Error: "+size+" over it", true
		case i%8 == 0 || i%8 == 7:
			c.input[size], c.input["note"] = most, "n "+w.phrase(9)
		case i%8 == 4: // several: a verdict of the model is in other words
			c.output = "found " + p[origin.Answer]
		case i%8 == 1 && i < 40: // the rules do not know, and ask
			c.output = []string{"it could not be ", "unable ", "not there: ", "refused by ", "it failed at first, then "}[i/8] + w.word()
		case i == 41:
			c.input["note"] = "about " + p[origin.Private]
		}
		w.addHTTP(c)
	}
	w.addHTTP(call{source: "ann", run: "planned", tool: "before_" + tool, input: map[string]any{"note": "x"}, output: "found " + p[origin.Run]})
}

// read gives what each place says of the tool and of a planned call.
func (w *world) read(tool string, p planted) map[origin.Place]string {
	ours, fenced := said(w.guideline("bob", tool))
	out := map[origin.Place]string{origin.Fence: fenced}
	for line := range strings.Lines(ours) {
		if strings.Contains(line, "good calls gave these parameters") {
			out[origin.Typical] += line
		} else {
			out[origin.Recommendation] += line
		}
	}
	planned := map[string]any{p[origin.Name]: p[origin.Refused], "note": p[origin.Caller]}
	f := w.forecast("ann", tool, planned)
	out[origin.Warning], out[origin.Suggestion] = f.text(), string(f.Metadata.Suggestion)
	var all struct {
		Metadata struct {
			MemoryList []struct {
				Calls []struct {
					Summary, Evaluation string
					Metadata            struct {
						ID        string `json:"call_id"`
						Untrusted bool   `json:"evaluation_untrusted"`
					}
				} `json:"tool_call_results"`
			} `json:"memory_list"`
		}
	}
	w.ask("/retrieve_tool_memory", "", map[string]any{"workspace_id": w.space, "tool_names": tool}, &all)
	for _, c := range all.Metadata.MemoryList[0].Calls {
		if out[origin.Verdict] += c.Summary + "\n" + c.Evaluation + "\n"; !c.Metadata.Untrusted {
			w.t.Errorf("not marked as untrusted: %s", c.Summary)
		}
		out[origin.Dashboard] += w.page("/ui/call?w=" + w.space + "&t=" + tool + "&k=" + c.Metadata.ID)
	}
	out[origin.Dashboard] += w.page("/ui/tool?w="+w.space+"&t="+tool) + w.page("/ui/calls?w="+w.space+"&t="+tool)
	code, printed, errs := binary.Run(w.t, "", "show", tool, "--workspace", w.space, "--calls", "60", "--url", w.URL)
	if out[origin.Terminal] = printed; code != 0 {
		w.t.Fatal(errs)
	}
	var messages []any
	for i := range 30 {
		id := fmt.Sprintf("c%d", i)
		if i%6 == 0 {
			messages = append(messages, map[string]any{"role": "user", "content": "Look for " + p[origin.Caller] + " and go on."})
		}
		next := "Next is " + p[origin.Model] + "."
		if i > 20 { // what stays
			next = "Next."
		}
		messages = append(messages, map[string]any{"role": "assistant", "content": next, "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": tool, "arguments": "{}"}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": "found " + p[origin.Run] + " and " + w.phrase(40)})
	}
	var small struct{ Summary string }
	w.ask("/compact_conversation", "", map[string]any{"workspace_id": w.space, "messages": messages, "force": true, "max_input_tokens": 1500}, &small)
	out[origin.Compaction] = small.Summary
	return out
}

func (w *world) page(path string) string {
	r := w.Get(path)
	if r.Status != 200 {
		w.t.Fatalf("%s: %d", path, r.Status)
	}
	return html.UnescapeString(string(r.Body))
}

// What may stand where is one table, and each of its cells holds in the real program: a word of
// each origin is planted and looked for in all places. Where the table says never it stands
// nowhere, in a verdict only between quotation marks. The control: each place shows all that it
// is there to show.
func TestEachPlaceShowsWhatTheTableOfOriginsSays(t *testing.T) {
	w := newWorld(t, false)
	claim := w.word() + w.word()
	var asked atomic.Int64
	model := llmtest.New(func(llmtest.Request) llmtest.Reply {
		asked.Add(1)
		return llmtest.JSON(map[string]any{"order": []any{claim}, "note": claim, "summary": claim + " it", "evaluation": claim + " now", "score": 1})
	})
	w.Process = binary.Start(t, t.TempDir(), []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + model.Start(t) + "/v1"})
	shows := map[origin.Place][]origin.Origin{
		origin.Recommendation: {origin.Ours, origin.Name, origin.Shared, origin.Refused, origin.Slot},
		origin.Warning:        {origin.Name, origin.Shared, origin.Refused},
		origin.Suggestion:     {origin.Name, origin.Shared, origin.Caller},
		origin.Typical:        {origin.Ours, origin.Name},
		origin.Fence:          {origin.Ours, origin.Message},
		origin.Verdict:        {origin.Ours, origin.Message, origin.Answer},
		origin.Dashboard:      {origin.Name, origin.Shared, origin.Refused, origin.Private, origin.Slot, origin.Message, origin.Answer},
		origin.Compaction:     {origin.Caller, origin.Run, origin.Model},
		origin.Terminal:       {origin.Ours, origin.Name, origin.Shared, origin.Refused, origin.Private, origin.Slot, origin.Message, origin.Answer},
	}
	judged := false
	for range rounds(t, 3) {
		w.open()
		p := planted{origin.Ours: " call", origin.Slot: fmt.Sprint(510_000 + 10*w.dice.IntN(40_000)), origin.Model: claim}
		for _, of := range []origin.Origin{origin.Name, origin.Caller, origin.Run, origin.Shared, origin.Refused, origin.Private, origin.Message, origin.Answer} {
			p[of] = w.word() + w.word()
		}
		tool := "find_" + w.word()
		w.plant(tool, p, w.word()+w.word())
		for at, text := range w.read(tool, p) {
			for of, word := range p {
				found := strings.Contains(text, word)
				judged = judged || found && at == origin.Verdict && of == origin.Model
				if at == origin.Verdict && origin.May(at, of) == origin.Quoted && strings.Contains(quotations.ReplaceAllString(text, ""), word) {
					t.Errorf("a verdict says %q of origin %d without a mark", word, of)
				}
				if found && origin.May(at, of) == origin.Never {
					t.Errorf("place %d shows %q of origin %d:\n%s", at, word, of, text)
				}
			}
			for _, of := range shows[at] {
				if !strings.Contains(text, p[of]) {
					t.Errorf("place %d does not show %q of origin %d:\n%.2000s", at, p[of], of, text)
				}
			}
		}
	}
	if asked.Load() == 0 || !judged {
		t.Errorf("the model was asked %d times, and its words are in a verdict: %t", asked.Load(), judged)
	}
}
