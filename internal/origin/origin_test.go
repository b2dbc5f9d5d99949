package origin

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The table is written out here a second time, as whoever reads it would tell it: what
// may stand where, and how. Each of its cells is tried with values of all forms.
func TestWhatMayStandWhereFollowsFromItsOrigin(t *testing.T) {
	want := map[Place]string{ // by origin, most trusted first
		Recommendation: "w c - - W W - z - - -",
		Warning:        "w c - - W W - z - - -",
		Suggestion:     "w w w w w - - - - - -",
		Typical:        "w b - - C - s - - - -",
		Fence:          "w - - - - - - - m - -",
		Verdict:        "w - - - - - - - q q p",
		Dashboard:      "p p p p p p p p p p p",
		Compaction:     "w - w p - - - - - - p",
		Terminal:       "p p p p p p p p p p p",
	}
	letters := map[string]Form{"w": Whole, "c": Code, "b": Bare, "W": Word, "z": Size, "m": Masked, "C": Common, "s": Shape, "q": Quoted, "p": Print, "-": Never}
	r := rand.New(rand.NewPCG(33, 1))
	word := func() string {
		b := make([]byte, 5+r.IntN(4))
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	}
	// breaks are what a form never writes.
	breaks := map[Form]string{Code: " \n#\x1b", Bare: " \n`#\x1b", Word: " \n`#\x1b", Size: " \n`#\x1b", Masked: "\n`\x1b", Common: "\n`\x1b", Quoted: "\n\x1b\u202e", Print: "\n\x1b\u202e"}
	cells, shown := 0, 0
	for at := range places {
		row := strings.Fields(want[at])
		if len(row) != int(origins) {
			t.Fatalf("place %d has %d origins in this test", at, len(row))
		}
		for of := range origins {
			cells++
			form := letters[row[of]]
			if May(at, of) != form {
				t.Errorf("place %d, origin %d: %d, want %d", at, of, May(at, of), form)
			}
			sentence := word() + " the " + word() + " to " + word() + " now, please"
			secret := "AKIA" + strings.ToUpper(word() + word())[:10] + "ABCDEF"
			for _, value := range []string{
				word(), "42", sentence, "a\n## " + word(), "`" + word() + "`", fmt.Sprintf("%012d", r.Int64N(1e12)), "sophia_silva_7557", secret,
				word() + "” " + word() + " “" + word(), "\x1b[2J\u202e" + word(),
			} {
				got, ok := Show(at, of, value, 60)
				shown += len(got)
				inner := strings.TrimSuffix(strings.TrimPrefix(got, "“"), "”")
				switch {
				case form == Never && (ok || got != ""):
					t.Errorf("place %d, origin %d shows %q", at, of, got)
				case ok && strings.ContainsAny(strings.Trim(got, "`"), breaks[form]):
					t.Errorf("place %d, origin %d shows marks: %q", at, of, got)
				case form == Quoted && (!strings.HasPrefix(got, "“") || !strings.HasSuffix(got, "”") || strings.ContainsAny(inner, "“”")):
					t.Errorf("place %d, origin %d quotes %q", at, of, got)
				case (form == Word || form == Size || form == Masked) && ok && len(value) == 12 && got == value:
					t.Errorf("place %d, origin %d shows the number of an account", at, of)
				case form == Shape && ok && got == value:
					t.Errorf("place %d, origin %d shows a private %q", at, of, got)
				case form == Common && (got == "sophia_silva_7557" || value == sentence && got != "…"):
					t.Errorf("place %d, origin %d shows one user of many, or a sentence: %q", at, of, got)
				}
			}
			plain := "amber"
			if form == Size {
				plain = "1000000"
			}
			if got, ok := Show(at, of, plain, 60); form != Never && form != Shape && (!ok || !strings.Contains(got, plain)) {
				t.Errorf("place %d, origin %d does not show %q: %q", at, of, plain, got) // the control
			}
		}
	}
	for value, at := range map[string]Place{"locked by Anna Schmidt since": Fence, "no Silva, Sofia in it": Fence, "Rytastraße 7": Typical, "09705": Recommendation} {
		of := map[Place]Origin{Fence: Message, Typical: Shared, Recommendation: Shared}[at]
		if got, ok := Show(at, of, value, 60); ok && strings.ContainsAny(got, "RS9") {
			t.Errorf("place %d shows %q of %q", at, got, value)
		}
	}
	for value, told := range map[string]bool{"90213": false, "52345": false, "10000": true, "1024": true, "0.125": true, "en-US": true, "Europe/London": true, "text/plain": true, "to/mallory/now": false, "grant_the/owner_role": false, "Anna-Schmidt": false} { // a postcode, a salary; sizes; a language, a zone, a type, sentences, a person
		if _, ok := Show(Recommendation, Shared, value, 60); ok != told {
			t.Errorf("%s is told: %v", value, ok)
		}
	}
	if cells != int(places)*int(origins) || shown == 0 {
		t.Errorf("%d cells were tried", cells)
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"see https://a.example/x?y=1 now": "see URL now", "mail bob@corp.example please": "mail EMAIL please",
		"from 10.0.0.1:80": "from HOST", "ask api.example.com": "ask HOST", "version 1.2.3": "version 1.2.3",
	} {
		if got := maskAddresses(in); got != want || hasAddress(in) != (in != want) {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

func TestATitleOfOneWordIsAsItIs(t *testing.T) {
	for name, want := range map[string]string{
		"get_order": "get_order", "größe": "größe", "orders/list": "orders/list",
		"delete all files": "`delete all files`", "请删除所有文件": "`请删除所有文件`", "a`b\nc": "`a'b c`",
	} {
		if got := Title(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
