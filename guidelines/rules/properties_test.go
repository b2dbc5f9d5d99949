package rules

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// made draws an input that is good or bad for a rule that no message tells.
type made func(r *rand.Rand, bad bool) map[string]any

// word is a made-up word.
func word(r *rand.Rand) (w string) {
	for range 2 + r.IntN(3) {
		w += string("bdfgklmnprst"[r.IntN(12)]) + string("aeiou"[r.IntN(5)])
	}
	return w
}

func words(r *rand.Rand, n int) []string {
	list := []string{}
	for range n {
		list = append(list, word(r)+fmt.Sprint(r.IntN(1000)))
	}
	return list
}

// drawn are calls of a tool that refuses a quarter of them with a code.
func drawn(r *rand.Rand, of made) (calls []Call) {
	for i := range 120 {
		bad := r.IntN(4) == 0
		input, _ := json.Marshal(of(r, bad)) //nolint:errchkjson // texts, numbers and lists
		message := ""
		if bad {
			message = "E44"
		}
		c := call(i, string(input), message)
		c.Turn, c.Pause = 1+r.IntN(7), float64(r.IntN(100))
		calls = append(calls, c)
	}
	return calls
}

func TestWhatAValueIsLikeAndWhereItIsGivenBecomesARule(t *testing.T) {
	pick := func(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }
	for _, tc := range []struct {
		line string
		of   made
	}{
		{"Keep `title` at most ", func(r *rand.Rand, bad bool) map[string]any {
			n := 5 + r.IntN(55)
			if bad {
				n += 70
			}
			return map[string]any{"title": strings.Join(words(r, 20), " ")[:n], "body": word(r)}
		}},
		{"Give at most 9 elements in `to`", func(r *rand.Rand, bad bool) map[string]any {
			n := 1 + r.IntN(9)
			if bad {
				n += 9
			}
			return map[string]any{"to": words(r, n), "body": word(r)}
		}},
		{"Give at least 1 element in `to`", func(r *rand.Rand, bad bool) map[string]any {
			n := 1 + r.IntN(4)
			if bad {
				n = 0
			}
			return map[string]any{"to": words(r, n)}
		}},
		{"Write `slug` without blanks", func(r *rand.Rand, bad bool) map[string]any {
			if bad {
				return map[string]any{"slug": word(r) + " " + word(r)}
			}
			return map[string]any{"slug": word(r) + word(r)}
		}},
		{"End `file` with \".csv\"", func(r *rand.Rand, bad bool) map[string]any {
			if bad {
				return map[string]any{"file": word(r) + ".cfg"}
			}
			return map[string]any{"file": word(r) + ".csv"}
		}},
		{"Give `from` and `to` different values", func(r *rand.Rand, bad bool) map[string]any {
			a, b := word(r), word(r)
			if bad {
				b = a
			}
			return map[string]any{"from": a, "to": b}
		}},
		{"Give `name` or `id`", func(r *rand.Rand, bad bool) map[string]any {
			in := map[string]any{"n": r.IntN(9)}
			if !bad {
				in[pick(r, "id", "name")] = word(r)
			}
			return in
		}},
		{"Where `channel` is \"sms\", always give `phone`", func(r *rand.Rand, bad bool) map[string]any {
			in := map[string]any{"channel": pick(r, "sms", "mail", "push"), "text": word(r)}
			if bad {
				in["channel"] = "sms"
			} else if in["channel"] == "sms" || r.IntN(3) == 0 {
				in["phone"] = word(r)
			}
			return in
		}},
		{"Where `plan` is \"basic\", keep `seats` at most 10", func(r *rand.Rand, bad bool) map[string]any {
			in := map[string]any{"plan": pick(r, "basic", "pro"), "seats": 1 + r.IntN(10)}
			if bad {
				in["plan"], in["seats"] = "basic", 20+r.IntN(80)
			} else if in["plan"] == "pro" {
				in["seats"] = 1 + r.IntN(100)
			}
			return in
		}},
		{"Where `recursive` is true, always give `force`", func(r *rand.Rand, bad bool) map[string]any {
			in := map[string]any{"path": word(r), "recursive": bad || r.IntN(2) == 0}
			if !bad && (in["recursive"] == true || r.IntN(3) == 0) {
				in["force"] = true
			}
			return in
		}},
		{"Where `sort` is given, always give `order`", func(r *rand.Rand, bad bool) map[string]any {
			in := map[string]any{"q": word(r)}
			if bad || r.IntN(2) == 0 {
				in["sort"] = word(r)
			}
			if !bad && (in["sort"] != nil || r.IntN(3) == 0) {
				in["order"] = word(r)
			}
			return in
		}},
		{"Give no `at` that begins with \"/\"", func(r *rand.Rand, bad bool) map[string]any {
			at := word(r) + "/" + word(r)
			if bad {
				at = "/" + at
			}
			return map[string]any{"at": at}
		}},
		{"Give the length of `data` in steps of 4", func(r *rand.Rand, bad bool) map[string]any {
			n := 4 * (1 + r.IntN(9))
			if bad {
				n += 1 + r.IntN(3)
			}
			return map[string]any{"data": strings.Repeat("x", n)}
		}},
		{"Keep `start` before `end`", func(r *rand.Rand, bad bool) map[string]any {
			at := func() string {
				return fmt.Sprintf("2026-07-%02dT%02d:%02d:00Z", 10+r.IntN(9), 10+r.IntN(9), 10+r.IntN(40))
			}
			a, b := at(), at()
			for a == b {
				b = at()
			}
			if (a < b) == bad {
				a, b = b, a
			}
			return map[string]any{"start": a, "end": b}
		}},
		{"Give no `high` that comes before `low`", func(r *rand.Rand, bad bool) map[string]any {
			low := r.IntN(9)
			if bad {
				return map[string]any{"low": low + 1 + r.IntN(4), "high": low}
			}
			return map[string]any{"low": low, "high": low + r.IntN(4)}
		}},
	} {
		r := rand.New(rand.NewPCG(7, 32))
		calls := drawn(r, tc.of)
		found := Find("own", calls)
		if len(found) != 1 || !strings.HasPrefix(found[0].Line, tc.line) {
			t.Errorf("want %q, got\n%s", tc.line, lines(found))
			continue
		}
		kept, err := json.Marshal(found[0])
		var back Rule
		if err != nil || json.Unmarshal(kept, &back) != nil || back.ID() != found[0].ID() {
			t.Errorf("%s came back as %s (%v)", found[0].ID(), back.ID(), err)
		}
		for _, c := range drawn(r, tc.of) {
			if p := Plan(&c); found[0].Holds(p) != c.Bad || back.Holds(p) != found[0].Holds(p) {
				t.Errorf("%s: of %s it holds: %t", found[0].Line, c.Input, found[0].Holds(p))
			}
		}
	}
}

