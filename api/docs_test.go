package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"testing"

	"memoryd/store/mem"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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

// description is the part of the OpenAPI document that the page shows.
type description struct {
	Info struct {
		Title, Version, Description string
	}
	Paths      map[string]map[string]summarised
	Components struct{ Schemas map[string]schema }
}

// summarised is an operation as the page shows it.
type summarised struct {
	Summary, Description string
	RequestBody          struct{ Content contents }
	Responses            map[string]struct{ Content contents }
}

// contents are the forms of a body, by their content types.
type contents map[string]struct{ Schema schema }

// Refs returns the named types in a body.
func (c contents) Refs() (names []string) {
	for _, content := range c {
		names = append(names, content.Schema.Refs()...)
	}
	return names
}

// schema is a type as the page shows it.
type schema struct {
	Ref         string `json:"$ref"`
	Type        any
	Enum        []any
	Default     any
	Description string
	Required    []string
	Examples    []any
	AnyOf       []schema
	Items       *schema
	Properties  map[string]schema
}

// Refs returns the named types in a type.
func (s schema) Refs() (names []string) {
	if s.Ref != "" {
		names = append(names, s.Ref[strings.LastIndexByte(s.Ref, '/')+1:])
	}
	for _, one := range s.AnyOf {
		names = append(names, one.Refs()...)
	}
	if s.Items != nil {
		names = append(names, s.Items.Refs()...)
	}
	return names
}

// Kind describes a value in words.
func (s schema) Kind() string {
	kind := "any"
	switch t := s.Type.(type) {
	case string:
		kind = t
	case []any:
		kind = strings.Trim(strings.ReplaceAll(fmt.Sprint(t), " ", " or "), "[]")
	}
	if s.Items != nil && len(s.Items.Refs()) == 0 {
		kind += " of " + s.Items.Kind()
	}
	if len(s.Enum) > 0 {
		kind = "one of " + strings.Trim(fmt.Sprint(s.Enum), "[]")
	}
	if refs := s.Refs(); s.Type == nil && len(refs) > 0 {
		kind = ""
	}
	return kind
}

// Example returns an example as JSON; "" if the description has none.
func (s schema) Example() (string, error) {
	if len(s.Examples) == 0 {
		return "", nil
	}
	text, err := jsonv2.Marshal(s.Examples[0], jsonv2.Deterministic(true), jsontext.WithIndent("  "))
	return string(text), err
}

// Must reports whether a property is required.
func (s schema) Must(name string) bool { return slices.Contains(s.Required, name) }

// descriptionPage is the page of a description.
func descriptionPage(openapi []byte) ([]byte, error) {
	var d description
	if err := json.Unmarshal(openapi, &d); err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	page, err := template.New("docs.html.tmpl").Funcs(template.FuncMap{"upper": strings.ToUpper}).ParseFiles("docs.html.tmpl")
	if err != nil {
		return nil, err
	}
	var html bytes.Buffer
	err = page.Execute(&html, d)
	return html.Bytes(), err
}
