package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"memoryd/compact"

	"github.com/go-json-experiment/json/jsontext"
)

// What stands in a summary is what holds now, and what the request is about stands whole.

// listingFrom shows lines of a file as editors do; line 9 is the one that changes.
func listingFrom(first, last int, nine string) string {
	var b strings.Builder
	b.WriteString("[File: /srv/seed.py (40 lines total)]\n")
	for n := first; n <= last; n++ {
		text := fmt.Sprintf("    step_%d = prepare(queue_%d)", n, n)
		if n == 9 {
			text = nine
		}
		fmt.Fprintf(&b, "%d:%s\n", n, text)
	}
	return b.String()
}

func TestALineThatWasEditedStandsAsItIsNow(t *testing.T) {
	in := join(user("Fix seed.py."), asks("a", "open", `{"command":"open seed.py"}`, listingFrom(1, 40, "        model = s.modal()")), says("There is a typo in line 9."),
		asks("b", "edit", `{"command":"edit 9:9\n        model = s.model()\nend_of_edit"}`, listingFrom(4, 20, "        model = s.model()")), bookings("x"), user("Go on."))
	for _, target := range []int{500, 800, 1100} {
		res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, MaxInputTokens: target})
		if strings.Contains(res.Summary, "modal") || !strings.Contains(res.Summary, "> 9:        model = s.model()") {
			t.Errorf("%d tokens\n%s", target, res.Summary)
		}
		if strings.Contains(res.Summary, "> 39:") && !strings.Contains(res.Summary, "# open: command open seed.py (before edit)") {
			t.Errorf("%d tokens: nothing says that the lines are from before the edit\n%s", target, res.Summary)
		}
	}
}

func TestAFileThatWasReadBeforeItWasWrittenIsMarked(t *testing.T) {
	text := strings.Repeat("one line that says what the file had\n", 3) + "total = sum(rows) # in cents\n" + strings.Repeat("another line of the file that was there\n", 9)
	read := asks("a", "read_file", `{"path":"billing/rounding.py"}`, text)
	write := asks("b", "write_file", `{"path":"billing/rounding.py","content":"total = 0"}`, "ok")
	const head = "# read_file: path billing/rounding.py"
	for mark, in := range map[string][]jsontext.Value{head + " (before write_file)\n": join(read, write), head + "\n": join(write, read)} {
		res := run(t, newCompactor(t), compact.Request{Messages: join(user("Fix it."), in, bookings("x"), user("Go on.")), Force: true, MaxInputTokens: 900})
		if !strings.Contains(res.Summary, mark) {
			t.Errorf("no %q in\n%s", mark, res.Summary)
		}
	}
}

func TestATargetBesideALongSystemPromptIsRaised(t *testing.T) {
	system := raw(obj{"role": "system", "content": long("policy", 1200)})
	in := join(system, user("Keep A-17 below 40."), bookings("x"), asks("u", "update_entry", `{"target":"A-17","amount":38}`, `{"ok":true,"id":"R38"}`), says("Done. What else?"), user("What is left to do?"))
	c := newCompactor(t)
	res := run(t, c, compact.Request{Messages: in, Force: true, TargetTokens: 1000})
	for _, want := range []string{"user: Keep A-17 below 40.", "- update_entry(target A-17, amount 38) → ok yes, id R38"} {
		if !strings.Contains(res.Summary, want) {
			t.Errorf("no %q in\n%s", want, res.Summary)
		}
	}
	if res.Detail == "" || res.Report.Target != 1000 || res.Report.OverTarget != res.Report.TokensAfter-1000 {
		t.Errorf("%q, %d tokens over %d", res.Detail, res.Report.OverTarget, res.Report.Target)
	}
	least := res.Report.TokensAfter
	if limited := run(t, c, compact.Request{Messages: in, Force: true, TargetTokens: 1000, MaxInputTokens: least - 60}); limited.Report.TokensAfter > least-60 {
		t.Errorf("%d tokens where the limit is %d", limited.Report.TokensAfter, least-60)
	}
}

func TestTheNewestWordsHaveRoomBesideManyOthers(t *testing.T) {
	var talk []jsontext.Value
	for i := range 12 {
		talk = join(talk, user(fmt.Sprintf("I have one more question about my trip number %d, which is about the seats and the meals that were promised.", i)), says("I look that up."))
	}
	in := join(user("Hello."), talk, user("From now on pay with card_9931 and never book before 11 AM."), says("Noted."), bookings("x"), user("Book it."))
	res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, MaxInputTokens: 500})
	if !strings.Contains(res.Summary, "user: From now on pay with card_9931 and never book before 11 AM.") {
		t.Errorf("%s", res.Summary)
	}
}

func TestTheOthersOfAListStandBesideTheOneThatIsSpokenOf(t *testing.T) {
	var cards []string
	for i := range 6 {
		cards = append(cards, fmt.Sprintf(`{"id":"gift_card_77%d1","source":"gift card","amount":%d}`, i, 10+31*i))
	}
	profile := asks("p", "get_profile", `{"user":"kim_12"}`, `{"email":"kim@example.com","city":"Oslo","cards":[`+strings.Join(cards, ",")+`]}`)
	pay := asks("q", "book_flight", `{"flight":"FL106","card":"gift_card_7711"}`, "Error: the balance of gift_card_7711 is not enough")
	in := join(user("Hello, I am kim_12."), profile, bookings("x"), says("Which one?"), user("Book FL106 with gift_card_7711."), pay)
	res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, MaxInputTokens: 480})
	for i := range 6 {
		if want := fmt.Sprintf("gift_card_77%d1", i); !strings.Contains(res.Summary, want) {
			t.Errorf("no %s in\n%s", want, res.Summary)
		}
	}
}
