package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// runCompact times compaction without a model over conversations of growing
// length.
func runCompact(ctx context.Context, b *bench) (err error) {
	const part, path = "compact", "/compact_conversation"
	p, err := b.memoryd(ctx, filepath.Join(b.dir, "compact"), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	drawn := series{label: "median of the runs"}
	perToken := map[int]float64{}
	before, err := p.look()
	if err != nil {
		return err
	}
	sent := 0 // tokens
	for _, thousand := range pick(b, []int{25, 50, 100, 200}, []int{25, 100}) {
		var times []float64
		for i := range pick(b, 7, 3) {
			mark := fmt.Sprintf("%d-%d", thousand, i)
			took, err := timesOf(1, p.addr, post(path, conversation(100, mark+" warm")), post(path, conversation(thousand*1000, mark)))
			if errors.Is(err, errNotOffered) {
				b.note(part, "This build does not offer %s.", path)
				b.atMost(part, "compaction of 100,000 tokens, no model", 100, "ms", nil)
				return nil
			}
			if err != nil {
				return err
			}
			times = append(times, took...)
			sent += thousand
		}
		f := b.figure(part, fmt.Sprintf("compaction of %d,000 tokens, no model", thousand), "ms", times)
		drawn.x, drawn.y = append(drawn.x, float64(thousand)), append(drawn.y, f.Median)
		perToken[thousand] = f.Median / float64(thousand)
		if thousand == 100 {
			b.atMost(part, "compaction of 100,000 tokens, no model", 100, "ms", times)
		}
	}
	after, err := p.look()
	if err != nil {
		return err
	}
	b.figure(part, "processor time of a compaction per 100,000 tokens", "ms",
		[]float64{float64((after.cpu - before.cpu).Milliseconds()) * 100 / float64(sent)})
	last := int(drawn.x[len(drawn.x)-1])
	b.atMost(part, fmt.Sprintf("time per token at %d,000 over 25,000 (linear is 1)", last), 1.5, "x", []float64{perToken[last] / perToken[25]})
	b.draw(part, "compact", "time of a compaction by length", lines("Compaction without a model", axis{"thousand tokens", false},
		axis{"ms", false}, []series{drawn}))
	return nil
}

// conversation is the request to compact an agent's conversation of about tokens
// tokens. Each differs by its mark, because the same request again would be
// answered from memory.
func conversation(tokens int, mark string) string {
	type call struct {
		ID       string            `json:"id"`
		Type     string            `json:"type"`
		Function map[string]string `json:"function"`
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Calls   []call `json:"tool_calls,omitempty"`
		ID      string `json:"tool_call_id,omitempty"`
	}
	messages := []message{
		{Role: "system", Content: "You are an agent that works on a repository."},
		{Role: "user", Content: "Find out why the ring loses slots (" + mark + ")."},
	}
	for n, i := 0, 0; n < tokens*charsPerToken; i++ {
		id := fmt.Sprintf("call_%d", i)
		var out strings.Builder
		for line := range 40 {
			fmt.Fprintf(&out, "%d: slot %d of ring %s-%d holds %x\n", line, line*i, mark, i, (line+1)*(i+1)*7919)
		}
		messages = append(messages,
			message{Role: "assistant", Content: fmt.Sprintf("I look at file %d.", i), Calls: []call{{id, "function", map[string]string{
				"name": "read_file", "arguments": fmt.Sprintf(`{"path":"ring/slot_%d.go","from":%d}`, i, i*40),
			}}}},
			message{Role: "tool", Content: out.String(), ID: id},
		)
		n += out.Len() + 120
	}
	body, _ := json.Marshal(map[string]any{"messages": messages, "force": true, "conversation_id": mark}) // plain strings can be encoded
	return string(body)
}
