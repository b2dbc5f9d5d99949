package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// TestSummarizeBeginsWithTheToolsThatOthersBorrowFrom looks at the requests: no
// tool with few judged calls is named before, or beside, one with enough of them.
func TestSummarizeBeginsWithTheToolsThatOthersBorrowFrom(t *testing.T) {
	const tools = 50
	var asked [][]string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/workspaces":
			_, _ = io.WriteString(w, `{"workspaces":["w"]}`)
		case "/v1/workspaces/w/tools":
			var list []map[string]any
			for n := range tools { // every third has 20 judged calls or more, another third 20 calls of which one is pending
				list = append(list, map[string]any{"tool_name": fmt.Sprintf("t%02d", n), "statistics": map[string]any{
					"total_calls": []int{3, 20 + n, 20}[n%3], "pending_calls": []int{0, 0, 1}[n%3],
				}})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"tools": list})
		default:
			var body struct {
				Names []string `json:"tool_names"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			asked = append(asked, body.Names)
			_, _ = io.WriteString(w, `{"success":true,"answer":"","messages":[],"metadata":{"memory_list":[]}}`)
		}
	}))
	defer server.Close()
	if err := (summarizeCmd{remote: remote{URL: server.URL}, All: true}).Run(t.Context(), streams{out: io.Discard, err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	lends := func(name string) bool { return (int(name[1]-'0')*10+int(name[2]-'0'))%3 == 1 }
	var order []bool
	for _, names := range asked {
		if slices.ContainsFunc(names, lends) != lends(names[0]) || slices.ContainsFunc(names, func(n string) bool { return lends(n) != lends(names[0]) }) {
			t.Errorf("one request is about both kinds: %v", names)
		}
		order = append(order, lends(names[0]))
	}
	if len(slices.Concat(asked...)) != tools || !slices.Equal(order, []bool{true, false, false}) {
		t.Errorf("%d requests, in this order: %v", len(asked), asked)
	}
}
