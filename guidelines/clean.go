package guidelines

import (
	"regexp"
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

// nameForm is the form of the names of tools and parameters that stand in a guideline:
// no blanks, and no script in which one needs none to write a sentence.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_.:/-]{1,64}$`)

// code puts a name between backticks.
func code(s string) string {
	if _, reads := textsafe.SuspectInstruction(s); reads || !nameForm.MatchString(s) || textsafe.HasAddress(s) || textsafe.HasSecret(s) {
		return "(name withheld)"
	}
	return "`" + s + "`"
}
