package rules_test

import (
	"encoding/json"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// What a tool that looks for something says when there is nothing is half a success in
// every wording, and an answer with zeros in it is none of these.
func TestNothingFoundIsHalfASuccessInEveryWording(t *testing.T) {
	j := rules.New()
	judge := func(tool, out string) float64 {
		in, _ := json.Marshal(map[string]string{"query": "red shoes"})
		return j.Judge(&memoryd.Call{ToolRef: memoryd.ToolRef{Tool: tool}, Input: in, Output: out, Success: true, TokenCost: -1}, nil).Score
	}
	nothing := []string{
		"No results found for the given query. Please try different keywords.", "No results in the given range.", "Nothing matched your search.", "0 hits",
		"Your search did not return any documents.", "We couldn't find any flights for these dates.", "There are no open issues with this label.",
		"Sorry, no products match.", "Keine Treffer.", "Aucun résultat pour cette recherche.", "没有找到相关结果", "検索結果はありません", "No se encontraron resultados.",
		`{"results":[],"total":0}`, `{"message":"No matching records","items":[]}`, `{"count":0,"next":null,"previous":null,"results":[]}`,
		`{"status":"ok","data":null}`, `{"hits":{"total":{"value":0},"hits":[]}}`, "Found 0 files", "(no rows)", "Empty set (0.00 sec)", "No matches.",
		`{"items":[],"page":2,"perPage":30,"totalItems":17,"region":"eu-west"}`, `{"near":{"lat":52.1,"lon":13.2},"stops":[],"took_ms":4.2}`,
		"The list is empty.", "No data available for the selected period", "Search returned nothing", "Query executed successfully. 0 rows returned.",
		"No events scheduled for tomorrow.", "You have no unread messages.",
	}
	half := 0
	for _, out := range nothing {
		if judge("search", out) == memoryd.ScorePartial {
			half++
		} else {
			t.Logf("not half: %s", out)
		}
	}
	if half < 28 { // 15 before structure and purpose counted
		t.Errorf("%d of %d are half a success, want 28", half, len(nothing))
	}
	for tool, out := range map[string]string{
		"search": "Found 3 files in 0.2 s", "search_items": `{"items":[{"id":7}],"next":null,"skipped":0}`, "get_temperature": "It is 0 degrees.",
		"get_account": `{"name":"Ann","balance":0,"deleted_at":null,"roles":["admin"]}`, "list_files": "a.txt\nb.txt\n0 hidden",
		"list_events": `{"events":[{"at":17,"message":"job failed"}],"warnings":[]}`, "find_order": `{"id":17,"items":[],"total":9.5}`,
		"search_docs": `{"answer":"It is in the drawer.","sources":[]}`,
		"lookup":      "found it", "find_person": "Ann Lee, Berlin", "search_notes": "The notes are in the drawer", "get_status": "open", "find_file": "it is there",
	} {
		if got := judge(tool, out); got != memoryd.ScoreSuccess {
			t.Errorf("%s: %s: %v, want 1", tool, out, got)
		}
	}
}

// W22: a span without content says nothing of what was returned, not that it was nothing.
func TestAnOutputThatNobodyToldIsNoEmptyOne(t *testing.T) {
	j := rules.New()
	for metadata, want := range map[string]float64{`{"output_truncated":true,"sources":["otlp:genai"]}`: 1, `{"sources":["otlp:genai"]}`: 0.5} {
		call := (&example{tool: "search_documents"}).call(t)
		call.Metadata = json.RawMessage(metadata)
		if v := j.Judge(call, nil); v.Score != want || v.Sure {
			t.Errorf("%s: %v by %s, sure %v", metadata, v.Score, v.Rule, v.Sure)
		}
	}
}
