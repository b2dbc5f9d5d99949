package errortext_test

import (
	"testing"

	"memoryd/internal/errortext"
)

// Codes of registries that others keep mean what the registry says.
func TestRegistries(t *testing.T) {
	for code, want := range map[string]bool{
		"23505": true, "42P01": true, "HY000": true, "22012": true,
		"00000": false, "01000": false, "02000": false, "12345": false, "42p01": false, "4270": false, "": false,
	} {
		if got := errortext.BadSQLState(code); got != want {
			t.Errorf("BadSQLState(%q) = %v", code, got)
		}
	}
	for text, want := range map[string]bool{
		"ECONNREFUSED": true, "Connection refused": true, "no space left on device.": true, "502 Bad Gateway": true, "HTTP 404": true,
		"http 404 Not Found": true, "200 OK": false, "HTTP 200": false, "404": false, "502 orders": false, "Connection refused by the till": false, "": false,
	} {
		if got := errortext.Condition(text); got != want {
			t.Errorf("Condition(%q) = %v", text, got)
		}
	}
	for name, want := range map[string]bool{"EISDIR": true, "EPERM": true, "EIO": true, "EUROPE": false, "eperm": false, "E": false} {
		if got := errortext.IsErrno(name); got != want {
			t.Errorf("IsErrno(%q) = %v", name, got)
		}
	}
}
