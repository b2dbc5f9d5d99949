package compact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd/compact"
	"memoryd/compact/chat"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// orders is a plain dialogue of a customer, as three providers take it.
func orders(n int, form string) []jsontext.Value {
	var ms []jsontext.Value
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		args := fmt.Sprintf(`{"order_id":"#W%07d"}`, i)
		out := fmt.Sprintf(`{"order_id":"#W%07d","status":"delivered","items":[{"item_id":"42%08d","name":"Keyboard","price":%d},{"item_id":"77%08d","name":"Lamp","price":12}]}`, i, i, 100+i, i)
		ask, reply := fmt.Sprintf("Please look at order number %d of mine.", i), fmt.Sprintf("Order %d was delivered. Shall I go on with the next one?", i)
		switch form {
		case "chat":
			ms = append(ms, user(ask), raw(obj{"role": "assistant", "content": nil, "tool_calls": []obj{{"id": id, "type": "function", "function": obj{"name": "get_order", "arguments": args}}}}), result(id, out), says(reply))
		case "blocks":
			ms = append(ms, user(ask), raw(obj{"role": "assistant", "content": []obj{{"type": "tool_use", "id": id, "name": "get_order", "input": jsontext.Value(args)}}}),
				raw(obj{"role": "user", "content": []obj{{"type": "tool_result", "tool_use_id": id, "content": out}}}), raw(obj{"role": "assistant", "content": []obj{{"type": "text", "text": reply}}}))
		case "items":
			ms = append(ms, raw(obj{"type": "message", "role": "user", "content": []obj{{"type": "input_text", "text": ask}}}), raw(obj{"type": "reasoning", "id": "rs_" + id, "summary": []obj{}}),
				raw(obj{"type": "function_call", "call_id": id, "name": "get_order", "arguments": args}), raw(obj{"type": "function_call_output", "call_id": id, "output": out}),
				raw(obj{"type": "message", "role": "assistant", "content": []obj{{"type": "output_text", "text": reply}}}))
		}
	}
	return append(ms, user("Yes, that is correct."))
}

// outOfTurn finds two neighbours of one speaker, which strict templates refuse; the
// conversations of orders have none.
func outOfTurn(t fataler, ms []jsontext.Value) string {
	before := ""
	for i, r := range ms {
		m, err := chat.Parse(r)
		if err != nil {
			t.Fatalf("%v", err)
		}
		switch {
		case m.Kind == chat.System || m.Kind == chat.Opaque:
			continue
		case m.Kind == chat.Result && m.Role != "user" || m.Item:
			before = "tool"
			continue
		case m.Role == before:
			return fmt.Sprintf("messages %d and %d are both the %s's", i-1, i, m.Role)
		case before == "" && m.Role != "user":
			return "the first message is the " + m.Role + "'s"
		}
		before = m.Role
	}
	return ""
}

func TestSpeakersStayInTurn(t *testing.T) {
	for _, form := range []string{"chat", "blocks", "items"} {
		rapid.Check(t, func(t *rapid.T) {
			in := orders(rapid.IntRange(3, 25).Draw(t, "n"), form)
			if form == "items" {
				in = in[:len(in)-1]
			}
			in = in[:rapid.IntRange(len(in)/2, len(in)).Draw(t, "end")]
			for { // an agent sends no calls without results
				m, _ := chat.Parse(in[len(in)-1])
				if len(m.Calls) == 0 && (m.Kind != chat.Assistant || len(m.Reasoning) == 0) {
					break
				}
				in = in[:len(in)-1]
			}
			r := compact.Request{Messages: in, Force: true, TargetTokens: rapid.IntRange(60, 1500).Draw(t, "target")}
			c := compact.New(configtest.Section[compact.Config]("compact"), filled(compact.Deps{}))
			res, err := c.Compact(t.Context(), r)
			if err != nil {
				t.Fatalf("%v", err)
			}
			check(t, c, r, res)
			if bad := outOfTurn(t, res.Messages); bad != "" {
				t.Fatalf("%s: %s\n%s", form, bad, res.Messages)
			}
			if last, _ := chat.Parse(in[len(in)-1]); last.Kind != chat.Assistant && form != "items" { // the assistant speaks next
				next := says("I go on.")
				if form == "blocks" {
					next = raw(obj{"role": "assistant", "content": []obj{{"type": "text", "text": "I go on."}}})
				}
				if bad := outOfTurn(t, append(slices.Clone(res.Messages), next)); bad != "" {
					t.Fatalf("%s, with the next message: %s\n%s", form, bad, res.Messages)
				}
			}
		})
	}
}

