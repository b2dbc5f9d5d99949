package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// openapiJSON is the description of the interface, for programs; a test makes it from the types.
// docsTemplate shows it to people.
var (
	//go:embed openapi.json
	openapiJSON []byte
	//go:embed docs.html.tmpl
	docsTemplate string
)

// openapi gives this description.
func (s *server) openapi(echo.Context, []byte) (any, error) {
	body, err := compactDescription()
	return encoded{body: body}, err
}

// compactDescription and docsPage are made when the first asks: most servers are never asked.
var (
	compactDescription = sync.OnceValues(func() ([]byte, error) {
		var short bytes.Buffer
		err := json.Compact(&short, openapiJSON)
		return short.Bytes(), err
	})
	docsPage = sync.OnceValues(func() ([]byte, error) {
		var d map[string]any
		if err := json.Unmarshal(openapiJSON, &d); err != nil {
			return nil, err
		}
		page, err := template.New("docs").Funcs(template.FuncMap{
			"upper": strings.ToUpper, "types": namedTypes, "kind": kindOfValue, "indented": indented,
		}).Parse(docsTemplate)
		if err != nil {
			return nil, err
		}
		var html bytes.Buffer
		err = page.Execute(&html, d)
		return html.Bytes(), err
	})
)

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

// home leads who opens the server's address to the page.
func (s *server) home(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error { return c.Redirect(http.StatusFound, "/docs") }), nil
}

// docs gives the description as a page, which loads nothing from anywhere.
func (s *server) docs(echo.Context, []byte) (any, error) {
	page, err := docsPage()
	return written(func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		return c.HTMLBlob(http.StatusOK, page)
	}), err
}
