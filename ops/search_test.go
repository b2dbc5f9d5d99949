package ops

import (
	"strings"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
)

func TestToolsAreFoundByWordsOfTheirNamesAndGuidelines(t *testing.T) {
	s := mem.New()
	for i, tool := range []string{"web_search", "file-read", "database.query", "Straße 日本"} {
		ref := memoryd.ToolRef{Workspace: "w", Tool: tool}
		if _, err := s.Append(t.Context(), store.Batch{Workspace: "w", Keep: 1, Calls: []memoryd.Call{{
			ToolRef: ref, Key: memoryd.CallKey{byte(i + 1)}, Evaluation: memoryd.PendingEvaluation(),
		}}}); err != nil {
			t.Fatal(err)
		}
		text := map[string]string{
			"file-read":      "Give the path as an absolute path. Never search.",
			"database.query": "Tables are listed by the catalogue; the path is not needed.",
		}[tool]
		if err := s.PutGuideline(t.Context(), ref, memoryd.Guideline{Content: text}, 0); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]string{
		"search": "file-read,web_search", "PATH": "file-read,database.query", "web": "web_search", "straße": "Straße 日本", "日本": "Straße 日本",
		"nothing": "", "": "", " - \"'*() ": "", "sear": "", "absolute path path": "file-read,database.query", "query path": "database.query,file-read",
	} {
		found, err := searchTools(t.Context(), s, "w", query, 9)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range found {
			names = append(names, tool.Tool)
		}
		if got := strings.Join(names, ","); got != want {
			t.Errorf("%q found %s, want %s", query, got, want)
		}
	}
	if found, _ := searchTools(t.Context(), s, "w", "path", 1); len(found) != 1 || found[0].Tool != "file-read" {
		t.Errorf("limit 1 found %v", found)
	}
	if found, err := searchTools(t.Context(), s, "elsewhere", "path", 9); len(found) != 0 || err != nil {
		t.Errorf("another workspace: %v, %v", found, err)
	}
}
