package api

import (
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"
	"go.yaml.in/yaml/v3"
)

// openapiYAML is the description of the interface.
//
//go:embed openapi.yaml
var openapiYAML []byte

//go:embed docs.html.tmpl
var docsTemplate string

// docs serves the description: as JSON for programs, as a page for people. The
// page loads nothing from anywhere.
type docs struct{ json, html []byte }

// description is the part of the OpenAPI document that the page shows.
type description struct {
	Info struct {
		Title, Version, Description string
	}
	Paths map[string]map[string]struct {
		Summary, Description string
	}
}

// entry is a line of the page.
type entry struct{ Method, Path, Summary, Description string }

func newDocs() (*docs, error) {
	var tree any
	if err := yaml.Unmarshal(openapiYAML, &tree); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	asJSON, err := jsonv2.Marshal(tree, jsonv2.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	var d description
	if err := yaml.Unmarshal(openapiYAML, &d); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	page, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, err
	}
	var html strings.Builder
	if err := page.Execute(&html, map[string]any{"Info": d.Info, "Endpoints": entriesOf(d)}); err != nil {
		return nil, err
	}
	return &docs{json: asJSON, html: []byte(html.String())}, nil
}

func entriesOf(d description) []entry {
	var list []entry
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			op := d.Paths[path][method]
			list = append(list, entry{strings.ToUpper(method), path, op.Summary, op.Description})
		}
	}
	return list
}

func (d *docs) spec(echo.Context, []byte) (any, error) { return encoded{body: d.json}, nil }

func (d *docs) page(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		return c.HTMLBlob(http.StatusOK, d.html)
	}), nil
}
