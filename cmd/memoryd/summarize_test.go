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

// TestSummarizeNamesEachToolOnceInRequestsOfBoundedSize looks at the requests.
func TestSummarizeNamesEachToolOnceInRequestsOfBoundedSize(t *testing.T) {
	const tools = 50
	var asked [][]string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/workspaces":
			_, _ = io.WriteString(w, `{"workspaces":["w"]}`)
		case "/v1/workspaces/w/tools":
			var list []map[string]any
			for n := range tools {
				list = append(list, map[string]any{"tool_name": fmt.Sprintf("t%02d", n)})
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
	if err := (summarizeCmd{remote: remote{reach: reach{URL: server.URL}}, All: true}).Run(t.Context(), streams{out: io.Discard, err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, names := range asked {
		if len(names) > summarizeBatch {
			t.Errorf("one request is about %d tools", len(names))
		}
		named = append(named, names...)
	}
	slices.Sort(named)
	if len(slices.Compact(named)) != tools {
		t.Errorf("%d requests name %d tools", len(asked), len(named))
	}
}
