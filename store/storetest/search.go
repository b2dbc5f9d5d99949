package storetest

import (
	"slices"
	"strings"

	"memoryd"
)

// found gives the names of the tools that a search finds, sorted when the order
// does not matter.
func (e *env) found(query string, limit int, sorted bool) string {
	e.Helper()
	tools, err := e.s.SearchTools(e.Context(), space, query, limit)
	if err != nil {
		e.Fatal(err)
	}
	names := []string{}
	for _, t := range tools {
		if d := diffTool(t, e.tool(t.ToolRef)); d != "" {
			e.Error(d)
		}
		names = append(names, t.Tool)
	}
	if sorted {
		slices.Sort(names)
	}
	return strings.Join(names, ",")
}

func (e *env) putGuideline(tool, text string, expect int64) {
	e.Helper()
	if err := e.s.PutGuideline(e.Context(), ref(tool), memoryd.Guideline{Content: text, Author: "rules"}, expect); err != nil {
		e.Fatal(err)
	}
}

func searchCases() []testCase {
	return []testCase{
		{name: "names and guidelines are searched by words", run: func(e *env) {
			for _, tool := range []string{"web_search", "file-read", "database.query", "Straße 日本"} {
				e.append(9, makeCall(tool, 1))
			}
			e.putGuideline("file-read", "Give the path as an absolute path. Never search.", 0)
			e.putGuideline("database.query", "Tables are listed by the catalogue; the path is not needed.", 0)
			for query, want := range map[string]string{
				"search": "file-read,web_search", "PATH": "database.query,file-read", "web": "web_search", "straße": "Straße 日本",
				"nothing": "", "": "", " - \"'*() ": "", "sear": "", "query OR path": "database.query,file-read",
				"words : x": "", "NEAR(path)": "database.query,file-read", "日本": "Straße 日本",
			} {
				if got := e.found(query, 9, true); got != want {
					e.Errorf("%q found %s, want %s", query, got, want)
				}
			}
			if got := e.found("path", 1, true); got == "" || strings.Contains(got, ",") {
				e.Errorf("limit 1 found %q", got)
			}
			if got := e.found("absolute path", 9, false); got != "file-read,database.query" {
				e.Errorf("the better one is not first: %s", got)
			}
			for _, w := range []string{"", "elsewhere"} {
				if got, err := e.s.SearchTools(e.Context(), w, "path", 9); len(got) != 0 || err != nil {
					e.Errorf("%q: got %v, %v", w, got, err)
				}
			}
			_, err := e.s.SearchTools(e.Context(), space, "path", -1)
			e.wantKind(err, memoryd.Invalid)
		}},
		{name: "the search follows what changes", run: func(e *env) {
			e.append(9, makeCall("one", 1), makeCall("two", 1))
			e.putGuideline("one", "apples", 0)
			e.putGuideline("one", "pears", 1)
			e.putGuideline("two", "pears", 0)
			if got := e.found("apples", 9, true); got != "" {
				e.Errorf("an old guideline was found: %s", got)
			}
			if got := e.found("pears", 9, true); got != "one,two" {
				e.Errorf("found %s", got)
			}
			if err := e.s.DeleteTool(e.Context(), ref("one")); err != nil {
				e.Fatal(err)
			}
			if got := e.found("pears one", 9, true); got != "two" {
				e.Errorf("found %s", got)
			}
		}},
		{name: "what was found is found again", durable: true, run: func(e *env) {
			e.append(9, makeCall("one", 1))
			e.putGuideline("one", "apples", 0)
			e.reopen()
			if got := e.found("apples", 9, true) + e.found("one", 9, true); got != "oneone" {
				e.Errorf("found %s", got)
			}
		}},
	}
}
