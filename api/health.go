package api

import (
	"context"
	"net/http"
	"time"

	"memoryd/api/wire"

	"github.com/labstack/echo/v4"
)

// checkTimeout bounds one readiness check.
const checkTimeout = 2 * time.Second

func (s *server) health(c echo.Context) error {
	return writeJSON(c, http.StatusOK, jsonType, wire.Health{Status: "healthy"})
}

// livez answers while the process runs, whatever else is broken.
func (s *server) livez(c echo.Context) error {
	return writeJSON(c, http.StatusOK, jsonType, wire.Health{Status: "alive"})
}

// readyz names each check. A failed vital check makes the server unready (503),
// another one only degraded: recording and retrieving go on without a model.
func (s *server) readyz(c echo.Context) error {
	out := wire.Readiness{Status: "ready"}
	status := http.StatusOK
	for _, check := range s.Checks {
		ctx, cancel := context.WithTimeout(c.Request().Context(), checkTimeout)
		err := check.Run(ctx)
		cancel()
		result := wire.Check{Name: check.Name, Status: "ok"}
		switch {
		case err == nil:
		case check.Vital:
			result.Status, out.Status, status = "failed", "unready", http.StatusServiceUnavailable
		default:
			result.Status = "degraded"
			if out.Status == "ready" {
				out.Status = "degraded"
			}
		}
		if err != nil {
			result.Detail = describe(err).msg
		}
		out.Checks = append(out.Checks, result)
	}
	return writeJSON(c, status, jsonType, out)
}