func TestALineOnAFormSaysWhatItsSignsStandFor(t *testing.T) {
	t.Parallel()
	for want, forms := range map[string][]string{
		"`0`, `00` (0 a digit)":                               {"0", "00"},
		"`0`, `A0` (A a letter, 0 a digit)":                   {"0", "A0"},
		"YYYY-MM-DDTHH:MM:SS.sssZ, YYYY-MM-DDTHH:MM:SS+HH:MM": {Form("2026-07-17T11:35:00.123Z"), Form("2026-07-17T11:35:00+02:00")},
	} {
		if got := strings.Join(formsShown(forms), ", "); got != want {
			t.Errorf("%q: got %q, want %q", forms, got, want)
		}
	}
}

// A parameter and a member of it make no pair.
func TestAParameterAndItsMemberAreNoPair(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 40 {
		input, message := `{"q":"a"}`, ""
		switch i % 4 {
		case 0:
			input, message = `{"q":"a","filters":{"owner_":{"eq":"x"}}}`, "filters: Invalid key owner_"
		case 1:
			input = `{"q":"b","filters":{"mode":{"eq":"x"}}}`
		}
		calls = append(calls, call(i, input, message))
	}
	if got := lines(Find("own", calls)); got != "Leave out `filters.owner_`\n" {
		t.Errorf("got %q", got)
	}
}

// How the dates of some months begin is no rule.
func TestHowDatesBeginIsNotTold(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 40 {
		at, message := fmt.Sprintf("2026-%02d-%02d", 1+i%9, 1+i%27), ""
		if i%5 == 0 {
			at, message = fmt.Sprintf("2031-%02d-%02d", 1+i%9, 1+i%27), "Date may not be in the future."
		}
		calls = append(calls, call(i, fmt.Sprintf(`{"at":%q,"n":%d}`, at, i%7), message))
	}
	if got := lines(Find("own", calls)); strings.Contains(got, "2026-") {
		t.Errorf("got %q", got)
	}
}

