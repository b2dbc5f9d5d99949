package errortext_test

import (
	"testing"

	"memoryd/internal/errortext"
)

func TestNamesOfConditions(t *testing.T) {
	for _, s := range []string{
		"NOT_FOUND", "INVALID_ARGUMENT", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "failed", "Refused", "BadNodeIdUnknown", "client-error-not-possible",
		"client-error-document-format-not-supported", "NotFound", "NoSuchBucket", "insufficient_funds", "RJCT", "ALREADY_EXISTS", "server-error-busy",
	} {
		if !errortext.FailureName(s) {
			t.Errorf("%q names no failure", s)
		}
	}
	for _, s := range []string{
		"", "ok", "OK", "NO_ERROR", "NoError", "successful-ok", "Good", "COMPLETED_WITH_ERRORS", "without_errors", "pending", "unknown", "expired", "missing",
		"Badge", "a failed attempt", "https://x.test/error", "error-free", "shipped", "COMPLETED", "requires_payment_method",
	} {
		if errortext.FailureName(s) {
			t.Errorf("%q names a failure", s)
		}
	}
}
