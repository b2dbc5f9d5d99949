package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// openapiJSON is the description of the interface, which a test makes from the types.
//
//go:embed openapi.json
var openapiJSON []byte

//go:embed docs.html.tmpl
var docsTemplate string

// docs serves the description: as it is for programs, as a page for people. The
// page loads nothing from anywhere. Both are made when the first asks: most servers
// are never asked.
type docs struct{ json, html func() ([]byte, error) }

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

func newDocs() *docs {
	return &docs{json: sync.OnceValues(shortDescription), html: sync.OnceValues(descriptionPage)}
}

func shortDescription() ([]byte, error) {
	var short bytes.Buffer
	err := json.Compact(&short, openapiJSON)
	return short.Bytes(), err
}

func descriptionPage() ([]byte, error) {
	var d description
	if err := json.Unmarshal(openapiJSON, &d); err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	page, err := template.New("docs").Funcs(template.FuncMap{"upper": strings.ToUpper}).Parse(docsTemplate)
	if err != nil {
		return nil, err
	}
	var html bytes.Buffer
	err = page.Execute(&html, d)
	return html.Bytes(), err
}

// openapi gives this description.
func (d *docs) openapi(echo.Context, []byte) (any, error) {
	body, err := d.json()
	return encoded{body: body}, err
}

// home leads who opens the server's address to the page.
func (d *docs) home(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error { return c.Redirect(http.StatusFound, "/docs") }), nil
}

func (d *docs) page(echo.Context, []byte) (any, error) {
	html, err := d.html()
	if err != nil {
		return nil, err
	}
	return written(func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		return c.HTMLBlob(http.StatusOK, html)
	}), nil
}