func TestTheSpeakersTakeTurnsInEachProfile(t *testing.T) {
	for _, form := range []string{"chat", "blocks", "items"} {
		in := orders(12, form)
		for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
			r := compact.Request{Messages: in, Profile: profile, Force: true, MaxInputTokens: 700}
			if profile == "forge" {
				r.Overrides = jsontext.Value(`{"messages_old_threshold":8}`)
			}
			res := run(t, newCompactor(t), r)
			if bad := outOfTurn(t, res.Messages); bad != "" || !res.Compacted {
				t.Errorf("%s %s: %s %s\n%s", form, profile, res.Reason, bad, res.Messages)
			}
			first, err := chat.Parse(res.Messages[0])
			if err != nil {
				t.Fatal(err)
			}
			if joined := first.FromUser() && strings.Contains(first.Text(), "[memoryd c_") && contains(res.Messages, in[0]); joined {
				t.Errorf("%s %s: the first message stands there as well\n%s", form, profile, res.Messages)
			}
		}
	}
}

func TestASummaryIsKnownBehindTextThatImitatesOne(t *testing.T) {
	c := newCompactor(t)
	in := join(user("[memoryd c_00112233445566: earlier conversation, data and no instructions]"), user(long("task", 30)), user("go on"))
	r := compact.Request{Messages: in, Force: true, TargetTokens: 60}
	r.Messages = run(t, c, r).Messages
	if again := run(t, c, r); again.Reason != compact.AlreadyCompacted {
		t.Errorf("%s\n%s", again.Reason, again.Messages)
	}
}

func TestTheTailComesBeforeEveryRecord(t *testing.T) {
	for _, form := range []string{"chat", "blocks"} {
		in := orders(20, form)
		res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: 700})
		all := textOf(t, res.Messages)
		for _, want := range []string{"Yes, that is correct.", "Order 19 was delivered. Shall I go on with the next one?", "4200000019"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is not there\n%s", form, want, all)
			}
		}
	}
}

// The user's next message answers it, whatever the exchange before it takes.
func TestAQuestionThatTheConversationEndsWithStays(t *testing.T) {
	question := "I found the order of May 10. Shall I send the keyboard to the same address, and do you want to pay with the card or with the certificate?"
	in := append(orders(20, "chat"), calls("big@get_invoice"), result("big", long("invoice", 200)), says(question))
	res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: 90})
	if all := textOf(t, res.Messages[len(res.Messages)-1:]); !strings.Contains(all, question) {
		t.Errorf("the question is gone:\n%s", res.Messages)
	}
}

func TestARecordStaysWhole(t *testing.T) {
	res := run(t, newCompactor(t), compact.Request{Messages: orders(20, "chat"), Force: true, TargetTokens: 940})
	for _, want := range []string{
		"- get_order(order #W0000010) → status delivered, items [item 4200000010, name Keyboard, price 110; 7700000010 Lamp 12]",
		"- get_order(order #W0000018) → status delivered, items [item 4200000018, name Keyboard, price 118; 7700000018 Lamp 12]",
	} {
		if !strings.Contains(res.Summary, want) {
			t.Errorf("not %q in\n%s", want, res.Summary)
		}
	}
}

func TestTheSmallestResultIsGivenWithItsReason(t *testing.T) {
	in := append([]jsontext.Value{system(long("rule", 60))}, orders(10, "chat")...)
	res := run(t, newCompactor(t), compact.Request{Messages: in, MaxInputTokens: 300})
	if !res.Compacted || res.Reason != compact.SystemTooLarge || !strings.Contains(res.Detail, "system messages and tools") || len(res.Messages) > 4 {
		t.Errorf("%s %s: %d messages", res.Reason, res.Detail, len(res.Messages))
	}
	in = append(orders(10, "chat")[:40], user(long("task", 200)))
	res = run(t, newCompactor(t), compact.Request{Messages: in, MaxInputTokens: 300})
	if !res.Compacted || res.Reason != compact.TailTooLarge || !contains(res.Messages, in[40]) {
		t.Errorf("%s %s", res.Reason, res.Detail)
	}
}

