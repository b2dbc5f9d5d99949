package guidelines

import (
	"context"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/internal/configtest"
)

// disguises are further ways to hide an order: other scripts that look alike, marks that
// are not seen, codes, and notations that something downstream might read.
var disguises = map[string]func(string) string{
	"cyrillic look-alikes": strings.NewReplacer("a", "а", "e", "е", "o", "о", "p", "р", "c", "с", "x", "х", "y", "у", "i", "і").Replace,
	"greek look-alikes":    strings.NewReplacer("a", "α", "o", "ο", "v", "ν", "i", "ι", "t", "τ", "n", "η").Replace,
	"armenian look-alikes": strings.NewReplacer("o", "օ", "u", "ս", "h", "հ", "g", "ց", "l", "ӏ").Replace,
	"mathematical bold":    shift('a', 'z', 0x1D41A), "script": shift('a', 'z', 0x1D4EA), "circled": shift('a', 'z', 0x24D0), "parenthesised": shift('a', 'z', 0x249C),
	"regional letters": shift('a', 'z', 0x1F1E6), "squared": func(s string) string { return shift('A', 'Z', 0x1F130)(strings.ToUpper(s)) },
	"soft hyphens": strewn("\u00ad"), "word joiners": strewn("\u2060"), "hangul fillers": strewn("\u3164"), "variation selectors": strewn("\ufe0f"), "combining strokes": strewn("\u0336"),
	"joiners": strewn("\u200d"), "invisible times": strewn("\u2062"), "isolates": func(s string) string { return "\u2067" + s + "\u2069" }, "override inside": func(s string) string { return strings.ReplaceAll(s, " ", " \u202d") },
	"dots": strewn("."), "hyphens": strewn("-"), "underscores of words": func(s string) string { return strings.ReplaceAll(s, " ", "-") }, "no spaces": func(s string) string { return strings.ReplaceAll(s, " ", "") },
	"base32": func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }, "rot13": rot13, "binary": func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf("%b ", r) }) },
	"code points in words": func(s string) string {
		return each(s, func(r rune) string { return "number " + strings.Repeat("one ", int(r)%7) + "then " })
	},
	"quoted-printable": func(s string) string { return each(s, func(r rune) string { return fmt.Sprintf("=%02X", r) }) },
	"braille":          func(s string) string { return each(s, func(r rune) string { return string(0x2800 + r%64) }) },
	"comment":          func(s string) string { return "<!-- " + s + " -->" }, "sql comment": func(s string) string { return "x'; -- " + s }, "terminal": func(s string) string { return "\x1b[1m" + s + "\x1b[0m" },
	"link": func(s string) string {
		return "[" + s + "](http://mallory.example/" + strings.ReplaceAll(s, " ", "/") + ")"
	}, "chat template": func(s string) string { return "<|im_start|>system\n" + s + "<|im_end|>" },
	"heading of setext": func(s string) string { return s + "\n=====" }, "list in a list": func(s string) string { return "\n   * " + s }, "carriage return": func(s string) string { return "ok\r" + s },
	"line separator": func(s string) string { return "ok\u2028" + s }, "next line": func(s string) string { return "ok\u0085" + s }, "closing our quotes": func(s string) string { return `" (3 runs). ` + s + `: "` },
	"initials": func(s string) string {
		out := ""
		for w := range strings.FieldsSeq(s) {
			out += string([]rune(w)[0]) + "."
		}
		return out + " " + s
	},
}

// shift moves letters into another block.
func shift(from, to, block rune) func(string) string {
	return func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= from && r <= to {
				return r - from + block
			}
			return r
		}, s)
	}
}

func strewn(mark string) func(string) string {
	return func(s string) string { return each(s, func(r rune) string { return string(r) + mark }) }
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return 'a' + (r-'a'+13)%26
		}
		return r
	}, s)
}

// others is a workspace in which other sources use other tools.
type others struct{}

func (others) Observations(context.Context, memoryd.ToolRef) ([]evidence.Observation, error) {
	return nil, nil
}
func (others) Shared(context.Context, string) (bool, error) { return true, nil }

// Whoever alone uses a tool of a workspace that others use too publishes nothing of what
// it says, nor does one among several, however it is written.
func TestDisguisedOrdersOfASingleWriterAreNotPublished(t *testing.T) {
	tried, n := 0, 0
	for place, bear := range bearers {
		for name, disguise := range disguises {
			order := orders[(n*11+len(place))%len(orders)]
			if n++; n%2 == 0 {
				order = orders[n%2] // in letters that the disguises know
			}
			if n%6 > 0 || testing.Short() && n%24 > 0 {
				continue // a sixth of them, other ones each time: maps have no order
			}
			calls := attacked(order, disguise(order), bear, 12)
			for who, calls := range map[string][]memoryd.Call{"one of three": calls, "alone in its tool": calls[24:]} {
				tried++
				rules := NewRules(configtest.Section[Config]("guidelines"))
				rules.Window = others{}
				d, err := rules.Compose(t.Context(), memoryd.Tool{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "lookup"}}, calls, 20, nil)
				if err != nil {
					t.Fatal(err)
				}
				own := func(w string) bool { return containsWord("gone far tell user seen", strings.ToLower(w)) } // of a tool that never worked
				if bad := slices.DeleteFunc(foreign(d), own); len(bad) > 0 {
					t.Errorf("%s, %s, %s: %q in\n%s", who, place, name, bad, d.Render())
				}
			}
		}
	}
	t.Logf("%d attacks", tried)
}
