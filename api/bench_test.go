package api

import (
	"encoding/json"
	"strings"
	"testing"

	"memoryd/api/wire"
	"memoryd/internal/stats"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sentBody is a request with n calls of 2 KB.
func sentBody(n int) []byte {
	one := `{"tool_name":"search","input":{"query":"go memory model","max_results":10,"filter":{"lang":"en"}},"output":"` +
		strings.Repeat("found a page about it, and \\\"another\\\"\\n", 46) + `","success":true,"time_cost":1.5,"token_cost":12,"create_time":"2026-11-21 10:00:00"}`
	return []byte(`{"workspace_id":"w","async":true,"include_history":false,"tool_call_results":[` + strings.Repeat(one+",", n-1) + one + `]}`)
}

// BenchmarkDecode sets our reading of requests, which knows repeated names, kinds
// and faults of single items, beside plain decoding into structs.
func BenchmarkDecode(b *testing.B) {
	type plain struct {
		Workspace string      `json:"workspace_id"`
		Async     bool        `json:"async"`
		History   bool        `json:"include_history"`
		Items     []wire.Call `json:"tool_call_results"`
	}
	server := reader()
	for name, n := range map[string]int{"1": 1, "50": 50} {
		body := sentBody(n)
		run := func(name string, decode func() (int, error)) {
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if got, err := decode(); err != nil || got != n {
						b.Fatal(got, err)
					}
				}
			})
		}
		run("memoryd/"+name, func() (int, error) {
			var req wire.AddRequest[items]
			err := server.decode(body, &req)
			return len(req.Items.list), err
		})
		run("encoding-json/"+name, func() (int, error) {
			var req plain
			err := json.Unmarshal(body, &req)
			return len(req.Items), err
		})
		run("json-v2/"+name, func() (int, error) {
			var req plain
			err := jsonv2.Unmarshal(body, &req)
			return len(req.Items), err
		})
	}
}

// BenchmarkEncode sets our writing of an answer, for one call of 2 KB, beside
// encoding/json.
func BenchmarkEncode(b *testing.B) {
	answer := wire.AddResponse{Reply: wire.Reply{Answer: "Processed 1 tool(s)", Success: true}, Metadata: &wire.AddMetadata{MemoryList: []wire.Memory{{
		WorkspaceID: "w", MemoryID: strings.Repeat("0", 36), MemoryType: "tool", WhenToUse: "search", TimeCreated: "2026-11-21 10:00:00",
		Metadata: wire.MemoryMetadata{Statistics: wire.Statistics{
			TotalCalls: 100, SuccessRate: 0.83, SuccessRateCI95: stats.Wilson(83, 100), AvgScore: 0.8, AvgTimeCost: 2.345,
		}},
		ToolCallResults: []wire.Call{{
			ToolName: "search", Input: jsontext.Value(`{"query":"go memory model","max_results":10}`), Success: true, TimeCost: 1.5,
			Output: strings.Repeat("found a page about it, and \"another\"\n", 50), Metadata: jsontext.Value(`{"call_id":"00","evaluation_state":"judged"}`),
			Summary: "It worked.", Evaluation: "The output answers the request.", Score: 1, CallHash: strings.Repeat("0", 32),
		}},
	}}}}
	for name, write := range map[string]func() ([]byte, error){
		"memoryd":       func() ([]byte, error) { e, err := encode(answer); return e.body, err },
		"encoding-json": func() ([]byte, error) { return json.Marshal(answer) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				body, err := write()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(body)))
			}
		})
	}
}
