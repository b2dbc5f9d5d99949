package compact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// textPieces are what the short cuts for ordinary texts must tell apart.
var textPieces = rapid.OneOf(
	rapid.SampledFrom([]string{"error", "ERROR", "Failed", "not found", "NOT  FOUND", "exceptio", "fa\u0130led", " ", "  ", "\n", "\t", "\u2028", "é", "\xff", "\x7f", "a"}),
	rapid.String(),
)

func TestShortCutsAgreeWithTheLongWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(textPieces, 0, 6).Draw(t, "pieces"), "")
		folded := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool {
			return r <= ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
		}), " ")
		if got := oneLine(s); got != folded {
			t.Errorf("one line of %q: got %q, want %q", s, got, folded)
		}
	})
}
