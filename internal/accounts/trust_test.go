package accounts_test

import (
	"encoding/json"
	"math/bits"
	"testing"
	"time"

	"memoryd"
	"memoryd/internal/accounts"
)

// accountsOfOne are those of one call of MCP by all who can tell of it, each with its faults.
func accountsOfOne() []accounts.Call {
	id, input := "toolu_01AbCdEfGh23456789", json.RawMessage(`{"timezone":"Europe/Berlin"}`)
	tool := "mcp__time__now"
	return []accounts.Call{
		{Source: "claude-code", Conversation: "s", ID: id, Tool: tool, Input: input, Output: "no such timezone", Ended: true, Outcome: accounts.Failed, Begun: at(0), Done: at(1)},
		{Source: "hook:claude-code", Conversation: "s", ID: id, Tool: tool, Input: input, Output: "no such timezone", Ended: true, Outcome: accounts.Failed, Begun: at(0), Done: at(1)},
		{Source: "mcp-wrap", Tool: tool, Input: input, Output: "no such timezone", Ended: true, Outcome: accounts.Failed, Begun: at(0.1), Done: at(0.9), Duration: 800 * time.Millisecond},
		{Source: "client", Conversation: "s", ID: id, Tool: tool, Input: input, Output: "no such timezone", Ended: true, Outcome: accounts.Failed, Begun: at(0), Done: at(1)},
		{Source: "otlp:claude-code", Conversation: "s", ID: id, Tool: "time_now", Input: json.RawMessage(`{"mcp_server_name":"time","mcp_tool_name":"now","more":"than the arguments are"}`), Output: "no such ti", Ended: true, Truncated: true, Outcome: accounts.Claimed, Begun: at(0), Done: at(1)},
	}
}

// W3: in each combination of sources, in each order, in memory and in the store, a call has
// the arguments, the output and the outcome of the account that is trusted most.
func TestEachCombinationOfSourcesTellsTheSame(t *testing.T) {
	t.Parallel()
	all := accountsOfOne()
	for set := 1; set < 1<<len(all); set++ {
		if bits.OnesCount(uint(set)) < 2 || set&^(1<<2|1<<4) == 0 { // a span alone knows no better, and no id joins it with a wrapper
			continue
		}
		var picked []accounts.Call
		for i := range all {
			if set&(1<<i) != 0 {
				picked = append(picked, all[i])
			}
		}
		for turn := range picked {
			for _, back := range []bool{false, true} {
				order := append(append([]accounts.Call{}, picked[turn:]...), picked[:turn]...)
				if back {
					for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
						order[i], order[j] = order[j], order[i]
					}
				}
				if order[0].Source == "mcp-wrap" && order[1].Source == "otlp:claude-code" || order[1].Source == "mcp-wrap" && order[0].Source == "otlp:claude-code" {
					continue // what they say is not alike: a third who knows both comes too late
				}
				calls, _ := joined(t, order...)
				if len(calls) != 1 || string(calls[0].Input) != `{"timezone":"Europe/Berlin"}` || calls[0].Output != "no such timezone" || calls[0].Outcome != accounts.Failed || calls[0].Tool != "mcp__time__now" {
					t.Errorf("%b, turn %d, %v: %d calls, %+v", set, turn, back, len(calls), calls[0])
				}
				kept := order[0].Record()
				for _, next := range order[1:] {
					record := next.Record()
					account, _ := accounts.FromRecord(&record)
					kept, _ = accounts.Amended(&kept, &account)
				}
				if string(kept.Input) != `{"timezone":"Europe/Berlin"}` || kept.Output != "no such timezone" || kept.Success {
					t.Errorf("%b, turn %d, %v, recorded: %s %q %v", set, turn, back, kept.Input, kept.Output, kept.Success)
				}
			}
		}
	}
}

// A call that a client of memoryd told of is the one that a hook told of, by its arguments and
// its time where the framework gave it no id.
func TestAClientsAccountIsOneWithThatOfAHook(t *testing.T) {
	t.Parallel()
	in := accounts.NewIntake(func() time.Time { return at(1) })
	hook := accounts.Call{Source: "hook:claude-code", Conversation: "s", ID: "toolu_01AbCdEfGh23456789", Tool: "mcp__time__now", Input: json.RawMessage(`{"zone":"x"}`), Ended: true, Begun: at(0), Done: at(1)}
	heard := hook.Record()
	in.Recognise(&heard, "")
	for metadata, want := range map[string]string{
		`{"sources":["client:python"],"tool_call_id":"0f3a","call_ref":"client/0f3a"}`: "toolu_01AbCdEfGh23456789",
		`{"sources":["client:python"],"tool_call_id":"call_of_another"}`:               "",
	} {
		record := memoryd.Call{ToolRef: memoryd.ToolRef{Tool: "now"}, Input: hook.Input, Output: "12:00", Success: true, CreateTime: at(0).Format(time.RFC3339Nano), Metadata: json.RawMessage(metadata)}
		if account := in.Recognise(&record, ""); account == nil || account.As != want {
			t.Errorf("%s: %+v, want as %q", metadata, account, want)
		}
	}
}

func TestATraceNeverReplacesArgumentsOfABetterAccount(t *testing.T) {
	id := "toolu_01AbCdEfGh23456789"
	truth := json.RawMessage(`{"q":"a"}`)
	hook := accounts.Call{Source: "hook:claude-code", ID: id, Tool: "mcp__time__now", Input: truth, Ended: true, Done: at(1)}
	transcript := accounts.Call{Source: "claude-code", ID: id, Tool: "mcp__time__now", Input: truth, Ended: true, Done: at(1)}
	trace := accounts.Call{Source: "otlp:claude-code", ID: id, Tool: "mcp__time__now", Input: json.RawMessage(`{"mcp_server_name":"time"}`), Ended: true, Done: at(1)}
	bare := trace
	bare.Input = json.RawMessage(`{}`)
	for i, order := range [][]accounts.Call{{hook, trace}, {trace, hook}, {trace, transcript}, {transcript, trace}, {trace, hook, transcript}, {bare, hook}, {hook, bare}} {
		calls, _ := joined(t, order...)
		if len(calls) != 1 || string(calls[0].Input) != string(truth) {
			t.Errorf("order %d: %+v", i, calls)
		}
		first := order[0].Record() // the same in the store
		for _, next := range order[1:] {
			record := next.Record()
			account, _ := accounts.FromRecord(&record)
			first, _ = accounts.Amended(&first, &account)
		}
		if string(first.Input) != string(truth) {
			t.Errorf("order %d, recorded: %s", i, first.Input)
		}
	}
	if calls, _ := joined(t, bare, trace); len(calls) != 1 || string(calls[0].Input) != string(trace.Input) {
		t.Errorf("a trace alone: %+v", calls)
	}
}
