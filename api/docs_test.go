package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"path"
	"strings"
	"testing"

	"memoryd/store/mem"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// pageOf makes the page for people of the description.
func pageOf(t *testing.T, description []byte) []byte {
	t.Helper()
	var d map[string]any
	if err := json.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	page, err := template.New("docs.html.tmpl").Funcs(template.FuncMap{
		"upper": strings.ToUpper, "types": namedTypes, "kind": kindOfValue, "indented": indented,
	}).ParseFiles("testdata/docs.html.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var html bytes.Buffer
	if err := page.Execute(&html, d); err != nil {
		t.Fatal(err)
	}
	return html.Bytes()
}

// namedTypes are the types that a schema refers to, or the content of a body.
func namedTypes(v any) (names []string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			names = append(names, namedTypes(one)...)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			names = append(names, path.Base(ref))
		}
		for _, member := range []string{"anyOf", "items", "schema", "application/json", "application/x-ndjson"} {
			names = append(names, namedTypes(v[member])...)
		}
	}
	return names
}

// kindOfValue says in words what a schema takes.
func kindOfValue(schema map[string]any) string {
	kind := "any"
	switch t := schema["type"].(type) {
	case string:
		kind = t
	case []any:
		kind = strings.Trim(strings.ReplaceAll(fmt.Sprint(t), " ", " or "), "[]")
	}
	if items, ok := schema["items"].(map[string]any); ok && len(namedTypes(items)) == 0 {
		kind += " of " + kindOfValue(items)
	}
	if enum := schema["enum"]; enum != nil {
		kind = "one of " + strings.Trim(fmt.Sprint(enum), "[]")
	}
	if schema["type"] == nil && len(namedTypes(schema)) > 0 {
		kind = ""
	}
	return kind
}

func indented(v any) (string, error) {
	text, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.WithIndent("  "))
	return string(text), err
}

// The page shows the fields of each type, and loads nothing from another site.
func TestThePageShowsFieldsTypesAndExamples(t *testing.T) {
	h := newHandler(t, mem.New())
	if rec := ask(h, "GET", "/", ""); rec.Code != 302 || rec.Header().Get("Location") != "/docs" {
		t.Errorf("/ answers %d, %s", rec.Code, rec.Header().Get("Location"))
	}
	page := ask(h, "GET", "/docs", "").Body.String()
	for _, want := range []string{
		`"><code>POST /add_tool_call_result</code></a>`, `id="POST /add_tool_call_result"`, `Takes <a href="#AddRequest">AddRequest</a>`,
		`<code>time_cost</code>`, `number or string`, `Left out: <code>-1</code>`, `&#34;query&#34;: &#34;go generics&#34;`, `<code>deleted_memory_ids</code>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
	for _, foreign := range []string{"src=", "@import", "href=\"http"} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page holds %s", foreign)
		}
	}
}
