package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"memoryd/store/mem"
)

// FuzzEndpoints sends any body to every endpoint that takes one: no answer may be
// the server's fault, and each is JSON.
func FuzzEndpoints(f *testing.F) {
	targets := []struct{ method, path string }{
		{"POST", "/add_tool_call_result"},
		{"POST", "/summary_tool_memory"},
		{"POST", "/retrieve_tool_memory"},
		{"POST", "/preflight_tool_call"},
		{"POST", "/vector_store"},
		{"POST", "/compact_conversation"},
		{"PUT", unknownCall + "/evaluation"},
		{"PUT", versionsOfTest},
		{"PUT", versionsOfTest + "/lines/x"},
		{"POST", "/v1/workspaces/default/originals/c_00000000000000000000/undo"},
	}
	for i, body := range []string{
		`{"tool_name":"t","tool_call_results":[{"input":{"a":[1,2,{"b":null}]},"output":"o","metadata":{"guideline_version":1}}]}`,
		`{"tool_names":"t","force":true,"stale":true}`, `{"tool_names":["t"],"max_tokens":9,"session_id":"s","include_calls":2}`,
		`{"tool_name":"t","input":{"a":[1]}}`, `{"action":"copy","src_workspace_id":"default","workspace_id":"w"}`,
		`{"messages":[{"role":"user","content":"x"}],"force":true,"profile":"forge","overrides":{"messages_old_threshold":1}}`,
		`{"score":0.5,"by":"ann"}`, `{"revision":1}`, `{"by":"ann"}`, `{"messages":[{}]}`,
	} {
		f.Add(i, []byte(body))
	}
	h := newHandler(f, mem.New())
	ask(h, "POST", "/add_tool_call_result", `{"tool_name":"t","tool_call_results":[{"output":"1"}]}`)
	f.Fuzz(func(t *testing.T, target int, body []byte) {
		to := targets[((target%len(targets))+len(targets))%len(targets)]
		rec := ask(h, to.method, to.path, string(body))
		if rec.Code >= http.StatusInternalServerError {
			t.Fatalf("%s %s: %d %s", to.method, to.path, rec.Code, rec.Body)
		}
		if !json.Valid(rec.Body.Bytes()) {
			t.Fatalf("%s %s: %d, not JSON: %.300q", to.method, to.path, rec.Code, rec.Body)
		}
	})
}
