package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"
)

// openapiJSON is the description of the interface, for programs, and docsPage for people; a test
// makes both from the types. The page loads nothing from anywhere.
var (
	//go:embed openapi.json
	openapiJSON []byte
	//go:embed docs.html
	docsPage []byte
)

// openapi gives this description.
func (s *server) openapi(echo.Context, []byte) (any, error) {
	body, err := compactDescription()
	return encoded{body: body}, err
}

// compactDescription is made when the first asks: most servers are never asked.
var compactDescription = sync.OnceValues(func() ([]byte, error) {
	var short bytes.Buffer
	err := json.Compact(&short, openapiJSON)
	return short.Bytes(), err
})

// home leads who opens the server's address to the page.
func (s *server) home(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error { return c.Redirect(http.StatusFound, "/docs") }), nil
}

func (s *server) docs(echo.Context, []byte) (any, error) {
	return written(func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		return c.HTMLBlob(http.StatusOK, docsPage)
	}), nil
}