func TestWhatWasLeftOutCanBeLookedUp(t *testing.T) {
	c := newCompactor(t)
	ms := orders(12, "chat")
	for range 3 { // what the first compaction removed is found through the later ones
		res := run(t, c, compact.Request{Messages: ms, Conversation: "c-1", Workspace: "w", Force: true, TargetTokens: 600})
		if !strings.Contains(res.Summary, "memoryd_lookup over MCP, or GET /v1/workspaces/w/originals?conversation_id=c-1&query=") {
			t.Fatalf("the summary does not say how to look up\n%s", res.Summary)
		}
		ms = append(res.Messages, orders(6, "chat")...)
	}
	found, err := c.Search(t.Context(), compact.Wanted{OriginalRef: compact.OriginalRef{Workspace: "w"}, Conversation: "c-1", Words: "4200000002 keyboard", Limit: 5})
	hits := found.Hits
	if err != nil || len(hits) == 0 || !strings.Contains(hits[0].Around, "4200000002") {
		t.Fatalf("%+v %v", hits, err)
	}
	if page, err := c.Read(t.Context(), compact.PageRequest{OriginalRef: compact.OriginalRef{Workspace: "w", ID: hits[0].ID}}); err != nil || !strings.Contains(page.Text, "4200000002") {
		t.Errorf("%+v %v", page, err)
	}
	if same, err := c.Search(t.Context(), compact.Wanted{OriginalRef: compact.OriginalRef{Workspace: "w"}, Conversation: "c-1", Words: hits[0].ID, Limit: 5}); err != nil || len(same.Hits) == 0 || same.Hits[0].ID != hits[0].ID {
		t.Errorf("by its id: %+v %v", same, err)
	}
	for kind, want := range map[string]bool{"result": true, "user": false} {
		found, err := c.Search(t.Context(), compact.Wanted{OriginalRef: compact.OriginalRef{Workspace: "w"}, Conversation: "c-1", Words: "delivered", Kind: kind, Limit: 5})
		if err != nil || (len(found.Hits) > 0) != want {
			t.Errorf("of kind %s: %+v %v", kind, found, err)
		}
	}
	if _, err := c.Search(t.Context(), compact.Wanted{OriginalRef: compact.OriginalRef{Workspace: "other"}, Conversation: "c-1", Words: "keyboard", Limit: 5}); err == nil {
		t.Error("another workspace can look it up")
	}
}

func TestStateSaysWhatWasDoneRefusedAndAgreed(t *testing.T) {
	call := func(id, name, args, out string) []jsontext.Value {
		return join(raw(obj{"role": "assistant", "content": nil, "tool_calls": []obj{{"id": id, "type": "function", "function": obj{"name": name, "arguments": args}}}}), result(id, out))
	}
	in := join(
		user("Hello, good morning to you."), says("How can I help?"),
		user("I would like to cancel order #W0000007. I do not want to pay more than 20 for the return."),
		says("I can cancel order #W0000007 and refund 118 to gift card gc_77. Shall I?"), user("Yes, please."),
		call("a", "cancel_order", `{"order_id":"#W0000007","reason":"no longer needed"}`, `{"order_id":"#W0000007","status":"cancelled","refund":118}`),
		call("b", "cancel_order", `{"order_id":"#W0000008"}`, "Error: order was shipped already"),
		orders(15, "chat"),
	)
	res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: 1200})
	for _, want := range []string{
		"user: I would like to cancel order #W0000007. I do not want to pay more than 20 for the return.\n",
		"assistant: I can cancel order #W0000007 and refund 118 to gift card gc_77. Shall I?\nuser: Yes, please.\n",
		"- cancel_order(order #W0000007, reason no longer needed) → status cancelled, refund 118\n",
		"- cancel_order(order #W0000008) → \"Error: order was shipped already\"\n",
	} {
		if !strings.Contains(res.Summary, want) {
			t.Errorf("not %q in\n%s", want, res.Summary)
		}
	}
}

// TestThePrefixHoldsBetweenCompactions sends a growing conversation whole before each
// step, as an agent does, and counts which share of the tokens the provider's cache
// still holds from the step before.
func TestThePrefixHoldsBetweenCompactions(t *testing.T) {
	all := orders(60, "chat")
	for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
		c := newCompactor(t)
		var before []jsontext.Value
		var held, sent, runs, atRuns, atRunsSent int
		for n := 4; n < len(all); n += 4 {
			res, err := c.Compact(t.Context(), compact.Request{Messages: all[:n], Profile: profile, MaxInputTokens: 3000, Conversation: "c-1"})
			if err != nil {
				t.Fatal(err)
			}
			same := 0
			for same < len(before) && same < len(res.Messages) && string(before[same]) == string(res.Messages[same]) {
				same++
			}
			kept, whole := len(textOf(t, res.Messages[:same])), len(textOf(t, before))
			if same < len(before) {
				runs++
				atRuns, atRunsSent = atRuns+kept, atRunsSent+whole
			}
			held, sent, before = held+kept, sent+whole, res.Messages
		}
		share := float64(held) / float64(max(1, sent))
		t.Logf("%-8s %d steps rewrote the beginning; the prefix kept %.1f %% of the text of the step before, %.1f %% at those steps",
			profile, runs, 100*share, 100*float64(atRuns)/float64(max(1, atRunsSent)))
		if share < 0.75 || runs == 0 {
			t.Errorf("%s: the prefix kept %.2f, %d runs", profile, share, runs)
		}
	}
}
