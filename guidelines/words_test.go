package guidelines

import (
	_ "embed"
	"slices"
	"strings"

	"memoryd/guidelines/evidence"
)

// plainWords are the words of this program's lines.
//
//go:embed testdata/words.txt
var plainWords string

// plain reports whether a word is one of this program's: of the plain list, which has
// none that could grant, promise or spend anything, or of the wording of the classes of
// causes.
func plain(w string, causes ...*evidence.Cause) bool {
	w = strings.ToLower(strings.TrimSuffix(w, "'s"))
	if w == "user" || w == "your" { // no forms of "use" and "you"
		return slices.ContainsFunc(causes, func(c *evidence.Cause) bool { return c.Class.Says(w) })
	}
	for _, form := range []string{w, strings.TrimSuffix(w, "r"), strings.TrimSuffix(w, "ies") + "y", strings.TrimSuffix(w, "s"), strings.TrimSuffix(w, "es"), strings.TrimSuffix(w, "ed"), strings.TrimSuffix(w, "d"), strings.TrimSuffix(w, "ing"), strings.TrimSuffix(w, "ing") + "e", strings.TrimSuffix(w, "ly"), strings.TrimSuffix(w, "er")} {
		if len(form) > 0 && (containsWord(plainWords, form) || slices.ContainsFunc(causes, func(c *evidence.Cause) bool { return c.Class.Says(form) })) {
			return true
		}
	}
	return false
}