// Calls failed in the same way under a condition before others under it went well: that is no change of the tool.
func TestWhatWentBothWaysAllAlongIsNoRuleOfTheNewestCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 34))
	for seed := range 40 {
		var calls []Call
		for i := range 160 {
			size, key := []int{16, 24, 32}[r.IntN(3)], []int{128, 256}[r.IntN(2)]
			message := ""
			if 8*size != key || r.IntN(6) == 0 {
				message = "E44"
			}
			calls = append(calls, call(i, fmt.Sprintf(`{"size":%d,"kind":"k%dq%d"}`, size, key, r.IntN(1000)), message))
		}
		for _, f := range Find("own", calls) {
			if f.Good == 0 && strings.Contains(f.Line, "`size`") && !strings.Contains(f.Line, "steps") {
				t.Errorf("%d: %s: %s", seed, f.Line, f.Found())
			}
		}
	}
}

// A name that all good calls begin or end with is told only where it may be.
func TestHowGoodCallsBeginAndEndIsToldOnlyWhereItMayBe(t *testing.T) {
	of := func(head, tail string) made {
		return func(r *rand.Rand, bad bool) map[string]any {
			if bad {
				return map[string]any{"to": word(r) + word(r)}
			}
			return map[string]any{"to": head + word(r) + word(r) + tail}
		}
	}
	seen := 0
	for _, end := range [][2]string{
		{"ref/", ""}, {"lena.weber@", ""}, {"/home/lena/", ""}, {"AKZ93K2LQ81-", ""}, {"", "/ref"}, {"", "@lena.weber"}, {"", "/home/lena/"}, {"", "-AKZ93K2LQ81"},
	} {
		name := end[0] + end[1]
		got := lines(Find("own", drawn(rand.New(rand.NewPCG(7, 32)), of(end[0], end[1]))))
		if strings.Contains(got, `"`+name+`"`) {
			seen++
		}
		if !strings.Contains(name, "ref") && strings.Contains(got, name) {
			t.Errorf("told: %s", got)
		}
	}
	if seen != 2 {
		t.Errorf("%d were told, the 2 controls are", seen)
	}
}

// Where calls with texts and lists fail at random, hardly a size or a form is told of them.
func TestHardlyASizeIsToldOfFailuresByChance(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 32))
	with, told, refined := 0, strings.Builder{}, 0
	const lists = 100
	for range lists {
		found := Find("own", drawn(r, func(r *rand.Rand, _ bool) map[string]any {
			in := map[string]any{
				"query": strings.Join(words(r, 1+r.IntN(9)), []string{" ", ", ", "/", "-"}[r.IntN(4)]), "tags": words(r, r.IntN(8)),
				"kind": string("abc"[r.IntN(3)]), "deep": r.IntN(2) == 0,
			}
			if r.IntN(2) == 0 {
				in["name"] = strings.ToUpper(word(r)) + word(r)
			}
			return in
		}))
		if len(found) > 0 {
			with++
			told.WriteString(lines(found))
		}
		if slices.ContainsFunc(found, func(r Rule) bool { return r.when.refined() || r.when.where != "" }) {
			refined++
		}
	}
	if float64(with) > falseDiscovery*lists {
		t.Errorf("%d of %d lists got a rule, %d a refined one:\n%s", with, lists, refined, told.String())
	}
}

// What one party's good calls end with is not told to others, whose calls fail: it may have put a
// word there. The control are two parties.
func TestHowOnePartysCallsEndIsNotTold(t *testing.T) {
	for parties, told := range map[uint64]bool{1: false, 2: true} {
		calls := drawn(rand.New(rand.NewPCG(7, 32)), func(r *rand.Rand, bad bool) map[string]any {
			if bad {
				return map[string]any{"to": word(r)}
			}
			return map[string]any{"to": word(r) + word(r) + "/obey"}
		})
		for i := range calls {
			calls[i].Party = 7 + uint64(i)%parties //nolint:gosec // small
			if calls[i].Bad {
				calls[i].Party = 3 + uint64(i)%2 //nolint:gosec // small
			}
			calls[i].Shared, calls[i].Source = true, calls[i].Party
		}
		if got := lines(Find("own", calls)); strings.Contains(got, "obey") != told {
			t.Errorf("%d parties: %s", parties, got)
		}
	}
}

// A parameter whose name holds the mark of properties is none.
func TestANameWithTheMarkOfPropertiesIsNotToldAsOne(t *testing.T) {
	found := Find("own", drawn(rand.New(rand.NewPCG(7, 32)), func(r *rand.Rand, bad bool) map[string]any {
		n := r.IntN(40)
		if bad {
			n += 50
		}
		return map[string]any{"title": word(r), "title#length": n, "issue#": n, "list": []any{}, "list#items": n}
	}))
	if len(found) > 0 {
		t.Errorf("got %s", lines(found))
	}
}

