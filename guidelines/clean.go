package guidelines

import (
	"strings"

	"memoryd/internal/textsafe"
)

// quotable makes a text from a call fit to stand, in quotation marks, in a
// guideline: visible, on one line, without addresses, secrets and markup, at
// most limit characters. It is false when nothing may be shown.
func quotable(s string, limit int) (string, bool) {
	s = textsafe.Visible(textsafe.Head(s, 8*limit+64))
	if _, reads := textsafe.SuspectInstruction(s); reads {
		return "", false
	}
	s = textsafe.MaskAddresses(textsafe.MaskStrict(s))
	s = strings.NewReplacer("`", "'", `"`, "'", "<", "‹", ">", "›").Replace(s)
	s = textsafe.Cut(s, limit)
	return s, s != ""
}

// code is quotable for names: it stands between backticks.
func code(s string) string {
	q, ok := quotable(s, 60)
	if !ok {
		return "(name withheld)"
	}
	return "`" + q + "`"
}
