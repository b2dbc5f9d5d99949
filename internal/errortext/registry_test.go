package errortext_test

import (
	"testing"

	"memoryd/internal/errortext"
)

// Codes of registries that others keep mean what the registry says.
func TestRegistries(t *testing.T) {
	for name, want := range map[string]bool{"EISDIR": true, "EPERM": true, "EIO": true, "EUROPE": false, "eperm": false, "E": false} {
		if got := errortext.IsErrno(name); got != want {
			t.Errorf("IsErrno(%q) = %v", name, got)
		}
	}
}