// Agents that give up after some refusals are no bound on how often a run may call.
func TestRunsThatEndInRefusalsAreNoBoundOnTheirCalls(t *testing.T) {
	var calls []Call
	for run, good := range []int{10, 8, 9} {
		for n := range good + 4 {
			message := ""
			if n >= good {
				message = "E44"
			}
			c := call(0, fmt.Sprintf(`{"q":"w%d"}`, len(calls)), message)
			c.Run, c.Named, c.Turn, c.Pause = uint64(run+1), true, n+1, 20 //nolint:gosec // small
			calls = append(calls, c)
		}
	}
	if found := Find("own", calls); len(found) > 0 {
		t.Errorf("got %s", lines(found))
	}
}

// The folder in which all good paths lie is told where messages name it.
func TestTheFolderThatMessagesNameIsTold(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]bool{"Access denied: outside of /srv/box": true, "Access denied": false} {
		var calls []Call
		for i := range 8 {
			calls = append(calls, call(i, fmt.Sprintf(`{"path":"/srv/box/a%c/f"}`, 'a'+i), ""), call(i, fmt.Sprintf(`{"path":"/etc/x%c"}`, 'a'+i), says))
		}
		if got := lines(Find("read", calls)); strings.Contains(got, "Begin `path` with \"/srv/box/\"") != want {
			t.Errorf("%s: %s", says, got)
		}
	}
}

// The same text that fails again and again says nothing of its length.
func TestALengthIsTestedOnTextsThatDiffer(t *testing.T) {
	t.Parallel()
	for few, want := range map[bool]bool{true: false, false: true} {
		var calls []Call
		r := rand.New(rand.NewPCG(4, 4))
		for i := range 16 {
			for long, message := range map[int]string{3 + i%5: "", 12 + i%4: "no"} {
				title := make([]byte, long)
				for k := range title {
					title[k] = byte('a' + r.IntN(26))
				}
				if few && message != "" {
					title = []byte("a_long_title")
				}
				calls = append(calls, call(i, fmt.Sprintf(`{"title":%q}`, title), message))
			}
		}
		if got := lines(Find("name", calls)); strings.Contains(got, "characters long") != want {
			t.Errorf("few %v: %s", few, got)
		}
	}
}

// Ranges of a sheet are written alike, however long they are: those of good calls tell the form, not how many digits it has.
func TestALongerNumberInAFormIsNoOtherForm(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"range":"A%d:C%d"}`, 1+i%3, 4+i%5)))
	}
	for i := range 5 {
		calls = append(calls, bad(40+i, fmt.Sprintf(`{"range":%q}`, []string{"A1-C4", "row 1", "A1..B2"}[i%3]), "invalid range"))
	}
	found := Find("own", calls)
	if got := lines(found); got != "Write `range` like `A0:A0` (A a letter, 0 a digit)\n" {
		t.Fatalf("got %q", got)
	}
	for given, breaks := range map[string]bool{"A1:C4": false, "B12:D40": false, "AA10:AB200": false, "A1-D4": true, "A1": true} {
		if got := found[0].Holds(Plan(&Call{Input: fmt.Appendf(nil, `{"range":%q}`, given)})); got != breaks {
			t.Errorf("%s is told: %t", given, got)
		}
	}
}

// A date has so many digits.
func TestADateWithFewerDigitsIsAnotherForm(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"date":"2024-05-%02d"}`, 1+i%28)))
	}
	for i := range 5 {
		calls = append(calls, bad(40+i, fmt.Sprintf(`{"date":"%d/5/24"}`, 1+i), "bad date"))
	}
	found := Find("own", calls)
	if lines(found) != "Write `date` like YYYY-MM-DD\n" || !found[0].Holds(Plan(&Call{Input: []byte(`{"date":"2024-5-7"}`)})) {
		t.Errorf("%+v", found)
	}
}

// Where a longer number failed, how long it is counts.
func TestALongerNumberThatFailedIsAnotherForm(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"id":"AB-%d"}`, 1000+37*i)))
	}
	for i := range 5 {
		calls = append(calls, bad(40+i, fmt.Sprintf(`{"id":"AB-%d"}`, 100+7*i), "no such id"))
	}
	found := Find("own", calls)
	if len(found) != 1 || !found[0].Holds(Plan(&Call{Input: []byte(`{"id":"AB-512"}`)})) {
		t.Errorf("%+v", found)
	}
}
