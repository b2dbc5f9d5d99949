package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// lines answers with JSON-lines, as they come.
type lines struct {
	w *echo.Response
	n int
}

func (l *lines) write(line []byte) error {
	l.begin()
	l.n++
	_, err := l.w.Write(line)
	return err
}

func (l *lines) begin() {
	l.w.Header().Set(echo.HeaderContentType, "application/x-ndjson")
}

// close ends the answer. A failure before the first line is answered as any
// other; after it the connection is cut, so that nobody takes a part for the
// whole.
func (l *lines) close(err error) error {
	switch {
	case err == nil && l.n == 0:
		l.begin()
		l.w.WriteHeader(http.StatusOK)
	case err != nil && l.n > 0:
		panic(http.ErrAbortHandler)
	}
	return err
}
